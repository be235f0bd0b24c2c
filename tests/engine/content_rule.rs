//! The tools that load skills and read their files are offered exactly where calls of them are let through, and a body
//! is given once and never lost, whatever was opened, capped, switched, granted and refreshed.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use skills_engine::engine::{BodyDelivery, CallResult, View};
use skills_engine::session::{Decision, PslControl, Role};
use skills_engine::skill::{Actor, BuiltSkill, Code, Hooks, SkillBuilder, Span, TurnRequest};
use skills_engine::source::Instances;
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, Level, Principal, Session, Turn};
use tests::{bare, call};

use crate::made::{Held, tool};

/// The skills with a body, and how it begins.
const WITH_BODY: [&str; 6] = ["deploy", "extra", "notes", "secret", "users", "wide"];
const ALL: [&str; 7] = [
    "deploy", "desk", "extra", "notes", "secret", "users", "wide",
];
const LOADER: [&str; 3] = ["load_skill", "read_skill_resource", "list_skills"];
const ROLES: [&[&str]; 5] = [
    &["all"],
    &["some"],
    &["member"],
    &["some", "member"],
    &["none"],
];
const LISTS: [&[&str]; 5] = [
    &["*"],
    &["deploy", "psl-skill"],
    &["deploy/act", "wide/act"],
    &["notes"],
    &[],
];

#[derive(Clone, Debug)]
enum Step {
    Open(usize, usize, usize, usize),
    OpenInTurn(usize, usize, usize),
    Load(usize, usize, bool),
    Set(usize, usize, usize),
    ClearAsModel(usize, usize),
    Invoke(usize, usize),
    Clear(usize, usize),
    Limit(usize, usize, usize),
    Lift(usize, usize),
    Switch(usize, bool),
    Advance(u64),
    Insert(u8, bool),
    Remove,
    Begin(usize, bool),
    Compact(usize),
    Roles(usize),
    List(usize, usize),
    Control(usize, bool),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (turn, skill, level) = (0..3_usize, 0..ALL.len(), 0..3_usize);
    let step = prop_oneof![
        4 => (turn.clone(), skill.clone(), level.clone(), 0..3_usize)
            .prop_map(|(at, skill, level, span)| Step::Open(at, skill, level, span)),
        2 => (turn.clone(), skill.clone(), level.clone())
            .prop_map(|(at, skill, level)| Step::OpenInTurn(at, skill, level)),
        8 => (turn.clone(), skill.clone(), any::<bool>())
            .prop_map(|(at, skill, twice)| Step::Load(at, skill, twice)),
        3 => (turn.clone(), skill.clone(), level.clone())
            .prop_map(|(at, skill, level)| Step::Set(at, skill, level)),
        2 => (turn.clone(), skill.clone()).prop_map(|(at, skill)| Step::ClearAsModel(at, skill)),
        2 => (turn.clone(), skill.clone()).prop_map(|(at, skill)| Step::Invoke(at, skill)),
        3 => (turn.clone(), skill.clone()).prop_map(|(at, skill)| Step::Clear(at, skill)),
        2 => (turn.clone(), skill.clone(), level)
            .prop_map(|(at, skill, level)| Step::Limit(at, skill, level)),
        1 => (turn.clone(), skill.clone()).prop_map(|(at, skill)| Step::Lift(at, skill)),
        2 => (skill, any::<bool>()).prop_map(|(skill, is_on)| Step::Switch(skill, is_on)),
        3 => (1..12_u64).prop_map(Step::Advance),
        2 => (0..3_u8, any::<bool>()).prop_map(|(body, has_file)| Step::Insert(body, has_file)),
        1 => Just(Step::Remove),
        4 => (turn.clone(), any::<bool>()).prop_map(|(at, denies)| Step::Begin(at, denies)),
        1 => turn.clone().prop_map(Step::Compact),
        2 => (0..ROLES.len()).prop_map(Step::Roles),
        1 => (turn.clone(), 0..LISTS.len()).prop_map(|(at, list)| Step::List(at, list)),
        1 => (turn, any::<bool>()).prop_map(|(at, hosts)| Step::Control(at, hosts)),
    ];
    prop::collection::vec(step, 1..24)
}

