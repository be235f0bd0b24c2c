//! Views as bytes: the same openings give the same ones, none ever changes, and what is opened is appended.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use skills_engine::engine::{View, ViewChange};
use skills_engine::skill::{Attribute, BuiltSkill, Expose, SkillBuilder};
use skills_engine::tools::Dialect;
use skills_engine::{Engine, Level, Principal, Session, Span, Turn};
use tests::{bare, turn};

use crate::made::tool;

const SKILLS: [&str; 4] = ["a", "b", "c", "d"];
const DIALECTS: [Dialect; 5] = [
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
    Dialect::Anthropic,
    Dialect::Gemini,
    Dialect::Mcp,
];

#[derive(Clone, Copy, Debug)]
enum Step {
    Open(usize, Level),
    OpenFor(usize, Level),
    OpenForTurn(usize, Level),
    Limit(usize, Level),
    Lift(usize),
    Clear(usize),
}

impl Step {
    async fn apply(self, session: &Session, turn: &Turn) {
        match self {
            Self::Open(skill, level) => {
                drop(
                    session
                        .open(SKILLS[skill], level, Span::UntilCleared, "")
                        .await,
                );
            }
            Self::OpenFor(skill, level) => {
                let span = Span::Ttl(Duration::from_secs(1_000));
                drop(session.open(SKILLS[skill], level, span, "").await);
            }
            Self::OpenForTurn(skill, level) => drop(turn.open(SKILLS[skill], level, "").await),
            Self::Limit(skill, level) => drop(session.limit(SKILLS[skill], level).await),
            Self::Lift(skill) => drop(session.lift_limit(SKILLS[skill]).await),
            Self::Clear(skill) => drop(session.clear(SKILLS[skill]).await),
        }
    }
}

fn raising() -> impl Strategy<Value = Step> + Clone {
    let target = || (0..SKILLS.len(), prop::sample::select(Level::ALL.to_vec()));
    prop_oneof![
        target().prop_map(|(skill, level)| Step::Open(skill, level)),
        target().prop_map(|(skill, level)| Step::OpenFor(skill, level)),
        target().prop_map(|(skill, level)| Step::OpenForTurn(skill, level)),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => raising(),
        1 => (0..SKILLS.len(), prop::sample::select(Level::ALL.to_vec()))
            .prop_map(|(skill, level)| Step::Limit(skill, level)),
        1 => (0..SKILLS.len()).prop_map(Step::Lift),
        1 => (0..SKILLS.len()).prop_map(Step::Clear),
    ]
}

fn skill(id: &'static str) -> BuiltSkill {
    let base = if id == "d" {
        Level::Context
    } else {
        Level::Metadata
    };
    let mut skill = SkillBuilder::new(id)
        .base_level(base)
        .instructions("Count from 1.");
    for level in Level::ALL {
        let name = |kind: &str| format!("{kind}_{level}").to_lowercase();
        skill = skill
            .tool(tool(name("tool").leak(), |_| async { "" }).level(level))
            .attribute(
                Attribute::constant(name("constant"), "", &1)
                    .unwrap()
                    .level(level),
            )
            .attribute(Attribute::live(name("live"), "", |_| 2).level(level));
    }
    let always = tool("always", |_| async { "" }).level(Level::Complete);
    skill.tool(always.expose(Expose::Always)).build().unwrap()
}

async fn engine(ids: impl IntoIterator<Item = &'static str>) -> Engine {
    let skills = ids.into_iter().map(skill);
    let builder = skills.fold(bare(), skills_engine::engine::EngineBuilder::with_skill);
    builder.build().await.unwrap()
}

/// All that a view tells, as bytes.
fn bytes(view: &View) -> Vec<String> {
    let prompt = view.prompt();
    let digest = format!("{:?}", view.digest());
    let parts = [
        view.system_prompt(),
        prompt.stable,
        prompt.opened,
        prompt.live,
        &view.snapshots(),
        &digest,
    ];
    let lists = DIALECTS.map(|dialect| view.tools_json(dialect));
    parts.into_iter().chain(lists).map(str::to_owned).collect()
}

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: 64,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(3),
        ..ProptestConfig::default()
    }
}

