use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::access::Access;
use super::cell::Cell;
use super::change::ended;
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::layout::Layout;
use super::resolved::Resolved;
use super::rights::Rights;
use crate::session::{AllowList, SessionState, TurnGrants, TurnStanding};
use crate::skill::{Code, Fault, Timestamp, TurnId, lock};

/// What a turn and the tools it calls share.
pub(super) struct TurnCore {
    pub(super) engine: Arc<EngineInner>,
    pub(super) cell: Arc<Cell>,
    pub(super) epoch: Arc<Epoch>,
    pub(super) id: TurnId,
    /// The lists that the request brought.
    pub(super) lists: Arc<[AllowList]>,
    grants: Mutex<TurnGrants>,
    rights: Mutex<Option<Resolved>>,
    /// Counts changes of the grants.
    edition: AtomicU64,
    has_ended: AtomicBool,
    /// Whether a tool that reaches into the open world has answered.
    untrusted_seen: AtomicBool,
}

impl TurnCore {
    pub(super) fn new(
        engine: Arc<EngineInner>,
        cell: Arc<Cell>,
        epoch: Arc<Epoch>,
        id: TurnId,
        lists: Arc<[AllowList]>,
    ) -> Self {
        Self {
            engine,
            cell,
            epoch,
            id,
            lists,
            grants: Mutex::default(),
            rights: Mutex::default(),
            edition: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
            untrusted_seen: AtomicBool::new(false),
        }
    }

    pub(super) fn edition(&self) -> u64 {
        self.edition.load(Ordering::Acquire)
    }

    /// What roles, lists, switches and a parent let through now: `access` is what the session's cell says.
    pub(super) fn with_rights<T>(
        &self,
        access: Option<&Arc<Access>>,
        look: impl FnOnce(&Arc<Rights>) -> T,
    ) -> T {
        let mut kept = lock(&self.rights);
        if let Some(resolved) = &*kept
            && resolved.holds(&self.engine, access)
        {
            return look(&resolved.rights);
        }
        let resolved = self
            .engine
            .resolve(&self.epoch, &self.cell, access, &self.lists);
        look(&kept.insert(resolved).rights)
    }

    /// The same, to keep.
    pub(super) fn rights(&self) -> Arc<Rights> {
        self.with_rights(self.cell.access().as_ref(), Arc::clone)
    }

    /// What this turn's grants open of a skill.
    pub(super) fn standing(&self, skill: &str, state: &SessionState) -> TurnStanding {
        // Most turns grant nothing, and need no lock then.
        if self.edition() == 0 {
            return TurnStanding::default();
        }
        self.with_grants(|grants| grants.standing(skill, state))
    }

    /// Whether what a layout was made under still holds, in a session that did not change.
    pub(super) fn holds_rights(&self, layout: &Layout) -> bool {
        let kept = lock(&self.rights);
        kept.as_ref().is_some_and(|resolved| {
            resolved.holds_outside(&self.engine) && layout.has_rights(&resolved.rights)
        })
    }

    /// Until when the rights hold by themselves.
    pub(super) fn rights_expire(&self) -> Option<Timestamp> {
        lock(&self.rights).as_ref().and_then(Resolved::expires)
    }

    /// Notes that something from outside may speak through the model from now on.
    pub(super) fn see_untrusted(&self) {
        self.untrusted_seen.store(true, Ordering::Release);
    }

    pub(super) fn untrusted_seen(&self) -> bool {
        self.untrusted_seen.load(Ordering::Acquire)
    }

    pub(super) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
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
