use std::cmp::Ordering;
use std::sync::Arc;

use super::access::Access;
use super::approval::Approvals;
use super::cell::Around;
use super::load::{Begun, Given};
use crate::audit::AuditEvent;
use crate::session::{Change, ChangeOutcome, SessionState};
use crate::snapshot::OwnValues;

/// Changes of one session that may wait at once.
const MOST: usize = 256;

/// Bodies of skills that a session remembers its model has; one that is forgotten is given again.
const MOST_GIVEN: usize = 1_024;

/// Bytes of arguments of skills begun that a session remembers, the latest ones.
const MOST_ARGUMENTS: usize = 256 * 1024;

/// What is known of a session's state, and the changes that are on their way.
pub(super) struct States {
    /// The newest state of the store that is known here.
    latest: Arc<SessionState>,
    /// Made when there is something of it for the first time: in most sessions that never happens.
    waiting: Option<Box<Waiting>>,
}

#[derive(Default)]
struct Waiting {
    /// The newest state without the raising changes that nobody has written down yet, where there are any.
    masked: Option<Arc<SessionState>>,
    pending: Vec<Pending>,
    serials: u64,
    /// Counts what was taken in: an answer of the store that was asked for before is known by it.
    adoptions: u64,
    is_settling: bool,
    /// What waits for a person.
    approvals: Option<Arc<Approvals>>,
    /// What the host set for the session beside its state.
    access: Option<Arc<Access>>,
    /// What the session keeps of attributes.
    values: Option<Arc<OwnValues>>,
    /// The bodies that its model was given, one for each skill.
    given: Vec<Given>,
    /// With which arguments skills were begun, one for each.
    begun: Vec<Begun>,
}

/// A change that is being stored, or is stored and waits for its audit record.
#[derive(Clone)]
pub(super) struct Pending {
    /// Tells it from another change that was made from the same state.
    pub(super) serial: u64,
    /// The skills it raises, which do not count until it is confirmed, wherever they are seen first.
    pub(super) raised: Arc<[Arc<str>]>,
    pub(super) before: Arc<SessionState>,
    pub(super) after: Arc<SessionState>,
    /// Whether it does nothing but raise, so that without it the state is the one it was made from.
    only_raises: bool,
    /// What is to be written down, once it is known that the change came about; set when whoever made it has gone.
    abandoned: Option<Arc<[AuditEvent]>>,
}

/// A state without what one change raised.
pub(super) struct TakenBack {
    /// The state, under the version it had.
    pub(super) state: SessionState,
    /// What that did to each skill.
    pub(super) outcomes: Vec<(Arc<str>, ChangeOutcome)>,
}

impl Pending {
    /// Whether a state can hold the change: not if it is an older one, or another one of its version.
    pub(super) fn may_be_in(&self, state: &SessionState) -> bool {
        match state.version().cmp(&self.after.version()) {
            Ordering::Less => false,
            Ordering::Equal => *state == *self.after,
            Ordering::Greater => true,
        }
    }

    /// A state without what the change raised, if there is anything of it.
    pub(super) fn taken_back(
        &self,
        state: &SessionState,
        around: &Around<'_>,
    ) -> Option<TakenBack> {
        let mut without: Option<SessionState> = None;
        let mut outcomes = Vec::new();
        for skill in self.raised.iter() {
            let from = without.as_ref().unwrap_or(state);
            let change = Change::Revoke {
                skill: Arc::clone(skill),
                grant: self.after.version(),
                before: Arc::clone(&self.before),
            };
            // Revoking is refused for nothing.
            let Ok(applied) = from.apply(&change, around.base, around.now, around.limits) else {
                continue;
            };
            let (old, new) = (from.standing(skill), applied.state.standing(skill));
            if old.grants() == new.grants() && old.ceiling() == new.ceiling() {
                continue;
            }
            outcomes.push((Arc::clone(skill), applied.outcome));
            without = Some(applied.state.at_version(state.version()));
        }
        without.map(|state| TakenBack { state, outcomes })
    }

    pub(super) fn events(&self) -> &[AuditEvent] {
        self.abandoned.as_deref().unwrap_or_default()
    }
}

