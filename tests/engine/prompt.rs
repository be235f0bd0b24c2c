//! The text that a model reads.

use skills_engine::skill::SkillBuilder;
use skills_engine::{Level, Span};
use tests::{bare, session, turn};

#[tokio::test]
async fn a_skill_below_its_base_level_shows_less_in_the_catalogue() {
    let skill = SkillBuilder::new("almanac")
        .base_level(Level::Complete)
        .instructions("Months count from 1.")
        .build()
        .unwrap();
    let engine = bare().with_skill(skill).build().await.unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let at_first = turn.view().await.unwrap().system_prompt().to_owned();
    assert!(
        at_first.contains("level=\"COMPLETE\">\nInstructions:\nMonths count from 1.\n</skill>")
    );
    session
        .open("almanac", Level::Metadata, Span::UntilCleared, "")
        .await
        .unwrap();
    let view = turn.view().await.unwrap();
    assert!(
        view.system_prompt()
            .contains("level=\"METADATA\">\n</skill>")
    );
    session.clear("almanac").await.unwrap();
    assert_eq!(turn.view().await.unwrap().system_prompt(), at_first);
}
