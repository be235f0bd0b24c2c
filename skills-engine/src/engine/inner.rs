use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use super::cell::{Around, Cell};
use super::change::ended;
use super::epoch::Epoch;
use super::search::SkillSearch;
use crate::audit::{AuditKind, AuditLog};
use crate::session::{SessionKey, VisibilityStore};
use crate::skill::{Actor, Clock, Code, Fault, Limits, Principal, SessionId, SessionScope};
use crate::snapshot::BlockingPool;

/// What all handles of an engine share.
pub(crate) struct EngineInner {
    pub(super) epoch: RwLock<Arc<Epoch>>,
    /// What turns see while the engine is switched off.
    pub(super) off: Option<Arc<Epoch>>,
    pub(super) sessions: DashMap<SessionKey, Arc<Cell>>,
    pub(super) counts: DashMap<Box<str>, usize>,
    pub(super) store: Arc<dyn VisibilityStore>,
    pub(super) audit: AuditLog,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) limits: Limits,
    pub(super) pool: BlockingPool,
    pub(super) search: Arc<dyn SkillSearch>,
    pub(super) incarnations: AtomicU64,
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
            return Ok(cell);
        }
        let state = self.stored(self.store.load(&key)).await?;
        let now = self.clock.now();
        let incarnation = self.incarnations.fetch_add(1, Ordering::Relaxed);
        let scope = Arc::new(SessionScope::new(id, principal, incarnation));
        let cell = match self.sessions.entry(key) {
            Entry::Occupied(entry) if !entry.get().has_ended() => {
                return Ok(Arc::clone(entry.get()));
            }
            Entry::Occupied(_) => return Err(ended()),
            Entry::Vacant(entry) => {
                self.count_in(scope.principal.id())?;
                let cell = Arc::new(Cell::new(entry.key().clone(), scope, state, now));
                entry.insert(Arc::clone(&cell));
                cell
            }
        };
        self.audit
            .record(self.event(&cell, Actor::Host, AuditKind::SessionOpened));
        self.audit.relieve().await;
        Ok(cell)
    }

    fn live_session(&self, key: &SessionKey) -> Option<Arc<Cell>> {
        let cell = self.sessions.get(key)?;
        (!cell.has_ended()).then(|| {
            cell.touch(self.clock.now());
            Arc::clone(&cell)
        })
    }

    fn count_in(&self, principal: &str) -> Result<(), Fault> {
        if let Some(mut count) = self.counts.get_mut(principal) {
            if *count >= self.limits.sessions_per_principal {
                return Err(Fault::new(
                    Code::LimitExceeded,
                    format!(
                        "a principal holds at most {} sessions; end some first",
                        self.limits.sessions_per_principal
                    ),
                ));
            }
            *count += 1;
            return Ok(());
        }
        *self.counts.entry(principal.into()).or_insert(0) += 1;
        Ok(())
    }

    /// Ends a session: its grants go, its turns see nothing more, and its chain gets its last record.
    pub(super) async fn end_session(
        &self,
        cell: &Arc<Cell>,
        actor: Actor,
        reason: std::borrow::Cow<'static, str>,
    ) -> Result<(), Fault> {
        if !cell.end() {
            return Ok(());
        }
        if let Err(fault) = self.stored(self.store.remove(&cell.key)).await {
            // Grants that are still stored would come back with the next session of that name.
            cell.revive();
            return Err(fault);
        }
        if self
            .sessions
            .remove_if(&cell.key, |_, other| Arc::ptr_eq(other, cell))
            .is_some()
        {
            let principal = cell.scope.principal.id();
            self.counts.remove_if_mut(principal, |_, count| {
                *count = count.saturating_sub(1);
                *count == 0
            });
        }
        self.audit
            .record(self.event(cell, actor, AuditKind::SessionEnded { reason }));
        Ok(())
    }

    /// Brings a session up to what the store says; other processes may have changed it.
    pub(super) async fn refresh_session(&self, cell: &Cell) -> Result<(), Fault> {
        if cell.has_ended() {
            return Err(ended());
        }
        let state = self.stored(self.store.load(&cell.key)).await?;
        let epoch = self.epoch();
        let base = |skill: &str| epoch.base(skill);
        let now = self.clock.now();
        cell.reload(
            state,
            &Around {
                base: &base,
                now,
                limits: &self.limits,
            },
        );
        cell.touch(now);
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
