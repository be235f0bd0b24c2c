use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::epoch::Epoch;
use super::layout::{Opening, Shown, unmoved};
use super::rights::{Rights, is_let_through};
use super::telling::Audience;
use crate::prompt::{AttributeText, CatalogueText, PromptComposer, SkillText, ToolText};
use crate::registry::{SkillIndex, ToolIndex};
use crate::skill::Level;
use crate::snapshot::{AttributeStatus, Chosen, Material, Snapshots};

/// The parts of prompts, each rendered once.
pub(crate) struct Texts {
    composer: Arc<dyn PromptComposer>,
    /// What comes before the catalogue where the model cannot open skills, and where it can.
    introductions: [String; 2],
    bases: Bases,
    closing: String,
    opened: Box<[[OnceLock<Box<str>>; 3]]>,
    /// Bytes of the definitions of all tools before each one, as their authors wrote them.
    tool_bytes: Vec<u64>,
}

/// Every skill at its base level.
enum Bases {
    /// One after the other, and the end of each: a run of them is one copy.
    Joined { text: String, ends: Vec<usize> },
    /// Each by itself, rendered when it is first shown.
    Apart(Box<[OnceLock<Box<str>>]>),
}

impl Texts {
    /// With `is_lazy`, nothing of a skill is rendered before it is shown.
    pub(crate) fn new(
        material: Material<'_>,
        snapshots: &Snapshots,
        composer: Arc<dyn PromptComposer>,
        is_lazy: bool,
    ) -> Self {
        let registry = material.registry;
        let introductions = [false, true].map(|has_control| {
            let mut introduction = String::new();
            composer.open_catalogue(&CatalogueText::new(has_control), &mut introduction);
            introduction
        });
        let bases = if is_lazy {
            Bases::Apart(registry.skills.iter().map(|_| OnceLock::new()).collect())
        } else {
            let mut text = String::new();
            let skills = (0..).zip(&registry.skills);
            let ends = skills.map(|(index, registered)| {
                if registered.is_told_of() {
                    let chosen = base(material, snapshots, index);
                    composer.skill(&skill_text(material, &chosen, Audience::Model), &mut text);
                }
                text.len()
            });
            let ends = ends.collect();
            Bases::Joined { text, ends }
        };
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
            bases,
            closing,
            opened,
            tool_bytes,
        }
    }

    pub(crate) fn composer(&self) -> &dyn PromptComposer {
        &*self.composer
    }

    /// What stands before the catalogue.
    pub(crate) fn introduction(&self, has_control: bool) -> &str {
        &self.introductions[usize::from(has_control)]
    }

    /// Characters of the text of a skill at its base level, where it has been written.
    pub(crate) fn base_size(&self, skill: SkillIndex) -> Option<usize> {
        let Bases::Joined { text, ends } = &self.bases else {
            return None;
        };
        let end = *ends.get(skill as usize)?;
        let start = skill
            .checked_sub(1)
            .map_or(0, |before| ends[before as usize]);
        Some(text[start..end].chars().count())
    }

    pub(crate) fn catalogue_bytes(&self) -> usize {
        let [without, with] = &self.introductions;
        let bases = match &self.bases {
            Bases::Joined { text, .. } => text.len(),
            Bases::Apart(_) => 0,
        };
        without.len().max(with.len()) + bases + self.closing.len()
    }

    /// Bytes of the definitions of a run of tools.
    pub(crate) fn tool_bytes(&self, epoch: &Epoch, run: &Range<ToolIndex>) -> u64 {
        if epoch.words.redaction().is_none() {
            let [start, end] = [run.start, run.end].map(|at| self.tool_bytes[at as usize]);
            return end.saturating_sub(start);
        }
        run.clone()
            .map(|tool| {
                let words = epoch.words.tool(&epoch.registry, tool);
                let name = &epoch.registry.tool(tool).name;
                name.len() + words.definition.description.len() + words.input_schema.len()
            })
            .sum::<usize>() as u64
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
        if let Some(own) = &rights.listed(epoch).prompt {
            out.push_str(own);
            return;
        }
        out.push_str(&self.introductions[usize::from(rights.has_control())]);
        let mut next = 0;
        for shown in special {
            self.bases(epoch, next..shown.skill, out);
            next = shown.skill + 1;
            if rights.is_denied(shown.skill) {
                continue;
            }
            match rights.exception(shown.skill) {
                Some(exception) if *shown == unmoved(epoch, rights, shown.skill) => {
                    out.push_str(exception.shown.get_or_init(|| {
                        let mut text = String::new();
                        self.skill(epoch, rights, *shown, Audience::Model, &mut text);
                        text.into_boxed_str()
                    }));
                }
                Some(_) | None => self.skill(epoch, rights, *shown, Audience::Model, out),
            }
        }
        let all = u32::try_from(epoch.registry.skills.len()).unwrap_or(u32::MAX);
        self.bases(epoch, next..all, out);
        out.push_str(&self.closing);
    }

    /// Writes a run of skills at their base levels.
    fn bases(&self, epoch: &Epoch, run: Range<SkillIndex>, out: &mut String) {
        match &self.bases {
            Bases::Joined { text, ends } => {
                let end = |skills: SkillIndex| match skills.checked_sub(1) {
                    Some(last) => ends[last as usize],
                    None => 0,
                };
                out.push_str(&text[end(run.start)..end(run.end)]);
            }
            Bases::Apart(texts) => {
                for index in run {
                    if !epoch.registry.skill(index).is_told_of() {
                        continue;
                    }
                    out.push_str(texts[index as usize].get_or_init(|| {
                        let material = epoch.material();
                        let chosen = base(material, &epoch.snapshots, index);
                        let mut text = String::new();
                        self.composer
                            .skill(&skill_text(material, &chosen, Audience::Model), &mut text);
                        text.into_boxed_str()
                    }));
                }
            }
        }
    }

    /// Writes one skill as the catalogue of a session shows it.
    fn skill(
        &self,
        epoch: &Epoch,
        rights: &Rights,
        shown: Shown,
        audience: Audience,
        out: &mut String,
    ) {
        let registry = &epoch.registry;
        let registered = registry.skill(shown.skill);
        if registered.is_built_in() || !registered.is_told_of() && !shown.is_opened {
            return;
        }
        let facts = rights.skill(registry, shown.skill);
        let is_let_through = |member| is_let_through(facts, member, shown.ceiling, shown.is_opened);
        let attributes = registered.attributes.up_to(shown.level);
        let tools = registered.tools.up_to(shown.level);
        let material = epoch.material();
        let visible = Chosen {
            skill: shown.skill,
            level: shown.level,
            attributes: attributes
                .filter(|index| is_let_through(rights.attribute(registry, *index)))
                .collect(),
            tools: tools
                .filter(|index| is_let_through(rights.tool(registry, *index)))
                .collect(),
            instructions: shown.level >= Level::Context && rights.has_instructions(shown.skill),
        };
        let chosen = epoch.snapshots.select(material, visible);
        self.composer
            .skill(&skill_text(material, &chosen, audience), out);
    }

    /// What opening a skill from one level to another adds.
    pub(crate) fn opened<'a>(
        &'a self,
        epoch: &Epoch,
        rights: &'a Rights,
        opening: Opening,
    ) -> &'a str {
        let Opening { skill, from, to } = opening;
        // METADATA to CONTEXT, METADATA to COMPLETE, CONTEXT to COMPLETE: 1, 2, 3 by the sum of the two.
        let which = (from as usize + to as usize).clamp(1, 3) - 1;
        let own = rights.exception(skill).filter(|_| rights.is_partial(skill));
        let kept = own.map_or(&self.opened[skill as usize], |own| &own.opened);
        kept[which].get_or_init(|| {
            let mut out = String::new();
            self.open(epoch, rights, opening, Audience::Model, &mut out);
            out.into_boxed_str()
        })
    }

    fn open(
        &self,
        epoch: &Epoch,
        rights: &Rights,
        opening: Opening,
        audience: Audience,
        out: &mut String,
    ) {
        let Opening { skill, from, to } = opening;
        let registry = &epoch.registry;
        let registered = registry.skill(skill);
        let facts = rights.skill(registry, skill);
        let is_whole = !rights.is_partial(skill);
        let is_let_through = |member| is_whole || is_let_through(facts, member, None, true);
        let attributes = registered.attributes.between(from, to);
        let tools = registered.tools.between(from, to);
        let material = epoch.material();
        let visible = Chosen {
            skill,
            level: to,
            attributes: attributes
                .filter(|index| is_let_through(rights.attribute(registry, *index)))
                .collect(),
            tools: tools
                .filter(|index| is_let_through(rights.tool(registry, *index)))
                .collect(),
            // Where CONTEXT was reached, and only there.
            instructions: to >= Level::Context
                && from < Level::Context
                && rights.has_instructions(skill),
        };
        let chosen = epoch.snapshots.select(material, visible);
        self.composer
            .opened(from, &skill_text(material, &chosen, audience), out);
    }

    /// The whole prompt of a layout, without the values of sensitive attributes, and the end of its catalogue. Rendered
    /// anew each time.
    pub(crate) fn told(
        &self,
        epoch: &Epoch,
        rights: &Rights,
        special: &[Shown],
        openings: impl Iterator<Item = Opening>,
    ) -> (String, usize) {
        let mut out = String::new();
        if let Some(own) = &rights.listed(epoch).prompt {
            out.push_str(own);
        } else if rights.has_skills() {
            out.push_str(&self.introductions[usize::from(rights.has_control())]);
            let mut special = special.iter().peekable();
            for (index, _) in (0..).zip(&epoch.registry.skills) {
                let shown = special.next_if(|shown| shown.skill == index).copied();
                if !rights.is_denied(index) {
                    let shown = shown.unwrap_or_else(|| unmoved(epoch, rights, index));
                    self.skill(epoch, rights, shown, Audience::Others, &mut out);
                }
            }
            out.push_str(&self.closing);
        }
        let stable = out.len();
        for opening in openings {
            self.open(epoch, rights, opening, Audience::Others, &mut out);
        }
        (out, stable)
    }
}

