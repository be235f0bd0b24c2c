use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::session::{Change, SessionKey, SessionState};
use crate::skill::{Level, Limits, SessionScope, Timestamp, TurnId, lock};
use crate::snapshot::SessionSlots;

/// A session as this process holds it.
pub(crate) struct Cell {
    pub(crate) key: SessionKey,
    pub(crate) scope: Arc<SessionScope>,
    pub(crate) slots: SessionSlots,
    states: Mutex<States>,
    /// Counts publications: whoever saw this number saw this state.
    edition: AtomicU64,
    last_used: AtomicI64,
    turns: AtomicU64,
    calls: AtomicU32,
    has_ended: AtomicBool,
}

struct States {
    /// The newest state of the store that is known here.
    latest: Arc<SessionState>,
    /// The same without the changes that nobody has written down yet: what views and calls go by.
    published: Arc<SessionState>,
    unconfirmed: Vec<Unconfirmed>,
    serials: u64,
}

/// A raising change that is being stored, or is stored and waits for its audit record.
#[derive(Clone)]
pub(crate) struct Unconfirmed {
    /// Tells it from another change that was made from the same state.
    pub(crate) serial: u64,
    pub(crate) skill: Arc<str>,
    pub(crate) version: u64,
    pub(crate) before: Arc<SessionState>,
}

impl Unconfirmed {
    pub(crate) fn revocation(&self) -> Change {
        Change::Revoke {
            skill: Arc::clone(&self.skill),
            grant: self.version,
            before: Arc::clone(&self.before),
        }
    }
}

impl Cell {
    pub(crate) fn new(
        key: SessionKey,
        scope: Arc<SessionScope>,
        state: Arc<SessionState>,
        now: Timestamp,
    ) -> Self {
        Self {
            key,
            scope,
            slots: SessionSlots::default(),
            states: Mutex::new(States {
                latest: Arc::clone(&state),
                published: state,
                unconfirmed: Vec::new(),
                serials: 0,
            }),
            edition: AtomicU64::new(0),
            last_used: AtomicI64::new(now.0),
            turns: AtomicU64::new(0),
            calls: AtomicU32::new(0),
            has_ended: AtomicBool::new(false),
        }
    }

    /// The state that views and calls go by, and its edition.
    pub(crate) fn published(&self) -> (u64, Arc<SessionState>) {
        let states = lock(&self.states);
        (
            self.edition.load(Ordering::Acquire),
            Arc::clone(&states.published),
        )
    }

    pub(crate) fn edition(&self) -> u64 {
        self.edition.load(Ordering::Acquire)
    }

    /// The newest known state: what a change starts from.
    pub(crate) fn latest(&self) -> Arc<SessionState> {
        Arc::clone(&lock(&self.states).latest)
    }

    /// Announces a change that is not to count until it is confirmed, wherever it is seen first.
    pub(crate) fn expect(
        &self,
        skill: Arc<str>,
        version: u64,
        before: Arc<SessionState>,
    ) -> Unconfirmed {
        let mut states = lock(&self.states);
        states.serials += 1;
        let waiting = Unconfirmed {
            serial: states.serials,
            skill,
            version,
            before,
        };
        states.unconfirmed.push(waiting.clone());
        waiting
    }

    /// Takes in a state of the store, unless a newer one is known.
    pub(crate) fn adopt(&self, state: Arc<SessionState>, around: &Around<'_>) {
        let mut states = lock(&self.states);
        if state.version() > states.latest.version() {
            states.latest = state;
        }
        self.publish(&mut states, around);
    }

    /// Takes in what the store says, even if it is older: another process may have ended the session and begun anew.
    pub(crate) fn reload(&self, state: Arc<SessionState>, around: &Around<'_>) {
        let mut states = lock(&self.states);
        if state.version() == states.latest.version() {
            return;
        }
        if states.unconfirmed.is_empty() || state.version() > states.latest.version() {
            states.latest = state;
            self.publish(&mut states, around);
        }
    }

    /// Lets a change count, or forgets one that did not come about.
    pub(crate) fn confirm(&self, change: &Unconfirmed, around: &Around<'_>) {
        let mut states = lock(&self.states);
        states
            .unconfirmed
            .retain(|waiting| waiting.serial != change.serial);
        self.publish(&mut states, around);
    }

    fn publish(&self, states: &mut States, around: &Around<'_>) {
        let mut state = Arc::clone(&states.latest);
        // The youngest first: each is taken back from the state it led to.
        for waiting in states.unconfirmed.iter().rev() {
            if let Ok(applied) = state.apply(
                &waiting.revocation(),
                around.base,
                around.now,
                around.limits,
            ) {
                state = Arc::new(applied.state);
            }
        }
        if !Arc::ptr_eq(&state, &states.published) {
            states.published = state;
            self.edition.fetch_add(1, Ordering::AcqRel);
        }
    }

    pub(crate) fn touch(&self, now: Timestamp) {
        self.last_used.store(now.0, Ordering::Relaxed);
    }

    pub(crate) fn last_used(&self) -> Timestamp {
        Timestamp(self.last_used.load(Ordering::Relaxed))
    }

    pub(crate) fn next_turn(&self) -> TurnId {
        TurnId(self.turns.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Marks the session as ended; false when it was already.
    pub(crate) fn end(&self) -> bool {
        !self.has_ended.swap(true, Ordering::AcqRel)
    }

    /// Takes the end back: the store could not forget the session.
    pub(crate) fn revive(&self) {
        self.has_ended.store(false, Ordering::Release);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    /// Counts a call in, until the guard is dropped; `None` when as many as allowed are in flight.
    pub(crate) fn begin_call(self: &Arc<Self>, most: usize) -> Option<CallSlot> {
        let before = self.calls.fetch_add(1, Ordering::AcqRel);
        let slot = CallSlot {
            cell: Arc::clone(self),
        };
        ((before as usize) < most).then_some(slot)
    }
}

/// What applying a change needs beside the state.
pub(crate) struct Around<'a> {
    pub(crate) base: &'a (dyn Fn(&str) -> Level + Sync),
    pub(crate) now: Timestamp,
    pub(crate) limits: &'a Limits,
}

/// One call in flight.
pub(crate) struct CallSlot {
    cell: Arc<Cell>,
}

impl Drop for CallSlot {
    fn drop(&mut self) {
        self.cell.calls.fetch_sub(1, Ordering::AcqRel);
    }
}
