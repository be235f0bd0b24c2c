use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use super::bounds::ValueRedaction;
use super::cut::cut_strings;
use super::redactor::{Redaction, RedactionPlace, TextKind};
use crate::registry::{
    AttributeIndex, RegisteredAttribute, RegisteredTool, Registry, SkillIndex, ToolIndex,
};
use crate::skill::{Limits, SkillDefinition, ToolDefinition};

/// The texts of a registry as they may be shown. With a redactor each is redacted when it is first asked for, so that
/// nothing is handed to it that nobody sees.
#[derive(Debug)]
pub(crate) struct Words {
    redacted: Option<Redacted>,
}

#[derive(Debug)]
struct Redacted {
    redaction: Redaction,
    limits: Limits,
    skills: Box<[OnceLock<SkillDefinition>]>,
    instructions: Box<[OnceLock<Option<Box<str>>>]>,
    tools: Box<[OnceLock<RedactedTool>]>,
    attributes: Box<[OnceLock<RedactedAttribute>]>,
}

#[derive(Debug)]
struct RedactedTool {
    definition: ToolDefinition,
    input_schema: Box<str>,
}

#[derive(Debug)]
struct RedactedAttribute {
    description: Box<str>,
    schema: Box<str>,
    constant: Option<Box<str>>,
}

/// A tool as it may be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToolWords<'a> {
    pub(crate) definition: &'a ToolDefinition,
    pub(crate) input_schema: &'a str,
}

/// An attribute as it may be shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributeWords<'a> {
    pub(crate) description: &'a str,
    pub(crate) schema: &'a str,
    /// The value of a constant.
    pub(crate) constant: Option<&'a str>,
}

impl Words {
    pub(crate) fn new(registry: &Registry, redaction: Option<Redaction>, limits: &Limits) -> Self {
        let redacted = redaction.map(|redaction| Redacted {
            redaction,
            limits: limits.clone(),
            skills: registry.skills.iter().map(|_| OnceLock::new()).collect(),
            instructions: registry.skills.iter().map(|_| OnceLock::new()).collect(),
            tools: registry.tools.iter().map(|_| OnceLock::new()).collect(),
            attributes: registry
                .attributes
                .iter()
                .map(|_| OnceLock::new())
                .collect(),
        });
        Self { redacted }
    }

    /// The host's redactor.
    pub(crate) fn redaction(&self) -> Option<&Redaction> {
        self.redacted.as_ref().map(|redacted| &redacted.redaction)
    }

