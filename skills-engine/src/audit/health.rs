use super::ChainHead;
use crate::skill::Timestamp;

/// How an [`AuditLog`](super::AuditLog) is.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AuditHealth {
    /// As [`AuditLog::is_failing`](super::AuditLog::is_failing).
    pub is_failing: bool,
    /// Its sinks, in the order they were given.
    pub sinks: Vec<SinkHealth>,
}

/// How one sink and its queue are.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SinkHealth {
    /// Since when it has failed; `None` when the last write succeeded.
    pub failing_since: Option<Timestamp>,
    /// What it failed with.
    pub last_error: Option<String>,
    /// Whether its queue is full.
    pub is_full: bool,
    /// Events that wait.
    pub queued: usize,
    /// Records stored.
    pub written: u64,
    /// Events that did not fit.
    pub lost: u64,
    /// Where the chain of the engine stands. After a flush its last record is an anchor over all other chains: kept
    /// elsewhere, it finds any later change to what was written until then.
    pub engine_head: Option<ChainHead>,
}
