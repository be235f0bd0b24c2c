use std::fmt::Display;

use super::verify::Broken;
use super::{AuditKey, AuditRecord, ChainHead, ChainId, Coverage, Verified};
use crate::skill::{BoxFuture, SessionId, Timestamp};

/// A place where records are kept.
///
/// The log calls `append` of one sink from one task, never twice at a time, with records in their order. It drops
/// the future after `limits.store_timeout` and then calls again **with the very same records** until they are
/// stored; a record that is stored already (the same chain, number and hash) must then be taken as stored, not
/// stored twice.
pub trait AuditSink: Send + Sync {
    /// Stores all of `records` or, when it returns [`AuditError::Failed`], none of them.
    ///
    /// # Errors
    ///
    /// [`AuditError::Failed`] when none of the records is stored, [`AuditError::Uncertain`] when that is not known.
    fn append<'a>(&'a self, records: &'a [AuditRecord]) -> BoxFuture<'a, Result<(), AuditError>>;
}

/// A sink that can be read.
pub trait AuditStore: AuditSink {
    /// The newest records that match, oldest first.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn query(&self, query: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>, AuditError>>;

    /// Checks everything in the store, as [`verify`](super::verify) does.
    ///
    /// # Errors
    ///
    /// [`VerifyError::Broken`] with the first record that is not as it was written, [`VerifyError::Unavailable`]
    /// when the store cannot be read.
    fn verify<'a>(
        &'a self,
        key: Option<&'a AuditKey>,
        expected_heads: &'a [ChainHead],
    ) -> BoxFuture<'a, Result<Verified, VerifyError>>;

    /// Which part of the log the store holds when nothing was taken away.
    fn coverage(&self) -> Coverage;
}

/// Why records were not stored or not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// It failed, and none of the records is stored.
    #[error("the audit sink failed: {0}")]
    Failed(String),
    /// It failed, and some of the records may be stored.
    #[error("the audit sink failed, and records may be stored nevertheless: {0}")]
    Uncertain(String),
}

impl AuditError {
    /// A failure that left nothing behind.
    pub fn failed(err: impl Display) -> Self {
        Self::Failed(err.to_string())
    }

    /// A failure that may have left something behind.
    pub fn uncertain(err: impl Display) -> Self {
        Self::Uncertain(err.to_string())
    }
}

/// Why a store did not verify.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// What it holds is not what was written.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It could not be read.
    #[error(transparent)]
    Unavailable(#[from] AuditError),
}

/// Which records to read. An empty query matches all.
#[derive(Clone, Debug)]
#[must_use]
pub struct AuditQuery {
    principal: Option<Box<str>>,
    session: Option<SessionId>,
    chain: Option<ChainId>,
    turn: Option<u64>,
    kinds: Vec<Box<str>>,
    since: Option<Timestamp>,
    until: Option<Timestamp>,
    limit: usize,
}

impl AuditQuery {
    /// The number of records given when the query does not say how many.
    pub const DEFAULT_LIMIT: usize = 1_000;
    /// The largest number of records one query gives.
    pub const MOST: usize = 100_000;

    /// Matches everything.
    pub fn new() -> Self {
        Self {
            principal: None,
            session: None,
            chain: None,
            turn: None,
            kinds: Vec::new(),
            since: None,
            until: None,
            limit: Self::DEFAULT_LIMIT,
        }
    }

    /// Only records of the sessions of a principal.
    pub fn principal(mut self, id: &str) -> Self {
        self.principal = Some(id.into());
        self
    }

    /// Only records of sessions of this id; several principals may each have one.
    pub fn session(mut self, id: SessionId) -> Self {
        self.session = Some(id);
        self
    }

    /// Only records of a chain.
    pub fn chain(mut self, chain: ChainId) -> Self {
        self.chain = Some(chain);
        self
    }

    /// Only records of turns of this number.
    pub fn turn(mut self, turn: u64) -> Self {
        self.turn = Some(turn);
        self
    }

    /// Only records of this kind, by its name; called several times, of any of them.
    pub fn kind(mut self, name: &str) -> Self {
        self.kinds.push(name.into());
        self
    }

    /// Only records of this moment or later.
    pub fn since(mut self, time: Timestamp) -> Self {
        self.since = Some(time);
        self
    }

    /// Only records before this moment.
    pub fn until(mut self, time: Timestamp) -> Self {
        self.until = Some(time);
        self
    }

    /// At most this many records, the newest ones; never more than [`AuditQuery::MOST`].
    pub fn limit(mut self, records: usize) -> Self {
        self.limit = records.min(Self::MOST);
        self
    }

    /// How many records are wanted at most.
    #[must_use]
    pub fn most(&self) -> usize {
        self.limit
    }

    /// Whether a record matches; a store without an index filters by this.
    #[must_use]
    pub fn matches(&self, record: &AuditRecord) -> bool {
        if self.chain.is_some_and(|chain| chain != record.chain()) {
            return false;
        }
        let Self {
            principal,
            session,
            chain: _,
            turn,
            kinds,
            since,
            until,
            limit: _,
        } = self;
        let is_open = principal.is_none()
            && session.is_none()
            && turn.is_none()
            && kinds.is_empty()
            && since.is_none()
            && until.is_none();
        if is_open {
            return true;
        }
        let Ok(entry) = record.entry() else {
            return false;
        };
        // Times of the same form compare as their texts do.
        principal
            .as_deref()
            .is_none_or(|id| entry.principal.as_deref() == Some(id))
            && session
                .as_ref()
                .is_none_or(|id| entry.session.as_deref() == Some(id.as_str()))
            && turn.is_none_or(|turn| entry.turn == Some(turn))
            && (kinds.is_empty() || kinds.iter().any(|kind| **kind == *entry.kind))
            && since.is_none_or(|since| *entry.time >= *since.to_string())
            && until.is_none_or(|until| *entry.time < *until.to_string())
    }
}

impl Default for AuditQuery {
    fn default() -> Self {
        Self::new()
    }
}
