use std::time::Duration;

use super::{AuditEvent, AuditKind};
use crate::skill::{Actor, Timestamp};

const FIRST_PAUSE: Duration = Duration::from_millis(50);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// A time in which a sink takes no records.
pub(super) struct Outage {
    since: Timestamp,
    attempts: u64,
    refused: u64,
}

impl Outage {
    pub(super) fn new(since: Timestamp) -> Self {
        Self {
            since,
            attempts: 0,
            refused: 0,
        }
    }

    /// Counts a failed attempt, and the changes that were refused for it.
    pub(super) fn attempt_failed(&mut self, refused: u64) {
        self.attempts += 1;
        self.refused += refused;
    }

    /// The event that tells of it when it is over.
    pub(super) fn note(&self, now: Timestamp) -> AuditEvent {
        let kind = AuditKind::Recovered {
            since: self.since,
            attempts: self.attempts,
            refused: self.refused,
        };
        AuditEvent::new(now, Actor::System, kind)
    }
}

/// How long to wait after so many failures in a row.
pub(super) fn pause_after(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    FIRST_PAUSE
        .saturating_mul(1 << doublings)
        .min(LONGEST_PAUSE)
}
