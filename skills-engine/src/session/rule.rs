use serde::Serialize;

use crate::skill::{Expose, Level, Timestamp};

use super::standing::{capped, uncapped};
use super::{Standing, TurnStanding};

/// What the rule needs to know of a skill, for one principal and one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillFacts {
    /// The level every session starts at.
    pub base: Level,
    /// Why the skill takes no part, if it takes none.
    pub denied: Option<Why>,
    /// Whether the model may not open it.
    pub host_only: bool,
    /// The highest level that the principal's roles give; `None` where roles cap nothing.
    pub role_ceiling: Option<Level>,
    /// The level of the parent session, in a child session.
    pub parent_ceiling: Option<Level>,
}

impl SkillFacts {
    /// A skill that takes part, and that nothing but its session caps.
    #[must_use]
    pub const fn new(base: Level) -> Self {
        Self {
            base,
            denied: None,
            host_only: false,
            role_ceiling: None,
            parent_ceiling: None,
        }
    }

    /// Says why it takes no part.
    #[must_use]
    pub const fn denied(mut self, why: Option<Why>) -> Self {
        self.denied = why;
        self
    }

    /// Says whether the model may not open it.
    #[must_use]
    pub const fn host_only(mut self, host_only: bool) -> Self {
        self.host_only = host_only;
        self
    }

    /// Sets the highest level that the principal's roles give.
    #[must_use]
    pub const fn role_ceiling(mut self, ceiling: Option<Level>) -> Self {
        self.role_ceiling = ceiling;
        self
    }

    /// Sets the level of the parent session.
    #[must_use]
    pub const fn parent_ceiling(mut self, ceiling: Option<Level>) -> Self {
        self.parent_ceiling = ceiling;
        self
    }

    /// What caps the skill from outside of its session: the lower one of roles and parent.
    #[must_use]
    pub fn outer_ceiling(&self) -> Option<Level> {
        least(self.role_ceiling, self.parent_ceiling)
    }

    /// What caps the skill in all: the lowest of session, roles and parent.
    #[must_use]
    pub fn ceiling(&self, standing: &Standing<'_>) -> Option<Level> {
        least(self.outer_ceiling(), standing.ceiling())
    }
}

/// What the rule needs to know of a tool or attribute, for one principal and one turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberFacts {
    /// From which level on it is visible.
    pub level: Level,
    /// Whether the level decides.
    pub expose: Expose,
    /// Why the member takes no part, if it takes none.
    pub denied: Option<Why>,
    /// The highest level that the principal's roles give for this member; `None` where they cap nothing.
    pub ceiling: Option<Level>,
}

impl MemberFacts {
    /// A member with its level and how it is exposed.
    #[must_use]
    pub const fn new(level: Level, expose: Expose) -> Self {
        Self {
            level,
            expose,
            denied: None,
            ceiling: None,
        }
    }

    /// Says why it takes no part.
    #[must_use]
    pub const fn denied(mut self, why: Option<Why>) -> Self {
        self.denied = why;
        self
    }

    /// Sets the highest level that the principal's roles give for it.
    #[must_use]
    pub const fn ceiling(mut self, ceiling: Option<Level>) -> Self {
        self.ceiling = ceiling;
        self
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
    /// It takes no part; to a model it looks as if it did not exist.
    Denied(Why),
    /// Never shown to a model; to a model it looks as if it did not exist.
    Disabled,
    /// No such skill, or no such member.
    Unknown,
}

/// Why a skill, or a member of it, is denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Why {
    /// The skill is switched off.
    SwitchedOff,
    /// The skill is for code alone.
    CodeOnly,
    /// The skill needs something that this machine lacks.
    Unmet,
    /// None of the principal's roles covers it.
    NoRole,
    /// An allow-list leaves it out.
    NotListed,
    /// The model of this session may not open skills by itself.
    NoControl,
    /// The parent session does not see it.
    Parent,
    /// The skill does not support the request of this turn.
    NotSupported,
    /// A hook of the skill failed when this turn began.
    HookFailed,
    /// The skill took no part when this turn began, so its hooks were not asked.
    NotAsked,
    /// The skill offers other tools in this turn.
    NotSelected,
    /// The session sees no skill that the tool could load or read from.
    NothingToLoad,
    /// A skill that is open allows other tools alone.
    NotAllowed,
}

impl Why {
    /// The name on the wire, in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SwitchedOff => "switched_off",
            Self::CodeOnly => "code_only",
            Self::Unmet => "unmet",
            Self::NoRole => "no_role",
            Self::NotListed => "not_listed",
            Self::NoControl => "no_control",
            Self::Parent => "parent",
            Self::NotSupported => "not_supported",
            Self::HookFailed => "hook_failed",
            Self::NotAsked => "not_asked",
            Self::NotSelected => "not_selected",
            Self::NothingToLoad => "nothing_to_load",
            Self::NotAllowed => "not_allowed",
        }
    }
}

/// The effective level of a skill: the least of all ceilings and of what the grants give.
#[must_use]
pub fn effective(
    skill: &SkillFacts,
    standing: &Standing<'_>,
    turn: TurnStanding,
    now: Timestamp,
) -> Level {
    let level = uncapped(standing.grants(), skill.base, turn.level, now);
    capped(skill.ceiling(standing), level)
}

/// The rule: whether a model sees a member. Pure, without allocation; nothing else decides.
///
/// `None` stands for a skill or member that does not exist; `turn` is what this turn's grants open.
#[must_use]
pub fn decide(
    skill: Option<&SkillFacts>,
    member: Option<&MemberFacts>,
    standing: &Standing<'_>,
    turn: TurnStanding,
    now: Timestamp,
) -> Decision {
    let (Some(skill), Some(member)) = (skill, member) else {
        return Decision::Unknown;
    };
    if let Some(why) = skill.denied.or(member.denied) {
        return Decision::Denied(why);
    }
    let is_under = |ceiling: Option<Level>| ceiling.is_none_or(|ceiling| ceiling >= member.level);
    let is_open = match member.expose {
        Expose::Disabled => return Decision::Disabled,
        Expose::Always => {
            is_under(skill.ceiling(standing)) && is_opened(*skill, *standing, turn, now)
        }
        Expose::Psl => effective(skill, standing, turn, now) >= member.level,
    };
    if is_open && is_under(member.ceiling) {
        return Decision::Visible;
    }
    Decision::Hidden {
        have: capped(member.ceiling, effective(skill, standing, turn, now)),
        need: member.level,
    }
}

/// Whether what is exposed always is shown: at once, or, where the model may not open the skill, once someone
/// else did.
pub(crate) fn is_opened(
    skill: SkillFacts,
    standing: Standing<'_>,
    turn: TurnStanding,
    now: Timestamp,
) -> bool {
    !skill.host_only || turn.is_opened_by_other || standing.is_opened_by_other(now)
}

/// The lower one of two ceilings.
pub(crate) fn least(one: Option<Level>, other: Option<Level>) -> Option<Level> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
