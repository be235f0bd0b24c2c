use std::future::ready;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use crate::session::{
    PURGE_BATCH, Purged, SessionKey, SessionState, StateChange, StoreError, StoreOutcome,
    VisibilityStore,
};
use crate::skill::{BoxFuture, Timestamp};

/// Maps smaller than this are never shrunk.
const SMALL: usize = 1_024;

/// Keeps grants in this process; they end with it.
///
/// Holds nothing for sessions that changed nothing, and gives memory back when many sessions went.
#[derive(Debug, Default)]
pub struct MemoryStore {
    sessions: DashMap<SessionKey, Arc<SessionState>>,
    // Counted here because asking the map locks all of it.
    count: AtomicUsize,
    peak: AtomicUsize,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many sessions hold something.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Whether no session holds anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn current(&self, key: &SessionKey) -> Arc<SessionState> {
        let stored = self.sessions.get(key);
        stored.map_or_else(SessionState::initial, |state| Arc::clone(&state))
    }

    fn replace(&self, key: &SessionKey, expected: u64, next: Arc<SessionState>) -> StoreOutcome {
        match self.sessions.entry(key.clone()) {
            Entry::Occupied(mut stored) if stored.get().version() == expected => {
                stored.insert(next);
            }
            Entry::Occupied(stored) => return StoreOutcome::Conflict(Arc::clone(stored.get())),
            Entry::Vacant(place) if expected == 0 => {
                // Counted under the entry's lock, so that a removal cannot be counted first.
                let count = self.count.fetch_add(1, Ordering::Relaxed) + 1;
                self.peak.fetch_max(count, Ordering::Relaxed);
                place.insert(next);
            }
            Entry::Vacant(_) => return StoreOutcome::Conflict(SessionState::initial()),
        }
        StoreOutcome::Applied
    }

    fn forget(&self, key: &SessionKey) {
        let removed = self.sessions.remove_if(key, |_, _| {
            self.count.fetch_sub(1, Ordering::Relaxed);
            true
        });
        if removed.is_none() {
            return;
        }
        // Shrinking costs as much as what is left, and at least three times that went before.
        let (count, peak) = (self.len(), self.peak.load(Ordering::Relaxed));
        let is_due = peak >= SMALL && count < peak / 4;
        let claim = |from| {
            let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
            self.peak.compare_exchange(from, count, success, failure)
        };
        if is_due && claim(peak).is_ok() {
            self.sessions.shrink_to_fit();
        }
    }

    fn purge(&self, now: Timestamp) -> Vec<Purged> {
        let mut purged = Vec::new();
        for mut stored in self.sessions.iter_mut() {
            if purged.len() == PURGE_BATCH {
                break;
            }
            if let Some((state, expired)) = stored.without_expired(now) {
                let state = Arc::new(state);
                *stored.value_mut() = Arc::clone(&state);
                purged.push(Purged::new(stored.key().clone(), state, expired));
            }
        }
        purged
    }
}

impl VisibilityStore for MemoryStore {
    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Arc<SessionState>, StoreError>> {
        Box::pin(ready(Ok(self.current(key))))
    }

    fn apply<'a>(
        &'a self,
        key: &'a SessionKey,
        change: StateChange<'a>,
    ) -> BoxFuture<'a, Result<StoreOutcome, StoreError>> {
        Box::pin(ready(Ok(self.replace(
            key,
            change.expected_version,
            change.next,
        ))))
    }

    fn remove<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<(), StoreError>> {
        self.forget(key);
        Box::pin(ready(Ok(())))
    }

    fn purge_expired(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<Purged>, StoreError>> {
        Box::pin(ready(Ok(self.purge(now))))
    }
}
