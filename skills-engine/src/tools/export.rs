use std::borrow::Cow;

use crate::skill::{ToolDefinition, shown};

/// The key of a tool's owner in `_meta` of a definition for MCP: the id of its skill.
pub const OWNER_KEY: &str = "skills-engine/skill";

/// Characters of an id before a description.
const MOST_ID: usize = 64;

/// What stands before the descriptions of tools where they are listed for a model. Nothing, by default.
///
/// Definitions themselves stay as their authors wrote them. For MCP each definition names its owner in `_meta`, under
/// [`OWNER_KEY`], whatever is set here.
///
/// # Examples
///
/// ```
/// use skills_engine::Engine;
/// use skills_engine::tools::ExportOptions;
///
/// let builder = Engine::builder().export(ExportOptions::default().owner(true).marks(true));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
#[must_use]
pub struct ExportOptions {
    /// Whether `[skill:ID] ` names the skill that a tool belongs to.
    pub owner: bool,
    /// Whether `[destructive] `, `[read-only] `, `[idempotent] ` and `[open-world] ` say what its author says of its
    /// effects. They come first.
    pub marks: bool,
}

impl ExportOptions {
    /// Sets whether the skill that a tool belongs to is named.
    pub fn owner(mut self, owner: bool) -> Self {
        self.owner = owner;
        self
    }

    /// Sets whether marks say what a tool's author says of its effects.
    pub fn marks(mut self, marks: bool) -> Self {
        self.marks = marks;
        self
    }

    /// The description of a tool as it is listed.
    pub(crate) fn description<'a>(self, skill: &str, tool: &'a ToolDefinition) -> Cow<'a, str> {
        let mut before = String::new();
        if self.marks {
            let annotations = tool.annotations;
            let marks = [
                (annotations.destructive, "[destructive] "),
                (annotations.read_only, "[read-only] "),
                (annotations.idempotent, "[idempotent] "),
                (annotations.open_world, "[open-world] "),
            ];
            before.extend(marks.iter().filter(|mark| mark.0).map(|mark| mark.1));
        }
        if self.owner {
            before.push_str("[skill:");
            before.push_str(&shown(skill, MOST_ID));
            before.push_str("] ");
        }
        if before.is_empty() {
            return Cow::Borrowed(&tool.description);
        }
        before.push_str(&tool.description);
        Cow::Owned(before)
    }
}
