//! A real engine beside the model: does each step in both, which must give the same answer.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};
use skills_engine::audit::{AuditError, AuditRecord, AuditSink};
use skills_engine::engine::View;
use skills_engine::session::Role;
use skills_engine::skill::{BoxFuture, Code, Fault, Limits, Skill, TurnRequest};
use skills_engine::source::SkillSource;
use skills_engine::testing::ManualClock;
use skills_engine::tools::Dialect;
use skills_engine::{Engine, Principal, Session, Turn};
use tests::{bare, until};

use super::model::{Doer, Model, Refusal};
use super::universe::{
    ATTRIBUTE, Actor, CONTROL, CONTROL_TOOLS, End, Level, Pattern, ROLES, SESSIONS, SOURCED, Span,
    Step, Universe, skill_id,
};
use super::words::{actor, built, code, level, names, psl_control, span, texts};

pub(super) type Checked = Result<(), TestCaseError>;
/// What a step answers here, and what the model says.
type Answers = (Result<(), Fault>, Result<(), Refusal>);

/// How often each answer was given, by the kind of question: what never came up was not tested.
pub(super) type Counts = BTreeMap<(&'static str, &'static str), u64>;

/// More sessions than that are not begun.
const MOST_SESSIONS: usize = SESSIONS.len() + 3;

pub(super) struct World {
    engine: Engine,
    clock: ManualClock,
    source: Source,
    /// By the places that the model has them in.
    pub(super) sessions: Vec<Session>,
    pub(super) turns: Vec<Running>,
    pub(super) model: Model,
    pub(super) runs: Arc<AtomicU64>,
    /// What was shown under each digest.
    pub(super) shown: HashMap<[u8; 32], Shown>,
    pub(super) checks: usize,
    counts: RefCell<Counts>,
}

pub(super) struct Running {
    pub(super) turn: Turn,
    pub(super) view: Option<(Arc<View>, Shown)>,
}

#[derive(Clone, PartialEq)]
pub(super) struct Shown {
    pub(super) prompt: String,
    pub(super) tools: String,
}

impl Shown {
    pub(super) fn of(view: &View) -> Self {
        Self {
            prompt: view.system_prompt().to_owned(),
            tools: view.tools_json(Dialect::Anthropic).to_owned(),
        }
    }
}

/// Takes every record and keeps none.
struct Nowhere;

impl AuditSink for Nowhere {
    fn append<'a>(&'a self, _records: &'a [AuditRecord]) -> BoxFuture<'a, Result<(), AuditError>> {
        Box::pin(async { Ok(()) })
    }
}

/// Gives one of several versions of a skill, or none.
#[derive(Clone)]
struct Source {
    versions: Arc<[Option<Arc<dyn Skill>>]>,
    given: Arc<Mutex<usize>>,
}

impl Source {
    fn new(universe: &Universe, runs: &Arc<AtomicU64>) -> Self {
        let first = [Some(universe.skills[SOURCED].clone())];
        let versions = first.into_iter().chain(universe.versions.iter().cloned());
        let versions = versions.map(|version| {
            let built = built(SOURCED, &version?, runs);
            Some(Arc::new(built) as Arc<dyn Skill>)
        });
        Self {
            versions: versions.collect(),
            given: Arc::default(),
        }
    }
}

impl SkillSource for Source {
    fn name(&self) -> &'static str {
        "source"
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        let given = self.versions[*self.given.lock().unwrap()].clone();
        Box::pin(async { Ok(given.into_iter().collect()) })
    }
}

