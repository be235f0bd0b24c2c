use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::epoch::Epoch;
use super::layout::is_under;
use crate::prompt::{AttributeText, PromptComposer, SkillText, ToolText};
use crate::registry::{AttributeIndex, RegisteredSkill, Registry, SkillIndex, ToolIndex};
use crate::skill::{Level, SkillType as _};
use crate::tools::{Catalogue, PslSkill};

/// The parts of prompts, each rendered once.
pub(crate) struct Texts {
    composer: Arc<dyn PromptComposer>,
    /// Introduction, every skill at its base level, and what closes the catalogue.
    catalogue: String,
    has_control: bool,
    /// End of the introduction, then of each skill.
    ends: Vec<usize>,
    opened: Box<[[OnceLock<Box<str>>; 3]]>,
    /// Bytes of the definitions of all tools before each one.
    tool_bytes: Vec<u64>,
}

impl Texts {
    pub(crate) fn new(
        registry: &Registry,
        names: &Catalogue,
        is_off: &[bool],
        composer: Arc<dyn PromptComposer>,
    ) -> Self {
        let control = registry.find(PslSkill::entry().id);
        let has_control = control.is_some_and(|(index, _)| !is_off[index as usize]);
        let mut catalogue = String::new();
        let mut ends = Vec::with_capacity(registry.skills.len() + 1);
        composer.open_catalogue(has_control, &mut catalogue);
        ends.push(catalogue.len());
        for (skill, is_off) in registry.skills.iter().zip(is_off) {
            if !is_off {
                let level = skill.base();
                let text = skill_text(
                    registry,
                    names,
                    skill,
                    level,
                    |definition| definition.up_to(level).collect(),
                    None,
                );
                composer.skill(&text, &mut catalogue);
            }
            ends.push(catalogue.len());
        }
        composer.close_catalogue(&mut catalogue);
        if is_off.iter().all(|is_off| *is_off) {
            // Without a skill there is nothing to say, and the places of the skills are all empty.
            catalogue.clear();
            ends.fill(0);
        }
        let mut total = 0_u64;
        let tool_bytes = registry
            .tools
            .iter()
            .map(|tool| {
                let before = total;
                let bytes =
                    tool.name.len() + tool.definition.description.len() + tool.input_schema.len();
                total += bytes as u64;
                before
            })
            .collect::<Vec<_>>();
        let tool_bytes = tool_bytes.into_iter().chain([total]).collect();
        let opened = registry.skills.iter().map(|_| Default::default()).collect();
        Self {
            composer,
            catalogue,
            has_control,
            ends,
            opened,
            tool_bytes,
        }
    }

    /// Whether the model can open skills by itself.
    pub(crate) fn has_control(&self) -> bool {
        self.has_control
    }

    pub(crate) fn composer(&self) -> &dyn PromptComposer {
        &*self.composer
    }

    pub(crate) fn catalogue_bytes(&self) -> usize {
        self.catalogue.len()
    }

    pub(crate) fn tool_bytes(&self, run: &Range<ToolIndex>) -> u64 {
        self.tool_bytes[run.end as usize].saturating_sub(self.tool_bytes[run.start as usize])
    }

    /// Writes the catalogue: one copy for each run of skills between two that deviate.
    pub(crate) fn catalogue(
        &self,
        epoch: &Epoch,
        deviations: impl Iterator<Item = (SkillIndex, Level, Option<Level>)>,
        out: &mut String,
    ) {
        let registry = &epoch.registry;
        let mut copied = 0;
        for (skill, shown, ceiling) in deviations {
            let position = skill as usize;
            out.push_str(&self.catalogue[copied..self.ends[position]]);
            copied = self.ends[position + 1];
            let registered = registry.skill(skill);
            let text = skill_text(
                registry,
                &epoch.catalogue,
                registered,
                shown,
                |range| range.up_to(shown).collect(),
                ceiling,
            );
            self.composer.skill(&text, out);
        }
        out.push_str(&self.catalogue[copied..]);
    }

    /// What opening a skill from one level to another adds.
    pub(crate) fn opened(&self, epoch: &Epoch, skill: SkillIndex, from: Level, to: Level) -> &str {
        // METADATA to CONTEXT, METADATA to COMPLETE, CONTEXT to COMPLETE: 1, 2, 3 by the sum of the two.
        let which = (from as usize + to as usize).clamp(1, 3) - 1;
        self.opened[skill as usize][which].get_or_init(|| {
            let registered = epoch.registry.skill(skill);
            let mut text = skill_text(
                &epoch.registry,
                &epoch.catalogue,
                registered,
                to,
                |range| range.between(from, to).collect(),
                None,
            );
            // Instructions stand where CONTEXT was reached, and only there.
            text.instructions = text.instructions.filter(|_| from < Level::Context);
            let mut out = String::new();
            self.composer.opened(from, &text, &mut out);
            out.into_boxed_str()
        })
    }
}

/// What a composer is told of a skill. `ceiling` caps what is exposed always, where there is one.
fn skill_text<'a>(
    registry: &'a Registry,
    names: &'a Catalogue,
    skill: &'a RegisteredSkill,
    level: Level,
    members: impl Fn(&crate::registry::MemberRange) -> Vec<u32>,
    ceiling: Option<Level>,
) -> SkillText<'a> {
    let definition = skill.definition();
    let attributes = members(&skill.attributes)
        .into_iter()
        .map(|index: AttributeIndex| registry.attribute(index))
        .filter(|attribute| is_under(attribute.definition.level, ceiling))
        .map(|attribute| AttributeText {
            name: &attribute.name,
            description: &attribute.definition.description,
            value: attribute.reader.constant(),
            schema: &attribute.schema,
        })
        .collect();
    let tools = members(&skill.tools)
        .into_iter()
        .filter(|tool| is_under(registry.tool(*tool).definition.level, ceiling))
        .map(|tool: ToolIndex| ToolText {
            name: names.name(tool),
            description: &registry.tool(tool).definition.description,
        })
        .collect();
    SkillText {
        id: &skill.id,
        name: &definition.name,
        description: &definition.description,
        tags: &definition.tags,
        level,
        attributes,
        tools,
        instructions: skill
            .skill
            .instructions()
            .filter(|_| level >= Level::Context),
    }
}
