//! What a model does with the control skill, and what a host does with a session.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use skills_engine::skill::{
    Actor, Attribute, BoxFuture, Clock, Code, Expose, Limits, SkillBuilder, Timestamp,
};
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, Level, Span, Turn};
use tests::{answer, at_rest, bare, call, open, session, tools, turn};

use crate::helpdesk;
use crate::made::tool;

async fn json_answer(turn: &mut Turn, name: &str, arguments: &Value) -> Value {
    let text = answer(turn, &format!("psl-skill__{name}"), &arguments.to_string()).await;
    serde_json::from_str(&text).unwrap_or(Value::String(text))
}

#[tokio::test]
async fn se08_a_skill_is_opened_told_of_and_cleared() {
    let engine = helpdesk::engine().await;
    let mut turn = turn(&session(&engine).await).await;
    turn.view().await.unwrap();
    let wish = json!({ "skill_id": "helpdesk", "level": "CONTEXT", "reason": "ticket T-1042" });
    let opened = json!({
        "skill": "helpdesk",
        "old_level": "METADATA",
        "new_level": "CONTEXT",
        "span": "until_cleared",
        "new_tools": ["helpdesk__get_ticket_faq"],
        "new_attributes": ["on_duty"],
    });
    assert_eq!(
        json_answer(&mut turn, "set_skill_visibility", &wish).await,
        opened
    );
    let again = json_answer(&mut turn, "set_skill_visibility", &wish).await;
    assert_eq!(again["already_open"], true);
    assert_eq!(
        (&again["old_level"], &again["new_tools"]),
        (&json!("CONTEXT"), &json!([]))
    );

    let standing = json_answer(&mut turn, "get_visibility", &json!({})).await;
    assert_eq!(
        standing[0],
        json!({
            "skill": "helpdesk",
            "level": "CONTEXT",
            "base": "METADATA",
            "grants": [{
                "skill": "helpdesk",
                "level": "CONTEXT",
                "actor": "model",
                "span": "until_cleared",
            }],
        })
    );
    assert_eq!(standing[1]["skill"], "psl-skill");
    let cleared = json_answer(
        &mut turn,
        "clear_visibility",
        &json!({ "skill_id": "helpdesk" }),
    )
    .await;
    assert_eq!(cleared["cleared"], standing[0]["grants"]);
    assert_eq!(cleared["remaining"], json!([]));
    assert_eq!(
        turn.view().await.unwrap().level("helpdesk"),
        Some(Level::Metadata)
    );
}

#[tokio::test]
async fn se08_what_a_higher_actor_opened_remains() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    open(&session, "helpdesk", Level::Context).await;
    let clear = json_answer(&mut turn, "clear_visibility", &json!({})).await;
    assert_eq!(clear["cleared"], json!([]));
    assert_eq!(clear["remaining"][0]["actor"], "host");
    let lower = json!({ "skill_id": "helpdesk", "level": "METADATA" });
    assert_eq!(
        json_answer(&mut turn, "set_skill_visibility", &lower).await,
        "held_by: the host holds `helpdesk` at CONTEXT until it is cleared, so the model cannot set it to METADATA; \
         set CONTEXT or higher, or ask the host to lower it"
    );
}

