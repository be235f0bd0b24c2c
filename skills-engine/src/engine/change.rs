use std::sync::Arc;

use super::cell::{Around, Cell};
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::pending::Pending;
use crate::audit::{AuditEvent, AuditKind, VisibilityOutcome};
use crate::session::{
    Change, ChangeOutcome, SessionState, SkillFacts, StateChange, StoreError, StoreOutcome,
    TurnStanding, effective,
};
use crate::skill::{
    Actor, BoxFuture, Code, Fault, Level, Span, StandingGrant, Timestamp, TurnId, within,
};

/// How often a change is tried again because another one came first.
pub(super) const ATTEMPTS: usize = 128;

/// A change with what its record says of it.
pub(super) struct Wish<'a> {
    pub(super) change: Change,
    /// The skills as whoever makes it sees them: a turn may have begun before the last refresh.
    pub(super) epoch: &'a Epoch,
    /// What caps a skill from outside of the session.
    pub(super) outer: &'a (dyn Fn(&str) -> Option<Level> + Sync),
    pub(super) actor: Actor,
    /// The principal that asks, where it is not the session's owner.
    pub(super) by: Option<Arc<str>>,
    pub(super) reason: &'a str,
    pub(super) turn: Option<TurnId>,
    pub(super) span: Option<Span>,
    /// When it was made: what it says of time counts from here, however often it is tried.
    pub(super) at: Timestamp,
}

