use std::sync::{Arc, OnceLock};

use sha2::{Digest as _, Sha256};

use super::attached::{Attached, TurnTools};
use super::epoch::Epoch;
use super::layout::Layout;
use super::told::material;
use crate::prompt::TurnText;
use crate::registry::{RegisteredTool, SkillIndex, ToolIndex};
use crate::skill::{Level, ToolDefinition};
use crate::snapshot::{OwnTools, ToolWords};
use crate::tools::{Dialect, Listed};

/// What a view shows of its turn alone: the instructions and tools that hooks gave. Never shared between turns.
pub(super) struct TurnPart {
    attached: Arc<Attached>,
    visible: Box<[ToolIndex]>,
    /// The skills whose instructions are shown.
    instructing: Box<[SkillIndex]>,
    /// What a redactor left of the tools and instructions that are shown.
    redacted: Option<Redacted>,
    text: Box<str>,
    lists: [OnceLock<String>; Dialect::COUNT],
}

struct Redacted {
    tools: Box<[(ToolIndex, RegisteredTool)]>,
    instructions: Box<[(SkillIndex, Box<str>)]>,
}

impl TurnPart {
    /// What a layout shows of a turn, beside the turn's own tools that are visible; `None` when that is nothing.
    pub(super) fn new(
        attached: &Arc<Attached>,
        epoch: &Epoch,
        layout: &Layout,
        visible: Box<[ToolIndex]>,
    ) -> Option<Self> {
        let is_shown = |skill: &SkillIndex| {
            !layout.rights.is_denied(*skill) && layout.level(epoch, *skill) >= Level::Context
        };
        let instructing = attached.instructions().iter().map(|(skill, _)| *skill);
        let mut part = Self {
            attached: Arc::clone(attached),
            visible,
            instructing: instructing.filter(is_shown).collect(),
            redacted: None,
            text: Box::default(),
            lists: Default::default(),
        };
        part.redacted = epoch.words.redaction().map(|_| part.redact(epoch));
        part.text = part.written(epoch, layout);
        (!part.visible.is_empty() || !part.instructing.is_empty()).then_some(part)
    }

    fn redact(&self, epoch: &Epoch) -> Redacted {
        let Epoch {
            words, registry, ..
        } = epoch;
        let tools = self.visible.iter().filter_map(|index| {
            let (_, tool) = self.own().get(*index)?;
            Some((*index, words.of_turn(registry, tool)?))
        });
        let instructions = self.shown_instructions().map(|(skill, text)| {
            let text = words.instructions_of_turn(registry, *skill, text);
            (*skill, text.into())
        });
        Redacted {
            tools: tools.collect(),
            instructions: instructions.collect(),
        }
    }

    fn written(&self, epoch: &Epoch, layout: &Layout) -> Box<str> {
        let material = material(epoch, Some(self));
        let texts: Vec<_> = self
            .shown_instructions()
            .filter_map(|(skill, instructions)| {
                let chosen = layout.chosen(epoch, Some(self), *skill);
                let names = chosen.tools.iter().map(|tool| material.tool(*tool).0);
                let id = &epoch.registry.skill(*skill).id;
                let text = TurnText::new(id, instructions, names.collect());
                chosen.instructions.then_some(text)
            })
            .collect();
        let mut out = String::new();
        if !texts.is_empty() {
            epoch.texts.composer().turn(&texts, &mut out);
        }
        out.into_boxed_str()
    }

    /// The text for the prompt; empty when no skill has anything to say.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The visible tools of the turn's own.
    pub(super) fn visible(&self) -> &[ToolIndex] {
        &self.visible
    }

    fn own(&self) -> &TurnTools {
        self.attached.tools()
    }

    /// A tool of the turn's own as it may be shown, by its position.
    pub(super) fn tool(&self, tool: ToolIndex) -> Option<(&Arc<str>, &RegisteredTool)> {
        let (name, raw) = self.own().get(tool)?;
        let redacted = self.redacted.iter().flat_map(|redacted| &redacted.tools);
        let redacted = redacted.into_iter().find(|(index, _)| *index == tool);
        Some((name, redacted.map_or(raw, |(_, tool)| tool)))
    }

