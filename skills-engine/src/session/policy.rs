use std::fmt;

use crate::skill::{Actor, Level, Principal, SessionId, Span};

/// Whether the model of a session may open and close skills by itself, through the tools of `psl-skill`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum PslControl {
    /// It may.
    #[default]
    Model,
    /// It may where the session's principal has one of these roles.
    Roles(Vec<String>),
    /// It may not: only the host and people open skills.
    HostOnly,
}

impl PslControl {
    /// Roles whose principals have a model that may open skills.
    pub fn roles<R: Into<String>>(roles: impl IntoIterator<Item = R>) -> Self {
        Self::Roles(roles.into_iter().map(Into::into).collect())
    }

    pub(crate) fn lets_model(&self, principal: &Principal) -> bool {
        match self {
            Self::Model => true,
            Self::Roles(roles) => principal
                .roles()
                .any(|role| roles.iter().any(|named| named == role)),
            Self::HostOnly => false,
        }
    }
}

/// What someone wants to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Wanted {
    /// Set the level of a skill.
    Set {
        /// The level wanted.
        level: Level,
        /// For how long.
        span: Span,
    },
    /// Move the session's ceiling of a skill; `None` lifts it.
    Limit {
        /// The ceiling wanted.
        level: Option<Level>,
    },
    /// Take back what was granted.
    Clear,
}

/// A change of what a session sees, as a policy is asked about it.
///
/// The rule's own refusals come beside the policy's, whatever it answers: a higher actor holds the skill, a ceiling caps
/// it, the model may not open it or any.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact of its own that a policy may go by"
)]
#[non_exhaustive]
pub struct PolicyQuestion<'a> {
    /// The session's id.
    pub session: &'a SessionId,
    /// The session's owner, with the roles it has now.
    pub principal: &'a Principal,
    /// Who wants the change.
    pub actor: Actor,
    /// The skill's id; `None` where all skills are cleared.
    pub skill: Option<&'a str>,
    /// What is wanted.
    pub wanted: Wanted,
    /// The skill's effective level now.
    pub level: Level,
    /// Whether the change would keep the skill open for longer than it is: what was opened for a time, or for a turn, is
    /// no higher with it now, and is higher later.
    pub prolongs: bool,
    /// The lowest ceiling of the skill.
    pub ceiling: Option<Level>,
    /// Whether the skill's author keeps it from being opened by the model.
    pub host_only: bool,
    /// Whether the level wanted shows a tool that is marked destructive and is not shown now, or not for as long.
    pub shows_destructive: bool,
    /// Whether a tool that reaches into the open world has answered in this turn, so that what the model wants may
    /// be what a stranger wrote.
    pub untrusted_seen: bool,
    /// Why it is wanted, in the words of whoever wants it.
    pub reason: &'a str,
}

impl PolicyQuestion<'_> {
    /// Whether the change would raise the skill's level, now or later.
    #[must_use]
    pub fn raises(&self) -> bool {
        match self.wanted {
            Wanted::Set { level, .. } => level > self.level || self.prolongs,
            Wanted::Limit { level } => self
                .ceiling
                .is_some_and(|ceiling| level.is_none_or(|level| level > ceiling)),
            Wanted::Clear => false,
        }
    }
}

/// What a policy says of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyAnswer {
    /// Nothing speaks against it.
    Allow,
    /// It is refused. The text goes to whoever asked, the model included: one sentence that says why, and one that
    /// says what would be allowed.
    Refuse(String),
    /// A person must approve it first. The text tells that person why.
    Ask(String),
}

/// Guards every change of what a session sees, whoever makes it; what the host lowers takes effect unasked.
///
/// Quick, and without waiting: it is asked on the path of each change. A policy that panics refuses.
pub trait PslPolicy: Send + Sync + 'static {
    /// Says whether a change may be made.
    fn check(&self, question: &PolicyQuestion<'_>) -> PolicyAnswer;
}

/// The default: nothing speaks against what the rule lets through. The model may open any skill of its own session
/// that is not for the host alone.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct StandardPolicy;

impl PslPolicy for StandardPolicy {
    fn check(&self, _question: &PolicyQuestion<'_>) -> PolicyAnswer {
        PolicyAnswer::Allow
    }
}

/// Like [`StandardPolicy`], and once a tool that reaches into the open world has answered in a turn, a person must
/// approve when the model opens destructive tools.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct AskWhenUntrusted;

impl PslPolicy for AskWhenUntrusted {
    fn check(&self, question: &PolicyQuestion<'_>) -> PolicyAnswer {
        let is_suspicious =
            question.actor == Actor::Model && question.untrusted_seen && question.shows_destructive;
        if is_suspicious {
            let skill = question.skill.unwrap_or_default();
            return PolicyAnswer::Ask(format!(
                "the model wants to open `{skill}`, which has destructive tools, after it read something from outside"
            ));
        }
        PolicyAnswer::Allow
    }
}

impl fmt::Debug for dyn PslPolicy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("PslPolicy")
    }
}
