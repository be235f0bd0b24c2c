use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::epoch::Epoch;
use super::layout::{Shown, unmoved};
use super::rights::{Rights, is_let_through};
use crate::prompt::{AttributeText, CatalogueText, PromptComposer, SkillText, ToolText};
use crate::registry::{AttributeIndex, RegisteredSkill, Registry, SkillIndex, ToolIndex};
use crate::skill::Level;
use crate::tools::Catalogue;

/// The parts of prompts, each rendered once.
pub(crate) struct Texts {
    composer: Arc<dyn PromptComposer>,
    /// What comes before the catalogue where the model cannot open skills, and where it can.
    introductions: [String; 2],
    /// Every skill at its base level.
    skills: String,
    /// End of each skill.
    ends: Vec<usize>,
    closing: String,
    opened: Box<[[OnceLock<Box<str>>; 3]]>,
    /// Bytes of the definitions of all tools before each one.
    tool_bytes: Vec<u64>,
}

impl Texts {
    pub(crate) fn new(
        registry: &Registry,
        names: &Catalogue,
        composer: Arc<dyn PromptComposer>,
    ) -> Self {
        let introductions = [false, true].map(|has_control| {
            let mut introduction = String::new();
            composer.open_catalogue(&CatalogueText::new(has_control), &mut introduction);
            introduction
        });
        let mut skills = String::new();
        let mut ends = Vec::with_capacity(registry.skills.len());
        for skill in &registry.skills {
            let level = skill.base();
            let text = skill_text(
                registry,
                names,
                skill,
                level,
                skill.attributes.up_to(level),
                skill.tools.up_to(level),
            );
            composer.skill(&text, &mut skills);
            ends.push(skills.len());
        }
        let mut closing = String::new();
        composer.close_catalogue(&mut closing);
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
            introductions,
            skills,
            ends,
            closing,
            opened,
            tool_bytes,
        }
    }

    pub(crate) fn composer(&self) -> &dyn PromptComposer {
        &*self.composer
    }

    pub(crate) fn catalogue_bytes(&self) -> usize {
        let [without, with] = &self.introductions;
        without.len().max(with.len()) + self.skills.len() + self.closing.len()
    }

    pub(crate) fn tool_bytes(&self, run: &Range<ToolIndex>) -> u64 {
        self.tool_bytes[run.end as usize].saturating_sub(self.tool_bytes[run.start as usize])
    }

    /// Writes the catalogue: one copy for each run of skills between two that are special. Without a skill there is
    /// nothing to say.
    pub(crate) fn catalogue(
        &self,
        epoch: &Epoch,
        rights: &Rights,
        special: &[Shown],
        out: &mut String,
    ) {
        if !rights.has_skills() {
            return;
        }
        out.push_str(&self.introductions[usize::from(rights.has_control())]);
        let mut copied = 0;
        for shown in special {
            let position = shown.skill as usize;
            let start = position
                .checked_sub(1)
                .map_or(0, |before| self.ends[before]);
            out.push_str(&self.skills[copied..start]);
            copied = self.ends[position];
            if rights.is_denied(shown.skill) {
                continue;
            }
            match rights.exception(shown.skill) {
                Some(exception) if *shown == unmoved(epoch, rights, shown.skill) => {
                    out.push_str(exception.shown.get_or_init(|| {
                        let mut text = String::new();
                        self.skill(epoch, rights, *shown, &mut text);
                        text.into_boxed_str()
                    }));
                }
                Some(_) | None => self.skill(epoch, rights, *shown, out),
            }
        }
        out.push_str(&self.skills[copied..]);
        out.push_str(&self.closing);
    }

    /// Writes one skill as the catalogue of a session shows it.
    fn skill(&self, epoch: &Epoch, rights: &Rights, shown: Shown, out: &mut String) {
        let registry = &epoch.registry;
        let registered = registry.skill(shown.skill);
        let facts = rights.skill(registry, shown.skill);
        let text = skill_text(
            registry,
            &epoch.catalogue,
            registered,
            shown.level,
            registered.attributes.up_to(shown.level).filter(|index| {
                let member = rights.attribute(registry, *index);
                is_let_through(facts, member, shown.ceiling, shown.is_opened)
            }),
            registered.tools.up_to(shown.level).filter(|index| {
                let member = rights.tool(registry, *index);
                is_let_through(facts, member, shown.ceiling, shown.is_opened)
            }),
        );
        self.composer.skill(&text, out);
    }

    /// What opening a skill from one level to another adds.
    pub(crate) fn opened<'a>(
        &'a self,
        epoch: &Epoch,
        rights: &'a Rights,
        skill: SkillIndex,
        from: Level,
        to: Level,
    ) -> &'a str {
        // METADATA to CONTEXT, METADATA to COMPLETE, CONTEXT to COMPLETE: 1, 2, 3 by the sum of the two.
        let which = (from as usize + to as usize).clamp(1, 3) - 1;
        let own = rights.exception(skill).filter(|_| rights.is_partial(skill));
        let kept = own.map_or(&self.opened[skill as usize], |own| &own.opened);
        kept[which].get_or_init(|| {
            let registry = &epoch.registry;
            let registered = registry.skill(skill);
            let facts = rights.skill(registry, skill);
            let is_whole = own.is_none();
            let mut text = skill_text(
                registry,
                &epoch.catalogue,
                registered,
                to,
                registered.attributes.between(from, to).filter(|index| {
                    let member = || rights.attribute(registry, *index);
                    is_whole || is_let_through(facts, member(), None, true)
                }),
                registered.tools.between(from, to).filter(|index| {
                    let member = || rights.tool(registry, *index);
                    is_whole || is_let_through(facts, member(), None, true)
                }),
            );
            // Instructions stand where CONTEXT was reached, and only there.
            text.instructions = text.instructions.filter(|_| from < Level::Context);
            let mut out = String::new();
            self.composer.opened(from, &text, &mut out);
            out.into_boxed_str()
        })
    }
}

/// What a composer is told of a skill, and of those of its members that are let through.
fn skill_text<'a>(
    registry: &'a Registry,
    names: &'a Catalogue,
    skill: &'a RegisteredSkill,
    level: Level,
    attributes: impl Iterator<Item = AttributeIndex>,
    tools: impl Iterator<Item = ToolIndex>,
) -> SkillText<'a> {
    let definition = skill.definition();
    let attributes = attributes
        .map(|index| registry.attribute(index))
        .map(|attribute| AttributeText {
            name: &attribute.name,
            description: &attribute.definition.description,
            value: attribute.reader.constant(),
            schema: &attribute.schema,
        })
        .collect();
    let tools = tools
        .map(|tool| ToolText {
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
