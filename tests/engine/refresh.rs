//! Sources that are asked again while the engine runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use skills_engine::engine::RefreshReport;
use skills_engine::skill::{Attribute, BoxFuture, BuiltSkill, Code, Fault, Skill, SkillBuilder};
use skills_engine::source::SkillSource;
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, Level, Principal};
use tests::{after, bare, open, session, tools, turn};

use crate::made::{skill, tool};

/// What the source of a test answers.
#[derive(Clone)]
enum Answer {
    Skills(Vec<Arc<dyn Skill>>),
    Fails,
    Hangs,
    Panics,
}

/// A source whose answer a test sets.
#[derive(Clone)]
struct Shelf {
    name: &'static str,
    answer: Arc<Mutex<Answer>>,
}

impl Shelf {
    fn new(name: &'static str, skills: impl IntoIterator<Item = BuiltSkill>) -> Self {
        let shelf = Self {
            name,
            answer: Arc::new(Mutex::new(Answer::Fails)),
        };
        shelf.put(skills);
        shelf
    }

    fn put(&self, skills: impl IntoIterator<Item = BuiltSkill>) {
        let skills = skills
            .into_iter()
            .map(|skill| Arc::new(skill) as Arc<dyn Skill>);
        self.set(Answer::Skills(skills.collect()));
    }

    fn set(&self, answer: Answer) {
        *self.answer.lock().unwrap() = answer;
    }
}

impl SkillSource for Shelf {
    fn name(&self) -> &str {
        self.name
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        let answer = self.answer.lock().unwrap().clone();
        Box::pin(async move {
            match answer {
                Answer::Skills(skills) => Ok(skills),
                Answer::Fails => Err(Fault::new(
                    Code::StoreUnavailable,
                    "the shelf is closed. Open it",
                )),
                Answer::Hangs => std::future::pending().await,
                Answer::Panics => panic!("the shelf broke"),
            }
        })
    }
}

fn deploy(names: &[&'static str]) -> BuiltSkill {
    skill(
        "deploy",
        names.iter().map(|name| tool(name, |_| async { "done" })),
    )
}

async fn engine(shelf: &Shelf) -> Engine {
    let notes = skill("notes", [tool("list", |_| async { "none" })]);
    let builder = bare().with_skill(notes).source(shelf.clone());
    builder.build().await.unwrap()
}

#[tokio::test]
async fn a_turn_keeps_what_it_began_with_and_the_next_one_sees_the_refresh() {
    let shelf = Shelf::new("shelf", [deploy(&["status"])]);
    let engine = engine(&shelf).await;
    let session = session(&engine).await;
    let mut old = turn(&session).await;
    let before = old.view().await.unwrap();
    shelf.put([deploy(&["status", "plan"]), skill("shipping", [])]);
    let report = engine.refresh().await.unwrap();
    assert_eq!(
        (report.added, report.changed),
        (vec!["shipping".to_owned()], vec!["deploy".to_owned()])
    );
    assert_eq!((report.removed, report.failed), (vec![], vec![]));
    assert!(old.view().await.unwrap().is_unchanged());
    let mut new = turn(&session).await;
    let view = new.view().await.unwrap();
    assert_eq!(
        tools(&view),
        ["deploy__status", "deploy__plan", "notes__list"]
    );
    assert_ne!(view.digest(), before.digest());
    shelf.put([]);
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.removed, ["deploy", "shipping"]);
    let mut last = turn(&session).await;
    assert_eq!(tools(&last.view().await.unwrap()), ["notes__list"]);
    // Nothing new is nothing changed.
    assert_eq!(engine.refresh().await.unwrap(), RefreshReport::default());
    assert!(last.view().await.unwrap().is_unchanged());
}

#[tokio::test]
async fn a_sensitive_value_that_changed_is_a_change() {
    let vault = |code: u32| {
        let code = Attribute::constant("code", "", &code).unwrap().sensitive();
        let vault = SkillBuilder::new("vault").attribute(code.level(Level::Metadata));
        vault.build().unwrap()
    };
    let shelf = Shelf::new("shelf", [vault(1)]);
    let engine = engine(&shelf).await;
    let session = session(&engine).await;
    let view = turn(&session).await.view().await.unwrap();
    shelf.put([vault(1)]);
    assert_eq!(engine.refresh().await.unwrap(), RefreshReport::default());
    shelf.put([vault(2)]);
    assert_eq!(engine.refresh().await.unwrap().changed, ["vault"]);
    let changed = turn(&session).await.view().await.unwrap();
    assert!(changed.system_prompt().contains("- code = 2\n"));
    assert_ne!(changed.digest(), view.digest());
}

#[tokio::test]
async fn a_turn_closes_what_it_sees_though_a_refresh_took_it_away() {
    let open_at_first = SkillBuilder::new("deploy")
        .base_level(Level::Context)
        .tool(tool("plan", |_| async { "planned" }).level(Level::Context));
    let shelf = Shelf::new("shelf", [open_at_first.build().unwrap()]);
    let engine = engine(&shelf).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    shelf.put([]);
    drop(engine.refresh().await.unwrap());
    let view = turn.view().await.unwrap();
    assert_eq!(tools(&view), ["deploy__plan", "notes__list"]);
    let wish = r#"{"skill_id": "deploy", "level": "METADATA"}"#;
    let set = tests::call(&mut turn, "psl-skill__set_skill_visibility", wish).await;
    assert!(!set.text().contains("already_open"), "{}", set.text());
    assert_eq!(tools(&turn.view().await.unwrap()), ["notes__list"]);
}

