use std::sync::{Arc, LazyLock};

use serde::{Deserialize, Serialize};

use crate::skill::{Actor, Level, StandingGrant, Timestamp};

use super::admission::{Admissions, Opening};
use super::edit::Edit;
use super::grant::{Lowered, NEVER};
use super::standing::{SkillEntry, Standing};
use super::stored::Stored;

/// What a session has opened: immutable, small, and replaced whole by [`apply`](Self::apply).
///
/// A session that changed nothing has the default state: version 0, no heap. Stores that outlive a process write
/// it with serde.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Stored", try_from = "Stored")]
pub struct SessionState {
    pub(super) version: u64,
    pub(super) next_expiry: Timestamp,
    /// Notes up to this version may have been dropped, so everything counts as lowered then.
    pub(super) forgotten: u64,
    /// Sorted by skill id.
    pub(super) entries: Box<[Arc<SkillEntry>]>,
    pub(super) log: Box<[Opening]>,
    /// Who cleared all skills, and when.
    pub(super) cleared: Box<[Lowered]>,
}

impl Default for SessionState {
    fn default() -> Self {
        Self {
            version: 0,
            next_expiry: NEVER,
            forgotten: 0,
            entries: Box::default(),
            log: Box::default(),
            cleared: Box::default(),
        }
    }
}

static INITIAL: LazyLock<Arc<SessionState>> = LazyLock::new(Arc::default);

impl SessionState {
    /// The default state, shared by all sessions that changed nothing.
    #[must_use]
    pub fn initial() -> Arc<Self> {
        Arc::clone(&INITIAL)
    }

    /// How many changes led here. Grants are named by the version they were made at.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The openings that stand, in opening order.
    ///
    /// The levels of one skill ascend, each above its base level, and the last one is its effective level
    /// (turn-bound grants left out). What is closed leaves the log, and goes to its end when it is opened again.
    #[must_use]
    pub fn admissions(&self) -> Admissions<'_> {
        Admissions {
            entries: &self.entries,
            log: &self.log,
        }
    }

    /// How a skill stands.
    #[must_use]
    pub fn standing(&self, skill: &str) -> Standing<'_> {
        Standing {
            entry: self.entry(skill).map(AsRef::as_ref),
        }
    }

    /// The skills that have a grant or a ceiling, by id.
    pub fn skills(&self) -> impl Iterator<Item = (&Arc<str>, Standing<'_>)> {
        self.entries
            .iter()
            .filter(|entry| !entry.is_note())
            .map(|entry| (&entry.skill, Standing { entry: Some(entry) }))
    }

    /// All that the session knows a skill of, by id; in the places that admissions name.
    pub(crate) fn entries(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, Standing<'_>)> {
        self.entries
            .iter()
            .map(|entry| (&entry.skill, Standing { entry: Some(entry) }))
    }

    /// When the next grant ends by itself.
    #[must_use]
    pub fn next_expiry(&self) -> Option<Timestamp> {
        (self.next_expiry != NEVER).then_some(self.next_expiry)
    }

    /// How many grants the session holds, ended ones included that no change has settled yet.
    #[must_use]
    pub fn grant_count(&self) -> usize {
        self.entries.iter().map(|entry| entry.grants.len()).sum()
    }

    /// The state without the grants that ended by `now`, and these; `None` when there are none.
    ///
    /// For stores: what engines do is [`Change::Expire`](super::Change::Expire).
    #[must_use]
    pub fn without_expired(&self, now: Timestamp) -> Option<(Self, Vec<StandingGrant>)> {
        if now < self.next_expiry {
            return None;
        }
        let base = |skill: &str| {
            self.entry(skill)
                .map_or(Level::Metadata, |entry| entry.base)
        };
        let applied = Edit::new(self, &base, now).finish();
        Some((applied.state, applied.outcome.expired))
    }

    /// The same under another version: what is not stored must not run ahead of what is.
    pub(crate) fn at_version(mut self, version: u64) -> Self {
        self.version = version;
        self
    }

    /// Whether what an actor opened at version `made_at` was ended since, by that actor or a higher one.
    pub(crate) fn was_ended(&self, skill: &str, level: Level, actor: Actor, made_at: u64) -> bool {
        if self.version <= made_at {
            return false;
        }
        let ends = |note: &Lowered| note.ends(level, actor, made_at);
        self.forgotten > made_at
            || self.cleared.iter().any(ends)
            || self
                .entry(skill)
                .is_some_and(|entry| entry.lowered.iter().any(ends))
    }

    pub(super) fn entry(&self, skill: &str) -> Option<&Arc<SkillEntry>> {
        self.position(skill).ok().map(|index| &self.entries[index])
    }

    fn position(&self, skill: &str) -> Result<usize, usize> {
        position(&self.entries, skill)
    }
}

pub(super) fn position(entries: &[Arc<SkillEntry>], skill: &str) -> Result<usize, usize> {
    entries.binary_search_by(|entry| (*entry.skill).cmp(skill))
}