#[tokio::test]
async fn se08_spans_are_told_and_exclude_each_other() {
    let clock = ManualClock::default();
    let engine = helpdesk::builder()
        .clock(Arc::new(clock.clone()))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let set = |extra: Value| {
        let mut wish = json!({ "skill_id": "helpdesk", "level": "CONTEXT" });
        wish.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        wish
    };
    let both = set(json!({ "ephemeral": true, "ttl_seconds": 60 }));
    assert_eq!(
        json_answer(&mut turn, "set_skill_visibility", &both).await,
        "invalid_arguments: `ephemeral` and `ttl_seconds` exclude each other; give one of them or none"
    );
    let for_a_minute = set(json!({ "ttl_seconds": 60 }));
    let answer = json_answer(&mut turn, "set_skill_visibility", &for_a_minute).await;
    assert_eq!(
        (&answer["span"], &answer["expires_at"]),
        (&json!("ttl"), &json!("2026-01-01T00:01:00.000Z"))
    );
    let for_the_turn = set(json!({ "ephemeral": true, "level": "COMPLETE" }));
    let answer = json_answer(&mut turn, "set_skill_visibility", &for_the_turn).await;
    assert_eq!(
        (&answer["span"], &answer["new_level"]),
        (&json!("turn"), &json!("COMPLETE"))
    );
    at_rest(&clock).await;
    clock.advance(Duration::from_secs(60));
    assert_eq!(
        turn.view().await.unwrap().level("helpdesk"),
        Some(Level::Complete)
    );
    turn.finish().await.unwrap();
    let mut next = tests::turn(&session).await;
    assert_eq!(
        next.view().await.unwrap().level("helpdesk"),
        Some(Level::Metadata)
    );
}

#[tokio::test]
async fn se09_an_unknown_skill_or_level_names_what_there_is() {
    let engine = helpdesk::builder().build().await.unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let rows = [
        (
            json!({ "skill_id": "help-desk", "level": "CONTEXT" }),
            Code::UnknownSkill,
            vec!["there is no skill `help-desk`", "`helpdesk`", "`psl-skill`"],
        ),
        (
            json!({ "skill_id": "a/b\u{202e}\u{0}", "level": "CONTEXT" }),
            Code::UnknownSkill,
            vec!["`a/b\\u{202e}\\u{0}`"],
        ),
        (
            json!({ "skill_id": "helpdesk", "level": "FULL" }),
            Code::InvalidArguments,
            vec!["`level`", "`FULL`", "METADATA", "CONTEXT", "COMPLETE"],
        ),
        (
            json!({ "skill_id": "helpdesk", "level": "CONTEXT", "session_id": "s2" }),
            Code::InvalidArguments,
            vec!["`session_id` is not a parameter"],
        ),
    ];
    for (arguments, code, parts) in rows {
        let result = call(
            &mut turn,
            "psl-skill__set_skill_visibility",
            &arguments.to_string(),
        )
        .await;
        let text = result.text();
        assert_eq!(result.outcome.unwrap_err().code, code, "{text}");
        assert!(result.return_direct || !text.is_empty());
        for part in parts {
            assert!(text.contains(part), "{part} is not in {text}");
        }
    }
    let fault = session
        .open("no", Level::Context, Span::UntilCleared, "")
        .await
        .unwrap_err();
    assert_eq!(fault.code, Code::UnknownSkill);
}

#[tokio::test]
async fn an_unknown_skill_among_many_names_twenty_and_how_to_find_the_rest() {
    let mut builder = bare();
    for number in 0..30 {
        builder = builder.with_skill(
            SkillBuilder::new(format!("skill-{number:02}"))
                .build()
                .unwrap(),
        );
    }
    let engine = builder.build().await.unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let arguments = json!({ "skill_id": "x".repeat(200), "level": "CONTEXT" });
    let text = answer(
        &mut turn,
        "psl-skill__set_skill_visibility",
        &arguments.to_string(),
    )
    .await;
    assert!(text.contains("`psl-skill`, `skill-00`"), "{text}");
    assert!(
        text.ends_with("`skill-18` and 11 more, found with psl-skill__search_skills"),
        "{text}"
    );
    assert!(!text.contains(&"x".repeat(65)), "{text}");
}

#[tokio::test]
async fn searches_find_what_the_session_may_know_of() {
    let refunds = |id: &'static str| {
        SkillBuilder::new(id)
            .description("Pays refunds.")
            .tag("Geld")
            .build()
            .unwrap()
    };
    let engine = helpdesk::builder()
        .with_skill(refunds("billing"))
        .with_skill(refunds("secret"))
        .disable("secret")
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    open(&session, "billing", Level::Context).await;
    let mut turn = turn(&session).await;
    let found = json_answer(
        &mut turn,
        "search_skills",
        &json!({ "query": "REFUNDS geld" }),
    )
    .await;
    assert_eq!(
        found,
        json!([{
            "skill": "billing",
            "name": "Billing",
            "description": "Pays refunds.",
            "level": "CONTEXT",
        }])
    );
    assert_eq!(
        json_answer(&mut turn, "search_skills", &json!({ "query": "" })).await,
        json!([])
    );
    assert_eq!(
        session.search("tickets").await.unwrap()[0].skill,
        "helpdesk"
    );
}