impl States {
    pub(super) fn new(state: Arc<SessionState>) -> Self {
        Self {
            latest: state,
            waiting: None,
        }
    }

    pub(super) fn latest(&self) -> &Arc<SessionState> {
        &self.latest
    }

    /// What views and calls go by.
    pub(super) fn published(&self) -> &Arc<SessionState> {
        let masked = self
            .waiting
            .as_ref()
            .and_then(|waiting| waiting.masked.as_ref());
        masked.unwrap_or(&self.latest)
    }

    /// What waits for a person, if anything ever did.
    pub(super) fn approvals(&self) -> Option<Arc<Approvals>> {
        self.waiting.as_ref()?.approvals.clone()
    }

    pub(super) fn approvals_or_new(&mut self) -> Arc<Approvals> {
        let waiting = self.waiting.get_or_insert_default();
        Arc::clone(waiting.approvals.get_or_insert_default())
    }

    /// What the host set for the session, if it did.
    pub(super) fn access(&self) -> Option<Arc<Access>> {
        self.waiting.as_ref()?.access.clone()
    }

    pub(super) fn access_or_new(&mut self) -> &mut Access {
        let waiting = self.waiting.get_or_insert_default();
        Arc::make_mut(waiting.access.get_or_insert_default())
    }

    /// The bodies that the model was given.
    pub(super) fn given(&self) -> &[Given] {
        self.waiting.as_ref().map_or(&[], |waiting| &waiting.given)
    }

    /// Notes that the model has a body, in place of another one of the skill.
    pub(super) fn give(&mut self, given: Given) {
        let all = &mut self.waiting.get_or_insert_default().given;
        all.retain(|other| other.skill != given.skill);
        if all.len() >= MOST_GIVEN {
            all.remove(0);
        }
        all.push(given);
    }

    pub(super) fn begun(&self) -> &[Begun] {
        self.waiting.as_ref().map_or(&[], |waiting| &waiting.begun)
    }

    /// Notes with which arguments a skill was begun, in place of others.
    pub(super) fn begin(&mut self, begun: Begun) {
        let all = &mut self.waiting.get_or_insert_default().begun;
        all.retain(|other| other.skill != begun.skill);
        all.push(begun);
        let mut bytes: usize = all.iter().map(|begun| begun.arguments.len()).sum();
        while all.len() > MOST_GIVEN || bytes > MOST_ARGUMENTS {
            bytes -= all.remove(0).arguments.len();
        }
    }

