use std::borrow::Cow;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::json::cut;
use super::{ApprovalOutcome, ApprovalSubject, ChainHead, HookFailure, ViewContents};
use crate::skill::{Actor, Code, Level, SessionScope, Span, Timestamp, TurnId};

/// Characters of a name that came from outside, such as the name of a tool a model made up.
pub(super) const NAME_LENGTH: usize = 128;

/// Something that happened, as it is handed to the log. Cheap to make: names are shared, nothing is formatted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditEvent {
    /// When it happened.
    pub time: Timestamp,
    /// The session it belongs to; `None` for what concerns the whole engine.
    pub scope: Option<Arc<SessionScope>>,
    /// The turn it belongs to.
    pub turn: Option<TurnId>,
    /// Who did it.
    pub actor: Actor,
    /// The id of the principal that did it, where that is not the session's owner.
    pub by: Option<Arc<str>>,
    /// Why, in the words of whoever did it; cut to `limits.reason` characters when it is written.
    pub reason: Option<Box<str>>,
    /// What it was.
    pub kind: AuditKind,
}

impl AuditEvent {
    /// An event of the whole engine, without a reason.
    #[must_use]
    pub fn new(time: Timestamp, actor: Actor, kind: AuditKind) -> Self {
        Self {
            time,
            scope: None,
            turn: None,
            actor,
            by: None,
            reason: None,
            kind,
        }
    }

    /// Says which session it belongs to.
    #[must_use]
    pub fn scope(mut self, scope: Arc<SessionScope>) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Says which turn it belongs to.
    #[must_use]
    pub fn turn(mut self, turn: TurnId) -> Self {
        self.turn = Some(turn);
        self
    }

    /// Says which principal did it, where that is not the session's owner.
    #[must_use]
    pub fn by(mut self, principal: Option<Arc<str>>) -> Self {
        self.by = principal;
        self
    }

    /// Says why; an empty reason is none.
    #[must_use]
    pub fn reason(mut self, reason: &str) -> Self {
        self.reason = (!reason.is_empty()).then(|| reason.into());
        self
    }

    /// Bytes of heap the event holds while it waits, as far as its length is in the hands of others.
    pub(super) fn weight(&self) -> usize {
        let reason = self.reason.as_ref().map_or(0, |reason| reason.len());
        let kind = match &self.kind {
            AuditKind::SessionEnded { reason } => reason.len(),
            AuditKind::Stranger { principal } => principal.len(),
            // The id may be one that a model made up.
            AuditKind::Visibility { skill, .. } | AuditKind::Switched { skill, .. } => skill.len(),
            AuditKind::View { timed_out, .. } => timed_out.len() * size_of::<Arc<str>>(),
            AuditKind::RegistryBuilt { crates, .. } => crates
                .iter()
                .map(|name| name.len() + size_of::<Arc<str>>())
                .sum(),
            AuditKind::CallStarted { call_id, .. } | AuditKind::CallEnded { call_id, .. } => {
                call_id.len()
            }
            AuditKind::CallRefused { call_id, name, .. } => call_id.len() + name.len(),
            AuditKind::AccessChanged {
                roles, patterns, ..
            } => {
                let texts = roles.iter().chain(patterns.iter());
                texts.map(|text| text.len() + size_of::<Arc<str>>()).sum()
            }
            AuditKind::ChildCreated { child } => child.len(),
            AuditKind::ResourceRead { path, .. } => path.len(),
            AuditKind::SkillEvent { event, data, .. } => event.len() + data.get().len(),
            AuditKind::ApprovalAsked { subject, .. } => subject.weight(),
            AuditKind::ApprovalDecided { arguments, .. } => {
                arguments.as_ref().map_or(0, |digest| digest.len())
            }
            AuditKind::ApprovalUsed { call_id, .. } => call_id.as_ref().map_or(0, |id| id.len()),
            AuditKind::SessionOpened
            | AuditKind::TurnEnded { .. }
            | AuditKind::HookFailed { .. }
            | AuditKind::SkillLoaded { .. }
            | AuditKind::Observed { .. }
            | AuditKind::RegistryRefreshed { .. }
            | AuditKind::Lost { .. }
            | AuditKind::Withdrawn { .. }
            | AuditKind::Recovered { .. }
            | AuditKind::Anchor { .. } => 0,
        };
        reason + kind
    }

    /// Whether the event is one of the many that views and calls make; they leave room in the queue for the rest.
    pub(super) fn is_routine(&self) -> bool {
        matches!(
            self.kind,
            AuditKind::View { .. }
                | AuditKind::CallStarted { .. }
                | AuditKind::CallEnded { .. }
                | AuditKind::CallRefused { .. }
                | AuditKind::HookFailed { .. }
                | AuditKind::SkillLoaded { .. }
                | AuditKind::ResourceRead { .. }
                | AuditKind::SkillEvent { .. }
        )
    }
}