    /// The visible tools of the turn's own that belong to a skill.
    pub(super) fn of_skill(&self, skill: SkillIndex) -> impl Iterator<Item = ToolIndex> {
        let visible = self.visible.iter().copied();
        visible.filter(move |index| {
            let own = self.own().get(*index);
            own.is_some_and(|(_, tool)| tool.skill == skill)
        })
    }

    /// The visible tools of the turn's own, with their names on the wire.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&Arc<str>, &RegisteredTool)> {
        self.visible.iter().filter_map(|tool| self.tool(*tool))
    }

    fn shown_instructions(&self) -> impl Iterator<Item = &(SkillIndex, Box<str>)> {
        let all = match &self.redacted {
            Some(redacted) => &*redacted.instructions,
            None => self.attached.instructions(),
        };
        all.iter()
            .filter(|(skill, _)| self.instructing.contains(skill))
    }

    /// The instructions of a skill, if they are shown.
    pub(super) fn instructions(&self, skill: SkillIndex) -> Option<&str> {
        let mut shown = self.shown_instructions();
        let (_, instructions) = shown.find(|(of, _)| *of == skill)?;
        Some(instructions)
    }

    /// The list of a layout's tools, followed by those of the turn's own.
    pub(super) fn list(&self, epoch: &Epoch, layout: &Layout, dialect: Dialect) -> &str {
        self.lists[dialect as usize].get_or_init(|| {
            let own = self.tools().map(|(name, tool)| Listed {
                skill: &epoch.registry.skill(tool.skill).id,
                name,
                tool: ToolWords {
                    definition: &tool.definition,
                    input_schema: &tool.input_schema,
                },
            });
            let shared = layout.list(epoch, dialect);
            epoch.catalogue.append(shared, dialect, own)
        })
    }

    /// Bytes of the text, and of the names, descriptions and schemas of the tools.
    pub(super) fn bytes(&self) -> u64 {
        let tools = self.tools().map(|(_, tool)| {
            tool.name.len() + tool.definition.description.len() + tool.input_schema.len()
        });
        (self.text.len() + tools.sum::<usize>()) as u64
    }

    /// Adds everything that is shown to a digest.
    pub(super) fn digest(&self, digest: &mut Sha256) {
        let mut field = |bytes: &[u8]| {
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        };
        for (skill, instructions) in self.shown_instructions() {
            field(&skill.to_le_bytes());
            field(instructions.as_bytes());
        }
        field(self.text.as_bytes());
        for (name, tool) in self.tools() {
            let definition = &tool.definition;
            field(name.as_bytes());
            field(definition.title.as_deref().unwrap_or_default().as_bytes());
            field(definition.description.as_bytes());
            field(tool.input_schema.as_bytes());
            let annotations = definition.annotations;
            field(&[
                definition.level as u8,
                u8::from(definition.return_direct),
                u8::from(definition.requires_approval),
                u8::from(annotations.read_only),
                u8::from(annotations.destructive),
                u8::from(annotations.idempotent),
                u8::from(annotations.open_world),
            ]);
        }
        digest.update((self.visible.len() as u64).to_le_bytes());
    }
}

impl OwnTools for TurnPart {
    fn shown(&self, index: ToolIndex) -> Option<(&str, &ToolDefinition)> {
        let (name, tool) = self.tool(index)?;
        Some((name, &tool.definition))
    }
}

impl PartialEq for TurnPart {
    /// Compares what a model would see; both are of one turn, so that a position means the same tool.
    fn eq(&self, other: &Self) -> bool {
        let Self {
            attached: _,
            visible,
            instructing,
            redacted: _,
            text,
            lists: _,
        } = self;
        *visible == other.visible && *instructing == other.instructing && *text == other.text
    }
}