/// A skill at its base level, with all that level shows.
fn base(material: Material<'_>, snapshots: &Snapshots, index: SkillIndex) -> Chosen {
    let registered = material.registry.skill(index);
    let level = registered.base();
    let visible = Chosen {
        skill: index,
        level,
        attributes: registered.attributes.up_to(level).collect(),
        tools: registered.tools.up_to(level).collect(),
        instructions: level >= Level::Context,
    };
    snapshots.select(material, visible)
}

/// What a composer is told of a skill, and of those of its members that were chosen.
fn skill_text<'a>(material: Material<'a>, chosen: &Chosen, audience: Audience) -> SkillText<'a> {
    let Material {
        registry, words, ..
    } = material;
    let definition = words.skill(registry, chosen.skill);
    let attributes = chosen.attributes.iter().map(|index| {
        let attribute = registry.attribute(*index);
        let told = words.attribute(registry, *index);
        let sensitive = attribute.definition.sensitive;
        let is_redacted = sensitive && audience == Audience::Others && told.constant.is_some();
        AttributeText {
            name: &attribute.name,
            description: told.description,
            value: if is_redacted {
                Some("null")
            } else {
                told.constant
            },
            schema: told.schema,
            status: is_redacted.then_some(AttributeStatus::Redacted),
            sensitive,
        }
    });
    let tools = chosen.tools.iter().map(|index| {
        let (name, definition) = material.tool(*index);
        ToolText {
            name,
            description: &definition.description,
        }
    });
    let instructions = || words.instructions(registry, chosen.skill);
    SkillText {
        id: &registry.skill(chosen.skill).id,
        name: &definition.name,
        description: &definition.description,
        tags: &definition.tags,
        level: chosen.level,
        attributes: attributes.collect(),
        tools: tools.collect(),
        instructions: chosen.instructions.then(instructions).flatten(),
    }
}