/// What kind of event it is, with what is particular to it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum AuditKind {
    /// A session was opened.
    SessionOpened,
    /// A session ended; its chain ends with this record.
    SessionEnded {
        /// Why.
        reason: Cow<'static, str>,
    },
    /// Someone asked for a session that belongs to another principal.
    Stranger {
        /// The id of the principal that asked.
        principal: Arc<str>,
    },
    /// The level of a skill was changed, or was asked to.
    Visibility {
        /// The skill's id.
        skill: Arc<str>,
        /// What came of it.
        change: VisibilityOutcome,
        /// The level asked for.
        asked: Option<Level>,
        /// The effective level before.
        old: Level,
        /// The effective level after.
        new: Level,
        /// For how long.
        span: Option<Span>,
        /// Why it was refused.
        code: Option<Code>,
        /// When it ends by itself.
        expires_at: Option<Timestamp>,
    },
    /// A view that differs from the one before it in its turn.
    View {
        /// The view's digest.
        digest: [u8; 32],
        /// The size of what was rendered.
        bytes: u64,
        /// Names of the attributes that were too late, 64 of them at most.
        timed_out: Vec<Arc<str>>,
        /// How many skills the list of them shows with a part of their description, by name only, and not at all.
        cut: [u32; 3],
        /// What it showed, where the trail keeps that.
        contents: Option<ViewContents>,
    },
    /// A turn ended.
    TurnEnded {
        /// How many views it made.
        views: u64,
        /// How it ended.
        outcome: TurnOutcome,
    },
    /// A tool was called.
    CallStarted {
        /// The call's id.
        call_id: Arc<str>,
        /// The skill's id.
        skill: Arc<str>,
        /// The tool's name within its skill.
        tool: Arc<str>,
        /// The keyed digest of the arguments, from [`AuditLog::argument_digest`](super::AuditLog::argument_digest).
        arguments: [u8; 32],
    },
    /// A tool answered.
    CallEnded {
        /// The call's id.
        call_id: Arc<str>,
        /// The skill's id.
        skill: Arc<str>,
        /// The tool's name within its skill.
        tool: Arc<str>,
        /// How: fine, or with which failure.
        outcome: Result<(), Code>,
        /// How long it took, in nanoseconds.
        latency_ns: u64,
    },
    /// A call was refused before anything ran.
    CallRefused {
        /// The call's id.
        call_id: Arc<str>,
        /// The name that was called; see [`AuditKind::call_refused`].
        name: Box<str>,
        /// Why.
        code: Code,
    },
    /// The host changed who may in a session, or what at most.
    AccessChanged {
        /// The roles that the session's principal has now, 64 of them at most.
        roles: Vec<Arc<str>>,
        /// The patterns of the session's allow-lists, 64 of them at most, each list begun by an empty one.
        patterns: Vec<Arc<str>>,
        /// Whether the model may open skills by itself.
        lets_model: bool,
    },
    /// A session got a child, which sees no more than it does and ends with it.
    ChildCreated {
        /// The child's session id.
        child: Arc<str>,
    },
    /// Someone looked into a session of another principal.
    Observed {
        /// At what.
        what: Observed,
    },
    /// A skill was switched on or off for all models.
    Switched {
        /// The skill's id.
        skill: Arc<str>,
        /// Whether it is on now.
        is_enabled: bool,
    },
    /// A hook of a skill failed when a turn began, so the skill takes no part in the turn.
    HookFailed {
        /// The skill's id.
        skill: Arc<str>,
        /// Which hook: `supports`, `on_attach`, `instructions` or `tools`.
        hook: &'static str,
        /// How.
        failure: HookFailure,
    },
    /// The body of a skill was given to the model, or to whoever invoked it.
    SkillLoaded {
        /// The skill's id.
        skill: Arc<str>,
        /// SHA-256 of the body as its author wrote it.
        body: [u8; 32],
        /// The keyed digest of the text that was given: arguments stand in it.
        told: [u8; 32],
        /// The length of that text in bytes.
        bytes: u64,
    },
    /// A part of a file of a skill was read.
    ResourceRead {
        /// The skill's id.
        skill: Arc<str>,
        /// The file's path below the skill's folder.
        path: Arc<str>,
        /// The position of the first byte.
        offset: u64,
        /// How many bytes.
        bytes: u64,
    },
    /// A skill wrote an event of its own.
    SkillEvent {
        /// The skill's id.
        skill: Arc<str>,
        /// The name of the tool or attribute that wrote it; `(hooks)` for a hook.
        member: Arc<str>,
        /// What it calls the event, 64 characters of it.
        event: Box<str>,
        /// What it says of it: `null` stands for what has more than 8,192 bytes.
        data: Box<RawValue>,
    },
    /// A person is asked to approve something, or to answer a question.
    ApprovalAsked {
        /// The number of the approval in its session, from 1.
        approval: u64,
        /// What it is about.
        subject: Box<ApprovalSubject>,
        /// Until when it can be decided and used.
        expires_at: Timestamp,
    },
    /// It was decided.
    ApprovalDecided {
        /// The number of the approval in its session.
        approval: u64,
        /// How.
        outcome: ApprovalOutcome,
        /// The keyed digest of the arguments that replace those of the call.
        arguments: Option<Box<[u8; 32]>>,
    },
    /// What was approved is carried out; the approval counts no longer.
    ApprovalUsed {
        /// The number of the approval in its session.
        approval: u64,
        /// The call that uses it, if one does.
        call_id: Option<Arc<str>>,
    },
    /// The registry was built.
    RegistryBuilt {
        /// Its digest.
        digest: [u8; 32],
        /// How many skills it has.
        skills: u64,
        /// The crates that skills came from by being linked, as `name version`, 64 of them at most.
        crates: Vec<Arc<str>>,
    },
    /// The registry was replaced.
    RegistryRefreshed {
        /// The new one's digest.
        digest: [u8; 32],
        /// How many skills the new one has.
        skills: u64,
    },
    /// Events did not fit into the queue. Written by the log itself, at the place where they are missing.
    Lost {
        /// How many.
        count: u64,
    },
    /// An earlier record names a change that was then refused, because not every sink confirmed it in time.
    /// Written by the log itself.
    Withdrawn {
        /// The `log_seq` of that record.
        log_seq: u64,
    },
    /// The sink takes records again. Written by the log itself.
    Recovered {
        /// Since when it had taken none.
        since: Timestamp,
        /// How many attempts failed.
        attempts: u64,
        /// How many changes were refused for it.
        refused: u64,
    },
    /// The heads of the chains that advanced since the last anchor. Written by the log itself.
    Anchor {
        /// The heads, 128 at most.
        heads: Vec<ChainHead>,
    },
}