impl World {
    pub(super) async fn new(universe: &Universe) -> Self {
        let clock = ManualClock::default();
        let runs = Arc::new(AtomicU64::new(0));
        let source = Source::new(universe, &runs);
        let mut limits = Limits::default();
        limits.calls_per_reply = 100;
        let mut builder = bare()
            .clock(Arc::new(clock.clone()))
            .limits(limits)
            .audit(Arc::new(Nowhere))
            .psl_control(psl_control(&universe.control))
            .source(source.clone());
        for (place, skill) in universe.skills.iter().enumerate().take(CONTROL) {
            if place != SOURCED {
                builder = builder.with_skill(built(place, skill, &runs));
            }
            if skill.off {
                builder = builder.disable(skill_id(place));
            }
        }
        for (name, given) in ROLES.into_iter().zip(&universe.roles) {
            let give = |role: Role, (pattern, most): &(Pattern, Level)| {
                role.allow(pattern.text(), level(*most))
            };
            builder = builder.role(name, |role| given.iter().fold(role, give));
        }
        let engine = builder.build().await.unwrap();
        let mut world = Self {
            engine,
            clock,
            source,
            sessions: Vec::new(),
            turns: Vec::new(),
            model: Model::new(Arc::new(universe.clone())),
            runs,
            shown: HashMap::new(),
            checks: 0,
            counts: RefCell::default(),
        };
        for (place, roles) in universe.holders.iter().enumerate() {
            let begun = world.begin_session(place, roles).await;
            world.sessions.push(begun);
        }
        world
    }

    async fn begin_session(&self, place: usize, roles: &[usize]) -> Session {
        let (principal, id) = SESSIONS[place];
        let principal = Principal::new(principal, names(roles));
        self.engine.session(principal, id).await.unwrap()
    }

    /// The session that a step means.
    fn session(&self, number: usize) -> usize {
        let live = self.model.live_sessions();
        live[number % live.len()]
    }

    /// The turn that a step means, if any runs.
    fn turn(&self, number: usize) -> Option<usize> {
        number.checked_rem(self.turns.len())
    }

    /// The session that a step is about, before it is done; `None` when it is about all.
    pub(super) fn session_of(&self, step: &Step) -> Option<usize> {
        match *step {
            Step::Open(session, ..)
            | Step::Limit(session, ..)
            | Step::Clear(session, ..)
            | Step::Begin(session, ..)
            | Step::SetRoles(session, _)
            | Step::Allow(session, _)
            | Step::Narrow(session, _)
            | Step::Child(session) => Some(self.session(session)),
            Step::OpenForTurn(turn, ..)
            | Step::Ask(turn, ..)
            | Step::AskToClear(turn, _)
            | Step::End(turn, _)
            | Step::Look(turn)
            | Step::ChildOfTurn(turn) => {
                let turn = self.turn(turn);
                turn.map(|turn| self.model.turns[turn].session)
            }
            Step::Pass(_) | Step::Switch(..) | Step::Refresh(_) | Step::Restart(_) => None,
        }
    }

    /// Does a step here and in the model; both must answer the same.
    pub(super) async fn step(&mut self, step: &Step) -> Checked {
        let (answer, expected) = match *step {
            Step::OpenForTurn(turn, ..)
            | Step::Ask(turn, ..)
            | Step::AskToClear(turn, _)
            | Step::End(turn, _)
            | Step::Look(turn)
            | Step::ChildOfTurn(turn) => {
                let Some(turn) = self.turn(turn) else {
                    return Ok(());
                };
                self.step_of_turn(step, turn).await?
            }
            Step::Open(session, ..)
            | Step::Limit(session, ..)
            | Step::Clear(session, ..)
            | Step::Begin(session, ..)
            | Step::SetRoles(session, _)
            | Step::Allow(session, _)
            | Step::Narrow(session, _)
            | Step::Child(session)
            | Step::Restart(session) => {
                let session = self.session(session);
                self.step_of_session(step, session).await?
            }
            Step::Pass(seconds) => {
                // The reaper is at rest, or it would sleep longer than is meant.
                until(|| self.clock.sleepers() >= 1).await;
                self.clock.advance(Duration::from_secs(seconds));
                self.model.pass(seconds);
                (Ok(()), Ok(()))
            }
            Step::Switch(skill, is_on) => {
                let switched = self.engine.set_enabled(&skill_id(skill), is_on);
                (switched.map(drop), self.model.switch(skill, is_on))
            }
            Step::Refresh(version) => {
                *self.source.given.lock().unwrap() = version;
                let refreshed = self.engine.refresh().await;
                self.model.refresh(version);
                (refreshed.map(drop), Ok(()))
            }
        };
        let answer = answer.map_err(|fault| fault.code);
        self.count("step", answer.map_or_else(Code::as_str, |()| "ok"));
        let expected = expected.map_err(code);
        prop_assert_eq!(answer, expected, "the answer to {:?}", step);
        Ok(())
    }

