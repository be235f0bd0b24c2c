use std::sync::Arc;

use super::cell::{Around, Cell, Unconfirmed};
use super::inner::EngineInner;
use crate::audit::{AuditEvent, AuditKind, VisibilityOutcome};
use crate::session::{Change, ChangeOutcome, SessionState, StoreError, StoreOutcome};
use crate::skill::{Actor, BoxFuture, Code, Fault, Level, Span, StandingGrant, TurnId, within};

/// How often a change is tried again because another one came first.
const ATTEMPTS: usize = 128;

/// A change with what its record says of it.
pub(super) struct Wish<'a> {
    pub(super) change: Change,
    pub(super) actor: Actor,
    pub(super) reason: &'a str,
    pub(super) turn: Option<TurnId>,
    pub(super) span: Option<Span>,
}

impl EngineInner {
    /// Changes what a session has opened: stored first, then written down, and only then visible, if it raises anything.
    ///
    /// Dropping the future is safe at every point: what was stored and not written down does not count, and is taken
    /// back.
    pub(super) async fn change(
        self: &Arc<Self>,
        cell: &Arc<Cell>,
        wish: Wish<'_>,
    ) -> Result<ChangeOutcome, Fault> {
        let result = self.try_change(cell, &wish).await;
        if let Err(fault) = &result {
            self.record_refusal(cell, &wish, fault);
        }
        result
    }

    async fn try_change(
        self: &Arc<Self>,
        cell: &Arc<Cell>,
        wish: &Wish<'_>,
    ) -> Result<ChangeOutcome, Fault> {
        let epoch = self.epoch();
        let base = |skill: &str| epoch.base(skill);
        for attempt in 0..ATTEMPTS {
            if cell.has_ended() {
                return Err(ended());
            }
            let before = cell.latest();
            let now = self.clock.now();
            let applied = before.apply(&wish.change, &base, now, &self.limits)?;
            let outcome = applied.outcome;
            if !outcome.changed {
                return Ok(outcome);
            }
            let after = Arc::new(applied.state);
            let waiting = outcome
                .raised
                .then(|| cell.expect(skill_of(&wish.change), outcome.version, Arc::clone(&before)));
            let mut undo = Undo {
                engine: self,
                cell,
                waiting,
            };
            let stored = self
                .stored(
                    self.store
                        .apply(&cell.key, before.version(), Arc::clone(&after)),
                )
                .await?;
            let around = Around {
                base: &base,
                now,
                limits: &self.limits,
            };
            match stored {
                StoreOutcome::Conflict(state) => {
                    if let Some(waiting) = undo.waiting.take() {
                        cell.confirm(&waiting, &around);
                    }
                    cell.adopt(state, &around);
                    if attempt > 2 {
                        // Whoever came first may be waiting for this thread.
                        tokio::task::yield_now().await;
                    }
                }
                StoreOutcome::Applied => {
                    cell.adopt(Arc::clone(&after), &around);
                    for event in self.events(cell, wish, &outcome, &after) {
                        if outcome.raised {
                            self.audit.commit(event).await?;
                        } else {
                            self.audit.record(event);
                        }
                    }
                    if let Some(waiting) = undo.waiting.take() {
                        cell.confirm(&waiting, &around);
                    }
                    cell.touch(now);
                    return Ok(outcome);
                }
            }
        }
        Err(Fault::new(
            Code::Conflict,
            "others changed the session at the same time, every time. Try again",
        ))
    }

    /// Settles the grants whose time has passed, and writes down that they went.
    pub(super) async fn settle(self: &Arc<Self>, cell: &Arc<Cell>) -> Result<(), Fault> {
        let wish = Wish {
            change: Change::Expire,
            actor: Actor::System,
            reason: "",
            turn: None,
            span: None,
        };
        self.try_change(cell, &wish).await.map(drop)
    }

    /// Asks the store, for as long as it may take.
    pub(super) async fn stored<T>(
        &self,
        asked: BoxFuture<'_, Result<T, StoreError>>,
    ) -> Result<T, Fault> {
        match within(&*self.clock, self.limits.store_timeout, asked).await {
            Some(result) => result.map_err(Fault::from),
            None => Err(StoreError::Unavailable("it did not answer in time".to_owned()).into()),
        }
    }

    /// Takes a stored change back. Until that succeeds the change does not count in this process.
    async fn revert(self: Arc<Self>, cell: Arc<Cell>, waiting: Unconfirmed) {
        let epoch = self.epoch();
        let base = |skill: &str| epoch.base(skill);
        for _ in 0..ATTEMPTS {
            let Ok(state) = self.stored(self.store.load(&cell.key)).await else {
                return;
            };
            let now = self.clock.now();
            let around = Around {
                base: &base,
                now,
                limits: &self.limits,
            };
            let Ok(applied) = state.apply(&waiting.revocation(), &base, now, &self.limits) else {
                return;
            };
            if !applied.outcome.changed {
                cell.adopt(state, &around);
                cell.confirm(&waiting, &around);
                return;
            }
            let after = Arc::new(applied.state);
            let stored = self
                .stored(
                    self.store
                        .apply(&cell.key, state.version(), Arc::clone(&after)),
                )
                .await;
            match stored {
                Ok(StoreOutcome::Applied) => {
                    cell.adopt(after, &around);
                    cell.confirm(&waiting, &around);
                    self.audit.record(
                        self.event(
                            &cell,
                            Actor::System,
                            AuditKind::Visibility {
                                skill: Arc::clone(&waiting.skill),
                                change: VisibilityOutcome::Cleared,
                                asked: None,
                                old: applied.outcome.old_level,
                                new: applied.outcome.new_level,
                                span: None,
                                code: Some(Code::AuditUnavailable),
                                expires_at: None,
                            },
                        )
                        .reason("taken back: the change was not written down"),
                    );
                    return;
                }
                Ok(StoreOutcome::Conflict(_)) => {}
                Err(_) => return,
            }
        }
    }

