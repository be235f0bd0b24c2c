use std::ops::Range;
use std::sync::Arc;

use dashmap::DashMap;

use super::layout::{Layout, Step, push_run};
use super::layouts::Layouts;
use super::rights::Rights;
use super::texts::Texts;
use crate::prompt::PromptComposer;
use crate::registry::{AttributeIndex, BuildError, Registry, SkillIndex, ToolIndex};
use crate::skill::{Code, Fault, Level, shown};
use crate::snapshot::LiveTable;
use crate::tools::{Catalogue, ExportOptions};

/// A registry and everything rendered from it: replaced whole.
pub(crate) struct Epoch {
    pub(crate) registry: Registry,
    pub(crate) catalogue: Catalogue,
    pub(crate) texts: Texts,
    pub(crate) live: LiveTable,
    pub(crate) base_tools: Vec<Range<ToolIndex>>,
    pub(crate) base_attributes: Vec<Range<AttributeIndex>>,
    /// The skills that look at requests, by id.
    pub(super) hooked: Box<[SkillIndex]>,
    layouts: Layouts,
    /// By the SHA-256 of everything that goes into them.
    rights: DashMap<[u8; 32], Arc<Rights>>,
}

/// Rights that are kept; beyond that they are worked out anew.
const MOST_RIGHTS: usize = 256;

impl Epoch {
    pub(crate) fn new(
        registry: Registry,
        composer: Arc<dyn PromptComposer>,
        export: ExportOptions,
        cache_bytes: usize,
    ) -> Result<Self, BuildError> {
        let catalogue = Catalogue::new(&registry, export).map_err(BuildError::new)?;
        let texts = Texts::new(&registry, &catalogue, composer);
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
        let layouts = Layouts::new(cache_bytes);
        Ok(Self {
            hooked,
            registry,
            catalogue,
            texts,
            live,
            base_tools,
            base_attributes,
            layouts,
            rights: DashMap::new(),
        })
    }

    /// Nothing at all, for engines that are switched off.
    pub(crate) fn empty(composer: Arc<dyn PromptComposer>) -> Result<Self, BuildError> {
        let registry = Registry::build(Vec::new())?;
        Self::new(registry, composer, ExportOptions::default(), 0)
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

    /// A skill by its id, as far as a model with these rights may know of it.
    ///
    /// The error names the ids there are.
    pub(crate) fn known(&self, rights: &Rights, id: &str) -> Result<SkillIndex, Fault> {
        match self.registry.find(id) {
            Some((index, _)) if !rights.is_denied(index) => Ok(index),
            _ => Err(unknown_skill(self, rights, id)),
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

fn unknown_skill(epoch: &Epoch, rights: &Rights, id: &str) -> Fault {
    const MOST: usize = 20;
    let known = || {
        (0..)
            .zip(&epoch.registry.skills)
            .filter(|(index, _)| !rights.is_denied(*index))
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
    Fault::new(
        Code::UnknownSkill,
        format!(
            "there is no skill `{shown}`. Use one of {}{more}",
            ids.join(", ")
        ),
    )
}
