use std::borrow::Cow;

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};
use serde_json::value::RawValue;

use super::AttributeStatus;
use crate::skill::{Level, SkillDefinition, Timestamp};

/// A skill at a level, as a composer of snapshots is given it: with those of its members that the rule lets through
/// and that were [selected](SnapshotComposer::select), and without the values of sensitive attributes.
///
/// Serialized, it is what [`JsonComposer`] writes.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SkillSnapshot<'a> {
    /// Id.
    pub id: &'a str,
    /// Name for people.
    pub name: &'a str,
    /// What the skill is for.
    pub description: &'a str,
    /// Version.
    pub version: &'a str,
    /// Labels.
    pub tags: &'a [Cow<'static, str>],
    /// The level it is shown at.
    pub level: Level,
    /// Attributes, in the order they are shown.
    #[serde(serialize_with = "by_name")]
    pub attributes: Vec<AttributeSnapshot<'a>>,
    /// Tools, in the order they are listed.
    pub tools: Vec<ToolSnapshot<'a>>,
    /// Instructions, followed by those for the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<Cow<'a, str>>,
}

/// An attribute as a composer of snapshots is given it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AttributeSnapshot<'a> {
    /// Name.
    #[serde(skip)]
    pub name: &'a str,
    /// The value; null with a status that says why.
    pub value: &'a RawValue,
    /// The JSON Schema of the value.
    pub schema: &'a RawValue,
    /// What the value means.
    pub description: &'a str,
    /// Why there is no fresh value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<AttributeStatus>,
    /// When a value that is not fresh was obtained.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "as_text")]
    pub as_of: Option<Timestamp>,
}

/// A tool as a composer of snapshots is given it.
#[derive(Clone, Copy, Debug, Serialize)]
#[non_exhaustive]
pub struct ToolSnapshot<'a> {
    /// Wire name.
    pub name: &'a str,
    /// What the tool does.
    pub description: &'a str,
}

fn by_name<S: Serializer>(
    attributes: &[AttributeSnapshot<'_>],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(attributes.len()))?;
    for attribute in attributes {
        map.serialize_entry(attribute.name, attribute)?;
    }
    map.end()
}

#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
fn as_text<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(time),
        None => serializer.serialize_none(),
    }
}

/// The members of a skill that the rule lets through, for a composer to choose from and to put in order. Others cannot
/// be added.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Members<'a> {
    /// Attributes, those of higher levels last.
    pub attributes: Vec<Member<'a>>,
    /// Tools, those of higher levels last.
    pub tools: Vec<Member<'a>>,
    /// Whether the instructions are shown; without effect where there are none to show.
    pub instructions: bool,
}

/// A member of a skill as a composer is given it to choose from.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Member<'a> {
    /// Name; the wire name of a tool.
    pub name: &'a str,
    /// What the value means, or what the tool does.
    pub description: &'a str,
    /// The level it is visible from.
    pub level: Level,
    pub(super) index: u32,
}

/// Chooses what is shown of the members that the rule lets through, and writes snapshots.
///
/// A composer changes shape, order and selection, and cannot show what it was not given. Its selection holds for
/// snapshots and for prompts; which tools are listed and can be called is up to the rule alone. The same input must
/// give the same output. Where a composer panics, or writes what is not JSON, nothing is shown of the skill; the
/// snapshot is `null`.
///
/// With a composer of the host's own, the digest of a view covers all snapshots, so that they are composed for each
/// new view.
///
/// # Examples
///
/// ```
/// use skills_engine::Level;
/// use skills_engine::skill::SkillDefinition;
/// use skills_engine::snapshot::{Members, SkillSnapshot, SnapshotComposer};
///
/// /// Leaves out what is internal, and writes names only.
/// struct Brief;
///
/// impl SnapshotComposer for Brief {
///     fn select(&self, _skill: &SkillDefinition, _level: Level, members: &mut Members<'_>) {
///         members.attributes.retain(|attribute| !attribute.name.starts_with("internal_"));
///     }
///
///     fn compose(&self, skill: &SkillSnapshot<'_>, out: &mut String) {
///         let names: Vec<_> = skill.tools.iter().map(|tool| tool.name).collect();
///         *out += &serde_json::json!({ "id": skill.id, "tools": names }).to_string();
///     }
/// }
/// ```
pub trait SnapshotComposer: Send + Sync + 'static {
    /// Takes members out, or puts them in another order. It is asked for whole skills, and for what one opening added:
    /// its choice of a member must not depend on which others there are.
    fn select(&self, skill: &SkillDefinition, level: Level, members: &mut Members<'_>) {
        let _ = (skill, level, members);
    }

    /// Writes the snapshot of a skill, as JSON text.
    fn compose(&self, skill: &SkillSnapshot<'_>, out: &mut String) {
        JsonComposer::default().compose(skill, out);
    }
}

/// The composer that engines use unless they are given another:
/// `{"id","name","description","version","tags","level","attributes":{name:{"value","schema","description",
/// "status"?,"as_of"?}},"tools":[{"name","description"}],"instructions"?}`.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct JsonComposer;

impl SnapshotComposer for JsonComposer {
    fn compose(&self, skill: &SkillSnapshot<'_>, out: &mut String) {
        // Maps with text keys and checked raw values are all there is to write, so there is nothing to fail.
        let json = serde_json::to_string(skill);
        out.push_str(json.as_deref().unwrap_or("null"));
    }
}