#[tokio::test]
async fn se28_a_tool_that_a_refresh_adds_to_an_open_skill_is_not_seen_beyond_a_list() {
    let shelf = Shelf::new("shelf", [deploy(&["status"])]);
    let engine = engine(&shelf).await;
    let session = session(&engine).await;
    open(&session, "deploy", Level::Complete).await;
    session.allow(["deploy/status"]).unwrap();
    shelf.put([deploy(&["status", "roll_back"])]);
    drop(engine.refresh().await.unwrap());
    let mut turn = turn(&session).await;
    assert_eq!(tools(&turn.view().await.unwrap()), ["deploy__status"]);
    let outcome = tests::call(&mut turn, "deploy__roll_back", "{}")
        .await
        .outcome;
    assert_eq!(outcome.unwrap_err().code, Code::UnknownTool);
}

#[tokio::test]
async fn what_is_broken_is_told_and_its_last_good_version_stays() {
    let shelf = Shelf::new("shelf", [deploy(&["status"])]);
    let engine = engine(&shelf).await;
    let twice = SkillBuilder::new("notes").build().unwrap();
    let long = skill("a", [tool("b__c", |_| async { "" })]);
    shelf.put([deploy(&["status"]), twice, long]);
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.added, ["a"]);
    let [failed] = &report.failed[..] else {
        panic!("{report:?}");
    };
    assert_eq!(
        (&*failed.source, failed.skill.as_deref()),
        ("shelf", Some("notes"))
    );
    assert!(failed.problems[0].contains("another skill has the id `notes`"));

    let huge = "x".repeat(100_000);
    let values: Vec<_> = std::iter::repeat_n(huge, 10).collect();
    let broken = SkillBuilder::new("deploy")
        .attribute(Attribute::constant("values", "", &values).unwrap())
        .build()
        .unwrap();
    shelf.put([broken]);
    let report = engine.refresh().await.unwrap();
    let problems = report.failed[0].problems.join("\n");
    assert!(
        problems.contains("shorten it") && problems.contains("last good version"),
        "{problems}"
    );
    assert_eq!(report.removed, ["a"]);
    let mut turn = turn(&session(&engine).await).await;
    assert_eq!(
        tools(&turn.view().await.unwrap()),
        ["deploy__status", "notes__list"]
    );
}

#[tokio::test]
async fn a_source_without_an_answer_keeps_what_it_gave() {
    let clock = ManualClock::default();
    let shelf = Shelf::new("shelf", [deploy(&["status"])]);
    let builder = bare().source(shelf.clone()).clock(Arc::new(clock.clone()));
    let engine = builder.build().await.unwrap();
    shelf.set(Answer::Fails);
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.failed[0].skill, None);
    assert_eq!(report.failed[0].problems, ["the shelf is closed. Open it"]);
    shelf.set(Answer::Panics);
    let report = engine.refresh().await.unwrap();
    assert_eq!(
        report.failed[0].to_string(),
        "`shelf`: it panicked; see to the source"
    );
    shelf.set(Answer::Hangs);
    let (report, other) = after(&clock, 2, Duration::from_secs(30), async {
        tokio::join!(engine.refresh(), engine.refresh())
    })
    .await;
    assert!(report.unwrap().failed[0].problems[0].contains("30 seconds"));
    assert_eq!(other.unwrap_err().code, Code::Conflict);
    let mut turn = turn(&session(&engine).await).await;
    assert_eq!(tools(&turn.view().await.unwrap()), ["deploy__status"]);
}

#[tokio::test]
async fn a_source_that_fails_when_the_engine_is_built_is_a_problem_of_the_build() {
    let shelf = Shelf::new("shelf", []);
    shelf.set(Answer::Fails);
    let error = bare().source(shelf).build().await.unwrap_err().to_string();
    assert!(
        error.contains("source `shelf`: the shelf is closed"),
        "{error}"
    );
}

#[tokio::test]
async fn se27_operators_refresh_and_observers_do_not() {
    let shelf = Shelf::new("shelf", []);
    let engine = engine(&shelf).await;
    let by = |role: &'static str| Principal::new("oscar", [role]);
    let refused = engine.refresh_by(&by("observer")).await.unwrap_err();
    assert_eq!(refused.code, Code::NotPermitted);
    shelf.put([deploy(&[])]);
    assert_eq!(
        engine.refresh_by(&by("operator")).await.unwrap().added,
        ["deploy"]
    );
    engine.audit().flush().await;
    let records = engine.audit_ring().unwrap().records();
    let last = records.iter().rev().find(|record| {
        record
            .entry()
            .is_ok_and(|entry| entry.kind == "registry_refreshed")
    });
    assert_eq!(last.unwrap().entry().unwrap().by.as_deref(), Some("oscar"));
}

#[tokio::test]
async fn two_skills_of_one_id_do_not_replace_a_good_one() {
    let shelf = Shelf::new("shelf", [deploy(&["status"])]);
    let engine = engine(&shelf).await;
    shelf.put([deploy(&["plan"]), deploy(&["status", "plan"])]);
    let report = engine.refresh().await.unwrap();
    assert_eq!((report.added, report.changed), (vec![], vec![]));
    let [failed] = &report.failed[..] else {
        panic!("{:?}", report.failed);
    };
    assert!(failed.problems[0].contains("two skills with the id `deploy`"));
    let mut turn = turn(&session(&engine).await).await;
    assert_eq!(
        tools(&turn.view().await.unwrap()),
        ["deploy__status", "notes__list"]
    );
}
