//! The one rule: whatever was granted and limited, prompt, tool list, snapshot, dispatch and `explain` agree on every
//! member of every skill.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};
use skills_engine::engine::{ToolCall, View};
use skills_engine::session::Decision;
use skills_engine::skill::{Actor, Attribute, BuiltSkill, Code, Expose, Limits, SkillBuilder};
use skills_engine::testing::ManualClock;
use skills_engine::tools::Dialect;
use skills_engine::{Engine, Level, Session, Span, Turn};
use tests::{bare, session, turn, until};

use crate::made::tool;

const SKILLS: [&str; 4] = ["s0", "s1", "s2", "off"];
const EXPOSURES: [Expose; 3] = [Expose::Psl, Expose::Always, Expose::Disabled];

/// What happens to a session.
#[derive(Clone, Debug)]
enum Step {
    Open(usize, Level, Actor),
    OpenFor(usize, Level, Actor, u64),
    OpenForTurn(usize, Level),
    Ephemeral(usize, Level),
    Limit(usize, Option<Level>),
    Clear(usize, Actor),
    ClearAll(Actor),
    Pass(u64),
    NewTurn,
    Roles(&'static [&'static str]),
    Allow(&'static [&'static str]),
    Switch(usize, bool),
    /// The work goes on in a child session, made by the session or by its turn.
    Child(bool),
    /// Something happens to the parent session.
    ToParent(Box<Self>),
}

/// What principals may have of [`World`]'s roles.
const ROLES: [&[&str]; 5] = [&[], &["all"], &["some"], &["low"], &["some", "low"]];

/// What sessions may be narrowed to.
const LISTS: [&[&str]; 4] = [
    &["*"],
    &["s0", "s1/tool_s1_context_psl", "s1/live_s1_metadata_always"],
    &["s1", "s2/*"],
    &[],
];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let skill = || 0..3_usize;
    let level = || prop::sample::select(Level::ALL.to_vec());
    let actor = || prop::sample::select(vec![Actor::Model, Actor::User, Actor::Host]);
    let step = prop_oneof![
        4 => (skill(), level(), actor()).prop_map(|(skill, level, actor)| Step::Open(skill, level, actor)),
        3 => (skill(), level(), actor(), 1..90_u64)
            .prop_map(|(skill, level, actor, seconds)| Step::OpenFor(skill, level, actor, seconds)),
        2 => (skill(), level()).prop_map(|(skill, level)| Step::OpenForTurn(skill, level)),
        2 => (skill(), level()).prop_map(|(skill, level)| Step::Ephemeral(skill, level)),
        3 => (skill(), prop::option::of(level())).prop_map(|(skill, level)| Step::Limit(skill, level)),
        1 => (skill(), actor()).prop_map(|(skill, actor)| Step::Clear(skill, actor)),
        1 => actor().prop_map(Step::ClearAll),
        2 => (1..60_u64).prop_map(Step::Pass),
        1 => Just(Step::NewTurn),
        2 => prop::sample::select(ROLES.to_vec()).prop_map(Step::Roles),
        1 => prop::sample::select(LISTS.to_vec()).prop_map(Step::Allow),
        1 => (0..4_usize, any::<bool>()).prop_map(|(skill, on)| Step::Switch(skill, on)),
        1 => any::<bool>().prop_map(Step::Child),
    ];
    let step = (step, prop::bool::weighted(0.2)).prop_map(|(step, of_parent)| {
        if of_parent {
            Step::ToParent(Box::new(step))
        } else {
            step
        }
    });
    prop::collection::vec(step, 1..10)
}

/// The name of a member: it says of whom it is, so that it stands in a prompt once.
fn name(kind: &str, skill: &str, level: Level, expose: Expose) -> String {
    format!("{kind}_{skill}_{level}_{expose:?}").to_lowercase()
}

fn members() -> impl Iterator<Item = (Level, Expose)> {
    let pairs = |level| EXPOSURES.map(|expose| (level, expose));
    Level::ALL.into_iter().flat_map(pairs)
}

/// A skill that has a tool, a constant and a live attribute for each level in each way of exposing it.
fn whole_skill(id: &'static str, base: Level) -> BuiltSkill {
    let mut skill = SkillBuilder::new(id).base_level(base);
    if id == "s2" {
        skill = skill.host_only();
    }
    for (level, expose) in members() {
        let called = tool(name("tool", id, level, expose).leak(), |_| async { "ran" });
        let constant = Attribute::constant(name("constant", id, level, expose), "", &1).unwrap();
        let live = Attribute::live(name("live", id, level, expose), "", |_| 2);
        let lazy = Attribute::lazy(name("lazy", id, level, expose), "", |_| async { Ok(3) });
        skill = skill.tool(called.level(level).expose(expose).read_only());
        for attribute in [constant, live, lazy] {
            skill = skill.attribute(attribute.level(level).expose(expose));
        }
    }
    skill.build().unwrap()
}

