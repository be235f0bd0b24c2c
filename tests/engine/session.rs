//! Grants, the rule and their store.

mod decide;
mod exhaustive;
mod explain;
mod grants;
mod history;
mod limits;
mod memory_store;
mod properties;
mod revoke;
mod stored;
mod turn_grants;

use std::sync::Arc;
use std::time::Duration;

use skills_engine::session::{
    Applied, Change, GrantSpan, SessionState, SkillFacts, TurnStanding, effective,
};
use skills_engine::skill::{Actor, Code, Fault, Level, Limits, Timestamp};

pub(crate) use Actor::{Host, Model, System, User};
pub(crate) use Level::{Complete, Context, Metadata};

const START: Timestamp = Timestamp(1_700_000_000_000);

/// A session under test: one clock, one base level for all skills.
#[derive(Clone)]
struct Session {
    state: Arc<SessionState>,
    base: Level,
    now: Timestamp,
    limits: Limits,
}

impl Session {
    fn at(base: Level) -> Self {
        Self {
            state: SessionState::initial(),
            base,
            now: START,
            limits: Limits::default(),
        }
    }

    fn try_apply(&self, change: &Change) -> Result<Applied, Fault> {
        let base = self.base;
        self.state.apply(change, &|_| base, self.now, &self.limits)
    }

    /// Applies and stores, as an engine does.
    fn apply(&mut self, change: &Change) -> Result<Applied, Fault> {
        let applied = self.try_apply(change)?;
        if applied.outcome.changed {
            self.state = Arc::new(applied.state.clone());
        }
        Ok(applied)
    }

    #[track_caller]
    fn must(&mut self, change: &Change) -> Applied {
        self.apply(change).expect("the change is allowed")
    }

    #[track_caller]
    fn refused(&mut self, change: &Change) -> Code {
        let before = Arc::clone(&self.state);
        let fault = self.apply(change).expect_err("the change is refused");
        assert_eq!(self.state, before);
        fault.code
    }

    fn level(&self, skill: &str) -> Level {
        effective(
            &SkillFacts::new(self.base),
            &self.state.standing(skill),
            TurnStanding::default(),
            self.now,
        )
    }

    fn advance(&mut self, seconds: u64) {
        let later = self.now.checked_add(Duration::from_secs(seconds));
        self.now = later.expect("tests end before time does");
    }

    fn ttl(&self, skill: &str, level: Level, actor: Actor, seconds: u64) -> Change {
        let span = GrantSpan::for_time(Duration::from_secs(seconds), self.now, &self.limits);
        Change::Set {
            skill: skill.into(),
            level,
            actor,
            span: span.expect("the time is in range"),
        }
    }

    fn log(&self) -> Vec<(&str, Level)> {
        let log = self.state.admissions().iter();
        log.map(|admission| (&**admission.skill, admission.level))
            .collect()
    }
}

fn set(skill: &str, level: Level, actor: Actor) -> Change {
    Change::Set {
        skill: skill.into(),
        level,
        actor,
        span: GrantSpan::UntilCleared,
    }
}

fn limit(skill: &str, level: impl Into<Option<Level>>) -> Change {
    Change::Limit {
        skill: skill.into(),
        level: level.into(),
    }
}

fn clear(skill: &str, actor: Actor) -> Change {
    Change::Clear {
        skill: Some(skill.into()),
        actor,
    }
}

fn clear_all(actor: Actor) -> Change {
    Change::Clear { skill: None, actor }
}
