use std::sync::Arc;

use crate::audit::AuditEvent;
use crate::skill::{BoxFuture, Code, Fault, StandingGrant, Timestamp};

use super::{SessionKey, SessionState};

/// Why a store did not answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The store cannot be reached or did not answer in time.
    #[error("the visibility store is unavailable: {0}")]
    Unavailable(String),
    /// What is stored for a session cannot be read.
    #[error("the stored visibility of a session cannot be read: {0}")]
    Corrupt(String),
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::new(
            Code::StoreUnavailable,
            format!("{error}. Nothing was changed; try again"),
        )
    }
}

/// A state to store in place of the one it was made from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct StateChange<'a> {
    /// The version of the state it was made from.
    pub expected_version: u64,
    /// The state it leads to.
    pub next: Arc<SessionState>,
    /// What the engine's audit log is told of the change, for stores that keep such events beside the state, written in
    /// the same step; others leave it alone.
    pub events: &'a [AuditEvent],
}

impl<'a> StateChange<'a> {
    /// A change without events.
    #[must_use]
    pub fn new(expected_version: u64, next: Arc<SessionState>) -> Self {
        Self {
            expected_version,
            next,
            events: &[],
        }
    }

    /// The same with the events of the change.
    #[must_use]
    pub fn events(self, events: &'a [AuditEvent]) -> Self {
        Self { events, ..self }
    }
}

/// What became of a change.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a change is in or it is not; a third answer would lose changes"
)]
pub enum StoreOutcome {
    /// The state is stored.
    Applied,
    /// Another change came first; this is the state now. Nothing was stored.
    Conflict(Arc<SessionState>),
}

/// A session whose grants ended by themselves.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Purged {
    /// The session.
    pub key: SessionKey,
    /// Its state without them.
    pub state: Arc<SessionState>,
    /// The grants that went; each is reported once.
    pub expired: Vec<StandingGrant>,
}

impl Purged {
    /// What a purge did to one session.
    #[must_use]
    pub fn new(key: SessionKey, state: Arc<SessionState>, expired: Vec<StandingGrant>) -> Self {
        Self {
            key,
            state,
            expired,
        }
    }
}

/// Keeps what each session has opened.
///
/// A store never decides: it loads a state, and replaces it if it is still the one a change was made from.
/// Test an implementation with `testing::visibility_store_contract` (feature `testing`).
pub trait VisibilityStore: Send + Sync + 'static {
    /// The state of a session; the default state, version 0, when nothing is stored.
    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Arc<SessionState>, StoreError>>;

    /// Stores the change's state if the stored version is still the expected one, in one step.
    fn apply<'a>(
        &'a self,
        key: &'a SessionKey,
        change: StateChange<'a>,
    ) -> BoxFuture<'a, Result<StoreOutcome, StoreError>>;

    /// Forgets a session. Removing one that is not stored succeeds.
    fn remove<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Drops grants whose time has passed at `now`, of at most [`PURGE_BATCH`] sessions; call it until it gives none.
    ///
    /// [`SessionState::without_expired`] gives the state to store. A grant is in one answer only, so that the
    /// caller can record its end.
    fn purge_expired(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<Purged>, StoreError>>;
}

/// Sessions in one answer of [`VisibilityStore::purge_expired`].
pub const PURGE_BATCH: usize = 1_000;