struct World {
    engine: Engine,
    clock: ManualClock,
    session: Session,
    turn: Turn,
    /// The session that the world began with, once the work goes on in a child.
    parent: Option<(Session, Turn)>,
}

impl World {
    async fn new(bases: [Level; 3], has_roles: bool) -> Self {
        let clock = ManualClock::default();
        let mut limits = Limits::default();
        limits.calls_per_reply = 100;
        let mut builder = bare()
            .with_skill(whole_skill(SKILLS[3], Level::Metadata))
            .disable(SKILLS[3])
            .limits(limits)
            .clock(Arc::new(clock.clone()));
        for (id, base) in SKILLS.into_iter().zip(bases) {
            builder = builder.with_skill(whole_skill(id, base));
        }
        if has_roles {
            builder = builder
                .role("all", |role| role.allow("*", Level::Complete))
                .role("low", |role| {
                    role.allow("s0", Level::Metadata)
                        .allow("s1", Level::Context)
                        .allow("psl-skill", Level::Metadata)
                })
                .role("some", |role| {
                    role.allow("s1/tool_s1_complete_psl", Level::Complete)
                        .allow("s1/constant_s1_context_always", Level::Metadata)
                        .allow("s2", Level::Complete)
                        .allow("psl-skill", Level::Complete)
                });
        }
        let engine = builder.build().await.unwrap();
        let session = session(&engine).await;
        if has_roles {
            session.set_roles(["all"]);
        }
        let turn = turn(&session).await;
        Self {
            engine,
            clock,
            session,
            turn,
            parent: None,
        }
    }

    /// Does a step to the session, or to its parent.
    async fn step(&mut self, step: &Step) {
        match step {
            Step::ToParent(step) => {
                if let Some(parent) = &mut self.parent {
                    std::mem::swap(&mut self.session, &mut parent.0);
                    std::mem::swap(&mut self.turn, &mut parent.1);
                    self.apply(step).await;
                    let parent = self.parent.as_mut().unwrap();
                    std::mem::swap(&mut self.session, &mut parent.0);
                    std::mem::swap(&mut self.turn, &mut parent.1);
                }
            }
            Step::Child(of_turn) if self.parent.is_none() => {
                let child = if *of_turn {
                    self.turn.child().await.unwrap()
                } else {
                    self.session.child().await.unwrap()
                };
                let turn = turn(&child).await;
                let session = std::mem::replace(&mut self.session, child);
                self.parent = Some((session, std::mem::replace(&mut self.turn, turn)));
            }
            step => self.apply(step).await,
        }
    }

    /// Does a step; one that is refused has done nothing, which is for others to test.
    async fn apply(&mut self, step: &Step) {
        let session = &self.session;
        match *step {
            Step::Open(skill, level, actor) => {
                let session = session.acting_as(actor);
                drop(
                    session
                        .open(SKILLS[skill], level, Span::UntilCleared, "")
                        .await,
                );
            }
            Step::OpenFor(skill, level, actor, seconds) => {
                let span = Span::Ttl(Duration::from_secs(seconds));
                drop(
                    session
                        .acting_as(actor)
                        .open(SKILLS[skill], level, span, "")
                        .await,
                );
            }
            Step::OpenForTurn(skill, level) => drop(self.turn.open(SKILLS[skill], level, "").await),
            Step::Ephemeral(skill, level) => {
                let wish = json!({ "skill_id": SKILLS[skill], "level": level, "ephemeral": true });
                let name = "psl-skill__set_skill_visibility";
                tests::call(&mut self.turn, name, &wish.to_string()).await;
            }
            Step::Limit(skill, Some(level)) => session.limit(SKILLS[skill], level).await.unwrap(),
            Step::Limit(skill, None) => session.lift_limit(SKILLS[skill]).await.unwrap(),
            Step::Clear(skill, actor) => drop(session.acting_as(actor).clear(SKILLS[skill]).await),
            Step::ClearAll(actor) => drop(session.acting_as(actor).clear_all().await),
            Step::Pass(seconds) => {
                until(|| self.clock.sleepers() >= 1).await;
                self.clock.advance(Duration::from_secs(seconds));
            }
            Step::NewTurn => self.turn = turn(session).await,
            Step::Roles(roles) => session.set_roles(roles.iter().copied()),
            Step::Allow(patterns) => {
                assert_eq!(session.allow(patterns).unwrap(), [""; 0]);
            }
            Step::Switch(skill, is_enabled) => {
                self.engine.set_enabled(SKILLS[skill], is_enabled).unwrap();
            }
            Step::Child(_) | Step::ToParent(_) => {}
        }
    }

    fn decision(&self, skill: &str, member: &str) -> Decision {
        self.turn.explain(skill, member).decision
    }

