use std::sync::Arc;

use super::super::cell::Cell;
use super::super::inner::EngineInner;
use super::Approvals;
use super::book::Edited;
use crate::audit::AuditKind;
use crate::skill::{Actor, TurnId};

/// An approval that is about to be used. Unless it is, it is given back.
pub(in crate::engine) struct Claim {
    engine: Arc<EngineInner>,
    cell: Arc<Cell>,
    approvals: Arc<Approvals>,
    number: u64,
    edited: Edited,
    is_used: bool,
}

impl Claim {
    pub(super) fn new(
        engine: &Arc<EngineInner>,
        cell: &Arc<Cell>,
        approvals: Arc<Approvals>,
        (number, edited): (u64, Edited),
    ) -> Self {
        Self {
            engine: Arc::clone(engine),
            cell: Arc::clone(cell),
            approvals,
            number,
            edited,
            is_used: false,
        }
    }

    /// The arguments that a person put in place of the call's.
    pub(super) fn edited(&self) -> Option<&str> {
        self.edited.as_deref()
    }

    /// Uses the approval up, and writes that down: what was approved begins now.
    pub(in crate::engine) fn use_up(
        mut self,
        actor: Actor,
        turn: Option<TurnId>,
        call_id: Option<Arc<str>>,
    ) {
        self.is_used = true;
        let approval = self.number;
        let kind = AuditKind::ApprovalUsed { approval, call_id };
        let mut event = self.engine.event(&self.cell, actor, kind);
        event.turn = turn;
        self.engine.audit.record(event);
        self.approvals.use_up(self.number);
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.is_used {
            self.approvals.give_back(self.number);
        }
    }
}
