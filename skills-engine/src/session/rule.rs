use serde::Serialize;

use crate::skill::{Expose, Level, Timestamp};

use super::Standing;
use super::standing::{capped, uncapped};

/// What the rule needs to know of a skill.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillFacts {
    /// The level every session starts at.
    pub base: Level,
    /// Whether the skill was switched off for models.
    pub switched_off: bool,
}

impl SkillFacts {
    /// A skill that is switched on.
    #[must_use]
    pub const fn new(base: Level) -> Self {
        Self {
            base,
            switched_off: false,
        }
    }

    /// Says whether it is switched off.
    #[must_use]
    pub const fn switched_off(mut self, switched_off: bool) -> Self {
        self.switched_off = switched_off;
        self
    }
}

/// What the rule needs to know of a tool or attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberFacts {
    /// From which level on it is visible.
    pub level: Level,
    /// Whether the level decides.
    pub expose: Expose,
}

impl MemberFacts {
    /// A member with its level and how it is exposed.
    #[must_use]
    pub const fn new(level: Level, expose: Expose) -> Self {
        Self { level, expose }
    }
}

/// What the rule says of one member in one session at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "decision", content = "detail", rename_all = "snake_case")]
#[expect(
    clippy::exhaustive_enums,
    reason = "these are all answers of the rule, and every match must see a new one"
)]
pub enum Decision {
    /// The model may see and use it.
    Visible,
    /// The level is too low.
    Hidden {
        /// The effective level.
        have: Level,
        /// The level the member needs.
        need: Level,
    },
    /// The skill takes no part; to a model it looks as if it did not exist.
    Denied(Why),
    /// Never shown to a model; to a model it looks as if it did not exist.
    Disabled,
    /// No such skill, or no such member.
    Unknown,
}

/// Why a skill is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// The skill is switched off.
    SwitchedOff,
}

/// The effective level of a skill: the least of all ceilings and of what the grants give, `turn` being the
/// highest live grant of this turn.
#[must_use]
pub fn effective(
    base: Level,
    standing: &Standing<'_>,
    turn: Option<Level>,
    now: Timestamp,
) -> Level {
    let level = uncapped(standing.grants(), base, turn, now);
    capped(standing.ceiling(), level)
}

/// The rule: whether a model sees a member. Pure, without allocation; nothing else decides.
///
/// `None` stands for a skill or member that does not exist; `turn` is the highest live grant of this turn.
#[must_use]
pub fn decide(
    skill: Option<&SkillFacts>,
    member: Option<&MemberFacts>,
    standing: &Standing<'_>,
    turn: Option<Level>,
    now: Timestamp,
) -> Decision {
    let (Some(skill), Some(member)) = (skill, member) else {
        return Decision::Unknown;
    };
    if skill.switched_off {
        return Decision::Denied(Why::SwitchedOff);
    }
    let is_open = match member.expose {
        Expose::Disabled => return Decision::Disabled,
        Expose::Always => standing
            .ceiling()
            .is_none_or(|ceiling| ceiling >= member.level),
        Expose::Psl => effective(skill.base, standing, turn, now) >= member.level,
    };
    if is_open {
        return Decision::Visible;
    }
    Decision::Hidden {
        have: effective(skill.base, standing, turn, now),
        need: member.level,
    }
}