/// The body of a skill in one of its versions; no other text has its first line.
fn body(id: &str, version: u8) -> String {
    format!("Body of {id}, edition {version}.")
}

fn with_body(id: &'static str, version: u8, has_file: bool) -> SkillBuilder {
    let mut content = Held::new(&body(id, version));
    if has_file {
        content = content
            .file("guide.md", "Guide.")
            .file("scripts/run.sh", "#!/bin/sh\n");
    }
    let answer = tool("act", |_| async { "acted" });
    SkillBuilder::new(id)
        .description("Any.")
        .content(content)
        .tool(answer.level(Level::Context))
}

fn built() -> Vec<BuiltSkill> {
    let hooks =
        Hooks::new().supports(|request: &TurnRequest| !request.attributes.contains_key("denies"));
    let desk = SkillBuilder::new("desk")
        .description("Any.")
        .instructions("Be kind.")
        .tool(tool("act", |_| async { "acted" }).level(Level::Context));
    let skills = [
        with_body("deploy", 0, true).hooks(hooks),
        with_body("notes", 0, false),
        with_body("secret", 0, true).host_only(),
        with_body("users", 0, true).model_invocable(false),
        with_body("wide", 0, true).base_level(Level::Context),
        desk,
    ];
    skills
        .into_iter()
        .map(|skill| skill.build().unwrap())
        .collect()
}

struct World {
    clock: Arc<ManualClock>,
    engine: Engine,
    instances: Instances,
    sessions: Vec<Session>,
    /// One of each session, with the newest body of the instance that it knows of.
    turns: Vec<(Turn, u8)>,
    extra: u8,
    /// The bodies that stand in results since the conversation of the session was compacted.
    given: [BTreeMap<&'static str, String>; 3],
}

impl World {
    async fn new(delivery: BodyDelivery) -> Self {
        let clock = Arc::new(ManualClock::default());
        let instances = Instances::new();
        let mut builder = bare()
            .clock(clock.clone())
            .source(instances.clone())
            .body_delivery(delivery)
            .role("all", |role: Role| role.allow("*", Level::Complete))
            .role("some", |role: Role| {
                role.allow("deploy", Level::Context)
                    .allow("wide", Level::Metadata)
                    .allow("users", Level::Complete)
                    .allow("psl-skill", Level::Complete)
            })
            .role("member", |role: Role| {
                role.allow("wide/act", Level::Complete)
                    .allow("notes/act", Level::Complete)
                    .allow("extra", Level::Complete)
            })
            .role("none", |role: Role| role);
        for skill in built() {
            builder = builder.with_skill(skill);
        }
        let engine = builder.build().await.unwrap();
        let principal = || Principal::new("p", ["all"]);
        let first = engine.session(principal(), "first").await.unwrap();
        let second = engine.session(principal(), "second").await.unwrap();
        let child = first.child().await.unwrap();
        let sessions = vec![first, second, child];
        let mut turns = Vec::new();
        for session in &sessions {
            turns.push((session.turn(TurnRequest::empty()).await.unwrap(), 0));
        }
        Self {
            clock,
            engine,
            instances,
            sessions,
            turns,
            extra: 0,
            given: Default::default(),
        }
    }

    fn bodies(&self, at: usize) -> BTreeMap<&'static str, String> {
        let version = |id| if id == "extra" { self.turns[at].1 } else { 0 };
        WITH_BODY.map(|id| (id, body(id, version(id)))).into()
    }