    pub(super) fn event(&self, cell: &Cell, actor: Actor, kind: AuditKind) -> AuditEvent {
        AuditEvent::new(self.clock.now(), actor, kind).scope(Arc::clone(&cell.scope))
    }

    fn events(
        &self,
        cell: &Cell,
        wish: &Wish<'_>,
        outcome: &ChangeOutcome,
        after: &SessionState,
    ) -> Vec<AuditEvent> {
        let mut kinds: Vec<(Actor, AuditKind)> = outcome
            .expired
            .iter()
            .map(|grant| {
                (
                    Actor::System,
                    expired(grant, self.level_now(after, &grant.skill)),
                )
            })
            .collect();
        let visibility =
            |skill: &Arc<str>, change, asked, old, new, expires_at| AuditKind::Visibility {
                skill: Arc::clone(skill),
                change,
                asked,
                old,
                new,
                span: wish.span,
                code: None,
                expires_at,
            };
        let (old, new) = (outcome.old_level, outcome.new_level);
        match &wish.change {
            Change::Set {
                skill, level, span, ..
            } if !outcome.already_open => {
                let expires_at = match span {
                    crate::session::GrantSpan::Ttl(expires_at) => Some(*expires_at),
                    crate::session::GrantSpan::UntilCleared => None,
                };
                kinds.push((
                    wish.actor,
                    visibility(
                        skill,
                        VisibilityOutcome::Granted,
                        Some(*level),
                        old,
                        new,
                        expires_at,
                    ),
                ));
            }
            Change::Limit { skill, level } if !outcome.already_open => {
                kinds.push((
                    wish.actor,
                    visibility(skill, VisibilityOutcome::Limited, *level, old, new, None),
                ));
            }
            Change::Clear {
                skill: Some(skill), ..
            } if !outcome.already_open => {
                kinds.push((
                    wish.actor,
                    visibility(skill, VisibilityOutcome::Cleared, None, old, new, None),
                ));
            }
            Change::Clear { skill: None, .. } => {
                for moved in &outcome.moved {
                    let (old, new) = (moved.old_level, moved.new_level);
                    let kind = visibility(
                        &moved.skill,
                        VisibilityOutcome::Cleared,
                        None,
                        old,
                        new,
                        None,
                    );
                    kinds.push((wish.actor, kind));
                }
            }
            _ => {}
        }
        kinds
            .into_iter()
            .map(|(actor, kind)| {
                let mut event = self.event(cell, actor, kind).reason(wish.reason);
                event.turn = wish.turn;
                event
            })
            .collect()
    }

    fn level_now(&self, state: &SessionState, skill: &str) -> Level {
        crate::session::effective(
            self.epoch().base(skill),
            &state.standing(skill),
            None,
            self.clock.now(),
        )
    }

    fn record_refusal(&self, cell: &Cell, wish: &Wish<'_>, fault: &Fault) {
        let skill = skill_of(&wish.change);
        let level = self.level_now(&cell.published().1, &skill);
        let asked = match &wish.change {
            Change::Set { level, .. } => Some(*level),
            Change::Limit { level, .. } => *level,
            _ => None,
        };
        let change = if fault.code == Code::Conflict {
            VisibilityOutcome::Conflict
        } else {
            VisibilityOutcome::Refused
        };
        let kind = AuditKind::Visibility {
            skill,
            change,
            asked,
            old: level,
            new: level,
            span: wish.span,
            code: Some(fault.code),
            expires_at: None,
        };
        let mut event = self.event(cell, wish.actor, kind).reason(wish.reason);
        event.turn = wish.turn;
        self.audit.record(event);
    }
}

pub(super) fn expired(grant: &StandingGrant, new: Level) -> AuditKind {
    AuditKind::Visibility {
        skill: (*grant.skill).into(),
        change: VisibilityOutcome::Expired,
        asked: None,
        old: grant.level.max(new),
        new,
        span: None,
        code: None,
        expires_at: grant.expires_at,
    }
}

pub(super) fn ended() -> Fault {
    Fault::new(Code::NotPermitted, "the session has ended. Begin a new one")
}

fn skill_of(change: &Change) -> Arc<str> {
    match change {
        Change::Set { skill, .. }
        | Change::Limit { skill, .. }
        | Change::Clear {
            skill: Some(skill), ..
        }
        | Change::Revoke { skill, .. } => Arc::clone(skill),
        _ => "*".into(),
    }
}

/// Takes a raising change back when its future is dropped, or fails, before its record was written.
struct Undo<'a> {
    engine: &'a Arc<EngineInner>,
    cell: &'a Arc<Cell>,
    waiting: Option<Unconfirmed>,
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        let Some(waiting) = self.waiting.take() else {
            return;
        };
        // Without a runtime there is nothing to wait on; the change then stays stored and does not count here.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(Arc::clone(self.engine).revert(Arc::clone(self.cell), waiting));
        }
    }
}
