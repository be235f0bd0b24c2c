use std::borrow::Cow;

use crate::skill::{Level, Timestamp};
use crate::snapshot::AttributeStatus;

/// A skill, or what one opening of it added, as a composer is given it. All texts are as their authors wrote them.
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

/// An attribute as a composer is given it.
#[derive(Clone, Copy, Debug)]
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

/// A live value as a composer is given it.
#[derive(Clone, Copy, Debug)]
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
}

/// Writes the parts of a prompt.
///
/// The engine asks for each part once and keeps it, so the same input must give the same text. A composer is given
/// only what the rule lets through; everything it is given may be hostile and must be escaped where it is written.
pub trait PromptComposer: Send + Sync + 'static {
    /// What comes before the catalogue; `has_control` says whether the model can open skills by itself.
    fn open_catalogue(&self, has_control: bool, out: &mut String);

    /// A skill as every session sees it at first.
    fn skill(&self, skill: &SkillText<'_>, out: &mut String);

    /// What comes after the catalogue.
    fn close_catalogue(&self, out: &mut String);

    /// What opening a skill added.
    fn opened(&self, from: Level, skill: &SkillText<'_>, out: &mut String);

    /// The live values of a view; called only when there are any.
    fn live(&self, values: &[LiveText<'_>], out: &mut String);
}
