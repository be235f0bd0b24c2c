use std::sync::Arc;

use super::approval::{Opening, approve_opening};
use super::control::Control;
use crate::registry::SkillIndex;
use crate::session::{
    Change, GrantSpan, PolicyAnswer, PolicyQuestion, SessionState, TurnGrants, TurnWish, Wanted,
    least,
};
use crate::skill::{Actor, Code, Fault, Level, Span, ToolContext};

/// Who may change what, beside the rule that ranks actors.
impl Control<'_> {
    /// A skill by its id, as far as whoever asks may know of it.
    ///
    /// To a model and to a user, what is denied looks as if it did not exist. The host learns the reason.
    pub(super) fn known(&self, id: &str) -> Result<SkillIndex, Fault> {
        match self.epoch.registry.find(id) {
            Some((index, skill)) if self.actor >= Actor::Host && !skill.is_built_in() => Ok(index),
            Some(_) | None => self.epoch.known(&self.rights, id, self.actor),
        }
    }

    /// What roles, lists and parents say of opening a skill at a level.
    pub(super) fn check_opening(&self, index: SkillIndex, level: Level) -> Result<(), Fault> {
        let id = &self.epoch.registry.skill(index).id;
        let facts = self.facts(index);
        if let Some(why) = facts.denied {
            return Err(Fault::new(
                Code::NotPermitted,
                format!(
                    "`{id}` takes no part in this session ({}). Ask `explain` what would change that",
                    why.as_str()
                ),
            ));
        }
        let Some(ceiling) = facts.outer_ceiling() else {
            return Ok(());
        };
        if level <= ceiling || self.actor >= Actor::Host {
            return Ok(());
        }
        let by = if facts.parent_ceiling == Some(ceiling) {
            "the parent session"
        } else {
            "the roles of its principal"
        };
        Err(Fault::new(
            Code::NotPermitted,
            format!(
                "`{id}` is limited to {ceiling} in this session by {by}, so the {} cannot set it to {level}; set {ceiling} or lower",
                self.actor
            ),
        ))
    }

    /// Asks the policy about a change, and whether the model has control at all; and a person, where the policy says so.
    /// `call` is the call that makes the change, if one does.
    pub(super) async fn ask_policy(
        &self,
        index: Option<SkillIndex>,
        wanted: Wanted,
        reason: &str,
        call: Option<&ToolContext>,
    ) -> Result<(), Fault> {
        let principal = self.cell.principal();
        self.check_control()?;
        let state = self.cell.published().1;
        let registry = &self.epoch.registry;
        let registered = index.map(|index| registry.skill(index));
        let level = index.map_or(Level::Metadata, |index| self.level(index, &state));
        let facts = index.map(|index| self.facts(index));
        let ceiling = registered.zip(facts).and_then(|(registered, facts)| {
            least(
                facts.outer_ceiling(),
                state.standing(&registered.id).ceiling(),
            )
        });
        let prolongs = index.is_some_and(|index| self.prolongs(index, level, wanted, &state));
        let question = PolicyQuestion {
            session: &self.cell.scope.id,
            principal: &principal,
            actor: self.actor,
            skill: registered.map(|registered| &*registered.id),
            wanted,
            level,
            prolongs,
            ceiling,
            host_only: facts.is_some_and(|facts| facts.host_only),
            shows_destructive: index.is_some_and(|index| {
                let shown = if prolongs {
                    self.lasting(index, &state)
                } else {
                    level
                };
                self.shows_destructive(index, shown, wanted)
            }),
            untrusted_seen: self
                .turn
                .is_some_and(super::turn_core::TurnCore::untrusted_seen),
            reason,
        };
        let opens = matches!(wanted, Wanted::Set { .. }) && question.raises();
        if question.host_only && self.actor == Actor::Model && opens {
            let id = question.skill.unwrap_or_default();
            return Err(Fault::new(
                Code::NotPermitted,
                format!(
                    "only the host or the user opens `{id}`. Ask the user to, or do without it"
                ),
            ));
        }
        if self.actor >= Actor::Host && !question.raises() {
            // What the host lowers always takes effect.
            return Ok(());
        }
        let why = match self.engine.governance.check(&question) {
            PolicyAnswer::Allow => return Ok(()),
            PolicyAnswer::Refuse(why) => return Err(Fault::new(Code::NotPermitted, why)),
            PolicyAnswer::Ask(why) => why,
        };
        let (Some(registered), Wanted::Set { level, span }) = (registered, wanted) else {
            return Err(Fault::new(
                Code::ApprovalRequired,
                format!("{why}. A person can approve the opening of a skill only; do without it"),
            ));
        };
        let opening = Opening {
            skill: &registered.id,
            version: &registered.definition().version,
            level,
            span,
            actor: self.actor,
            reason,
            why: &why,
            turn: self.turn.map(|turn| turn.id),
            call,
        };
        approve_opening(self.engine, self.cell, opening).await?;
        // While a person decided, the host may have taken away the control, or the skill.
        self.check_control()?;
        let now = self.renewed();
        let index = now.known(&registered.id)?;
        now.check_opening(index, level)
    }

    /// The same with the rights of this moment: those it began with may not hold any more once it has waited.
    pub(super) fn renewed(&self) -> Control<'_> {
        let access = self.cell.access();
        let rights = if let Some(turn) = self.turn {
            turn.with_rights(access.as_ref(), Arc::clone)
        } else {
            let state = self.cell.published().1;
            self.engine
                .rights_of_session(self.epoch, self.cell, access.as_ref(), &state, None)
        };
        Control {
            rights,
            by: self.by.clone(),
            ..*self
        }
    }

    fn check_control(&self) -> Result<(), Fault> {
        if self.actor > Actor::Model || self.engine.lets_model(self.cell) {
            return Ok(());
        }
        Err(Fault::new(
            Code::NotPermitted,
            "the model of this session opens and closes no skills. Ask the user to, or do without",
        ))
    }

    /// The level of a skill once all that ends by itself has ended.
    fn lasting(&self, index: SkillIndex, state: &SessionState) -> Level {
        let registered = self.epoch.registry.skill(index);
        let floor = state.standing(&registered.id).highest_floor();
        floor.unwrap_or(registered.base())
    }

    /// Whether a level that a skill has for a time, or for this turn, would last longer.
    fn prolongs(
        &self,
        index: SkillIndex,
        level: Level,
        wanted: Wanted,
        state: &SessionState,
    ) -> bool {
        let Wanted::Set {
            level: wanted,
            span,
        } = wanted
        else {
            return false;
        };
        if wanted > level || wanted <= self.lasting(index, state) {
            return false;
        }
        // Tried on copies. What the rule refuses prolongs nothing.
        let registered = self.epoch.registry.skill(index);
        let (now, limits) = (self.engine.clock.now(), &self.engine.limits);
        let is_held = |grants: &TurnGrants| {
            let lowered = grants.check_lowering(&registered.id, wanted, self.actor, state);
            lowered.is_err()
        };
        let span = match (span, self.turn) {
            (Span::Turn, None) => return false,
            (Span::Turn, Some(turn)) => {
                let wish = TurnWish {
                    skill: Arc::clone(&registered.id),
                    level: wanted,
                    actor: self.actor,
                    base: registered.base(),
                };
                let mut grants = turn.with_grants(TurnGrants::clone);
                let outcome = grants.set(&wish, state, now, limits);
                return outcome.is_ok_and(|outcome| !outcome.already_open);
            }
            (Span::UntilCleared, Some(turn)) if turn.with_grants(is_held) => return false,
            (Span::UntilCleared, _) => Ok(GrantSpan::UntilCleared),
            (Span::Ttl(duration), _) => GrantSpan::for_time(duration, now, limits),
        };
        let Ok(span) = span else {
            return false;
        };
        let change = Change::Set {
            skill: Arc::clone(&registered.id),
            level: wanted,
            actor: self.actor,
            span,
        };
        let base = |skill: &str| self.epoch.base(skill);
        let applied = state.apply(&change, &base, now, limits);
        applied.is_ok_and(|applied| applied.outcome.raised)
    }

    /// Whether a level shows a tool that is marked destructive, and that a lower one does not.
    fn shows_destructive(&self, index: SkillIndex, level: Level, wanted: Wanted) -> bool {
        let Wanted::Set { level: wanted, .. } = wanted else {
            return false;
        };
        let registry = &self.epoch.registry;
        let mut added = registry
            .skill(index)
            .tools
            .between(level, wanted.max(level));
        let of_turn = self.turn.into_iter().flat_map(|turn| {
            let own = turn.own_tools(Some(index)).map(|tool| turn.tool(tool));
            own.filter(|tool| tool.definition.level > level && tool.definition.level <= wanted)
        });
        added.any(|tool| registry.tool(tool).definition.annotations.destructive)
            || of_turn
                .into_iter()
                .any(|tool| tool.definition.annotations.destructive)
    }
}
