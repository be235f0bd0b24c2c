//! Why a model sees something or not.

use std::sync::Arc;
use std::time::Duration;

use skills_engine::session::{Decision, Why};
use skills_engine::skill::{Attribute, Expose, Skill, SkillDefinition, Tool};
use skills_engine::testing::ManualClock;
use skills_engine::{Level, Span};
use tests::{bare, open, session, turn};

use crate::helpdesk;
use crate::made::tool;

#[tokio::test]
async fn every_number_that_went_into_a_decision_is_told() {
    let clock = ManualClock::default();
    let engine = helpdesk::builder()
        .clock(Arc::new(clock.clone()))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let turn = turn(&session).await;
    open(&session, "helpdesk", Level::Metadata).await;
    let span = Span::Ttl(Duration::from_secs(60));
    session
        .open("helpdesk", Level::Context, span, "")
        .await
        .unwrap();
    turn.open("helpdesk", Level::Complete, "").await.unwrap();
    session.limit("helpdesk", Level::Context).await.unwrap();

    let in_turn = turn.explain("helpdesk", "close_ticket");
    let hidden = Decision::Hidden {
        have: Level::Context,
        need: Level::Complete,
    };
    assert_eq!(
        (in_turn.decision, in_turn.level),
        (hidden, Some(Level::Context))
    );
    assert_eq!(
        in_turn.reasons[1..],
        [
            "`helpdesk` starts at METADATA",
            "the host opened CONTEXT until 2026-01-01T00:01:00.000Z",
            "this turn opened COMPLETE",
            "the session limits it to CONTEXT",
            "so `helpdesk` is at CONTEXT",
            "`close_ticket` is visible from COMPLETE on",
            "to show `close_ticket`, lift the limit of `helpdesk` to COMPLETE and set `helpdesk` to COMPLETE if it is below",
        ]
    );
    session.lift_limit("helpdesk").await.unwrap();
    assert_eq!(
        turn.explain("helpdesk", "close_ticket").decision,
        Decision::Visible
    );
    assert_eq!(
        engine
            .explain(&session, "helpdesk", "close_ticket")
            .decision,
        hidden
    );
    clock.advance(Duration::from_secs(60));
    let later = session.explain("helpdesk", "close_ticket");
    assert_eq!(later.level, Some(Level::Metadata));
    assert!(
        later
            .reasons
            .last()
            .unwrap()
            .contains("set `helpdesk` to COMPLETE")
    );
}

#[tokio::test]
async fn what_there_is_not_is_told_apart_from_what_is_not_shown() {
    let engine = helpdesk::builder()
        .disable("helpdesk")
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let rows = [
        (
            "helpdesk",
            "ping",
            "`helpdesk` is switched off; to show `ping`, enable `helpdesk`",
        ),
        (
            "helpdesk",
            "nothing",
            "`helpdesk` has no tool or attribute `nothing`; check the name",
        ),
        (
            "nothing",
            "ping",
            "there is no skill `nothing`; check the id",
        ),
    ];
    for (skill, member, last) in rows {
        let explanation = session.explain(skill, member);
        assert_ne!(explanation.decision, Decision::Visible);
        assert_eq!(explanation.reasons.last().unwrap(), last);
    }
    let engine = helpdesk::engine().await;
    let session = tests::session(&engine).await;
    let wipe = session.explain("helpdesk", "wipe");
    assert_eq!(wipe.decision, Decision::Disabled);
    assert_eq!(
        wipe.reasons.last().unwrap(),
        "nothing opens `wipe`; call it in code, or expose it another way"
    );
}

/// A skill made in code that needs something.
struct Needy(SkillDefinition, [Tool; 1]);

impl Skill for Needy {
    fn definition(&self) -> &SkillDefinition {
        &self.0
    }

    fn attributes(&self) -> &[Attribute] {
        &[]
    }

    fn tools(&self) -> &[Tool] {
        &self.1
    }
}

#[tokio::test]
async fn se4_no_member_of_a_skill_with_unmet_needs_is_shown_whatever_it_says() {
    let mut definition = SkillDefinition::new("needy");
    definition.unmet = vec!["the program `jq`".to_owned()];
    let tool = tool("filter", |_| async { "filtered" }).expose(Expose::Always);
    let engine = bare()
        .with_skill(Needy(definition, [tool]))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let explanation = session.explain("needy", "filter");
    assert_eq!(explanation.decision, Decision::Denied(Why::Unmet));
    let text = explanation.reasons.join("\n");
    assert!(
        text.contains("the program `jq`") && text.contains("see to that"),
        "{text}"
    );
    let view = turn(&session).await.view().await.unwrap();
    assert!(tests::tools(&view).is_empty());
}
