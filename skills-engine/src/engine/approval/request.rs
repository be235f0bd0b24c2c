use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use crate::skill::{
    Actor, Fault, Level, Principal, SessionId, Span, Timestamp, TurnId, random_hex,
};

/// Names one request for an approval: 128 random bits. It is for the host alone, and never part of what a model reads.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ApprovalToken(Arc<str>);

impl ApprovalToken {
    pub(super) fn random() -> Result<Self, Fault> {
        Ok(Self(random_hex()?.into()))
    }

    /// A token as a host got it back, such as from a form that it had made. Whether there is such a request shows when
    /// it is used.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self(text.into())
    }

    /// The token as text: 32 lower-case hex digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whoever reads logs is not to answer in another's name.
impl fmt::Debug for ApprovalToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("ApprovalToken(..)")
    }
}

/// What a person is asked to decide. Cheap to clone.
///
/// `Debug` leaves out the token, arguments and texts.
#[derive(Clone)]
#[non_exhaustive]
pub struct ApprovalRequest {
    /// Names the request.
    pub token: ApprovalToken,
    /// What it is about.
    pub kind: ApprovalKind,
    /// The session it belongs to.
    pub session: SessionId,
    /// The session's owner.
    pub principal: Principal,
    /// The turn it was made in, if it was in one.
    pub turn: Option<TurnId>,
    /// The call it was made for, if it was for one.
    pub call_id: Option<Arc<str>>,
    /// Why a person is asked, as a sentence for that person.
    pub why: Arc<str>,
    /// When it was made.
    pub created: Timestamp,
    /// Until when it can be decided and, once approved, used.
    pub expires: Timestamp,
    /// Whether the tool is one that its turn alone has: none of a registry, whatever its name.
    pub(super) is_of_turn: bool,
}

/// What a request for an approval is about.
#[derive(Clone)]
#[non_exhaustive]
pub enum ApprovalKind {
    /// Whether a tool may be called.
    #[non_exhaustive]
    Tool {
        /// The skill's id.
        skill: Arc<str>,
        /// The tool's name within its skill.
        tool: Arc<str>,
        /// The skill's version.
        skill_version: Arc<str>,
        /// The arguments, as JSON text; sensitive ones included, for a person must see what is to be done.
        arguments: Arc<str>,
    },
    /// Whether a skill may be opened.
    #[non_exhaustive]
    Opening {
        /// The skill's id.
        skill: Arc<str>,
        /// The skill's version.
        skill_version: Arc<str>,
        /// The level asked for.
        level: Level,
        /// For how long.
        span: Span,
        /// Who wants to open it.
        actor: Actor,
        /// Why, in the words of whoever wants it.
        reason: Arc<str>,
    },
    /// A question of a tool.
    #[non_exhaustive]
    Question {
        /// The id of the skill whose tool asks.
        skill: Arc<str>,
        /// The tool's name within its skill.
        tool: Arc<str>,
        /// The question.
        text: Arc<str>,
        /// A JSON Schema of the reply, if the tool gave one.
        schema: Option<Arc<Value>>,
    },
}

impl fmt::Debug for ApprovalRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            token: _,
            kind,
            session,
            principal,
            turn,
            call_id,
            why: _,
            created,
            expires,
            is_of_turn: _,
        } = self;
        formatter
            .debug_struct("ApprovalRequest")
            .field("kind", kind)
            .field("session", session)
            .field("principal", &principal.id())
            .field("turn", turn)
            .field("call_id", call_id)
            .field("created", created)
            .field("expires", expires)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ApprovalKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool {
                skill,
                tool,
                skill_version,
                arguments: _,
            } => formatter
                .debug_struct("Tool")
                .field("skill", skill)
                .field("tool", tool)
                .field("skill_version", skill_version)
                .finish_non_exhaustive(),
            Self::Opening {
                skill,
                skill_version,
                level,
                span,
                actor,
                reason: _,
            } => formatter
                .debug_struct("Opening")
                .field("skill", skill)
                .field("skill_version", skill_version)
                .field("level", level)
                .field("span", span)
                .field("actor", actor)
                .finish_non_exhaustive(),
            Self::Question {
                skill,
                tool,
                text: _,
                schema: _,
            } => formatter
                .debug_struct("Question")
                .field("skill", skill)
                .field("tool", tool)
                .finish_non_exhaustive(),
        }
    }
}
