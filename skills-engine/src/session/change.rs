use std::sync::Arc;

use crate::skill::{Actor, Level, StandingGrant};

use super::{GrantSpan, SessionState};

/// A wish to change what a session has opened.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Change {
    /// Sets the level of a skill.
    Set {
        /// The skill's id.
        skill: Arc<str>,
        /// The level wanted.
        level: Level,
        /// Who wants it.
        actor: Actor,
        /// For how long.
        span: GrantSpan,
    },
    /// Caps a skill, whoever opened it. For the host.
    Limit {
        /// The skill's id.
        skill: Arc<str>,
        /// The ceiling; `None`, and COMPLETE, lift it.
        level: Option<Level>,
    },
    /// Removes what an actor and lower ones granted.
    Clear {
        /// The skill's id; `None` clears all.
        skill: Option<Arc<str>>,
        /// Who clears.
        actor: Actor,
    },
    /// Settles the grants whose time has passed, as every other change does first.
    Expire,
    /// Takes back one change because its audit record could not be written. Never raises anything.
    Revoke {
        /// The skill the change was about.
        skill: Arc<str>,
        /// The version the change was made at, [`ChangeOutcome::version`].
        grant: u64,
        /// The state the change was made from: what it replaced comes back, unless the skill was changed since.
        before: Arc<SessionState>,
    },
}

/// What a change did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChangeOutcome {
    /// The version of the state after the change.
    pub version: u64,
    /// Whether there is anything to store. A change can be [`already_open`](Self::already_open) and still have
    /// settled expired grants, or have ended turn-bound grants that the state does not know of.
    pub changed: bool,
    /// The effective level before, of the skill the change names, turn-bound grants left out.
    pub old_level: Level,
    /// The effective level now, of the same skill.
    pub new_level: Level,
    /// The other skills whose level moved, because all were cleared or a grant had ended.
    pub moved: Vec<Moved>,
    /// True when the request found nothing to grant, take or cap.
    pub already_open: bool,
    /// Whether any skill is higher, now or at a later time, than it would have been: needs an audit receipt.
    pub raised: bool,
    /// The grant that was made.
    pub grant: Option<u64>,
    /// What clearing removed.
    pub cleared: Vec<StandingGrant>,
    /// What clearing left, because it belongs to a higher actor.
    pub remaining: Vec<StandingGrant>,
    /// The grants whose end this change settled. Each is reported once.
    pub expired: Vec<StandingGrant>,
}

/// A level that moved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// The skill's id.
    pub skill: Arc<str>,
    /// Its effective level before.
    pub old_level: Level,
    /// Its effective level now.
    pub new_level: Level,
}

/// A state after a change, and what the change did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Applied {
    /// The state to store, if [`ChangeOutcome::changed`].
    pub state: SessionState,
    /// What the change did.
    pub outcome: ChangeOutcome,
}
