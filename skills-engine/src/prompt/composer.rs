use std::borrow::Cow;
use std::fmt;

use super::standard::{write_restated, write_turn};
use crate::skill::{Level, Timestamp};
use crate::snapshot::AttributeStatus;

/// A skill, or what one opening of it added, as a composer is given it. All texts are as their authors wrote them, or
/// as a redactor left them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SkillText<'a> {
    /// Id.
    pub id: &'a str,
    /// Name for people.
    pub name: &'a str,
    /// What the skill is for.
    pub description: &'a str,
    /// Labels.
    pub tags: &'a [Cow<'static, str>],
    /// The level that is told of.
    pub level: Level,
    /// Attributes, those of higher levels last.
    pub attributes: Vec<AttributeText<'a>>,
    /// Tools, those of higher levels last.
    pub tools: Vec<ToolText<'a>>,
    /// Instructions, when this is where they belong.
    pub instructions: Option<&'a str>,
}

/// An attribute as a composer is given it. `Debug` leaves out the value of a sensitive one.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct AttributeText<'a> {
    /// Name.
    pub name: &'a str,
    /// What the value means.
    pub description: &'a str,
    /// The value of a constant, as JSON; a live value is told of in its own part.
    pub value: Option<&'a str>,
    /// The schema of the value, as JSON.
    pub schema: &'a str,
    /// Why there is no value, where a prompt is written for others than the model.
    pub status: Option<AttributeStatus>,
    /// Whether the value is for the model alone.
    pub sensitive: bool,
}

impl fmt::Debug for AttributeText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AttributeText")
            .field("name", &self.name)
            .field("value", &self.value.filter(|_| !self.sensitive))
            .field("status", &self.status)
            .field("sensitive", &self.sensitive)
            .finish_non_exhaustive()
    }
}

/// A tool as a composer is given it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ToolText<'a> {
    /// Wire name.
    pub name: &'a str,
    /// What the tool does.
    pub description: &'a str,
}

/// A live value as a composer is given it. `Debug` leaves out that of a sensitive attribute.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct LiveText<'a> {
    /// The skill's id.
    pub skill: &'a str,
    /// The attribute's name.
    pub attribute: &'a str,
    /// The value, as JSON.
    pub value: &'a str,
    /// The schema of the value, as JSON.
    pub schema: &'a str,
    /// Why there is no fresh value.
    pub status: Option<AttributeStatus>,
    /// When a value that is not fresh was obtained.
    pub as_of: Option<Timestamp>,
    /// Whether the value is for the model alone.
    pub sensitive: bool,
}

impl fmt::Debug for LiveText<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("LiveText")
            .field("skill", &self.skill)
            .field("attribute", &self.attribute)
            .field("value", &Some(self.value).filter(|_| !self.sensitive))
            .field("status", &self.status)
            .field("sensitive", &self.sensitive)
            .finish_non_exhaustive()
    }
}

/// What a skill has to say of the request of one turn, as a composer is given it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TurnText<'a> {
    /// The skill's id.
    pub skill: &'a str,
    /// What it says.
    pub instructions: &'a str,
    /// Wire names of its visible tools.
    pub tools: Vec<&'a str>,
}

impl<'a> TurnText<'a> {
    pub(crate) fn new(skill: &'a str, instructions: &'a str, tools: Vec<&'a str>) -> Self {
        Self {
            skill,
            instructions,
            tools,
        }
    }
}

/// What comes before the catalogue, as a composer is given it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct CatalogueText {
    /// Whether the model can open skills by itself.
    pub has_control: bool,
}

impl CatalogueText {
    pub(crate) fn new(has_control: bool) -> Self {
        Self { has_control }
    }
}

/// What is open, as a composer is given it to say it again after earlier messages have gone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RestatedText<'a> {
    /// The skills above METADATA, by id, as many as there is room for.
    pub skills: Vec<OpenText<'a>>,
    /// How many more are open.
    pub more: usize,
}

/// An open skill as a composer is given it to say that it is open.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OpenText<'a> {
    /// Id.
    pub id: &'a str,
    /// Its level.
    pub level: Level,
    /// Wire names of its visible tools, the first ones where there are many.
    pub tools: Vec<&'a str>,
    /// How many more are visible.
    pub more_tools: usize,
}

/// Writes the parts of a prompt.
///
/// The engine asks for each part once and keeps it, so the same input must give the same text. A composer is given
/// only what the rule lets through and a [`SnapshotComposer`](crate::snapshot::SnapshotComposer) selects, redacted, and
/// nothing before a view shows it; everything it is given may be hostile and must be escaped where it is written. What
/// is kept with the audit trail is written by it too, without the values of sensitive attributes.
pub trait PromptComposer: Send + Sync + 'static {
    /// What comes before the catalogue.
    fn open_catalogue(&self, catalogue: &CatalogueText, out: &mut String);

    /// A skill as every session sees it at first.
    fn skill(&self, skill: &SkillText<'_>, out: &mut String);

    /// What comes after the catalogue.
    fn close_catalogue(&self, out: &mut String);

    /// What opening a skill added.
    fn opened(&self, from: Level, skill: &SkillText<'_>, out: &mut String);

    /// What is open, after earlier messages of the conversation have gone. It has little room: where the text is too
    /// long, it is asked for with fewer skills.
    ///
    /// Written as [`StandardComposer`](super::StandardComposer) does unless a composer has its own way.
    fn restated(&self, open: &RestatedText<'_>, out: &mut String) {
        write_restated(open, out);
    }

    /// What skills have to say of the request of one turn; called only when there is anything, and for each view anew.
    ///
    /// Written as [`StandardComposer`](super::StandardComposer) does unless a composer has its own way.
    fn turn(&self, skills: &[TurnText<'_>], out: &mut String) {
        write_turn(skills, out);
    }

    /// The live values of a view; called only when there are any.
    fn live(&self, values: &[LiveText<'_>], out: &mut String);
}