#[tokio::test]
async fn what_input_can_make_long_is_limited() {
    let mut limits = Limits::default();
    limits.grants = 2;
    let plain = |id: &'static str| SkillBuilder::new(id).build().unwrap();
    let engine = helpdesk::builder()
        .with_skill(plain("a"))
        .with_skill(plain("b"))
        .limits(limits)
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let long = |count: usize| "é".repeat(count);
    let opened = |skill: &str, extra: Value| {
        let mut wish = json!({ "skill_id": skill, "level": "CONTEXT" });
        wish.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        wish
    };
    let rows = [
        (
            "a reason",
            "set_skill_visibility",
            opened("a", json!({ "reason": long(501) })),
            Some("500"),
        ),
        (
            "a short reason",
            "set_skill_visibility",
            opened("a", json!({ "reason": long(500) })),
            None,
        ),
        (
            "a query",
            "search_skills",
            json!({ "query": long(257) }),
            Some("256"),
        ),
        (
            "a short query",
            "search_skills",
            json!({ "query": long(256) }),
            None,
        ),
        (
            "no time",
            "set_skill_visibility",
            opened("b", json!({ "ttl_seconds": 0 })),
            Some("1 to 2592000"),
        ),
        (
            "31 days",
            "set_skill_visibility",
            opened("b", json!({ "ttl_seconds": 31 * 24 * 3_600 })),
            Some("1 to 2592000"),
        ),
        (
            "the longest time",
            "set_skill_visibility",
            opened("b", json!({ "ttl_seconds": u64::MAX })),
            Some("1 to 2592000"),
        ),
        (
            "a second grant",
            "set_skill_visibility",
            opened("b", json!({ "ttl_seconds": 1 })),
            None,
        ),
        (
            "a third grant",
            "set_skill_visibility",
            opened("helpdesk", json!({})),
            Some("at most 2 grants"),
        ),
        (
            "a third grant, of the turn",
            "set_skill_visibility",
            opened("helpdesk", json!({ "ephemeral": true })),
            Some("at most 2 grants"),
        ),
    ];
    for (name, tool, arguments, limited) in rows {
        let result = call(
            &mut turn,
            &format!("psl-skill__{tool}"),
            &arguments.to_string(),
        )
        .await;
        let text = result.text();
        assert_eq!(
            result.outcome.err().map(|fault| fault.code),
            limited.map(|_| Code::LimitExceeded),
            "{name}: {text}"
        );
        assert!(text.contains(limited.unwrap_or_default()), "{name}: {text}");
    }
    let fault = session.end(&long(501)).await.unwrap_err();
    assert_eq!(fault.code, Code::LimitExceeded);
}

#[tokio::test]
async fn a_host_that_opens_above_its_own_limit_is_told_what_caps_it() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    session.limit("helpdesk", Level::Metadata).await.unwrap();
    let opened = |level| session.open("helpdesk", level, Span::UntilCleared, "");
    let change = opened(Level::Context).await.unwrap();
    assert_eq!(change.new_level, Level::Metadata);
    assert_eq!(change.capped_by, Some(Level::Metadata));
    session.lift_limit("helpdesk").await.unwrap();
    assert_eq!(opened(Level::Complete).await.unwrap().capped_by, None);
}

