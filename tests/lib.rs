//! Helpers shared by the black-box tests of `skills-engine`.
#![allow(
    clippy::missing_panics_doc,
    reason = "what tests share stops at the first surprise"
)]

pub mod corpus;

use std::panic::Location;
use std::time::{Duration, Instant};

use serde_json::Value;
use skills_engine::engine::{CallResult, EngineBuilder, ToolCall, View};
use skills_engine::skill::{Clock as _, TurnRequest};
use skills_engine::source::Linked;
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, Level, Principal, Session, Span, Turn};

/// Begins an engine without linked skills: a test binary links those of all its tests.
pub fn bare() -> EngineBuilder {
    Engine::builder().linked(Linked::None)
}

/// The principal of tests that need only one.
#[must_use]
pub fn ada() -> Principal {
    Principal::new("ada", ["support"])
}

/// Ada's session `s1`.
pub async fn session(engine: &Engine) -> Session {
    engine
        .session(ada(), "s1")
        .await
        .expect("the session is begun")
}

/// A turn without a user's words.
pub async fn turn(session: &Session) -> Turn {
    session
        .turn(TurnRequest::empty())
        .await
        .expect("the turn begins")
}

/// Opens a skill as the session's actor, until it is cleared.
pub async fn open(session: &Session, skill: &str, level: Level) {
    session
        .open(skill, level, Span::UntilCleared, "test")
        .await
        .expect("the skill opens");
}

/// Calls one tool, as the only call of a reply.
pub async fn call(turn: &mut Turn, name: &str, arguments: &str) -> CallResult {
    let results = turn.calls([ToolCall::new("call", name, arguments)]).await;
    results.into_iter().next().expect("a call has a result")
}

/// What a call answered: its text, as the model reads it.
pub async fn answer(turn: &mut Turn, name: &str, arguments: &str) -> String {
    call(turn, name, arguments).await.text()
}

/// Wire names of the visible tools, in order, those of the control skill left out.
#[must_use]
pub fn tools(view: &View) -> Vec<&str> {
    view.tools()
        .map(|tool| tool.name())
        .filter(|name| !name.starts_with("psl-skill__"))
        .collect()
}

/// The snapshot of a skill.
#[must_use]
pub fn snapshot(view: &View, skill: &str) -> Value {
    let json = view.snapshot(skill).expect("the view knows the skill");
    serde_json::from_str(&json).expect("a snapshot is JSON")
}

/// Names of the visible attributes of a skill, in alphabetical order.
#[must_use]
pub fn attributes(view: &View, skill: &str) -> Vec<String> {
    let snapshot = snapshot(view, skill);
    let attributes = snapshot["attributes"].as_object();
    let names = attributes.into_iter().flat_map(|map| map.keys().cloned());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

/// Lets other tasks run until something holds.
#[track_caller]
pub fn until(mut holds: impl FnMut() -> bool) -> impl Future<Output = ()> {
    /// Far more than anything that is waited for takes.
    const HANGS: Duration = Duration::from_secs(60);
    let caller = Location::caller();
    let begun = Instant::now();
    async move {
        while !holds() {
            assert!(begun.elapsed() < HANGS, "it never came to hold: {caller}");
            tokio::task::yield_now().await;
        }
    }
}

/// Lets an engine's own tasks come to rest: afterwards its reaper is the only one who sleeps.
pub async fn at_rest(clock: &ManualClock) {
    until(|| clock.sleepers() == 1).await;
}

/// Runs a future whose time passes on a manual clock: waits until `sleepers` sleep, the reaper included, and moves
/// the time on.
pub async fn after<T>(
    clock: &ManualClock,
    sleepers: usize,
    duration: Duration,
    future: impl Future<Output = T>,
) -> T {
    let started = clock.now();
    let pass = async {
        until(|| clock.sleepers() >= sleepers).await;
        assert_eq!(clock.now(), started, "time passes once");
        clock.advance(duration);
    };
    tokio::join!(future, pass).0
}