    async fn step_of_session(
        &mut self,
        step: &Step,
        session: usize,
    ) -> Result<Answers, TestCaseError> {
        let handle = &self.sessions[session];
        let doer = |actor| Doer {
            session,
            turn: None,
            actor,
        };
        Ok(match *step {
            Step::Open(_, by, skill, wanted, until) => {
                let handle = handle.acting_as(actor(by));
                let id = skill_id(skill);
                let opened = handle.open(&id, level(wanted), span(until), "").await;
                let expected = self.model.set(doer(by), skill, wanted, until);
                (opened.map(drop), expected)
            }
            Step::Limit(_, by, skill, most) => {
                let handle = handle.acting_as(actor(by));
                let limited = match most {
                    Some(most) => handle.limit(&skill_id(skill), level(most)).await,
                    None => handle.lift_limit(&skill_id(skill)).await,
                };
                (limited, self.model.limit(doer(by), skill, most))
            }
            Step::Clear(_, by, skill) => {
                let handle = handle.acting_as(actor(by));
                let cleared = match skill {
                    Some(skill) => handle.clear(&skill_id(skill)).await,
                    None => handle.clear_all().await,
                };
                (cleared.map(drop), self.model.clear(doer(by), skill))
            }
            Step::Begin(_, ref lists, ref roles, is_asked) => {
                let mut request = TurnRequest::empty();
                if is_asked {
                    request = request.attribute(ATTRIBUTE, true);
                }
                for list in lists {
                    request = request.allow(texts(list));
                }
                if let Some(roles) = roles {
                    request = request.roles(names(roles));
                }
                let turn = handle.turn(request).await.unwrap();
                self.turns.push(Running { turn, view: None });
                self.model.begin(session, lists, roles.as_ref(), is_asked);
                (Ok(()), Ok(()))
            }
            Step::SetRoles(_, ref roles) => {
                handle.set_roles(names(roles));
                self.model.set_roles(session, roles);
                (Ok(()), Ok(()))
            }
            Step::Allow(_, ref list) => {
                let allowed = handle.allow(texts(list));
                self.model.allow(session, list);
                (allowed.map(drop), Ok(()))
            }
            Step::Narrow(_, ref control) => {
                handle.psl_control(psl_control(control));
                self.model.narrow(session, control);
                (Ok(()), Ok(()))
            }
            Step::Child(_) => {
                if self.model.live_sessions().len() == MOST_SESSIONS {
                    return Ok((Ok(()), Ok(())));
                }
                let child = handle.child().await;
                let expected = self.model.child(session, None);
                (child.map(|child| self.sessions.push(child)), expected)
            }
            Step::Restart(_) => {
                self.restart(session).await?;
                (Ok(()), Ok(()))
            }
            _ => unreachable!("the others are no steps of a session"),
        })
    }

