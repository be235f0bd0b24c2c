use std::ops::Range;
use std::sync::Arc;

use dashmap::DashMap;
use sha2::Sha256;

use super::layout::{Layout, Step, push_run};
use super::layouts::Layouts;
use super::listing::Listing;
use super::rights::Rights;
use super::search::KeptIndex;
use super::telling::{Telling, cover};
use super::texts::Texts;
use crate::audit::SecretDigest;
use crate::registry::{
    AttributeIndex, BuildError, RegisteredSkill, Registry, SkillIndex, ToolIndex,
};
use crate::skill::{Actor, Code, Fault, Level, Limits, shown};
use crate::snapshot::{LiveTable, Material, Redaction, Snapshots, Words};
use crate::tools::Catalogue;

/// A registry and everything rendered from it: replaced whole.
pub(crate) struct Epoch {
    pub(crate) registry: Registry,
    pub(crate) catalogue: Catalogue,
    pub(crate) words: Words,
    pub(crate) snapshots: Snapshots,
    pub(crate) texts: Texts,
    pub(crate) listing: Listing,
    /// Whether digests of views cover what was rendered.
    pub(crate) covers_rendered: bool,
    pub(crate) secrets: SecretDigest,
    /// Stands for the values of all sensitive constants, when there are any.
    pub(crate) sealed: Option<[u8; 32]>,
    pub(crate) has_sensitive: bool,
    pub(crate) live: LiveTable,
    pub(crate) base_tools: Vec<Range<ToolIndex>>,
    pub(crate) base_attributes: Vec<Range<AttributeIndex>>,
    /// The skills that look at requests, by id.
    pub(super) hooked: Box<[SkillIndex]>,
    pub(super) search_index: KeptIndex,
    layouts: Layouts,
    /// By the SHA-256 of everything that goes into them.
    rights: DashMap<[u8; 32], Arc<Rights>>,
}

/// Rights that are kept; beyond that they are worked out anew.
const MOST_RIGHTS: usize = 256;

impl Epoch {
    pub(crate) fn new(
        registry: Registry,
        telling: Telling,
        secrets: SecretDigest,
        limits: &Limits,
    ) -> Result<Self, BuildError> {
        let catalogue = Catalogue::new(&registry, telling.export).map_err(BuildError::new)?;
        let covers_rendered = telling.is_own();
        let composer = telling.composer();
        let words = Words::new(&registry, telling.redactor.map(Redaction::new), limits);
        let snapshots = Snapshots::new(telling.snapshots);
        let material = Material {
            registry: &registry,
            words: &words,
            names: catalogue.names(),
            own: None,
        };
        let texts = Texts::new(material, &snapshots, composer, covers_rendered);
        let has_composer = telling.prompts.is_some();
        let (profile, budget) = (telling.profile, telling.budget);
        let text_of = |index| texts.base_size(index);
        let listing = Listing::new(profile, budget, &registry, &words, has_composer, text_of);
        let attributes = registry.attributes.iter();
        let has_sensitive = attributes.clone().any(|it| it.definition.sensitive);
        let sealed = sealed(&registry, &secrets);
        let live = LiveTable::new(&registry);
        let mut base_tools = Vec::new();
        let mut base_attributes = Vec::new();
        for skill in &registry.skills {
            push_run(&mut base_tools, skill.tools.up_to(skill.base()));
            push_run(&mut base_attributes, skill.attributes.up_to(skill.base()));
        }
        let hooked = (0..).zip(&registry.skills);
        let hooked = hooked.filter(|(_, skill)| skill.skill.hooks().is_some());
        let hooked = hooked.map(|(index, _)| index).collect();
        let layouts = Layouts::new(limits.view_cache);
        Ok(Self {
            hooked,
            registry,
            catalogue,
            words,
            snapshots,
            texts,
            listing,
            covers_rendered,
            secrets,
            sealed,
            has_sensitive,
            live,
            base_tools,
            base_attributes,
            search_index: KeptIndex::default(),
            layouts,
            rights: DashMap::new(),
        })
    }

