use std::sync::atomic::{AtomicI64, AtomicU16, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use tokio::sync::Notify;

use super::access::Access;
use super::approval::Approvals;
use super::load::{Begun, Given};
use super::pending::{Pending, States};
use crate::session::{SessionKey, SessionState};
use crate::skill::{Level, Limits, Principal, SessionScope, Timestamp, TurnId, lock};
use crate::snapshot::{HoldsValues, OwnValues};

/// A session as this process holds it. There may be very many: each byte here counts.
pub(crate) struct Cell {
    pub(crate) scope: Arc<SessionScope>,
    states: Mutex<States>,
    /// Counts publications, four billion before it begins anew: whoever saw this number saw this state.
    edition: AtomicU32,
    last_used: AtomicI64,
    turns: AtomicU32,
    calls: AtomicU16,
    /// How many threads of the pool run blocking tools of the session, also those that nobody waits for any more.
    threads: AtomicU16,
    /// How many changes are at the store, [`ENDED`] and [`COMPACTED`].
    writers: AtomicU32,
}

const ENDED: u32 = 1 << 31;
/// Earlier messages have gone, and no view has said again what is open.
const COMPACTED: u32 = 1 << 30;
const MARKS: u32 = ENDED | COMPACTED;

impl Cell {
    pub(crate) fn new(scope: Arc<SessionScope>, state: Arc<SessionState>, now: Timestamp) -> Self {
        Self {
            scope,
            states: Mutex::new(States::new(state)),
            edition: AtomicU32::new(0),
            last_used: AtomicI64::new(now.0),
            turns: AtomicU32::new(0),
            calls: AtomicU16::new(0),
            threads: AtomicU16::new(0),
            writers: AtomicU32::new(0),
        }
    }

    /// Its key as text.
    pub(crate) fn name(&self) -> &str {
        self.scope.id.key()
    }

    /// What names the session in stores.
    pub(crate) fn key(&self) -> SessionKey {
        SessionKey::sharing(&self.scope.id)
    }

    /// The state that views and calls go by, and its edition.
    pub(crate) fn published(&self) -> (u32, Arc<SessionState>) {
        let states = lock(&self.states);
        (
            self.edition.load(Ordering::Acquire),
            Arc::clone(states.published()),
        )
    }

    /// The state that views and calls go by, and what the host set beside it.
    pub(super) fn standing(&self) -> (Arc<SessionState>, Option<Arc<Access>>) {
        let states = lock(&self.states);
        (Arc::clone(states.published()), states.access())
    }

    /// What the host set for the session.
    pub(super) fn access(&self) -> Option<Arc<Access>> {
        lock(&self.states).access()
    }

    /// The session that this one is a child of.
    pub(super) fn parent(&self) -> Option<Arc<Self>> {
        let access = self.access()?;
        let parent = access.parent.as_ref()?;
        Some(Arc::clone(&parent.cell))
    }

    /// Changes what the host set for the session; it counts at once.
    pub(super) fn set_access<T>(&self, edit: impl FnOnce(&mut Access) -> T) -> T {
        let mut states = lock(&self.states);
        let result = edit(states.access_or_new());
        self.edition.fetch_add(1, Ordering::AcqRel);
        result
    }

    /// The owner, with the roles it has now.
    pub(super) fn principal(&self) -> Principal {
        let access = self.access();
        let changed = access.and_then(|access| access.principal.clone());
        changed.unwrap_or_else(|| self.scope.principal.clone())
    }

    pub(crate) fn edition(&self) -> u32 {
        self.edition.load(Ordering::Acquire)
    }

    /// The newest known state: what a change starts from.
    pub(crate) fn latest(&self) -> Arc<SessionState> {
        Arc::clone(lock(&self.states).latest())
    }

    /// Looks at what waits, or changes it, without a change of what is published.
    pub(super) fn with_states<T>(&self, look: impl FnOnce(&mut States) -> T) -> T {
        look(&mut lock(&self.states))
    }

    /// Changes what is known or waits, and publishes what follows from it.
    pub(super) fn publish(&self, around: &Around<'_>, change: impl FnOnce(&mut States)) {
        if lock(&self.states).publish(around, change) {
            self.edition.fetch_add(1, Ordering::AcqRel);
        }
    }

    /// Takes in a state of the store, unless a newer one is known.
    pub(super) fn adopt(&self, state: Arc<SessionState>, around: &Around<'_>) {
        self.publish(around, |states| states.adopt(state));
    }

    /// Lets a change count, or forgets one that did not come about.
    pub(super) fn confirm(&self, change: &Pending, around: &Around<'_>) {
        self.publish(around, |states| states.forget(change.serial));
    }

    /// Whether the model was given a body with these arguments.
    pub(super) fn was_given(&self, given: &Given) -> bool {
        lock(&self.states).given().contains(given)
    }

    /// Whether the model was given a skill's body.
    pub(super) fn has_body(&self, skill: &str, digest: impl FnOnce() -> [u8; 32]) -> bool {
        let states = lock(&self.states);
        let mut given = states.given().iter();
        !states.given().is_empty() && {
            let digest = digest();
            given.any(|given| given.is_body(skill, &digest))
        }
    }

    /// Notes that the model was given a body.
    pub(super) fn give(&self, given: Given) {
        lock(&self.states).give(given);
        self.edition.fetch_add(1, Ordering::AcqRel);
    }

    /// With which arguments a skill was begun that has been open since.
    pub(super) fn arguments(&self, skill: &str, state: &SessionState) -> Arc<str> {
        let states = lock(&self.states);
        let begun = states.begun().iter().find(|begun| *begun.skill == *skill);
        let begun = begun.filter(|begun| begun.holds(state));
        begun.map_or_else(Arc::default, |begun| Arc::clone(&begun.arguments))
    }

    /// Notes with which arguments a skill was begun.
    pub(super) fn begin(&self, begun: Begun) {
        lock(&self.states).begin(begun);
    }

    /// Has the next view say again what is open.
    pub(crate) fn compact(&self) {
        lock(&self.states).forget_given();
        self.writers.fetch_or(COMPACTED, Ordering::AcqRel);
        // After it, so that whoever sees the same number as before comes early enough for the next look.
        self.edition.fetch_add(1, Ordering::AcqRel);
    }

    pub(crate) fn is_compacted(&self) -> bool {
        self.writers.load(Ordering::Acquire) & COMPACTED != 0
    }

    /// Notes that a view has said what is open.
    pub(crate) fn was_restated(&self) {
        self.writers.fetch_and(!COMPACTED, Ordering::AcqRel);
    }

    /// What waits for a person, if anything ever did.
    pub(super) fn approvals(&self) -> Option<Arc<Approvals>> {
        self.with_states(|states| states.approvals())
    }

    pub(super) fn approvals_or_new(&self) -> Arc<Approvals> {
        self.with_states(States::approvals_or_new)
    }

    pub(crate) fn touch(&self, now: Timestamp) {
        self.last_used.store(now.0, Ordering::Relaxed);
    }

    /// Whether nobody used the session for so long, and no call of it is running.
    pub(crate) fn is_idle(&self, now: Timestamp, limits: &Limits) -> bool {
        let last_used = Timestamp(self.last_used.load(Ordering::Relaxed));
        now.since(last_used) >= limits.session_idle
            && self.calls.load(Ordering::Acquire) == 0
            && !self.has_ended()
    }

    pub(crate) fn next_turn(&self) -> TurnId {
        TurnId(u64::from(self.turns.fetch_add(1, Ordering::Relaxed)) + 1)
    }

    /// Marks the session as ended; false when it was already.
    pub(crate) fn end(&self) -> bool {
        self.writers.fetch_or(ENDED, Ordering::AcqRel) & ENDED == 0
    }

    /// Takes the end back: the store could not forget the session.
    pub(crate) fn revive(&self) {
        self.writers.fetch_and(!ENDED, Ordering::AcqRel);
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.writers.load(Ordering::Acquire) & ENDED != 0
    }

    /// Whether no change is at the store.
    pub(crate) fn is_quiet(&self) -> bool {
        self.writers.load(Ordering::Acquire) & !MARKS == 0
    }

    /// Counts a change in that goes to the store, until the guard is dropped; `None` once the session has ended.
    pub(crate) fn begin_write<'a>(&'a self, quiet: &'a Notify) -> Option<Writing<'a>> {
        let enter = |writers: u32| (writers & ENDED == 0).then_some(writers + 1);
        self.writers
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, enter)
            .ok()?;
        Some(Writing { cell: self, quiet })
    }

    /// Counts a call in, until the guard is dropped; `None` when as many as allowed are in flight.
    pub(crate) fn begin_call(&self, most: usize) -> Option<CallSlot<'_>> {
        // Made only then: dropping one counts a call out.
        count_in(&self.calls, most).then(|| CallSlot { cell: self })
    }

    /// Counts a thread in, until the guard is dropped; `None` when the session has as many as it may.
    pub(crate) fn begin_thread(self: &Arc<Self>, most: usize) -> Option<ThreadSlot> {
        count_in(&self.threads, most).then(|| ThreadSlot {
            cell: Arc::downgrade(self),
        })
    }

    /// Ends the evaluations of attributes that run for the session; none is kept from now on.
    pub(crate) fn close_values(&self) {
        if let Some(values) = self.with_states(|states| states.values()) {
            values.close();
        }
    }
}