    async fn step_of_turn(&mut self, step: &Step, turn: usize) -> Result<Answers, TestCaseError> {
        let doer = |actor| Doer {
            session: self.model.turns[turn].session,
            turn: Some(turn),
            actor,
        };
        Ok(match *step {
            Step::OpenForTurn(_, skill, wanted) => {
                let running = &self.turns[turn].turn;
                let opened = running.open(&skill_id(skill), level(wanted), "").await;
                let host = doer(Actor::Host);
                let expected = self.model.set(host, skill, wanted, Span::Turn);
                (opened.map(drop), expected)
            }
            Step::Ask(_, skill, wanted, until) => {
                let mut wish = json!({ "skill_id": skill_id(skill), "level": level(wanted) });
                match until {
                    Span::UntilCleared => {}
                    Span::Seconds(seconds) => wish["ttl_seconds"] = json!(seconds),
                    Span::Turn => wish["ephemeral"] = json!(true),
                }
                // The same call that fails again and again is not run, and this is to be.
                wish["reason"] = json!(self.checks.to_string());
                let model = doer(Actor::Model);
                let expected = self.model.call(turn, CONTROL, 0);
                let answer = self.call_control(turn, 0, &wish).await;
                let set = |()| self.model.set(model, skill, wanted, until);
                (answer, expected.and_then(set))
            }
            Step::AskToClear(_, skill) => {
                let wish = match skill {
                    Some(skill) => json!({ "skill_id": skill_id(skill) }),
                    None => json!({}),
                };
                let model = doer(Actor::Model);
                let expected = self.model.call(turn, CONTROL, 2);
                let answer = self.call_control(turn, 2, &wish).await;
                let clear = |()| self.model.clear(model, skill);
                (answer, expected.and_then(clear))
            }
            Step::End(_, how) => {
                let Running {
                    turn: running,
                    view,
                } = self.turns.remove(turn);
                match how {
                    End::Finish => running.finish().await.unwrap(),
                    End::Drop => drop(running),
                    End::Fail => running.fail(),
                }
                self.model.end(turn);
                check_unchanged(view.as_ref())?;
                (Ok(()), Ok(()))
            }
            Step::Look(_) => {
                self.look(turn).await?;
                (Ok(()), Ok(()))
            }
            Step::ChildOfTurn(_) => {
                if self.model.live_sessions().len() == MOST_SESSIONS {
                    return Ok((Ok(()), Ok(())));
                }
                let session = self.model.turns[turn].session;
                let child = self.turns[turn].turn.child().await;
                let expected = self.model.child(session, Some(turn));
                (child.map(|child| self.sessions.push(child)), expected)
            }
            _ => unreachable!("the others are no steps of a turn"),
        })
    }

    async fn call_control(&mut self, turn: usize, tool: usize, wish: &Value) -> Result<(), Fault> {
        let name = format!("psl-skill__{}", CONTROL_TOOLS[tool]);
        let running = &mut self.turns[turn].turn;
        let answer = tests::call(running, &name, &wish.to_string()).await;
        answer.outcome.map(drop)
    }

    /// Ends a session; its turns and its children see nothing more.
    async fn restart(&mut self, session: usize) -> Checked {
        self.sessions[session].end("").await.unwrap();
        let before = self.model.clone();
        self.model.restart(session);
        let mut rest = Vec::new();
        for (running, turn) in self.turns.drain(..).zip(&before.turns) {
            if self.model.has_turn(turn) {
                rest.push(running);
                continue;
            }
            let Running { mut turn, view } = running;
            check_unchanged(view.as_ref())?;
            prop_assert!(turn.view().await.is_err(), "the session of the turn ended");
        }
        self.turns = rest;
        for place in 0..self.sessions.len() {
            let has_ended = self.model.sessions[place].has_ended;
            if has_ended && !before.sessions[place].has_ended {
                let begun = self.sessions[place].turn(TurnRequest::empty()).await;
                prop_assert!(begun.is_err(), "the child ended with its parent");
            }
        }
        if let Some(roles) = self.model.holders(session) {
            self.sessions[session] = self.begin_session(session, roles).await;
        }
        Ok(())
    }

    pub(super) fn count(&self, kind: &'static str, answer: &'static str) {
        *self.counts.borrow_mut().entry((kind, answer)).or_default() += 1;
    }

    pub(super) fn finish(self) -> Result<Counts, TestCaseError> {
        for running in &self.turns {
            check_unchanged(running.view.as_ref())?;
        }
        prop_assert!(!self.engine.audit().is_failing());
        Ok(self.counts.into_inner())
    }
}

/// A view never changes once it was made.
pub(super) fn check_unchanged(view: Option<&(Arc<View>, Shown)>) -> Checked {
    if let Some((view, shown)) = view {
        prop_assert!(*shown == Shown::of(view), "a view changed");
    }
    Ok(())
}
