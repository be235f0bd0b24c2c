use std::sync::Arc;

use crate::skill::{Actor, Cleared, Fault, Level, Limits, StandingGrant, Timestamp};

use super::grant::{above_ceiling, held_by, too_many_grants};
use super::{SessionState, SkillFacts, effective};

/// A grant that ends with its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnGrant {
    skill: Arc<str>,
    level: Level,
    actor: Actor,
    made_at: u64,
    opened_at: u64,
}

impl TurnGrant {
    /// The skill's id.
    #[must_use]
    pub fn skill(&self) -> &Arc<str> {
        &self.skill
    }

    /// The level granted.
    #[must_use]
    pub fn level(&self) -> Level {
        self.level
    }

    /// Who granted it.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.actor
    }

    /// The session version it was made at.
    #[must_use]
    pub fn made_at(&self) -> u64 {
        self.made_at
    }

    /// The session version it opened something at; a higher actor that grants the same later does not move it.
    #[must_use]
    pub fn opened_at(&self) -> u64 {
        self.opened_at
    }

    fn is_live(&self, state: &SessionState) -> bool {
        !state.was_ended(&self.skill, self.level, self.actor, self.made_at)
    }

    fn to_standing(&self) -> StandingGrant {
        StandingGrant {
            skill: (*self.skill).to_owned(),
            level: self.level,
            actor: self.actor,
            span: "turn",
            expires_at: None,
        }
    }
}

/// A wish to open a skill until the turn ends.
#[derive(Clone, Debug)]
#[expect(
    clippy::exhaustive_structs,
    reason = "what a grant is made of; another field would have to be filled by every caller"
)]
pub struct TurnWish {
    /// The skill's id.
    pub skill: Arc<str>,
    /// The level wanted.
    pub level: Level,
    /// Who wants it.
    pub actor: Actor,
    /// The skill's base level.
    pub base: Level,
}

/// What the grants of a turn open of one skill: what [`decide`](super::decide) takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnStanding {
    /// The highest live grant.
    pub level: Option<Level>,
    /// Whether someone other than the model made one of them.
    pub is_opened_by_other: bool,
}

impl TurnStanding {
    /// What the model opened in a turn.
    #[must_use]
    pub const fn by_model(level: Level) -> Self {
        Self {
            level: Some(level),
            is_opened_by_other: false,
        }
    }

    /// What someone else opened in a turn.
    #[must_use]
    pub const fn by_other(level: Level) -> Self {
        Self {
            level: Some(level),
            is_opened_by_other: true,
        }
    }
}

/// What a wish did to the turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TurnOutcome {
    /// The effective level in this turn before.
    pub old_level: Level,
    /// The effective level in this turn now.
    pub new_level: Level,
    /// True when the wish was granted already, and nothing was changed.
    pub already_open: bool,
}

/// The grants of one turn. They live in it and in no store, so they are gone when it is.
#[derive(Clone, Debug, Default)]
pub struct TurnGrants {
    // In opening order; for one skill and level there is one.
    grants: Vec<TurnGrant>,
}

impl TurnGrants {
    /// Opens a skill until the turn ends. Such a grant only raises.
    ///
    /// # Errors
    ///
    /// - `not_permitted` when an actor below the host wants more than the session's ceiling,
    /// - `limit_exceeded` when session and turn together hold as many grants as they may.
    pub fn set(
        &mut self,
        wish: &TurnWish,
        state: &SessionState,
        now: Timestamp,
        limits: &Limits,
    ) -> Result<TurnOutcome, Fault> {
        let TurnWish {
            skill,
            level,
            actor,
            base,
        } = wish;
        let standing = state.standing(skill);
        if let Some(ceiling) = standing.ceiling()
            && ceiling < *level
            && *actor < Actor::Host
        {
            return Err(above_ceiling(skill, ceiling, *level, *actor));
        }
        self.prune(state);
        let facts = SkillFacts::new(*base);
        let old_level = effective(&facts, &standing, self.standing(skill, state), now);
        let mut outcome = TurnOutcome {
            old_level,
            new_level: old_level,
            already_open: true,
        };
        let is_covered_by_base =
            standing.highest_floor().is_none() && level <= base && *actor == Actor::Model
                || *level == Level::Metadata;
        let mut floors = standing.grants().iter().filter(|grant| grant.is_floor());
        let is_covered = is_covered_by_base
            || floors.any(|floor| floor.level >= *level && floor.actor >= *actor)
            || self
                .of(skill)
                .any(|grant| grant.level >= *level && grant.actor >= *actor);
        if is_covered {
            return Ok(outcome);
        }
        let made_at = state.version();
        let same = |grant: &&mut TurnGrant| grant.skill == *skill && grant.level == *level;
        if let Some(grant) = self.grants.iter_mut().find(same) {
            (grant.actor, grant.made_at) = (*actor, made_at);
        } else {
            if self.grants.len() + state.grant_count() >= limits.grants {
                return Err(too_many_grants(limits));
            }
            self.grants.push(TurnGrant {
                skill: Arc::clone(skill),
                level: *level,
                actor: *actor,
                made_at,
                opened_at: made_at,
            });
        }
        outcome.already_open = false;
        outcome.new_level = effective(&facts, &standing, self.standing(skill, state), now);
        Ok(outcome)
    }