    /// Takes one step; what the rule refuses changes nothing, which is as good a step.
    async fn take(&mut self, step: &Step) {
        match *step {
            Step::Open(at, skill, level, span) => {
                let span = [
                    Span::UntilCleared,
                    Span::Ttl(Duration::from_secs(5)),
                    Span::Turn,
                ][span];
                let _ = self.sessions[at]
                    .open(ALL[skill], Level::ALL[level], span, "")
                    .await;
            }
            Step::OpenInTurn(at, skill, level) => {
                let _ = self.turns[at]
                    .0
                    .open(ALL[skill], Level::ALL[level], "")
                    .await;
            }
            Step::Load(at, skill, twice) => {
                for _ in 0..=usize::from(twice) {
                    self.load(at, ALL[skill]).await;
                }
            }
            Step::Set(at, skill, level) => {
                let (id, level) = (ALL[skill], Level::ALL[level]);
                let set = format!(r#"{{"skill_id":"{id}","level":"{level}"}}"#);
                let turn = &mut self.turns[at].0;
                let view = turn.view().await.unwrap();
                let prompt = view.prompt().contents.to_owned();
                let result = call(turn, "psl-skill__set_skill_visibility", &set).await;
                self.note(at, id, &result, &prompt).await;
            }
            Step::ClearAsModel(at, skill) => {
                let clear = format!(r#"{{"skill_id":"{}"}}"#, ALL[skill]);
                call(&mut self.turns[at].0, "psl-skill__clear_visibility", &clear).await;
            }
            Step::Invoke(at, skill) => {
                let id = ALL[skill];
                let invoked = self.sessions[at].invoke(Actor::User, id, "").await;
                if let Ok(invoked) = invoked {
                    let current = if id == "extra" { self.extra } else { 0 };
                    assert!(invoked.message.contains(&body(id, current)));
                    self.given[at].insert(id, body(id, current));
                }
            }
            Step::Clear(at, skill) => {
                let _ = self.sessions[at].clear(ALL[skill]).await;
            }
            Step::Limit(at, skill, level) => {
                let _ = self.sessions[at].limit(ALL[skill], Level::ALL[level]).await;
            }
            Step::Lift(at, skill) => {
                let _ = self.sessions[at].lift_limit(ALL[skill]).await;
            }
            Step::Switch(skill, is_on) => {
                let _ = self.engine.set_enabled(ALL[skill], is_on);
            }
            Step::Advance(seconds) => self.clock.advance(Duration::from_secs(seconds)),
            Step::Insert(version, has_file) => {
                let skill = with_body("extra", version, has_file).build().unwrap();
                self.instances.insert(skill);
            }
            Step::Remove => drop(self.instances.remove("extra")),
            Step::Begin(at, denies) => {
                let mut request = TurnRequest::empty();
                if denies {
                    request.attributes.insert("denies".to_owned(), true.into());
                }
                let turn = self.sessions[at].turn(request).await.unwrap();
                let now = self.engine.registry().get("extra").cloned();
                if let Some(content) = now.as_ref().and_then(|skill| skill.content()) {
                    let body = content.body().await.unwrap();
                    self.extra = body.rsplit(' ').next().unwrap()[..1].parse().unwrap();
                }
                self.turns[at] = (turn, self.extra);
            }
            Step::Compact(at) => {
                self.sessions[at].compacted();
                self.given[at].clear();
            }
            Step::Roles(roles) => self.sessions[1].set_roles(ROLES[roles].iter().copied()),
            Step::List(at, list) => {
                self.sessions[at]
                    .allow(LISTS[list].iter().copied())
                    .unwrap();
            }
            Step::Control(at, is_hosts) => self.sessions[at].psl_control(if is_hosts {
                PslControl::HostOnly
            } else {
                PslControl::default()
            }),
        }
    }

    async fn load(&mut self, at: usize, id: &'static str) {
        let turn = &mut self.turns[at].0;
        let prompt = turn.view().await.unwrap().prompt().contents.to_owned();
        let result = call(turn, "load_skill", &format!(r#"{{"name":"{id}"}}"#)).await;
        self.note(at, id, &result, &prompt).await;
    }

    /// What a call that opened a skill gave of its body.
    async fn note(&mut self, at: usize, id: &'static str, result: &CallResult, prompt: &str) {
        let text = result.text();
        let Some(body) = self.bodies(at).remove(id) else {
            return;
        };
        let had = self.given[at].get(id) == Some(&body);
        let is_in_prompt = prompt.contains(&body);
        if text.contains(&body) {
            assert!(!had && !is_in_prompt, "{id} is given twice: {text}");
            self.given[at].insert(id, body);
        } else if text.contains("lready loaded") {
            // What a turn's model opened may stand in the prompt from the next view on.
            let view = self.turns[at].0.view().await.unwrap();
            let is_in_prompt = view.prompt().contents.contains(&body);
            assert!(had || is_in_prompt, "the body of {id} is lost: {text}");
        }
    }

    async fn check(&mut self) {
        for at in 0..3 {
            let bodies = self.bodies(at);
            let turn = &mut self.turns[at].0;
            // First under the view before, which may be older than what was changed.
            for name in LOADER {
                let explained = turn.explain("skill-loader", name).decision;
                let runs = is_let_through(turn, name).await;
                assert!(
                    !runs || explained == Decision::Visible,
                    "{name}: {explained:?}"
                );
            }
            let view = turn.view().await.unwrap();
            let names: Vec<_> = view.tools().map(|tool| tool.name().to_owned()).collect();
            for name in LOADER {
                let explained = turn.explain("skill-loader", name).decision;
                let is_shown = names.iter().any(|shown| shown == name);
                let runs = is_let_through(turn, name).await;
                assert_eq!(is_shown, runs, "{name} in {at}: {explained:?}");
                assert_eq!(
                    is_shown,
                    explained == Decision::Visible,
                    "{name}: {explained:?}"
                );
            }
            self.check_reading(at, &view, &names).await;
            for (id, body) in bodies {
                let is_open = view.level(id) >= Some(Level::Context);
                let count = view.system_prompt().matches(&body).count();
                assert!(count <= usize::from(is_open), "{id}: {count} times");
                let had = self.given[at].get(id) == Some(&body);
                assert!(count == 0 || !had, "{id} stands in two places");
            }
        }
    }

    /// A file can be read of some skill exactly where the tool for it is offered.
    async fn check_reading(&mut self, at: usize, view: &View, names: &[String]) {
        let turn = &mut self.turns[at].0;
        let mut reads = false;
        for id in WITH_BODY {
            for (path, level) in [
                ("guide.md", Level::Context),
                ("scripts/run.sh", Level::Complete),
            ] {
                let read = format!(r#"{{"skill":"{id}","path":"{path}"}}"#);
                let result = call(turn, "read_skill_resource", &read).await;
                let is_open = view.level(id) >= Some(level);
                assert!(
                    result.outcome.is_err() || is_open,
                    "{id} {path}: {}",
                    result.text()
                );
                reads |= result.outcome.is_ok();
                // Another call, so that failures do not count as the same one again and again.
                call(turn, "nothing", "{}").await;
            }
        }
        let is_offered = names.iter().any(|name| name == "read_skill_resource");
        assert_eq!(reads, is_offered, "in {at}: {names:?}");
    }
}

/// Whether a call gets as far as to its arguments, which are wrong.
async fn is_let_through(turn: &mut Turn, name: &str) -> bool {
    let result = call(turn, name, r#"{"wrong":1}"#).await;
    let code = result.outcome.unwrap_err().code;
    call(turn, "nothing", "{}").await;
    assert!(
        [Code::InvalidArguments, Code::UnknownTool, Code::Hidden].contains(&code),
        "{name}: {code:?}"
    );
    code == Code::InvalidArguments
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(4),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_loads_and_reads_is_offered_where_it_works_and_no_body_is_lost(
        steps in steps(),
        is_in_prompt in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let delivery = if is_in_prompt { BodyDelivery::Prompt } else { BodyDelivery::ToolResult };
        runtime.block_on(async {
            let mut world = World::new(delivery).await;
            world.check().await;
            for step in &steps {
                world.take(step).await;
                world.check().await;
            }
        });
    }
}
