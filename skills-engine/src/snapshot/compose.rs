use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::value::RawValue;

use super::live::LiveValues;
use crate::registry::{AttributeIndex, RegisteredSkill, Registry};
use crate::skill::Level;

/// A tool as a snapshot names it.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct SnapshotTool<'a> {
    /// Its wire name.
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
}

#[derive(Serialize)]
struct Snapshot<'a> {
    id: &'a str,
    name: &'a str,
    description: &'a str,
    version: &'a str,
    tags: &'a [std::borrow::Cow<'static, str>],
    level: Level,
    attributes: Attributes<'a>,
    tools: &'a [SnapshotTool<'a>],
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<&'a str>,
}

#[derive(Serialize)]
struct Observation<'a> {
    value: &'a RawValue,
    schema: &'a RawValue,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<super::AttributeStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    as_of: Option<String>,
}

struct Attributes<'a> {
    registry: &'a Registry,
    visible: &'a [AttributeIndex],
    live: &'a LiveValues,
}

impl Serialize for Attributes<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.visible.len()))?;
        for index in self.visible {
            let attribute = self.registry.attribute(*index);
            let (json, status, as_of) = match (attribute.reader.constant(), self.live.get(*index)) {
                (Some(json), _) => (json, None, None),
                (None, Some((entry, json))) => (json, entry.status, entry.as_of),
                (None, None) => ("null", None, None),
            };
            let observation = Observation {
                value: raw(json),
                schema: raw(&attribute.schema),
                description: &attribute.definition.description,
                status,
                as_of: as_of.map(|time| time.to_string()),
            };
            map.serialize_entry(&*attribute.name, &observation)?;
        }
        map.end()
    }
}

fn raw(json: &str) -> &RawValue {
    serde_json::from_str(json).unwrap_or(RawValue::NULL)
}

/// The JSON of one skill: identity, and of its members those that are given. `of_turn` are instructions for the turn
/// alone, which follow those for all.
pub(crate) fn compose_snapshot(
    registry: &Registry,
    skill: &RegisteredSkill,
    level: Level,
    attributes: &[AttributeIndex],
    tools: &[SnapshotTool<'_>],
    of_turn: Option<&str>,
    live: &LiveValues,
) -> String {
    let definition = skill.definition();
    let own = skill
        .skill
        .instructions()
        .filter(|_| level >= Level::Context);
    let instructions: Vec<_> = own.into_iter().chain(of_turn).collect();
    let instructions = (!instructions.is_empty()).then(|| instructions.join("\n\n"));
    let snapshot = Snapshot {
        id: &skill.id,
        name: &definition.name,
        description: &definition.description,
        version: &definition.version,
        tags: &definition.tags,
        level,
        attributes: Attributes {
            registry,
            visible: attributes,
            live,
        },
        tools,
        instructions: instructions.as_deref(),
    };
    // Maps with text keys and checked raw values are all there is to write, so there is nothing to fail.
    serde_json::to_string(&snapshot).unwrap_or_else(|_| "null".to_owned())
}