    /// Calls every tool in one reply and compares with the rule, and with what the latest view showed.
    async fn check_dispatch(
        &mut self,
        seen: Option<&BTreeSet<String>>,
    ) -> Result<(), TestCaseError> {
        let all: Vec<(&str, String)> = SKILLS
            .into_iter()
            .flat_map(|skill| {
                members().map(move |(level, expose)| (skill, name("tool", skill, level, expose)))
            })
            .collect();
        let wire = |(skill, tool): &(&str, String)| format!("{skill}__{tool}");
        let calls = all.iter().map(|tool| ToolCall::new("", wire(tool), "{}"));
        let results = self.turn.calls(calls).await;
        for (tool, result) in all.iter().zip(&results) {
            let decision = self.decision(tool.0, &tool.1);
            let was_seen = seen.is_none_or(|seen| seen.contains(&wire(tool)));
            let expected = match decision {
                Decision::Visible if was_seen => None,
                Decision::Visible | Decision::Hidden { .. } => Some(Code::Hidden),
                Decision::Denied(_) | Decision::Disabled | Decision::Unknown => {
                    Some(Code::UnknownTool)
                }
            };
            let code = result.outcome.as_ref().err().map(|fault| fault.code);
            prop_assert_eq!(
                code,
                expected,
                "{:?} of {}: {}",
                decision,
                wire(tool),
                result.text()
            );
        }
        Ok(())
    }

    /// Compares prompt, tool lists and snapshots of a view with the rule.
    fn check_view(&self, view: &View) -> Result<BTreeSet<String>, TestCaseError> {
        let listed: BTreeSet<String> = view.tools().map(|tool| tool.name().to_owned()).collect();
        prop_assert_eq!(listed.len(), view.tools().count());
        let json: Value = serde_json::from_str(view.tools_json(Dialect::Anthropic)).unwrap();
        let in_json = json.as_array().unwrap().iter();
        let in_json: BTreeSet<String> = in_json
            .map(|tool| tool["name"].as_str().unwrap().to_owned())
            .collect();
        prop_assert_eq!(&in_json, &listed);
        let lines: Vec<&str> = view.system_prompt().lines().collect();
        let count = |text: &str| lines.iter().filter(|line| line.starts_with(text)).count();
        for skill in SKILLS {
            let snapshot = view
                .snapshot(skill)
                .map(|json| serde_json::from_str::<Value>(&json).unwrap());
            let in_snapshot = |kind: &str, name: &str| match (&snapshot, kind) {
                (None, _) => false,
                (Some(snapshot), "tool") => {
                    let wire = format!("{skill}__{name}");
                    snapshot["tools"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|tool| tool["name"] == wire.as_str())
                }
                (Some(snapshot), _) => snapshot["attributes"].get(name).is_some(),
            };
            for (level, expose) in members() {
                for kind in ["tool", "constant", "live", "lazy"] {
                    let member = name(kind, skill, level, expose);
                    let decision = self.decision(skill, &member);
                    let is_visible = decision == Decision::Visible;
                    let once = usize::from(is_visible);
                    prop_assert_eq!(
                        in_snapshot(kind, &member),
                        is_visible,
                        "snapshot: {} {:?}",
                        member,
                        decision
                    );
                    let (in_list, in_prompt, in_live) = match kind {
                        "tool" => {
                            let wire = format!("{skill}__{member}");
                            (
                                listed.contains(&wire),
                                count(&format!("- tool {wire}")),
                                once,
                            )
                        }
                        "constant" => (is_visible, count(&format!("- {member} = 1")), once),
                        _ => (
                            is_visible,
                            count(&format!("- {member} (live)")),
                            count(&format!("- {skill}.{member} = ")),
                        ),
                    };
                    prop_assert_eq!(in_list, is_visible, "list: {} {:?}", member, decision);
                    prop_assert_eq!(in_prompt, once, "prompt: {} {:?}", member, decision);
                    prop_assert_eq!(in_live, once, "live: {} {:?}", member, decision);
                }
            }
            let told = self
                .turn
                .visibility()
                .into_iter()
                .find(|standing| standing.skill == skill);
            prop_assert_eq!(
                view.level(skill),
                told.as_ref().map(|standing| standing.level)
            );
            if let (Some(snapshot), Some(told)) = (&snapshot, told) {
                prop_assert_eq!(&snapshot["level"], told.level.as_str());
            }
        }
        Ok(listed)
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(2),
        ..ProptestConfig::default()
    })]

    #[test]
    fn what_is_shown_told_and_run_is_what_the_rule_says(
        bases in prop::array::uniform3(prop::sample::select(Level::ALL.to_vec())),
        has_roles in any::<bool>(),
        steps in steps(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new(bases, has_roles).await;
            let mut seen = None;
            for step in &steps {
                let before = world.session.id().clone();
                world.step(step).await;
                if matches!(step, Step::NewTurn) || before != *world.session.id() {
                    seen = None;
                }
                // First by the view from before the step, then by one from after it.
                world.check_dispatch(seen.as_ref()).await?;
                let view = world.turn.view().await.unwrap();
                let listed = world.check_view(&view)?;
                seen = Some(listed);
                world.check_dispatch(seen.as_ref()).await?;
            }
            prop_assert!(!world.engine.audit().is_failing());
            Ok(())
        })?;
    }
}
