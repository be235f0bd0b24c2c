use std::borrow::Cow;
use std::sync::Arc;

use super::access::{Access, Parent};
use super::cell::Cell;
use super::change::ended;
use super::inner::EngineInner;
use super::session::Session;
use super::turn::Turn;
use super::turn_core::TurnCore;
use crate::audit::AuditKind;
use crate::session::AllowList;
use crate::skill::{Actor, Code, Fault, SessionId};

impl Session {
    /// A session of its own for a part of the work, such as a sub-agent's: with its own grants, and never seeing
    /// more than this one does at that moment. It ends with this one.
    ///
    /// # Errors
    ///
    /// `limit_exceeded` in a session that is a child itself, and when the principal has too many sessions;
    /// `not_permitted` when the session has ended.
    pub async fn child(&self) -> Result<Self, Fault> {
        let (engine, cell) = self.parts();
        let child = engine.open_child(cell, None).await?;
        Ok(Self::new(Arc::clone(engine), child))
    }
}

impl Turn {
    /// A session of its own for a part of this turn's work: like [`Session::child`], and what the turn's grants open
    /// counts for it while the turn lives, and so does what its hooks left out. The lists of the request go on to hold for
    /// it.
    ///
    /// # Errors
    ///
    /// As [`Session::child`].
    pub async fn child(&self) -> Result<Session, Fault> {
        let TurnCore { engine, cell, .. } = &*self.core;
        self.core.check_running()?;
        let child = engine.open_child(cell, Some(&self.core)).await?;
        Ok(Session::new(Arc::clone(engine), child))
    }
}

impl EngineInner {
    async fn open_child(
        self: &Arc<Self>,
        parent: &Arc<Cell>,
        turn: Option<&Arc<TurnCore>>,
    ) -> Result<Arc<Cell>, Fault> {
        if parent.has_ended() {
            return Err(ended());
        }
        let access = parent.access();
        if access.is_some_and(|access| access.parent.is_some()) {
            return Err(Fault::new(
                Code::LimitExceeded,
                "a child session has no children of its own. Do the work in this one",
            ));
        }
        let lists: Arc<[AllowList]> =
            turn.map_or_else(Arc::default, |turn| Arc::clone(&turn.lists));
        let link = Parent {
            cell: Arc::clone(parent),
            turn: turn.map(Arc::downgrade),
        };
        let access = Access::child_of(link, lists);
        let principal = parent.principal();
        let id = SessionId::random()?;
        let child = self.open_new(principal, id, Some(access)).await?;
        parent.set_access(|access| access.adopt(&child));
        if parent.has_ended() {
            // It ended meanwhile, and may not have seen the child.
            let reason = Cow::Borrowed("its parent session ended");
            self.end_session(&child, Actor::System, reason).await?;
            return Err(ended());
        }
        let kind = AuditKind::ChildCreated {
            child: child.scope.id.as_str().into(),
        };
        let mut event = self.event(parent, Actor::Host, kind);
        event.turn = turn.map(|turn| turn.id);
        self.audit.record(event);
        Ok(child)
    }

    /// Ends the sessions that end with this one.
    pub(super) async fn end_children(self: &Arc<Self>, parent: &Arc<Cell>) {
        let Some(access) = parent.access() else {
            return;
        };
        // One by one: where this future is dropped, the rest is left for whoever goes on.
        while let Some(child) = access.next_child() {
            let reason = Cow::Borrowed("its parent session ended");
            // A child whose grants the store cannot forget sees nothing any more, and is idle in the end.
            let _ = Box::pin(self.end_session(&child, Actor::System, reason)).await;
        }
    }
}
