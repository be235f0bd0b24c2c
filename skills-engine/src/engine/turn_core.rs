use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::cell::Cell;
use super::change::ended;
use super::epoch::Epoch;
use super::inner::EngineInner;
use crate::session::TurnGrants;
use crate::skill::{Code, Fault, TurnId, lock};

/// What a turn and the tools it calls share.
pub(super) struct TurnCore {
    pub(super) engine: Arc<EngineInner>,
    pub(super) cell: Arc<Cell>,
    pub(super) epoch: Arc<Epoch>,
    pub(super) id: TurnId,
    grants: Mutex<TurnGrants>,
    /// Counts changes of the grants.
    edition: AtomicU64,
    has_ended: AtomicBool,
}

impl TurnCore {
    pub(super) fn new(
        engine: Arc<EngineInner>,
        cell: Arc<Cell>,
        epoch: Arc<Epoch>,
        id: TurnId,
    ) -> Self {
        Self {
            engine,
            cell,
            epoch,
            id,
            grants: Mutex::default(),
            edition: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
        }
    }

    pub(super) fn edition(&self) -> u64 {
        self.edition.load(Ordering::Acquire)
    }

    pub(super) fn with_grants<T>(&self, look: impl FnOnce(&TurnGrants) -> T) -> T {
        look(&lock(&self.grants))
    }

    pub(super) fn edit_grants<T>(&self, edit: impl FnOnce(&mut TurnGrants) -> T) -> T {
        let mut grants = lock(&self.grants);
        let result = edit(&mut grants);
        self.edition.fetch_add(1, Ordering::AcqRel);
        result
    }

    /// Ends the turn: its grants go, and tools that outlive it can change nothing through it.
    pub(super) fn end(&self) {
        self.edit_grants(|grants| {
            self.has_ended.store(true, Ordering::Release);
            *grants = TurnGrants::default();
        });
    }

    pub(super) fn check_running(&self) -> Result<(), Fault> {
        if self.cell.has_ended() {
            return Err(ended());
        }
        if self.has_ended.load(Ordering::Acquire) {
            return Err(Fault::new(
                Code::Cancelled,
                "the turn has ended. Begin a new one",
            ));
        }
        Ok(())
    }
}
