use std::ops::Range;
use std::sync::Arc;

use super::layout::{Layout, Step, push_run};
use super::layouts::Layouts;
use super::texts::Texts;
use crate::prompt::PromptComposer;
use crate::registry::{AttributeIndex, BuildError, Registry, SkillIndex, ToolIndex};
use crate::session::SkillFacts;
use crate::skill::{Code, Fault, Level, shown};
use crate::snapshot::LiveTable;
use crate::tools::Catalogue;

/// A registry and everything rendered from it: replaced whole.
pub(crate) struct Epoch {
    pub(crate) registry: Registry,
    pub(crate) catalogue: Catalogue,
    pub(crate) texts: Texts,
    pub(crate) live: LiveTable,
    pub(crate) base_tools: Vec<Range<ToolIndex>>,
    pub(crate) base_attributes: Vec<Range<AttributeIndex>>,
    is_off: Box<[bool]>,
    layouts: Layouts,
}

impl Epoch {
    pub(crate) fn new(
        registry: Registry,
        is_off: impl Fn(&str) -> bool,
        composer: Arc<dyn PromptComposer>,
        cache_bytes: usize,
    ) -> Result<Self, BuildError> {
        let catalogue = Catalogue::new(&registry).map_err(BuildError::new)?;
        let is_off: Box<[bool]> = registry
            .skills
            .iter()
            .map(|skill| is_off(&skill.id))
            .collect();
        let texts = Texts::new(&registry, &catalogue, &is_off, composer);
        let live = LiveTable::new(&registry);
        let mut base_tools = Vec::new();
        let mut base_attributes = Vec::new();
        for (skill, is_off) in registry.skills.iter().zip(&is_off) {
            if !is_off {
                push_run(&mut base_tools, skill.tools.up_to(skill.base()));
                push_run(&mut base_attributes, skill.attributes.up_to(skill.base()));
            }
        }
        let layouts = Layouts::new(cache_bytes);
        Ok(Self {
            registry,
            catalogue,
            texts,
            live,
            base_tools,
            base_attributes,
            is_off,
            layouts,
        })
    }

    /// Whether a skill is switched off for every model.
    pub(crate) fn is_off(&self, skill: SkillIndex) -> bool {
        self.is_off[skill as usize]
    }

    /// What the rule needs to know of a skill.
    pub(crate) fn facts(&self, skill: SkillIndex) -> SkillFacts {
        SkillFacts::new(self.registry.skill(skill).base()).switched_off(self.is_off(skill))
    }

    /// The level every session starts at; METADATA for what is not known.
    pub(crate) fn base(&self, skill: &str) -> Level {
        self.registry
            .find(skill)
            .map_or(Level::Metadata, |(_, registered)| registered.base())
    }

    /// A skill by its id, as far as a model may know of it.
    ///
    /// The error names the ids there are.
    pub(crate) fn known(&self, id: &str) -> Result<SkillIndex, Fault> {
        match self.registry.find(id) {
            Some((index, _)) if !self.is_off(index) => Ok(index),
            _ => Err(unknown_skill(self, id)),
        }
    }

    /// The layout of a sequence: a kept one, or a new one.
    pub(crate) fn layout(&self, steps: &[Step]) -> Arc<Layout> {
        self.layouts.get_or_make(steps, || Layout::new(self, steps))
    }

    /// Notes that a layout takes more bytes than before.
    pub(crate) fn has_grown(&self, layout: &Layout, bytes: usize) {
        self.layouts.has_grown(layout, bytes);
    }
}

fn unknown_skill(epoch: &Epoch, id: &str) -> Fault {
    const MOST: usize = 20;
    let known = || {
        (0..)
            .zip(&epoch.registry.skills)
            .filter(|(index, _)| !epoch.is_off(*index))
    };
    let ids: Vec<_> = known()
        .take(MOST)
        .map(|(_, skill)| format!("`{}`", skill.id))
        .collect();
    let more = known().count().saturating_sub(MOST);
    let more = match more {
        0 => String::new(),
        more if epoch.texts.has_control() => {
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
