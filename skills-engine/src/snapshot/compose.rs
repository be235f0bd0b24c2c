use std::borrow::Cow;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::composer::{
    AttributeSnapshot, JsonComposer, Member, Members, SkillSnapshot, SnapshotComposer, ToolSnapshot,
};
use super::live::LiveValues;
use super::slot::AttributeStatus;
use super::words::Words;
use crate::registry::{AttributeIndex, Registry, SkillIndex, ToolIndex};
use crate::skill::{Level, ToolDefinition};

/// Chooses and writes what is shown of skills, in the host's way if it has one.
pub(crate) struct Snapshots {
    own: Option<Arc<dyn SnapshotComposer>>,
}

/// What snapshots are made from.
#[derive(Clone, Copy)]
pub(crate) struct Material<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) words: &'a Words,
    /// The wire name of each tool.
    pub(crate) names: &'a [Arc<str>],
    /// Tools that are in no registry.
    pub(crate) own: Option<&'a dyn OwnTools>,
}

/// The tools of one turn alone, whose positions go on where those of the registry end.
pub(crate) trait OwnTools {
    /// A tool as it may be shown, with its wire name; `None` for one of the registry.
    fn shown(&self, index: ToolIndex) -> Option<(&str, &ToolDefinition)>;
}

impl<'a> Material<'a> {
    /// The wire name of a tool, and the tool as it may be shown.
    pub(crate) fn tool(self, index: ToolIndex) -> (&'a str, &'a ToolDefinition) {
        let own = self.own.and_then(|own| own.shown(index));
        own.unwrap_or_else(|| {
            let words = self.words.tool(self.registry, index);
            (&self.names[index as usize], words.definition)
        })
    }
}

/// A skill at a level, and those of its members that are shown.
#[derive(Clone, Debug)]
pub(crate) struct Chosen {
    pub(crate) skill: SkillIndex,
    pub(crate) level: Level,
    pub(crate) attributes: Vec<AttributeIndex>,
    pub(crate) tools: Vec<ToolIndex>,
    pub(crate) instructions: bool,
}

impl Snapshots {
    pub(crate) fn new(own: Option<Arc<dyn SnapshotComposer>>) -> Self {
        Self { own }
    }

    /// Whether the host has its own way.
    pub(crate) fn is_own(&self) -> bool {
        self.own.is_some()
    }

    /// Leaves of what the rule lets through what is to be shown.
    pub(crate) fn select(&self, material: Material<'_>, visible: Chosen) -> Chosen {
        let Some(composer) = &self.own else {
            return visible;
        };
        let Material {
            registry, words, ..
        } = material;
        let Chosen { skill, level, .. } = visible;
        let mut members = Members {
            attributes: visible
                .attributes
                .iter()
                .map(|index| Member {
                    name: &registry.attribute(*index).name,
                    description: words.attribute(registry, *index).description,
                    level: registry.attribute(*index).definition.level,
                    index: *index,
                })
                .collect(),
            tools: visible
                .tools
                .iter()
                .map(|index| {
                    let (name, definition) = material.tool(*index);
                    Member {
                        name,
                        description: &definition.description,
                        level: definition.level,
                        index: *index,
                    }
                })
                .collect(),
            instructions: visible.instructions,
        };
        let selected = catch_unwind(AssertUnwindSafe(|| {
            composer.select(words.skill(registry, skill), level, &mut members);
        }));
        if selected.is_err() {
            tracing::error!(skill = %registry.skill(skill).id, "the composer of snapshots panicked");
            return Chosen {
                attributes: Vec::new(),
                tools: Vec::new(),
                instructions: false,
                ..visible
            };
        }
        // A member of another skill, kept from another call, is none of this one.
        let those = |selected: Vec<Member<'_>>, visible: &[u32]| -> Vec<u32> {
            let mut left: HashSet<_> = visible.iter().copied().collect();
            let indices = selected.into_iter().map(|member| member.index);
            indices.filter(|index| left.remove(index)).collect()
        };
        Chosen {
            attributes: those(members.attributes, &visible.attributes),
            tools: those(members.tools, &visible.tools),
            instructions: members.instructions && visible.instructions,
            ..visible
        }
    }

    /// The JSON of one skill: identity, and what was chosen of its members. `of_turn` are instructions for the turn alone,
    /// which follow those for all.
    pub(crate) fn compose(
        &self,
        material: Material<'_>,
        chosen: &Chosen,
        of_turn: Option<&str>,
        live: &LiveValues,
    ) -> String {
        let snapshot = snapshot(material, chosen, of_turn, live);
        let mut out = String::new();
        let Some(composer) = &self.own else {
            JsonComposer::default().compose(&snapshot, &mut out);
            return out;
        };
        let result = catch_unwind(AssertUnwindSafe(|| composer.compose(&snapshot, &mut out)));
        if result.is_err() || serde_json::from_str::<IgnoredAny>(&out).is_err() {
            tracing::error!(
                skill = snapshot.id,
                "the composer of snapshots wrote no JSON"
            );
            return "null".to_owned();
        }
        out
    }
}

fn snapshot<'a>(
    material: Material<'a>,
    chosen: &Chosen,
    of_turn: Option<&'a str>,
    live: &'a LiveValues,
) -> SkillSnapshot<'a> {
    let Material {
        registry, words, ..
    } = material;
    let definition = words.skill(registry, chosen.skill);
    let attributes = chosen.attributes.iter().map(|index| {
        let attribute = registry.attribute(*index);
        let told = words.attribute(registry, *index);
        let (json, status, as_of) = match (told.constant, live.get(*index)) {
            _ if attribute.definition.sensitive => ("null", Some(AttributeStatus::Redacted), None),
            (Some(json), _) => (json, None, None),
            (None, Some((entry, json))) => (json, entry.status, entry.as_of),
            (None, None) => ("null", None, None),
        };
        AttributeSnapshot {
            name: &attribute.name,
            value: raw(json),
            schema: raw(told.schema),
            description: told.description,
            status,
            as_of,
        }
    });
    let tools = chosen.tools.iter().map(|index| {
        let (name, definition) = material.tool(*index);
        ToolSnapshot {
            name,
            description: &definition.description,
        }
    });
    let instructions = || match (words.instructions(registry, chosen.skill), of_turn) {
        (Some(own), Some(of_turn)) => Some(Cow::Owned(format!("{own}\n\n{of_turn}"))),
        (own, of_turn) => own.or(of_turn).map(Cow::Borrowed),
    };
    SkillSnapshot {
        id: &registry.skill(chosen.skill).id,
        name: &definition.name,
        description: &definition.description,
        version: &definition.version,
        tags: &definition.tags,
        level: chosen.level,
        attributes: attributes.collect(),
        tools: tools.collect(),
        instructions: chosen.instructions.then(instructions).flatten(),
    }
}

fn raw(json: &str) -> &RawValue {
    serde_json::from_str(json).unwrap_or(RawValue::NULL)
}
