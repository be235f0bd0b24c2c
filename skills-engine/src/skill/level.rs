use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How much of a skill a session has opened. Ordered: `Metadata < Context < Complete`.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the three levels are the model of the whole framework"
)]
pub enum Level {
    /// What the skill is: enough to decide whether it matters.
    #[default]
    Metadata,
    /// What the skill knows and commonly does.
    Context,
    /// Everything the skill offers.
    Complete,
}

impl Level {
    /// All levels, lowest first.
    pub const ALL: [Self; 3] = [Self::Metadata, Self::Context, Self::Complete];

    /// The name on the wire: `METADATA`, `CONTEXT` or `COMPLETE`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Metadata => "METADATA",
            Self::Context => "CONTEXT",
            Self::Complete => "COMPLETE",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

/// A text that names no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a level; use METADATA, CONTEXT or COMPLETE")]
pub struct UnknownLevel(pub(crate) String);

impl FromStr for Level {
    type Err = UnknownLevel;

    /// Reads a level by its wire name, in any case.
    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        Self::ALL
            .into_iter()
            .find(|level| level.as_str().eq_ignore_ascii_case(text))
            .ok_or_else(|| UnknownLevel(text.chars().take(40).collect()))
    }
}

/// When a member of a skill is visible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a fourth way would change the rule, and every match must see it"
)]
pub enum Expose {
    /// When the session's level of the skill reaches the member's level.
    #[default]
    Psl,
    /// Whatever the session's level.
    Always,
    /// Never to a model; it stays an ordinary Rust method.
    Disabled,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_displayed_in_the_width_asked_for() {
        assert_eq!(format!("{:<8}|", Level::Context), "CONTEXT |");
    }
}
