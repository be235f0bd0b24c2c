//! Skills that a program adds and drops while its engine runs.

use skills_engine::skill::SkillBuilder;
use skills_engine::source::Instances;
use skills_engine::{Level, skill, skill_tool};
use tests::{answer, bare, open, session, tools, turn};

use crate::made::tool;

/// Says hello.
#[derive(Default)]
#[skill(id = "greeter", manual)]
struct Greeter {
    name: String,
}

#[skill]
impl Greeter {
    /// Greets.
    #[skill_tool(level = Metadata)]
    fn greet(&self) -> String {
        format!("hello {}", self.name)
    }
}

fn notes(word: &'static str) -> SkillBuilder {
    let answer = move |_| async move { word };
    SkillBuilder::new("notes").tool(tool("read", answer).level(Level::Metadata))
}

#[tokio::test]
async fn what_is_inserted_or_removed_counts_from_the_next_turn_on() {
    let instances = Instances::new();
    let engine = bare().source(instances.clone()).build().await.unwrap();
    let session = session(&engine).await;
    let mut before = turn(&session).await;
    instances.insert(notes("first").build().unwrap());
    assert!(tools(&before.view().await.unwrap()).is_empty());

    let mut with = turn(&session).await;
    assert_eq!(tools(&with.view().await.unwrap()), ["notes__read"]);
    let replaced = instances.insert(notes("second").build().unwrap());
    assert!(replaced.is_some());
    assert_eq!(answer(&mut with, "notes__read", "{}").await, "first");
    let mut next = turn(&session).await;
    next.view().await.unwrap();
    assert_eq!(answer(&mut next, "notes__read", "{}").await, "second");

    open(&session, "notes", Level::Context).await;
    assert!(instances.remove("notes").is_some());
    assert!(instances.remove("notes").is_none());
    let mut without = turn(&session).await;
    assert!(tools(&without.view().await.unwrap()).is_empty());
}

#[tokio::test]
async fn annotated_types_are_inserted_under_any_id() {
    let instances = Instances::new();
    let engine = bare().source(instances.clone()).build().await.unwrap();
    let session = session(&engine).await;
    let greeter = |name: &str| Greeter {
        name: name.to_owned(),
    };
    instances.insert_type(greeter("Ada")).unwrap();
    instances.insert_type_as("other", greeter("Bob")).unwrap();
    assert!(instances.insert_type_as("No Id", greeter("x")).is_err());
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    assert_eq!(answer(&mut turn, "greeter__greet", "{}").await, "hello Ada");
    assert_eq!(answer(&mut turn, "other__greet", "{}").await, "hello Bob");
    let skill = engine.skill_by_id::<Greeter>("other").unwrap();
    assert_eq!(skill.name, "Bob");
    let skills = engine.skills();
    assert!(
        skills
            .iter()
            .any(|skill| skill.definition().id == "greeter")
    );
}

#[tokio::test]
async fn turns_that_begin_at_once_see_what_was_inserted_before() {
    let instances = Instances::new();
    let engine = bare().source(instances.clone()).build().await.unwrap();
    let session = session(&engine).await;
    instances.insert(notes("one").build().unwrap());
    let (first, second, third) = tokio::join!(turn(&session), turn(&session), turn(&session));
    for mut turn in [first, second, third] {
        assert_eq!(tools(&turn.view().await.unwrap()), ["notes__read"]);
    }
}
