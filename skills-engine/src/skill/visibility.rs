use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use serde_json::Value;

use super::{
    Actor, BoxFuture, Fault, Level, Question, Timestamp, ToolContext, ToolOutput, TurnScope,
};

/// How long a grant lasts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Span {
    /// Until it is cleared, replaced, or the session ends.
    #[default]
    UntilCleared,
    /// For a time, in whole milliseconds.
    Ttl(Duration),
    /// Until the turn that made it ends.
    Turn,
}

/// A wish to set the level of a skill.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SetVisibility {
    /// The skill's id.
    pub skill: String,
    /// The level wanted.
    pub level: Level,
    /// For how long.
    pub span: Span,
    /// Why; goes to the audit trail.
    pub reason: String,
    /// The call that wishes it, if one does.
    pub(crate) call: Option<ToolContext>,
}

impl SetVisibility {
    /// A wish for a level until it is cleared, without a reason.
    pub fn new(skill: impl Into<String>, level: Level) -> Self {
        Self {
            skill: skill.into(),
            level,
            span: Span::UntilCleared,
            reason: String::new(),
            call: None,
        }
    }

    /// Sets for how long.
    #[must_use]
    pub fn span(mut self, span: Span) -> Self {
        self.span = span;
        self
    }

    /// Sets why.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }
}

/// What setting a level did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct VisibilityChange {
    /// The skill's id.
    pub skill: String,
    /// The effective level before.
    pub old_level: Level,
    /// The effective level now.
    pub new_level: Level,
    /// `until_cleared`, `ttl` or `turn`.
    pub span: &'static str,
    /// When it ends by itself.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "optional_time"
    )]
    pub expires_at: Option<Timestamp>,
    /// The ceiling that keeps the level below the one asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capped_by: Option<Level>,
    /// True when the request would have changed nothing, and nothing was changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub already_open: bool,
    /// Wire names of the tools that became visible.
    pub new_tools: Vec<String>,
    /// Names of the attributes that became visible.
    pub new_attributes: Vec<String>,
    /// The skill's instructions, where the model opened it and its prompt does not hold them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// A grant or floor as it is shown to whoever asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct StandingGrant {
    /// The skill's id.
    pub skill: String,
    /// Its level.
    pub level: Level,
    /// Who granted it.
    pub actor: Actor,
    /// `until_cleared`, `ttl` or `turn`.
    pub span: &'static str,
    /// When it ends by itself.
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "optional_time"
    )]
    pub expires_at: Option<Timestamp>,
}

/// What clearing did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Cleared {
    /// What went.
    pub cleared: Vec<StandingGrant>,
    /// What remains, because it belongs to a higher actor.
    pub remaining: Vec<StandingGrant>,
}

/// The standing of one skill in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkillVisibility {
    /// The skill's id.
    pub skill: String,
    /// The effective level.
    pub level: Level,
    /// The level the session started at.
    pub base: Level,
    /// What caps it, if anything does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Level>,
    /// The grants that stand.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub grants: Vec<StandingGrant>,
}

/// A skill found by search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SkillMatch {
    /// The skill's id.
    pub skill: String,
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// Its level in this session.
    pub level: Level,
}

/// Only the engine implements [`Visibility`], so that it can offer more in a later release.
pub(crate) mod sealed {
    pub trait Sealed {}
}

/// What a tool can see and change of its own session; implemented by the engine alone.
pub trait Visibility: sealed::Sealed + Send + Sync {
    /// Sets the level of a skill, as the actor of the call.
    fn set(&self, request: SetVisibility) -> BoxFuture<'_, Result<VisibilityChange, Fault>>;

    /// The standing of every skill this session can know of, by id.
    fn get(&self) -> BoxFuture<'_, Result<Vec<SkillVisibility>, Fault>>;

    /// Clears what the actor of the call, and lower ones, granted: of one skill, or of all.
    fn clear<'a>(&'a self, skill: Option<&'a str>) -> BoxFuture<'a, Result<Cleared, Fault>>;

    /// Finds skills for a query, best first.
    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Vec<SkillMatch>, Fault>>;
}

/// What a call reaches of its turn; implemented by the engine, and where there is none.
pub(crate) trait TurnAccess: Visibility {
    /// The turn.
    fn scope(&self) -> &Arc<TurnScope>;

    /// Opens a skill and answers what it holds, once.
    fn load<'a>(
        &'a self,
        cx: &'a ToolContext,
        skill: &'a str,
        arguments: &'a str,
    ) -> BoxFuture<'a, Result<String, Fault>>;

    /// Lists skills, with the number of those that are passed over.
    fn list(&self, offset: u64) -> Result<String, Fault>;

    /// Reads a part of a file of an open skill.
    fn read<'a>(
        &'a self,
        skill: &'a str,
        path: &'a str,
        offset: u64,
        limit: Option<u64>,
    ) -> BoxFuture<'a, Result<ToolOutput, Fault>>;

    /// Asks the person the session belongs to.
    fn ask<'a>(
        &'a self,
        cx: &'a ToolContext,
        question: Question,
    ) -> BoxFuture<'a, Result<Value, Fault>>;
}

#[expect(
    clippy::ref_option,
    reason = "serde calls it with a reference to the field"
)]
fn optional_time<S: serde::Serializer>(
    time: &Option<Timestamp>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time {
        Some(time) => serializer.collect_str(time),
        None => serializer.serialize_none(),
    }
}

/// Stands in where there is no engine: every request is refused.
pub(crate) fn no_turn(scope: Arc<TurnScope>) -> Arc<dyn TurnAccess> {
    Arc::new(NoTurn(scope))
}

struct NoTurn(Arc<TurnScope>);

impl NoTurn {
    fn refuse<T: Send + 'static>() -> BoxFuture<'static, Result<T, Fault>> {
        Box::pin(std::future::ready(Err(Self::refused())))
    }

    fn refused() -> Fault {
        Fault::new(
            super::Code::NotPermitted,
            "this call belongs to no session; make it through a turn",
        )
    }
}

impl sealed::Sealed for NoTurn {}

impl TurnAccess for NoTurn {
    fn scope(&self) -> &Arc<TurnScope> {
        &self.0
    }

    fn load<'a>(
        &'a self,
        _cx: &'a ToolContext,
        _skill: &'a str,
        _arguments: &'a str,
    ) -> BoxFuture<'a, Result<String, Fault>> {
        Self::refuse()
    }

    fn list(&self, _offset: u64) -> Result<String, Fault> {
        Err(Self::refused())
    }

    fn read<'a>(
        &'a self,
        _skill: &'a str,
        _path: &'a str,
        _offset: u64,
        _limit: Option<u64>,
    ) -> BoxFuture<'a, Result<ToolOutput, Fault>> {
        Self::refuse()
    }

    fn ask<'a>(
        &'a self,
        _cx: &'a ToolContext,
        _question: Question,
    ) -> BoxFuture<'a, Result<Value, Fault>> {
        Self::refuse()
    }
}

impl Visibility for NoTurn {
    fn set(&self, _request: SetVisibility) -> BoxFuture<'_, Result<VisibilityChange, Fault>> {
        Self::refuse()
    }

    fn get(&self) -> BoxFuture<'_, Result<Vec<SkillVisibility>, Fault>> {
        Self::refuse()
    }

    fn clear<'a>(&'a self, _skill: Option<&'a str>) -> BoxFuture<'a, Result<Cleared, Fault>> {
        Self::refuse()
    }

    fn search<'a>(&'a self, _query: &'a str) -> BoxFuture<'a, Result<Vec<SkillMatch>, Fault>> {
        Self::refuse()
    }
}
