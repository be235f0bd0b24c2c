use std::sync::Arc;

use super::cell::Cell;
use super::change::{ALL_SKILLS, Wish};
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::rights::Rights;
use super::turn_core::TurnCore;
use crate::audit::{AuditKind, VisibilityOutcome};
use crate::registry::SkillIndex;
use crate::session::{Change, GrantSpan, SessionState, TurnGrants, TurnWish, Wanted};
use crate::skill::{
    Actor, Cleared, Code, Fault, Level, SetVisibility, Span, StandingGrant, Timestamp,
    VisibilityChange,
};

/// Characters of a skill's id in a record of what was refused, and one more to show that it was cut.
const LONGEST_ID: usize = 129;

/// A session, or a turn of it, as one actor sees and changes it.
pub(super) struct Control<'a> {
    pub(super) engine: &'a Arc<EngineInner>,
    pub(super) cell: &'a Arc<Cell>,
    pub(super) epoch: &'a Arc<Epoch>,
    pub(super) rights: Arc<Rights>,
    pub(super) turn: Option<&'a TurnCore>,
    pub(super) actor: Actor,
    /// The principal that asks, where it is not the session's owner.
    pub(super) by: Option<Arc<str>>,
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
                ..
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
            call,
        } = request;
        let (level, span) = (*level, *span);
        if let Some(turn) = self.turn {
            turn.check_running()?;
        }
        let index = self.known(skill)?;
        self.engine.check_reason(reason)?;
        self.check_opening(index, level)?;
        let wanted = Wanted::Set { level, span };
        self.ask_policy(Some(index), wanted, reason, call.as_ref())
            .await?;
        if span == Span::Turn {
            return self.set_for_turn(index, level, reason).await;
        }
        self.set_for_session(index, level, span, reason).await
    }

    async fn set_for_session(
        &self,
        index: SkillIndex,
        level: Level,
        span: Span,
        reason: &str,
    ) -> Result<VisibilityChange, Fault> {
        let now = self.engine.clock.now();
        let grant = match span {
            Span::Ttl(duration) => GrantSpan::for_time(duration, now, &self.engine.limits)?,
            Span::UntilCleared | Span::Turn => GrantSpan::UntilCleared,
        };
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
        let mut changed = self.change(change, reason, Some(span), now).await?;
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
            (old_level, level),
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
                .by(self.by.clone())
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
            (outcome.old_level, level),
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
            .by(self.by.clone())
            .reason(cut(reason, self.engine.limits.reason + 1));
        event.turn = self.turn.map(|turn| turn.id);
        self.engine.audit.record(event);
    }

    async fn change(
        &self,
        change: Change,
        reason: &str,
        span: Option<Span>,
        at: Timestamp,
    ) -> Result<crate::session::ChangeOutcome, Fault> {
        if let Some(turn) = self.turn {
            turn.check_running()?;
        }
        let turn = self.turn.map(|turn| turn.id);
        let outer = |skill: &str| {
            let found = self.epoch.registry.find(skill);
            found.and_then(|(index, _)| self.facts(index).outer_ceiling())
        };
        let wish = Wish {
            change,
            epoch: self.epoch,
            outer: &outer,
            actor: self.actor,
            by: self.by.clone(),
            reason,
            turn,
            span,
            at,
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
        let index = self.known(skill)?;
        self.engine.check_reason(reason)?;
        if self.actor < Actor::Host {
            return Err(Fault::new(
                Code::NotPermitted,
                format!(
                    "the {} cannot move the limit of `{skill}`. Ask the host to",
                    self.actor
                ),
            ));
        }
        self.ask_policy(Some(index), Wanted::Limit { level }, reason, None)
            .await?;
        let skill = Arc::clone(&self.epoch.registry.skill(index).id);
        self.change(
            Change::Limit { skill, level },
            reason,
            None,
            self.engine.clock.now(),
        )
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
        let index = skill.map(|id| self.known(id)).transpose()?;
        self.ask_policy(index, Wanted::Clear, reason, None).await?;
        let skill = index.map(|index| Arc::clone(&self.epoch.registry.skill(index).id));
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
                self.engine.clock.now(),
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
            let event = event.by(self.by.clone()).turn(turn.id).reason(reason);
            self.engine.audit.record(event);
        }
    }
}

/// The first `most` characters.
fn cut(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most);
    end.map_or(text, |(end, _)| &text[..end])
}
