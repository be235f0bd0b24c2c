//! The text that a model reads.

use skills_engine::skill::{Attribute, SkillBuilder};
use skills_engine::{Level, Span};
use tests::{bare, open, session, turn};

use crate::helpdesk::helpdesk;

/// The whole prompt of a small engine in which one skill was opened twice and another once.
const WHOLE: &str = include_str!("prompt.txt");

#[tokio::test]
async fn the_standard_prompt_in_full() {
    let almanac = SkillBuilder::new("almanac")
        .name("Almanac <2026>")
        .description("Knows the calendar.\n# Not a heading")
        .base_level(Level::Context)
        .instructions("Months count from 1.\n- Never guess.")
        .attribute(
            Attribute::constant("holidays", "Days off.", &["2026-01-01", "2026-12-25"]).unwrap(),
        )
        .build()
        .unwrap();
    let engine = bare()
        .skill(helpdesk())
        .with_skill(almanac)
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    open(&session, "helpdesk", Level::Context).await;
    open(&session, "psl-skill", Level::Complete).await;
    turn.open("helpdesk", Level::Complete, "").await.unwrap();
    let view = turn.view().await.unwrap();
    assert_eq!(view.system_prompt(), WHOLE);
    let prompt = view.prompt();
    assert_eq!([prompt.stable, prompt.opened, prompt.live].concat(), WHOLE);
    assert!(prompt.stable.ends_with("</skills>\n"));
    assert!(prompt.opened.starts_with("\n<opened ") && prompt.opened.ends_with("</opened>\n"));
    assert!(prompt.live.starts_with("\n<live>\n"));
}

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