impl AuditKind {
    /// A refused call: the name may be anything a model made up, so only its first 128 characters are kept.
    #[must_use]
    pub fn call_refused(call_id: Arc<str>, name: &str, code: Code) -> Self {
        // One character more than is shown, so that the record shows that it was cut.
        let (name, _) = cut(name, NAME_LENGTH + 1);
        Self::CallRefused {
            call_id,
            name: name.into(),
            code,
        }
    }

    /// The name of the kind in a record.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::SessionOpened => "session_opened",
            Self::SessionEnded { .. } => "session_ended",
            Self::Stranger { .. } => "stranger",
            Self::Visibility { .. } => "visibility",
            Self::View { .. } => "view",
            Self::TurnEnded { .. } => "turn_ended",
            Self::CallStarted { .. } => "call_started",
            Self::CallEnded { .. } => "call_ended",
            Self::CallRefused { .. } => "call_refused",
            Self::AccessChanged { .. } => "access_changed",
            Self::ChildCreated { .. } => "child_created",
            Self::Observed { .. } => "observed",
            Self::Switched { .. } => "switched",
            Self::HookFailed { .. } => "hook_failed",
            Self::SkillLoaded { .. } => "skill_loaded",
            Self::ResourceRead { .. } => "resource_read",
            Self::SkillEvent { .. } => "skill_event",
            Self::ApprovalAsked { .. } => "approval_asked",
            Self::ApprovalDecided { .. } => "approval_decided",
            Self::ApprovalUsed { .. } => "approval_used",
            Self::RegistryBuilt { .. } => "registry_built",
            Self::RegistryRefreshed { .. } => "registry_refreshed",
            Self::Lost { .. } => "lost",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Recovered { .. } => "recovered",
            Self::Anchor { .. } => "anchor",
        }
    }
}

/// What someone looked at in a session of another principal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Observed {
    /// The standing of its skills.
    Visibility,
    /// What its model is shown: prompt, tools and snapshots.
    View,
    /// Why a member is shown or not.
    Explanation,
    /// Its audit records.
    Audit,
}

impl Observed {
    /// The word for it in a record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Visibility => "visibility",
            Self::View => "view",
            Self::Explanation => "explanation",
            Self::Audit => "audit",
        }
    }
}

/// What came of a wish to change a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum VisibilityOutcome {
    /// A grant was made.
    Granted,
    /// Nothing was changed, by the rule or the policy.
    Refused,
    /// A grant ended by itself.
    Expired,
    /// Grants were removed.
    Cleared,
    /// Nothing was changed, because the state had changed meanwhile.
    Conflict,
    /// A ceiling was set.
    Limited,
}

impl VisibilityOutcome {
    /// The word for it in a record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Granted => "granted",
            Self::Refused => "refused",
            Self::Expired => "expired",
            Self::Cleared => "cleared",
            Self::Conflict => "conflict",
            Self::Limited => "limited",
        }
    }
}

/// How a turn ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TurnOutcome {
    /// It was finished.
    Finished,
    /// It was dropped before.
    Dropped,
    /// It ended with an error.
    Failed,
}

impl TurnOutcome {
    /// The word for it in a record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Dropped => "dropped",
            Self::Failed => "failed",
        }
    }
}