#[tokio::test]
async fn a_limit_binds_everyone_below_the_host() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    open(&session, "helpdesk", Level::Complete).await;
    session.limit("helpdesk", Level::Context).await.unwrap();
    assert_eq!(
        turn.view().await.unwrap().level("helpdesk"),
        Some(Level::Context)
    );
    let standing = &session.visibility().await.unwrap()[0];
    assert_eq!(
        (standing.level, standing.ceiling),
        (Level::Context, Some(Level::Context))
    );
    for actor in [Actor::Model, Actor::User] {
        let other = session.acting_as(actor);
        let open = other
            .open("helpdesk", Level::Complete, Span::UntilCleared, "")
            .await;
        assert_eq!(open.unwrap_err().code, Code::NotPermitted, "{actor}");
        let lift = other.lift_limit("helpdesk").await;
        assert_eq!(lift.unwrap_err().code, Code::NotPermitted, "{actor}");
        let limit = other.limit("helpdesk", Level::Complete).await;
        assert_eq!(limit.unwrap_err().code, Code::NotPermitted, "{actor}");
    }
    let ephemeral = json!({ "skill_id": "helpdesk", "level": "COMPLETE", "ephemeral": true });
    let text = json_answer(&mut turn, "set_skill_visibility", &ephemeral).await;
    assert!(
        text.as_str()
            .unwrap()
            .starts_with("not_permitted: `helpdesk` is limited to CONTEXT"),
        "{text}"
    );
    turn.open("helpdesk", Level::Complete, "").await.unwrap();
    assert_eq!(
        turn.view().await.unwrap().level("helpdesk"),
        Some(Level::Context)
    );
    session.lift_limit("helpdesk").await.unwrap();
    assert_eq!(
        turn.view().await.unwrap().level("helpdesk"),
        Some(Level::Complete)
    );
}

#[tokio::test]
async fn a_session_grants_for_a_turn_through_the_turn_alone() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    let fault = session
        .open("helpdesk", Level::Context, Span::Turn, "")
        .await
        .unwrap_err();
    assert_eq!(fault.code, Code::InvalidArguments);
    assert!(fault.message.contains("turn.open"), "{fault}");
}

#[tokio::test]
async fn skills_of_a_builder_behave_as_annotated_ones() {
    let skill = SkillBuilder::new("clock")
        .description("Tells the time.")
        .base_level(Level::Context)
        .instructions("Ask for the zone first.")
        .attribute(Attribute::constant("zone", "Time zone.", &"UTC").unwrap())
        .tool(tool("now", |_| async { "noon" }).level(Level::Context))
        .tool(tool("sync", |_| async { "done" }).expose(Expose::Disabled))
        .build()
        .unwrap();
    let engine: Engine = bare().with_skill(skill).build().await.unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert_eq!(tools(&view), ["clock__now"]);
    let snapshot = tests::snapshot(&view, "clock");
    assert_eq!(snapshot["instructions"], "Ask for the zone first.");
    assert_eq!(snapshot["attributes"]["zone"]["value"], "UTC");
    assert!(
        view.system_prompt()
            .contains("Instructions:\nAsk for the zone first.\n")
    );
    open(&session, "clock", Level::Metadata).await;
    let view = turn.view().await.unwrap();
    assert!(tools(&view).is_empty());
    assert!(!view.system_prompt().contains("Ask for the zone first."));
    assert_eq!(tests::snapshot(&view, "clock")["instructions"], Value::Null);
}

/// A clock on which every look takes a millisecond.
#[derive(Debug, Default)]
struct Ticking {
    looks: AtomicI64,
}

impl Clock for Ticking {
    fn now(&self) -> Timestamp {
        Timestamp(self.looks.fetch_add(1, Ordering::Relaxed))
    }

    fn monotonic_nanos(&self) -> u64 {
        0
    }

    fn sleep(&self, _duration: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn the_shortest_time_is_granted_although_time_passes_on_the_way() {
    let engine = helpdesk::builder()
        .clock(Arc::new(Ticking::default()))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let limits = Limits::default();
    for (skill, time) in [("helpdesk", limits.min_ttl), ("psl-skill", limits.max_ttl)] {
        let opened = session
            .open(skill, Level::Complete, Span::Ttl(time), "")
            .await
            .unwrap();
        assert_eq!(opened.new_level, Level::Complete, "{time:?}");
    }
}