    /// Notes that the model has none of them any more.
    pub(super) fn forget_given(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            waiting.given = Vec::new();
        }
    }

    /// What the session keeps of attributes, if it ever did.
    pub(super) fn values(&self) -> Option<Arc<OwnValues>> {
        self.waiting.as_ref()?.values.clone()
    }

    pub(super) fn values_or_new(&mut self) -> Arc<OwnValues> {
        let waiting = self.waiting.get_or_insert_default();
        Arc::clone(waiting.values.get_or_insert_default())
    }

    pub(super) fn adoptions(&self) -> u64 {
        self.waiting.as_ref().map_or(0, |waiting| waiting.adoptions)
    }

    /// Announces a change; `None` when too many wait already.
    pub(super) fn expect(
        &mut self,
        raised: Arc<[Arc<str>]>,
        only_raises: bool,
        before: Arc<SessionState>,
        after: Arc<SessionState>,
    ) -> Option<Pending> {
        let waiting = self.waiting.get_or_insert_default();
        if waiting.pending.len() >= MOST {
            return None;
        }
        waiting.serials += 1;
        let pending = Pending {
            serial: waiting.serials,
            raised,
            before,
            after,
            only_raises,
            abandoned: None,
        };
        waiting.pending.push(pending.clone());
        Some(pending)
    }

    /// Notes that a change is stored: no other one that was made from the same state is.
    pub(super) fn won(&mut self, serial: u64, after: Arc<SessionState>) {
        if let Some(waiting) = &mut self.waiting {
            waiting
                .pending
                .retain(|other| other.serial == serial || other.after.version() != after.version());
        }
        self.adopt(after);
    }

    pub(super) fn forget(&mut self, serial: u64) {
        if let Some(waiting) = &mut self.waiting {
            waiting.pending.retain(|other| other.serial != serial);
            if waiting.pending.is_empty() && waiting.pending.capacity() > 4 {
                waiting.pending = Vec::new();
            }
        }
    }

    /// Forgets a change that was taken back. Those that were made from a state with it, and are taken back later, must
    /// not bring it back.
    pub(super) fn retract(&mut self, change: &Pending, around: &Around<'_>) {
        self.forget(change.serial);
        let waiting = self.waiting.iter_mut();
        for other in waiting.flat_map(|waiting| &mut waiting.pending) {
            if change.may_be_in(&other.before)
                && let Some(without) = change.taken_back(&other.before, around)
            {
                other.before = Arc::new(without.state);
            }
        }
    }

    /// Takes in a state of the store, unless a newer one is known.
    pub(super) fn adopt(&mut self, state: Arc<SessionState>) {
        self.waiting.get_or_insert_default().adoptions += 1;
        if state.version() > self.latest.version() {
            self.latest = state;
        }
    }

    /// Takes in what the store says, even if it is older: another process may have ended the session and begun anew.
    ///
    /// `asked_at` is the count of adoptions when the store was asked.
    pub(super) fn reload(&mut self, state: Arc<SessionState>, asked_at: u64) {
        let is_rewound = state.version() < self.latest.version()
            && self.adoptions() == asked_at
            && self.has_none_pending();
        if is_rewound {
            self.latest = state;
        } else {
            self.adopt(state);
        }
    }

    /// Notes that whoever made a change has gone; true when its fate is now for a task to settle.
    pub(super) fn abandon(&mut self, serial: u64, events: Vec<AuditEvent>) -> bool {
        let Some(waiting) = &mut self.waiting else {
            return false;
        };
        let found = waiting
            .pending
            .iter_mut()
            .find(|pending| pending.serial == serial);
        let Some(pending) = found else {
            return false;
        };
        pending.abandoned = Some(events.into());
        self.begin_settling()
    }

    /// Whether abandoned changes wait and no task settles them, which the caller must now do.
    pub(super) fn begin_settling(&mut self) -> bool {
        self.waiting.as_deref_mut().is_some_and(|waiting| {
            let is_due = !waiting.is_settling
                && waiting
                    .pending
                    .iter()
                    .any(|pending| pending.abandoned.is_some());
            waiting.is_settling |= is_due;
            is_due
        })
    }

    /// The next abandoned change; without one, settling is over.
    pub(super) fn next_abandoned(&mut self) -> Option<Pending> {
        let waiting = self.waiting.as_deref_mut()?;
        let next = waiting
            .pending
            .iter()
            .find(|pending| pending.abandoned.is_some());
        waiting.is_settling = next.is_some();
        next.cloned()
    }

    pub(super) fn stop_settling(&mut self) {
        if let Some(waiting) = &mut self.waiting {
            waiting.is_settling = false;
        }
    }

    fn has_none_pending(&self) -> bool {
        self.waiting
            .as_ref()
            .is_none_or(|waiting| waiting.pending.is_empty())
    }

    /// Makes a change and works out what is published now; true when that is something else than before.
    pub(super) fn publish(&mut self, around: &Around<'_>, change: impl FnOnce(&mut Self)) -> bool {
        let before = Arc::clone(self.published());
        change(self);
        let mut masked: Option<Arc<SessionState>> = None;
        let pending = self
            .waiting
            .as_ref()
            .map_or(&[][..], |waiting| &waiting.pending);
        // The youngest first: each is taken back from the state it led to.
        for pending in pending.iter().rev() {
            let state = masked.as_ref().unwrap_or(&self.latest);
            if pending.only_raises && Arc::ptr_eq(&pending.after, state) {
                masked = Some(Arc::clone(&pending.before));
            } else if pending.may_be_in(&self.latest)
                && let Some(without) = pending.taken_back(state, around)
            {
                masked = Some(Arc::new(without.state));
            }
        }
        if let Some(waiting) = &mut self.waiting {
            waiting.masked = masked;
        }
        let now = self.published();
        now.version() != before.version() || (!Arc::ptr_eq(now, &before) && **now != *before)
    }
}
