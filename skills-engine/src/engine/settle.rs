use std::sync::Arc;

use super::cell::{Around, Cell};
use super::change::{ATTEMPTS, too_many_pending};
use super::inner::EngineInner;
use super::pending::{Pending, States};
use crate::audit::{AuditKind, VisibilityOutcome};
use crate::session::{ChangeOutcome, StateChange, StoreOutcome};
use crate::skill::{Actor, Code, Fault};

impl EngineInner {
    /// Settles the changes that nobody waits for any more, if there are any and no task is at it.
    pub(super) fn settle_abandoned(self: &Arc<Self>, cell: &Arc<Cell>) {
        if cell.with_states(States::begin_settling) {
            self.spawn_settling(cell);
        }
    }

    pub(super) fn spawn_settling(self: &Arc<Self>, cell: &Arc<Cell>) {
        // Without a runtime there is nothing to wait on; the next use of the session begins anew.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            cell.with_states(States::stop_settling);
            return;
        };
        let (engine, cell) = (Arc::clone(self), Arc::clone(cell));
        runtime.spawn(async move {
            while let Some(pending) = cell.with_states(States::next_abandoned) {
                if engine.settle_one(&cell, &pending).await.is_err() {
                    // The store does not answer. What waits does not count until it is asked again.
                    cell.with_states(States::stop_settling);
                    return;
                }
            }
        });
    }

    /// Finds out whether a change is stored; takes back what it raises, and writes down the rest.
    async fn settle_one(&self, cell: &Arc<Cell>, pending: &Pending) -> Result<(), Fault> {
        let epoch = self.epoch();
        let base = |skill: &str| epoch.base(skill);
        let key = cell.key();
        for _ in 0..ATTEMPTS {
            let around = Around {
                base: &base,
                now: self.clock.now(),
                limits: &self.limits,
            };
            let Some(_writing) = cell.begin_write(&self.quiet) else {
                cell.confirm(pending, &around);
                return Ok(());
            };
            let state = self.stored(self.store.load(&key)).await?;
            let is_stored = pending.may_be_in(&state);
            let may_come = state.version() < pending.after.version();
            let without = is_stored.then(|| pending.taken_back(&state, &around));
            let (next, taken_back) = match without.flatten() {
                Some(without) => (without.state, without.outcomes),
                None => ((*state).clone(), Vec::new()),
            };
            if !may_come && taken_back.is_empty() {
                cell.publish(&around, |states| {
                    states.retract(pending, &around);
                    states.adopt(Arc::clone(&state));
                });
            } else {
                // What may come still is kept out by another state at its version.
                let next = Arc::new(next.at_version(state.version() + 1));
                let asked = self
                    .store
                    .apply(&key, StateChange::new(state.version(), Arc::clone(&next)));
                match self.stored(asked).await? {
                    StoreOutcome::Conflict(_) => continue,
                    StoreOutcome::Applied => cell.publish(&around, |states| {
                        states.won(pending.serial, next);
                        states.retract(pending, &around);
                    }),
                }
            }
            if is_stored {
                for event in pending.events() {
                    self.audit.record(event.clone());
                }
            }
            for (skill, outcome) in taken_back {
                self.record_taken_back(cell, skill, &outcome);
            }
            return Ok(());
        }
        Err(too_many_pending())
    }

    fn record_taken_back(&self, cell: &Cell, skill: Arc<str>, outcome: &ChangeOutcome) {
        let kind = AuditKind::Visibility {
            skill,
            change: VisibilityOutcome::Cleared,
            asked: None,
            old: outcome.old_level,
            new: outcome.new_level,
            span: None,
            code: Some(Code::AuditUnavailable),
            expires_at: None,
        };
        self.audit.record(
            self.event(cell, Actor::System, kind)
                .reason("taken back: the change was not written down"),
        );
    }
}