    /// Identity and texts of a skill.
    pub(crate) fn skill<'a>(
        &'a self,
        registry: &'a Registry,
        index: SkillIndex,
    ) -> &'a SkillDefinition {
        let definition = registry.skill(index).definition();
        let Some(redacted) = &self.redacted else {
            return definition;
        };
        redacted.skills[index as usize].get_or_init(|| {
            let id = &registry.skill(index).id;
            let of = |kind, text: &str| redacted.text(id, None, kind, text);
            let mut shown = definition.clone();
            shown.name = of(TextKind::Name, &definition.name);
            shown.description = of(TextKind::Description, &definition.description);
            shown.version = of(TextKind::Version, &definition.version);
            if let Some(hint) = &definition.argument_hint {
                // What a skill says of itself, as its description.
                shown.argument_hint = Some(of(TextKind::Description, hint));
            }
            for tag in &mut shown.tags {
                *tag = of(TextKind::Tag, tag);
            }
            shown
        })
    }

    /// The instructions of a skill, which are shown from CONTEXT on.
    pub(crate) fn instructions<'a>(
        &'a self,
        registry: &'a Registry,
        index: SkillIndex,
    ) -> Option<&'a str> {
        let skill = registry.skill(index);
        let instructions = skill.skill.instructions();
        let Some(redacted) = &self.redacted else {
            return instructions;
        };
        redacted.instructions[index as usize]
            .get_or_init(|| {
                let place = RedactionPlace::new(&skill.id, None, TextKind::Instructions);
                instructions.map(|text| redacted.redaction.text(text, &place).into())
            })
            .as_deref()
    }

    /// A tool.
    pub(crate) fn tool<'a>(&'a self, registry: &'a Registry, index: ToolIndex) -> ToolWords<'a> {
        let tool = registry.tool(index);
        let Some(redacted) = &self.redacted else {
            return ToolWords {
                definition: &tool.definition,
                input_schema: &tool.input_schema,
            };
        };
        let shown = redacted.tools[index as usize].get_or_init(|| {
            let skill = &registry.skill(tool.skill).id;
            redacted.tool(skill, &tool.name, &tool.definition, &tool.input_schema)
        });
        ToolWords {
            definition: &shown.definition,
            input_schema: &shown.input_schema,
        }
    }

    /// An attribute.
    pub(crate) fn attribute<'a>(
        &'a self,
        registry: &'a Registry,
        index: AttributeIndex,
    ) -> AttributeWords<'a> {
        let attribute = registry.attribute(index);
        let Some(redacted) = &self.redacted else {
            return AttributeWords {
                description: &attribute.definition.description,
                schema: &attribute.schema,
                constant: attribute.reader.constant(),
            };
        };
        let shown = redacted.attributes[index as usize]
            .get_or_init(|| redacted.attribute(registry, attribute));
        AttributeWords {
            description: &shown.description,
            schema: &shown.schema,
            constant: shown.constant.as_deref(),
        }
    }

    /// A tool of one turn alone, as it may be shown; `None` when that is as its hook gave it.
    pub(crate) fn of_turn(
        &self,
        registry: &Registry,
        tool: &RegisteredTool,
    ) -> Option<RegisteredTool> {
        let redacted = self.redacted.as_ref()?;
        let RegisteredTool {
            skill,
            name,
            definition,
            handler,
            input_schema,
        } = tool;
        let shown = redacted.tool(&registry.skill(*skill).id, name, definition, input_schema);
        Some(RegisteredTool {
            skill: *skill,
            name: Arc::clone(name),
            definition: shown.definition,
            handler: handler.clone(),
            input_schema: shown.input_schema.into(),
        })
    }

    /// The instructions of a skill for one turn alone.
    pub(crate) fn instructions_of_turn<'a>(
        &self,
        registry: &Registry,
        index: SkillIndex,
        text: &'a str,
    ) -> Cow<'a, str> {
        let place = |id| RedactionPlace::new(id, None, TextKind::Instructions);
        self.redacted
            .as_ref()
            .map_or(Cow::Borrowed(text), |redacted| {
                redacted
                    .redaction
                    .text(text, &place(&registry.skill(index).id))
            })
    }

    /// What redacts the values of a live attribute.
    pub(crate) fn of_value(
        &self,
        registry: &Registry,
        attribute: &RegisteredAttribute,
    ) -> Option<Arc<ValueRedaction>> {
        let redacted = self.redacted.as_ref()?;
        Some(Arc::new(ValueRedaction {
            redaction: redacted.redaction.clone(),
            skill: Arc::clone(&registry.skill(attribute.skill).id),
            attribute: Arc::clone(&attribute.name),
            sensitive: attribute.definition.sensitive,
        }))
    }
}

impl Redacted {
    fn text(
        &self,
        skill: &str,
        member: Option<&str>,
        kind: TextKind,
        text: &str,
    ) -> Cow<'static, str> {
        let place = RedactionPlace::new(skill, member, kind);
        Cow::Owned(self.redaction.text(text, &place).into_owned())
    }

    fn tool(
        &self,
        skill: &str,
        name: &str,
        definition: &ToolDefinition,
        input_schema: &str,
    ) -> RedactedTool {
        let of = |kind, text: &str| self.text(skill, Some(name), kind, text);
        let mut definition = definition.clone();
        definition.title = definition.title.map(|title| of(TextKind::Title, &title));
        definition.description = of(TextKind::Description, &definition.description);
        RedactedTool {
            definition,
            input_schema: self.schema(skill, name, input_schema),
        }
    }

    fn schema(&self, skill: &str, member: &str, schema: &str) -> Box<str> {
        let place = RedactionPlace::new(skill, Some(member), TextKind::Schema);
        let shown = self.redaction.schema(schema, &place);
        shown.map_or_else(|| schema.into(), String::into_boxed_str)
    }

    fn attribute(&self, registry: &Registry, attribute: &RegisteredAttribute) -> RedactedAttribute {
        let (skill, name) = (&registry.skill(attribute.skill).id, &attribute.name);
        let definition = &attribute.definition;
        let place = |kind| RedactionPlace::new(skill, Some(name), kind);
        let description = place(TextKind::Description);
        RedactedAttribute {
            description: self
                .redaction
                .text(&definition.description, &description)
                .into(),
            schema: self.schema(skill, name, &attribute.schema),
            constant: attribute.reader.constant().map(|json| {
                let place = place(TextKind::Value).sensitive(definition.sensitive);
                let shown = self.redaction.json(json, &place);
                self.bounded(shown.unwrap_or_else(|| json.to_owned()))
            }),
        }
    }

    /// A constant within the limits that all values are under.
    fn bounded(&self, json: String) -> Box<str> {
        let cut = cut_strings(json.as_bytes(), self.limits.max_string_length)
            .and_then(|cut| String::from_utf8(cut).ok());
        let json = cut.unwrap_or(json);
        if json.len() > self.limits.attribute {
            return "null".into();
        }
        json.into()
    }
}