    /// Removes what an actor and lower ones granted in this turn: of one skill, or of all.
    pub fn clear(&mut self, skill: Option<&str>, actor: Actor, state: &SessionState) -> Cleared {
        self.prune(state);
        let mut cleared = Vec::new();
        let mut remaining = Vec::new();
        self.grants.retain(|grant| {
            if skill.is_some_and(|skill| *grant.skill != *skill) {
                return true;
            }
            let is_held = grant.actor > actor;
            let list = if is_held {
                &mut remaining
            } else {
                &mut cleared
            };
            list.push(grant.to_standing());
            is_held
        });
        Cleared { cleared, remaining }
    }

    /// Whether an actor may set a floor for this turn's session: the turn's part of the rule that nobody lowers
    /// what a higher actor granted.
    ///
    /// # Errors
    ///
    /// `held_by` when a higher actor's turn-bound grant keeps the skill above the level.
    pub fn check_lowering(
        &self,
        skill: &str,
        level: Level,
        actor: Actor,
        state: &SessionState,
    ) -> Result<(), Fault> {
        if state
            .standing(skill)
            .ceiling()
            .is_some_and(|ceiling| ceiling <= level)
        {
            return Ok(());
        }
        let holds =
            |grant: &&TurnGrant| grant.level > level && grant.actor > actor && grant.is_live(state);
        let holder = self.of(skill).filter(holds).max_by_key(|grant| grant.level);
        holder.map_or(Ok(()), |holder| {
            Err(held_by(skill, &holder.to_standing(), level, actor))
        })
    }

    /// Removes this turn's grants of a skill above a level by an actor and lower ones: the turn's part of setting
    /// a floor. Gives whether any went.
    pub fn lower(&mut self, skill: &str, level: Level, actor: Actor) -> bool {
        let count = self.grants.len();
        self.grants
            .retain(|grant| *grant.skill != *skill || grant.level <= level || grant.actor > actor);
        self.grants.len() < count
    }

    /// What the live grants open of a skill. Allocation-free.
    ///
    /// A grant is over when the same or a higher actor cleared or lowered the skill from outside since.
    #[must_use]
    pub fn standing(&self, skill: &str, state: &SessionState) -> TurnStanding {
        let mut standing = TurnStanding::default();
        for grant in self.of(skill).filter(|grant| grant.is_live(state)) {
            standing.level = standing.level.max(Some(grant.level));
            standing.is_opened_by_other |=
                grant.actor > Actor::Model && grant.level > Level::Metadata;
        }
        standing
    }

    /// The highest live grant of a skill.
    #[must_use]
    pub fn level(&self, skill: &str, state: &SessionState) -> Option<Level> {
        self.standing(skill, state).level
    }

    /// The live grants, in opening order.
    pub fn live<'a>(&'a self, state: &'a SessionState) -> impl Iterator<Item = &'a TurnGrant> {
        self.grants.iter().filter(|grant| grant.is_live(state))
    }

    /// The live grants, of one skill or of all, as they are shown to whoever asks.
    #[must_use]
    pub fn list(&self, skill: Option<&str>, state: &SessionState) -> Vec<StandingGrant> {
        self.live(state)
            .filter(|grant| skill.is_none_or(|skill| *grant.skill == *skill))
            .map(TurnGrant::to_standing)
            .collect()
    }

    /// Whether no grant was made, or none is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.grants.is_empty()
    }

    /// Forgets the grants that were ended from outside.
    pub fn prune(&mut self, state: &SessionState) {
        self.grants.retain(|grant| grant.is_live(state));
    }

    fn of(&self, skill: &str) -> impl Iterator<Item = &TurnGrant> {
        self.grants
            .iter()
            .filter(move |grant| *grant.skill == *skill)
    }
}