impl HoldsValues for Cell {
    fn values(&self) -> Arc<OwnValues> {
        self.with_states(|states| {
            // Under the lock, so that what is made before the session has ended is closed when it does.
            if self.has_ended() {
                return states
                    .values()
                    .unwrap_or_else(|| OwnValues::closed().into());
            }
            states.values_or_new()
        })
    }
}

/// Counts one more, unless there are so many.
fn count_in(counter: &AtomicU16, most: usize) -> bool {
    let one_more = |count: u16| ((count as usize) < most).then(|| count.checked_add(1))?;
    counter
        .fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more)
        .is_ok()
}

/// What applying a change needs beside the state.
pub(crate) struct Around<'a> {
    pub(crate) base: &'a (dyn Fn(&str) -> Level + Sync),
    pub(crate) now: Timestamp,
    pub(crate) limits: &'a Limits,
}

/// One change at the store.
pub(crate) struct Writing<'a> {
    cell: &'a Cell,
    quiet: &'a Notify,
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        if self.cell.writers.fetch_sub(1, Ordering::AcqRel) & !COMPACTED == ENDED | 1 {
            self.quiet.notify_waiters();
        }
    }
}

/// One call in flight.
pub(crate) struct CallSlot<'a> {
    cell: &'a Cell,
}

impl Drop for CallSlot<'_> {
    fn drop(&mut self) {
        self.cell.calls.fetch_sub(1, Ordering::AcqRel);
    }
}

/// One thread of the pool. A tool that hangs must not keep its session alive.
pub(crate) struct ThreadSlot {
    cell: Weak<Cell>,
}

impl Drop for ThreadSlot {
    fn drop(&mut self) {
        if let Some(cell) = self.cell.upgrade() {
            cell.threads.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
