use std::borrow::Cow;
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Notify;

use super::access::Access;
use super::approval::ApprovalHandler;
use super::cell::{Around, Cell};
use super::change::ended;
use super::epoch::Epoch;
use super::governance::Governance;
use super::refresh::Sources;
use super::search::SkillSearch;
use super::sessions::{Added, Sessions};
use super::settings::LoadingSettings;
use crate::audit::{AuditContents, AuditKind, AuditLog};
use crate::session::{SessionKey, VisibilityStore};
use crate::skill::{
    Actor, BlockingPool, Clock, Code, Fault, Limits, Principal, SessionId, SessionScope, within,
};

/// What all handles of an engine share.
pub(crate) struct EngineInner {
    pub(super) epoch: RwLock<Arc<Epoch>>,
    /// What turns see while the engine is switched off.
    pub(super) off: Option<Arc<Epoch>>,
    pub(super) sessions: Sessions,
    pub(super) store: Arc<dyn VisibilityStore>,
    pub(super) audit: AuditLog,
    /// Where it is kept what views showed.
    pub(super) contents: Option<AuditContents>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) limits: Limits,
    pub(super) pool: BlockingPool,
    pub(super) search: Arc<dyn SkillSearch>,
    pub(super) loading: LoadingSettings,
    pub(super) governance: Governance,
    pub(super) sources: Sources,
    /// Who asks a person; without it nobody can be asked.
    pub(super) approvals: Option<Arc<dyn ApprovalHandler>>,
    pub(super) incarnations: AtomicU64,
    /// Told when the last change of a session that has ended is through.
    pub(super) quiet: Notify,
}