impl EngineInner {
    /// Changes what a session has opened: stored first, then written down, and only then visible, if it raises anything.
    ///
    /// Dropping the future is safe at every point: what was stored and not written down is taken back if it raises
    /// anything, and written down if it does not.
    pub(super) async fn change(
        self: &Arc<Self>,
        cell: &Arc<Cell>,
        wish: &Wish<'_>,
    ) -> Result<ChangeOutcome, Fault> {
        let base = |skill: &str| wish.epoch.base(skill);
        for attempt in 0..ATTEMPTS {
            let Some(writing) = cell.begin_write(&self.quiet) else {
                return Err(ended());
            };
            let before = cell.latest();
            let now = wish.at;
            let applied = before.apply(&wish.change, &base, now, &self.limits)?;
            let outcome = applied.outcome;
            if !outcome.changed {
                return Ok(outcome);
            }
            let after = Arc::new(applied.state);
            let around = Around {
                base: &base,
                now,
                limits: &self.limits,
            };
            let raised = raised_skills(&wish.change, &outcome, &before, &after, &around);
            let only_raises = raised.len() == 1
                && outcome.new_level >= outcome.old_level
                && outcome.moved.is_empty()
                && outcome.expired.is_empty();
            let announced = cell.with_states(|states| {
                let (before, after) = (Arc::clone(&before), Arc::clone(&after));
                states.expect(raised, only_raises, before, after)
            });
            let Some(pending) = announced else {
                self.settle_abandoned(cell);
                return Err(too_many_pending());
            };
            let mut undo = Undo {
                engine: self,
                cell,
                wish,
                outcome: &outcome,
                pending: Some(&pending),
                is_stored: false,
            };
            let events = self.events(cell, wish, &outcome, &after);
            let change = StateChange::new(before.version(), Arc::clone(&after)).events(&events);
            let stored = self.stored(self.store.apply(&cell.key(), change)).await?;
            drop(writing);
            match stored {
                StoreOutcome::Conflict(state) => {
                    undo.pending = None;
                    cell.publish(&around, |states| {
                        states.forget(pending.serial);
                        states.adopt(state);
                    });
                    if attempt > 2 {
                        // Whoever came first may be waiting for this thread.
                        tokio::task::yield_now().await;
                    }
                }
                StoreOutcome::Applied => {
                    cell.publish(&around, |states| {
                        states.won(pending.serial, Arc::clone(&after));
                    });
                    let (raising, other): (Vec<_>, Vec<_>) = events
                        .into_iter()
                        .partition(|event| is_raising(event, &pending));
                    undo.is_stored = true;
                    // These happened, whatever becomes of the rest.
                    for event in other {
                        self.audit.record(event);
                    }
                    for event in raising {
                        self.audit.commit(event).await?;
                    }
                    undo.pending = None;
                    drop(undo);
                    cell.confirm(&pending, &around);
                    // That time has passed is no use of the session.
                    if !matches!(wish.change, Change::Expire) {
                        cell.touch(now);
                    }
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
        let epoch = self.epoch();
        let wish = Wish {
            change: Change::Expire,
            epoch: &epoch,
            outer: &|_| None,
            actor: Actor::System,
            by: None,
            reason: "",
            turn: None,
            span: None,
            at: self.clock.now(),
        };
        self.change(cell, &wish).await.map(drop)
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

    pub(super) fn event(&self, cell: &Cell, actor: Actor, kind: AuditKind) -> AuditEvent {
        event_at(self.clock.now(), cell, actor, kind)
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
        let visibility = |skill: &Arc<str>, change, asked, old: Level, new: Level, expires_at| {
            let capped =
                |level: Level| (wish.outer)(skill).map_or(level, |ceiling| ceiling.min(level));
            AuditKind::Visibility {
                skill: Arc::clone(skill),
                change,
                asked,
                old: capped(old),
                new: capped(new),
                span: wish.span,
                code: None,
                expires_at,
            }
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
                for (skill, old, new) in cleared_skills(outcome) {
                    let level = |level: Option<Level>| {
                        level.unwrap_or_else(|| self.level_now(after, &skill))
                    };
                    let (old, new) = (level(old), level(new));
                    let cleared = VisibilityOutcome::Cleared;
                    kinds.push((
                        wish.actor,
                        visibility(&skill, cleared, None, old, new, None),
                    ));
                }
            }
            _ => {}
        }
        kinds
            .into_iter()
            .map(|(actor, kind)| {
                let by = wish.by.clone().filter(|_| actor == wish.actor);
                let mut event = self.event(cell, actor, kind).by(by).reason(wish.reason);
                event.turn = wish.turn;
                event
            })
            .collect()
    }

    fn level_now(&self, state: &SessionState, skill: &str) -> Level {
        let facts = SkillFacts::new(self.epoch().base(skill));
        effective(
            &facts,
            &state.standing(skill),
            TurnStanding::default(),
            self.clock.now(),
        )
    }
}

/// The skills that clearing everything took something from, each with the levels between which it moved, if it did.
///
/// When there was nothing to take, all skills are named as one: turns may have held something.
fn cleared_skills(outcome: &ChangeOutcome) -> Vec<(Arc<str>, Option<Level>, Option<Level>)> {
    let mut skills: Vec<(Arc<str>, Option<Level>, Option<Level>)> = Vec::new();
    for grant in &outcome.cleared {
        if skills
            .last()
            .is_some_and(|(last, ..)| **last == *grant.skill)
        {
            continue;
        }
        // Settling comes before clearing, and may have moved the skill too.
        let moved = outcome
            .moved
            .iter()
            .rfind(|moved| *moved.skill == *grant.skill);
        skills.push((
            grant.skill.as_str().into(),
            moved.map(|moved| moved.old_level),
            moved.map(|moved| moved.new_level),
        ));
    }
    if skills.is_empty() {
        let lowest = Some(Level::Metadata);
        skills.push((ALL_SKILLS.into(), lowest, lowest));
    }
    skills
}

/// Stands for all skills in a record.
pub(super) const ALL_SKILLS: &str = "*";

/// The skills that a change raises, now or at a later time.
fn raised_skills(
    change: &Change,
    outcome: &ChangeOutcome,
    before: &SessionState,
    after: &SessionState,
    around: &Around<'_>,
) -> Arc<[Arc<str>]> {
    if !outcome.raised {
        return Arc::default();
    }
    if !matches!(change, Change::Clear { skill: None, .. }) {
        return [skill_of(change)].into();
    }
    let is_raised = |skill: &Arc<str>| {
        let (old, new) = (before.standing(skill), after.standing(skill));
        let facts = SkillFacts::new((around.base)(skill));
        let level = |standing, at| effective(&facts, standing, TurnStanding::default(), at);
        let is_higher_at = |at: Timestamp| level(&new, at) > level(&old, at);
        // Levels only fall as time passes, so it is enough to look where the old one falls.
        is_higher_at(around.now)
            || old
                .grants()
                .iter()
                .filter_map(crate::session::Grant::expires_at)
                .any(|at| at > around.now && is_higher_at(at))
    };
    before
        .skills()
        .map(|(skill, _)| skill)
        .filter(|skill| is_raised(skill))
        .cloned()
        .collect()
}

fn is_raising(event: &AuditEvent, pending: &Pending) -> bool {
    match &event.kind {
        AuditKind::Visibility { skill, change, .. } => {
            *change != VisibilityOutcome::Expired && pending.raised.contains(skill)
        }
        _ => false,
    }
}

pub(super) fn too_many_pending() -> Fault {
    Fault::new(
        Code::StoreUnavailable,
        "too many changes of the session wait for the store or the audit trail. Try again later",
    )
}

/// What happened to a session at a moment.
pub(super) fn event_at(time: Timestamp, cell: &Cell, actor: Actor, kind: AuditKind) -> AuditEvent {
    AuditEvent::new(time, actor, kind).scope(Arc::clone(&cell.scope))
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
        _ => ALL_SKILLS.into(),
    }
}

/// Has a change settled whose future is dropped, or fails, before it is written down.
struct Undo<'a> {
    engine: &'a Arc<EngineInner>,
    cell: &'a Arc<Cell>,
    wish: &'a Wish<'a>,
    outcome: &'a ChangeOutcome,
    pending: Option<&'a Pending>,
    is_stored: bool,
}

impl Drop for Undo<'_> {
    fn drop(&mut self) {
        let Some(pending) = self.pending.take() else {
            return;
        };
        let mut events = self
            .engine
            .events(self.cell, self.wish, self.outcome, &pending.after);
        // Once it was stored, what it does not raise was written down.
        events.retain(|event| !self.is_stored && !is_raising(event, pending));
        let serial = pending.serial;
        if self
            .cell
            .with_states(|states| states.abandon(serial, events))
        {
            self.engine.spawn_settling(self.cell);
        }
    }
}