    /// What snapshots and prompts are made from.
    pub(crate) fn material(&self) -> Material<'_> {
        Material {
            registry: &self.registry,
            words: &self.words,
            names: self.catalogue.names(),
            own: None,
        }
    }

    /// Adds a rendered text to the digest of a view.
    pub(crate) fn cover(&self, digest: &mut Sha256, text: &str, is_secret: bool) {
        cover(digest, &self.secrets, text, is_secret);
    }

    /// The rights that go by a key, worked out at most once for each.
    pub(super) fn rights(&self, key: [u8; 32], work_out: impl FnOnce() -> Rights) -> Arc<Rights> {
        if let Some(rights) = self.rights.get(&key) {
            return Arc::clone(&rights);
        }
        let rights = Arc::new(work_out());
        if self.rights.len() >= MOST_RIGHTS {
            self.rights.clear();
        }
        self.rights.insert(key, Arc::clone(&rights));
        rights
    }

    /// The level every session starts at; METADATA for what is not known.
    pub(crate) fn base(&self, skill: &str) -> Level {
        self.registry
            .find(skill)
            .map_or(Level::Metadata, |(_, registered)| registered.base())
    }

    /// A skill by its id, as far as someone with these rights may know of it.
    ///
    /// The error names the ids there are.
    pub(crate) fn known(
        &self,
        rights: &Rights,
        id: &str,
        actor: Actor,
    ) -> Result<SkillIndex, Fault> {
        match self.registry.find(id) {
            Some((index, skill)) if !rights.is_denied(index) && !skill.is_built_in() => Ok(index),
            _ => Err(unknown_skill(self, rights, id, actor)),
        }
    }

    /// The layout of a sequence: a kept one, or a new one.
    pub(crate) fn layout(&self, rights: &Arc<Rights>, steps: &[Step]) -> Arc<Layout> {
        self.layouts
            .get_or_make(rights, steps, || Layout::new(self, rights, steps))
    }

    /// Notes that a layout takes more bytes than before.
    pub(crate) fn has_grown(&self, layout: &Layout, bytes: usize) {
        self.layouts.has_grown(layout, bytes);
    }
}

/// Stands for the values of sensitive constants, which are not in the digest of their registry.
fn sealed(registry: &Registry, secrets: &SecretDigest) -> Option<[u8; 32]> {
    let values = registry.sensitive_constants();
    (!values.is_empty()).then(|| secrets.digest(&values))
}

/// Says that there is no such skill, and which ones there are for whoever asks.
pub(super) fn unknown_skill(epoch: &Epoch, rights: &Rights, id: &str, actor: Actor) -> Fault {
    unknown_among(epoch, rights, id, |_, skill| match actor {
        Actor::Model => skill.is_told_of(),
        _ => !skill.is_built_in(),
    })
}

/// Says that there is no such skill, and which ones there are of those that are offered.
pub(super) fn unknown_among(
    epoch: &Epoch,
    rights: &Rights,
    id: &str,
    is_offered: impl Fn(SkillIndex, &RegisteredSkill) -> bool,
) -> Fault {
    const MOST: usize = 20;
    let known = || {
        (0..)
            .zip(&epoch.registry.skills)
            .filter(|(index, skill)| !rights.is_denied(*index) && is_offered(*index, skill))
    };
    let ids: Vec<_> = known()
        .take(MOST)
        .map(|(_, skill)| format!("`{}`", skill.id))
        .collect();
    let more = known().count().saturating_sub(MOST);
    let more = match more {
        0 => String::new(),
        more if rights.has_control() => {
            format!(" and {more} more, found with psl-skill__search_skills")
        }
        more => format!(" and {more} more"),
    };
    let shown = shown(id, 64);
    let next = if ids.is_empty() {
        "There is none to use".to_owned()
    } else {
        format!("Use one of {}{more}", ids.join(", "))
    };
    Fault::new(
        Code::UnknownSkill,
        format!("there is no skill `{shown}`. {next}"),
    )
}
