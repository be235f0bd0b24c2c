use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::cell::Cell;
use super::change::{ALL_SKILLS, Wish, ended};
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::search::Searched;
use crate::audit::{AuditKind, VisibilityOutcome};
use crate::registry::SkillIndex;
use crate::session::{
    Change, Decision, GrantSpan, MemberFacts, SessionState, TurnGrants, TurnWish, decide, effective,
};
use crate::skill::{
    Actor, BoxFuture, Cleared, Code, Fault, Level, SetVisibility, SkillMatch, SkillVisibility,
    Span, StandingGrant, Timestamp, TurnId, Visibility, VisibilityChange, lock,
};

/// Characters of a skill's id in a record of what was refused, and one more to show that it was cut.
const LONGEST_ID: usize = 129;

/// Skills in one answer to a search.
const MATCHES: usize = 20;

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

    fn edit_grants<T>(&self, edit: impl FnOnce(&mut TurnGrants) -> T) -> T {
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

    fn check_running(&self) -> Result<(), Fault> {
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

/// A session, or a turn of it, as one actor sees and changes it.
pub(super) struct Control<'a> {
    pub(super) engine: &'a Arc<EngineInner>,
    pub(super) cell: &'a Arc<Cell>,
    pub(super) epoch: &'a Arc<Epoch>,
    pub(super) turn: Option<&'a TurnCore>,
    pub(super) actor: Actor,
}

impl Control<'_> {
    pub(super) async fn set(&self, request: SetVisibility) -> Result<VisibilityChange, Fault> {
        let result = self.try_set(&request).await;
        if let Err(fault) = &result {
            let SetVisibility {
                skill,
                level,
                span,
                reason,
            } = &request;
            self.record_refusal(skill, Some(*level), Some(*span), reason, fault);
        }
        result
    }

    async fn try_set(&self, request: &SetVisibility) -> Result<VisibilityChange, Fault> {
        let SetVisibility {
            skill,
            level,
            span,
            reason,
        } = request;
        let (level, span) = (*level, *span);
        if let Some(turn) = self.turn {
            turn.check_running()?;
        }
        let index = self.epoch.known(skill)?;
        self.engine.check_reason(reason)?;
        match span {
            Span::UntilCleared => {
                self.set_floor(index, level, GrantSpan::UntilCleared, span, reason)
                    .await
            }
            Span::Ttl(duration) => {
                let grant =
                    GrantSpan::for_time(duration, self.engine.clock.now(), &self.engine.limits)?;
                self.set_floor(index, level, grant, span, reason).await
            }
            Span::Turn => self.set_for_turn(index, level, reason).await,
        }
    }

    async fn set_floor(
        &self,
        index: SkillIndex,
        level: Level,
        grant: GrantSpan,
        span: Span,
        reason: &str,
    ) -> Result<VisibilityChange, Fault> {
        let skill = Arc::clone(&self.epoch.registry.skill(index).id);
        let before = self.cell.published().1;
        let seen_before = self.members(index, &before);
        if let (Some(turn), GrantSpan::UntilCleared) = (self.turn, grant) {
            turn.with_grants(|grants| grants.check_lowering(&skill, level, self.actor, &before))?;
        }
        let old_level = self.level(index, &before);
        let change = Change::Set {
            skill: Arc::clone(&skill),
            level,
            actor: self.actor,
            span: grant,
        };
        let mut changed = self.change(change, reason, Some(span)).await?;
        let after = self.cell.published().1;
        if let (Some(turn), GrantSpan::UntilCleared) = (self.turn, grant) {
            let lowered = turn.edit_grants(|grants| {
                // As they stood before: the session's change may have ended them.
                let mut lowered = grants.list(Some(&skill), &before);
                lowered.retain(|grant| grant.level > level && grant.actor <= self.actor);
                grants.lower(&skill, level, self.actor);
                lowered
            });
            changed.already_open &= lowered.is_empty();
            self.record_cleared(turn, &lowered, &after, reason);
        }
        let expires_at = match grant {
            GrantSpan::Ttl(expires_at) => Some(expires_at),
            GrantSpan::UntilCleared => None,
        };
        let span = if expires_at.is_some() {
            "ttl"
        } else {
            "until_cleared"
        };
        Ok(self.told(
            index,
            old_level,
            (span, expires_at),
            changed.already_open,
            &seen_before,
            &after,
        ))
    }

    async fn set_for_turn(
        &self,
        index: SkillIndex,
        level: Level,
        reason: &str,
    ) -> Result<VisibilityChange, Fault> {
        let Some(turn) = self.turn else {
            return Err(Fault::new(
                Code::InvalidArguments,
                "a grant for a turn is made through a turn; use `turn.open(..)`, or another span",
            ));
        };
        let registered = self.epoch.registry.skill(index);
        let wish = TurnWish {
            skill: Arc::clone(&registered.id),
            level,
            actor: self.actor,
            base: registered.base(),
        };
        let state = self.cell.published().1;
        let seen_before = self.members(index, &state);
        let (now, limits) = (self.engine.clock.now(), &self.engine.limits);
        // Tried on a copy: the grant is made once its record is written.
        let tried = turn
            .with_grants(TurnGrants::clone)
            .set(&wish, &state, now, limits);
        let outcome = tried?;
        if !outcome.already_open {
            let kind = AuditKind::Visibility {
                skill: Arc::clone(&wish.skill),
                change: VisibilityOutcome::Granted,
                asked: Some(level),
                old: outcome.old_level,
                new: outcome.new_level,
                span: Some(Span::Turn),
                code: None,
                expires_at: None,
            };
            let event = self
                .engine
                .event(self.cell, self.actor, kind)
                .turn(turn.id)
                .reason(reason);
            self.engine.audit.commit(event).await?;
            let state = self.cell.published().1;
            // Checked under the lock that the end of the turn takes too.
            turn.edit_grants(|grants| {
                turn.check_running()?;
                grants.set(&wish, &state, now, limits)
            })?;
        }
        let after = self.cell.published().1;
        Ok(self.told(
            index,
            outcome.old_level,
            ("turn", None),
            outcome.already_open,
            &seen_before,
            &after,
        ))
    }

    /// Writes down that nothing was changed; `skill` may be anything that was asked for.
    fn record_refusal(
        &self,
        skill: &str,
        asked: Option<Level>,
        span: Option<Span>,
        reason: &str,
        fault: &Fault,
    ) {
        let level = self.level_of(skill, &self.cell.published().1);
        let change = if fault.code == Code::Conflict {
            VisibilityOutcome::Conflict
        } else {
            VisibilityOutcome::Refused
        };
        let kind = AuditKind::Visibility {
            skill: cut(skill, LONGEST_ID).into(),
            change,
            asked,
            old: level,
            new: level,
            span,
            code: Some(fault.code),
            expires_at: None,
        };
        let mut event = self
            .engine
            .event(self.cell, self.actor, kind)
            .reason(cut(reason, self.engine.limits.reason + 1));
        event.turn = self.turn.map(|turn| turn.id);
        self.engine.audit.record(event);
    }

    fn told(
        &self,
        index: SkillIndex,
        old_level: Level,
        (span, expires_at): (&'static str, Option<Timestamp>),
        already_open: bool,
        before: &Members,
        after: &SessionState,
    ) -> VisibilityChange {
        let seen = self.members(index, after);
        let new = |now: &[u32], before: &[u32]| -> Vec<u32> {
            now.iter()
                .filter(|member| !before.contains(member))
                .copied()
                .collect()
        };
        VisibilityChange {
            skill: (*self.epoch.registry.skill(index).id).to_owned(),
            old_level,
            new_level: self.level(index, after),
            span,
            expires_at,
            already_open,
            new_tools: new(&seen.tools, &before.tools)
                .into_iter()
                .map(|tool| (**self.epoch.catalogue.name(tool)).to_owned())
                .collect(),
            new_attributes: new(&seen.attributes, &before.attributes)
                .into_iter()
                .map(|attribute| (*self.epoch.registry.attribute(attribute).name).to_owned())
                .collect(),
        }
    }

    async fn change(
        &self,
        change: Change,
        reason: &str,
        span: Option<Span>,
    ) -> Result<crate::session::ChangeOutcome, Fault> {
        if let Some(turn) = self.turn {
            turn.check_running()?;
        }
        let turn = self.turn.map(|turn| turn.id);
        let wish = Wish {
            change,
            actor: self.actor,
            reason,
            turn,
            span,
        };
        self.engine.change(self.cell, &wish).await
    }

    pub(super) async fn limit(
        &self,
        skill: &str,
        level: Option<Level>,
        reason: &str,
    ) -> Result<(), Fault> {
        let result = self.try_limit(skill, level, reason).await;
        if let Err(fault) = &result {
            self.record_refusal(skill, level, None, reason, fault);
        }
        result
    }

    async fn try_limit(
        &self,
        skill: &str,
        level: Option<Level>,
        reason: &str,
    ) -> Result<(), Fault> {
        let index = self.epoch.known(skill)?;
        self.engine.check_reason(reason)?;
        let skill = Arc::clone(&self.epoch.registry.skill(index).id);
        self.change(Change::Limit { skill, level }, reason, None)
            .await
            .map(drop)
    }

    pub(super) async fn clear(&self, skill: Option<&str>, reason: &str) -> Result<Cleared, Fault> {
        let result = self.try_clear(skill, reason).await;
        if let Err(fault) = &result {
            self.record_refusal(skill.unwrap_or(ALL_SKILLS), None, None, reason, fault);
        }
        result
    }

    async fn try_clear(&self, skill: Option<&str>, reason: &str) -> Result<Cleared, Fault> {
        self.engine.check_reason(reason)?;
        let skill = match skill {
            Some(id) => Some(Arc::clone(
                &self.epoch.registry.skill(self.epoch.known(id)?).id,
            )),
            None => None,
        };
        let state = self.cell.published().1;
        // Asked before: clearing the session ends them.
        let mut of_turn = self.turn.map_or_else(Vec::new, |turn| {
            turn.with_grants(|grants| grants.list(skill.as_deref(), &state))
        });
        of_turn.retain(|grant| grant.actor <= self.actor);
        let changed = self
            .change(
                Change::Clear {
                    skill: skill.clone(),
                    actor: self.actor,
                },
                reason,
                None,
            )
            .await?;
        let mut cleared = Cleared {
            cleared: changed.cleared,
            remaining: changed.remaining,
        };
        if let Some(turn) = self.turn {
            let state = self.cell.published().1;
            let left =
                turn.edit_grants(|grants| grants.clear(skill.as_deref(), self.actor, &state));
            self.record_cleared(turn, &of_turn, &state, reason);
            cleared.cleared.append(&mut of_turn);
            cleared.remaining.extend(left.remaining);
        }
        Ok(cleared)
    }

    /// Writes down that grants of the turn went.
    fn record_cleared(
        &self,
        turn: &TurnCore,
        grants: &[StandingGrant],
        state: &SessionState,
        reason: &str,
    ) {
        for grant in grants {
            let kind = AuditKind::Visibility {
                skill: (*grant.skill).into(),
                change: VisibilityOutcome::Cleared,
                asked: None,
                old: grant.level,
                new: self.level_of(&grant.skill, state),
                span: Some(Span::Turn),
                code: None,
                expires_at: None,
            };
            let event = self.engine.event(self.cell, self.actor, kind);
            self.engine.audit.record(event.turn(turn.id).reason(reason));
        }
    }

    pub(super) fn list(&self) -> Vec<SkillVisibility> {
        let state = self.cell.published().1;
        let now = self.engine.clock.now();
        (0..)
            .zip(&self.epoch.registry.skills)
            .filter(|(index, _)| !self.epoch.is_off(*index))
            .map(|(index, registered)| {
                let standing = state.standing(&registered.id);
                let mut grants = standing.list(now);
                if let Some(turn) = self.turn {
                    grants.extend(
                        turn.with_grants(|of_turn| of_turn.list(Some(&registered.id), &state)),
                    );
                }
                SkillVisibility {
                    skill: (*registered.id).to_owned(),
                    level: self.level(index, &state),
                    base: registered.base(),
                    ceiling: standing.ceiling(),
                    grants,
                }
            })
            .collect()
    }

    pub(super) fn search(&self, query: &str) -> Result<Vec<SkillMatch>, Fault> {
        self.engine.check_query(query)?;
        let state = self.cell.published().1;
        let known: Vec<_> = (0..)
            .zip(&self.epoch.registry.skills)
            .filter(|(index, _)| !self.epoch.is_off(*index))
            .collect();
        let searched: Vec<_> = known
            .iter()
            .map(|(_, registered)| {
                let definition = registered.definition();
                Searched::new(
                    &registered.id,
                    &definition.name,
                    &definition.description,
                    &definition.tags,
                )
            })
            .collect();
        let found = self.engine.search.search(query, &searched, MATCHES);
        Ok(found
            .into_iter()
            .filter_map(|position| known.get(position))
            .map(|(index, registered)| SkillMatch {
                skill: (*registered.id).to_owned(),
                name: registered.definition().name.clone().into_owned(),
                description: registered.definition().description.clone().into_owned(),
                level: self.level(*index, &state),
            })
            .collect())
    }

    fn level(&self, index: SkillIndex, state: &SessionState) -> Level {
        self.level_of(&self.epoch.registry.skill(index).id, state)
    }

    fn level_of(&self, skill: &str, state: &SessionState) -> Level {
        let turn = self.turn_level(skill, state);
        effective(
            self.epoch.base(skill),
            &state.standing(skill),
            turn,
            self.engine.clock.now(),
        )
    }

    fn turn_level(&self, skill: &str, state: &SessionState) -> Option<Level> {
        self.turn
            .and_then(|turn| turn.with_grants(|grants| grants.level(skill, state)))
    }

    /// The members of a skill that are visible.
    fn members(&self, index: SkillIndex, state: &SessionState) -> Members {
        let registry = &self.epoch.registry;
        let registered = registry.skill(index);
        let facts = self.epoch.facts(index);
        let standing = state.standing(&registered.id);
        let turn = self.turn_level(&registered.id, state);
        let now = self.engine.clock.now();
        let is_visible = |member: MemberFacts| {
            decide(Some(&facts), Some(&member), &standing, turn, now) == Decision::Visible
        };
        Members {
            tools: registered
                .tools
                .all()
                .filter(|tool| {
                    let definition = &registry.tool(*tool).definition;
                    is_visible(MemberFacts::new(definition.level, definition.expose))
                })
                .collect(),
            attributes: registered
                .attributes
                .all()
                .filter(|attribute| {
                    let definition = &registry.attribute(*attribute).definition;
                    is_visible(MemberFacts::new(definition.level, definition.expose))
                })
                .collect(),
        }
    }
}

struct Members {
    tools: Vec<u32>,
    attributes: Vec<u32>,
}

/// What the tools of a turn are given: the turn's session as the model sees and changes it.
pub(super) struct TurnVisibility(pub(super) Arc<TurnCore>);

impl TurnVisibility {
    fn control(&self) -> Control<'_> {
        let TurnCore {
            engine,
            cell,
            epoch,
            ..
        } = &*self.0;
        Control {
            engine,
            cell,
            epoch,
            turn: Some(&self.0),
            actor: Actor::Model,
        }
    }
}

impl Visibility for TurnVisibility {
    fn set(&self, request: SetVisibility) -> BoxFuture<'_, Result<VisibilityChange, Fault>> {
        Box::pin(async move { self.control().set(request).await })
    }

    fn get(&self) -> BoxFuture<'_, Result<Vec<SkillVisibility>, Fault>> {
        Box::pin(async move { Ok(self.control().list()) })
    }

    fn clear<'a>(&'a self, skill: Option<&'a str>) -> BoxFuture<'a, Result<Cleared, Fault>> {
        Box::pin(async move { self.control().clear(skill, "").await })
    }

    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Vec<SkillMatch>, Fault>> {
        Box::pin(async move { self.control().search(query) })
    }
}

/// The first `most` characters.
fn cut(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most);
    end.map_or(text, |(end, _)| &text[..end])
}