impl EngineInner {
    /// The registry and what was rendered from it.
    pub(super) fn epoch(&self) -> Arc<Epoch> {
        Arc::clone(&self.epoch.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// What a turn that begins now goes by.
    pub(super) fn epoch_of_turn(&self) -> Arc<Epoch> {
        self.off.as_ref().map_or_else(|| self.epoch(), Arc::clone)
    }

    /// The session of a principal, begun if there is none.
    pub(super) async fn open_session(
        self: &Arc<Self>,
        principal: Principal,
        id: SessionId,
    ) -> Result<Arc<Cell>, Fault> {
        principal.check()?;
        let key = SessionKey::new(principal.id(), &id);
        if let Some(cell) = self.live_session(&key) {
            self.set_principal(&cell, principal);
            return Ok(cell);
        }
        self.open_new(principal, id, None).await
    }

    /// A session that is not held yet; one that another task opens meanwhile is taken instead.
    pub(super) async fn open_new(
        self: &Arc<Self>,
        principal: Principal,
        id: SessionId,
        access: Option<Access>,
    ) -> Result<Arc<Cell>, Fault> {
        let key = SessionKey::new(principal.id(), &id);
        // All waiting comes before the session is held: one that nobody got, as the future is dropped, must not be.
        self.audit.relieve().await;
        let state = self.stored(self.store.load(&key)).await?;
        let now = self.clock.now();
        let incarnation = self.incarnations.fetch_add(1, Ordering::Relaxed);
        let (owner, id) = match self.sessions.known(&principal) {
            Some(owner) => (owner, key.shared_session_id()),
            None => principal.with_session(&id),
        };
        let scope = SessionScope::new(id, owner, incarnation);
        let cell = Arc::new(Cell::new(Arc::new(scope), state, now));
        if let Some(given) = access {
            cell.set_access(|access| *access = given);
        }
        let most = self.limits.sessions_per_principal;
        match self.sessions.add(&cell, most) {
            Added::New => {}
            Added::Held => {
                let cell = self.live_session(&key).ok_or_else(ended)?;
                self.set_principal(&cell, principal);
                return Ok(cell);
            }
            Added::TooMany => {
                return Err(Fault::new(
                    Code::LimitExceeded,
                    format!("a principal holds at most {most} sessions; end some first"),
                ));
            }
        }
        self.audit
            .record(self.event(&cell, Actor::Host, AuditKind::SessionOpened));
        Ok(cell)
    }

    fn live_session(&self, key: &SessionKey) -> Option<Arc<Cell>> {
        let cell = self.sessions.get(key)?;
        (!cell.has_ended()).then(|| {
            cell.touch(self.clock.now());
            cell
        })
    }

    /// Ends a session: its grants go, its turns see nothing more, and its chain gets its last record.
    ///
    /// Once begun it goes on, also when the future is dropped.
    pub(super) async fn end_session(
        self: &Arc<Self>,
        cell: &Arc<Cell>,
        actor: Actor,
        reason: Cow<'static, str>,
    ) -> Result<(), Fault> {
        if !cell.end() {
            return Ok(());
        }
        let mut ending = Ending {
            engine: self,
            cell,
            actor,
            reason: Some(reason),
        };
        self.end_children(cell).await;
        let result = self.forget_session(cell).await;
        if let Some(reason) = ending.reason.take() {
            self.finish_ending(cell, actor, reason, &result);
        }
        result
    }

    /// Has the store forget a session that takes no more changes.
    async fn forget_session(&self, cell: &Cell) -> Result<(), Fault> {
        // What is at the store comes back from there within its time.
        let quiet = async {
            loop {
                let mut told = pin!(self.quiet.notified());
                told.as_mut().enable();
                if cell.is_quiet() {
                    return;
                }
                told.await;
            }
        };
        let limit = self.limits.store_timeout.saturating_mul(2);
        if within(&*self.clock, limit, quiet).await.is_none() {
            return Err(Fault::new(
                Code::Conflict,
                "changes of the session do not come to an end. Try again",
            ));
        }
        self.stored(self.store.remove(&cell.key())).await
    }

    fn finish_ending(
        &self,
        cell: &Arc<Cell>,
        actor: Actor,
        reason: Cow<'static, str>,
        result: &Result<(), Fault>,
    ) {
        if result.is_err() {
            // Grants that are still stored would come back with the next session of that name.
            cell.revive();
            return;
        }
        cell.close_values();
        cell.scope.values.clear_states();
        if let Some(approvals) = cell.approvals() {
            approvals.close();
        }
        self.sessions.remove(cell);
        self.audit
            .record(self.event(cell, actor, AuditKind::SessionEnded { reason }));
    }

    /// Brings a session up to what the store says; other processes may have changed it.
    pub(super) async fn refresh_session(self: &Arc<Self>, cell: &Arc<Cell>) -> Result<(), Fault> {
        self.load_session(cell).await?;
        cell.touch(self.clock.now());
        Ok(())
    }

    /// The same, which does not count as a use of the session. What a child sees goes by its parent, too.
    pub(super) async fn load_session(self: &Arc<Self>, cell: &Arc<Cell>) -> Result<(), Fault> {
        if cell.has_ended() {
            return Err(ended());
        }
        if let Some(parent) = cell.parent().filter(|parent| !parent.has_ended()) {
            self.load(&parent).await?;
        }
        self.load(cell).await
    }

    async fn load(self: &Arc<Self>, cell: &Arc<Cell>) -> Result<(), Fault> {
        let asked_at = cell.with_states(|states| states.adoptions());
        let state = self.stored(self.store.load(&cell.key())).await?;
        let epoch = self.epoch();
        let base = |skill: &str| epoch.base(skill);
        let now = self.clock.now();
        let around = Around {
            base: &base,
            now,
            limits: &self.limits,
        };
        if cell.latest().version() != state.version() {
            cell.publish(&around, |states| states.reload(state, asked_at));
        }
        self.settle_abandoned(cell);
        Ok(())
    }

    pub(super) fn check_reason(&self, reason: &str) -> Result<(), Fault> {
        check_length("reason", reason, self.limits.reason)
    }

    pub(super) fn check_query(&self, query: &str) -> Result<(), Fault> {
        check_length("query", query, self.limits.query)
    }
}

fn check_length(noun: &str, text: &str, most: usize) -> Result<(), Fault> {
    // Bytes first: they are there without counting, and are never fewer than the characters.
    if text.len() > most && text.chars().count() > most {
        return Err(Fault::new(
            Code::LimitExceeded,
            format!("a {noun} has at most {most} characters; shorten it"),
        ));
    }
    Ok(())
}

/// Lets the end of a session go on when the future that began it is dropped.
struct Ending<'a> {
    engine: &'a Arc<EngineInner>,
    cell: &'a Arc<Cell>,
    actor: Actor,
    reason: Option<Cow<'static, str>>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let Some(reason) = self.reason.take() else {
            return;
        };
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            self.cell.revive();
            return;
        };
        let (engine, cell, actor) = (Arc::clone(self.engine), Arc::clone(self.cell), self.actor);
        runtime.spawn(async move {
            engine.end_children(&cell).await;
            let result = engine.forget_session(&cell).await;
            engine.finish_ending(&cell, actor, reason, &result);
        });
    }
}