fn run(test: impl Future<Output = Result<(), TestCaseError>>) -> Result<(), TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build();
    runtime.unwrap().block_on(test)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_same_steps_give_the_same_bytes_and_no_view_changes(steps in prop::collection::vec(any_step(), 0..12)) {
        run(async {
            let (left, right) = (engine(SKILLS).await, engine(SKILLS.into_iter().rev()).await);
            let of_ada = tests::session(&left).await;
            let of_bob = left.session(Principal::new("bob", [""; 0]), "s2").await.unwrap();
            let elsewhere = tests::session(&right).await;
            let mut turns = [turn(&of_ada).await, turn(&of_bob).await, turn(&elsewhere).await];
            let mut taken: Vec<(Arc<View>, Vec<String>)> = Vec::new();
            for step in &steps {
                for (session, turn) in [&of_ada, &of_bob, &elsewhere].into_iter().zip(&turns) {
                    step.apply(session, turn).await;
                }
                let mut told = Vec::new();
                for turn in &mut turns {
                    let view = turn.view().await.unwrap();
                    told.push(bytes(&view));
                    taken.push((Arc::clone(view.view()), bytes(&view)));
                }
                prop_assert_eq!(&told[0], &told[1]);
                prop_assert_eq!(&told[0], &told[2]);
            }
            for (view, told) in &taken {
                prop_assert_eq!(&bytes(view), told);
            }
            Ok(())
        })?;
    }

    #[test]
    fn what_views_were_taken_on_the_way_makes_no_difference(steps in prop::collection::vec(any_step(), 0..12)) {
        run(async {
            let engine = engine(SKILLS).await;
            let often = engine.new_session(tests::ada()).await.unwrap();
            let once = engine.new_session(tests::ada()).await.unwrap();
            let (mut of_often, mut of_once) = (turn(&often).await, turn(&once).await);
            for step in &steps {
                step.apply(&often, &of_often).await;
                of_often.view().await.unwrap();
                step.apply(&once, &of_once).await;
            }
            let (left, right) = (of_often.view().await.unwrap(), of_once.view().await.unwrap());
            prop_assert_eq!(bytes(&left), bytes(&right));
            Ok(())
        })?;
    }

    #[test]
    fn what_is_opened_is_appended(steps in prop::collection::vec(raising(), 1..12)) {
        run(async {
            let engine = engine(SKILLS).await;
            let session = tests::session(&engine).await;
            let mut turn = turn(&session).await;
            let mut before = turn.view().await.unwrap();
            for step in &steps {
                let (Step::Open(skill, level) | Step::OpenFor(skill, level) | Step::OpenForTurn(skill, level)) = *step
                else {
                    unreachable!("only steps that open were made");
                };
                if before.level(SKILLS[skill]) >= Some(level) {
                    continue;
                }
                step.apply(&session, &turn).await;
                let after = turn.view().await.unwrap();
                prop_assert_eq!(after.change(), ViewChange::Appended);
                prop_assert_eq!(after.level(SKILLS[skill]), Some(level));
                let texts = |view: &View| [view.prompt().stable, view.prompt().opened].concat();
                prop_assert!(texts(&after).starts_with(&texts(&before)));
                prop_assert_eq!(after.prompt().stable, before.prompt().stable);
                for dialect in DIALECTS {
                    let end = if dialect == Dialect::Gemini { "]}]" } else { "]" };
                    let list = before.tools_json(dialect).strip_suffix(end).unwrap();
                    prop_assert!(after.tools_json(dialect).starts_with(list), "{:?}", dialect);
                }
                let names = |view: &View| -> Vec<String> { view.tools().map(|tool| tool.name().to_owned()).collect() };
                prop_assert!(names(&after).starts_with(&names(&before)));
                before = after;
            }
            Ok(())
        })?;
    }
}

#[tokio::test]
async fn se13_a_view_says_how_it_differs() {
    let engine = engine(SKILLS).await;
    let session = tests::session(&engine).await;
    let mut turn = turn(&session).await;
    assert_eq!(turn.view().await.unwrap().change(), ViewChange::First);
    assert_eq!(turn.view().await.unwrap().change(), ViewChange::Unchanged);
    let rows = [
        (Step::Open(0, Level::Context), ViewChange::Appended),
        (Step::Open(0, Level::Context), ViewChange::Unchanged),
        (Step::OpenForTurn(1, Level::Complete), ViewChange::Appended),
        (Step::OpenFor(2, Level::Context), ViewChange::Appended),
        (Step::Limit(3, Level::Context), ViewChange::Prefix),
        (Step::Limit(2, Level::Context), ViewChange::Prefix),
        (Step::Clear(0), ViewChange::Prefix),
        (Step::Lift(3), ViewChange::Prefix),
    ];
    for (step, change) in rows {
        step.apply(&session, &turn).await;
        assert_eq!(turn.view().await.unwrap().change(), change, "{step:?}");
    }
}
