//! Sessions: whose they are, when they end, and an engine that is switched off.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use skills_engine::audit::{AuditError, AuditRecord, AuditSink};
use skills_engine::session::{Decision, Why};
use skills_engine::skill::{BoxFuture, Code, Limits};
use skills_engine::testing::ManualClock;
use skills_engine::tools::Dialect;
use skills_engine::{Engine, Level, Principal, Session};
use tests::{ada, answer, at_rest, bare, call, open, session, tools, turn, until};

use crate::helpdesk;
use crate::made::{skill, tool};

async fn level(session: &Session) -> Level {
    let mut turn = turn(session).await;
    turn.view().await.unwrap().level("helpdesk").unwrap()
}

#[tokio::test]
async fn se18_a_switched_off_engine_shows_nothing_and_its_skills_work_in_code() {
    let engine = helpdesk::builder().enabled(false).build().await.unwrap();
    let session = session(&engine).await;
    open(&session, "helpdesk", Level::Complete).await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert_eq!(view.system_prompt(), "");
    assert_eq!(view.tools().count(), 0);
    assert_eq!(view.tools_json(Dialect::OpenAiChat), "[]");
    assert_eq!(
        (view.snapshots().as_str(), view.level("helpdesk")),
        ("[]", None)
    );
    for name in ["helpdesk__ping", "psl-skill__get_visibility"] {
        let fault = call(&mut turn, name, "").await.outcome.unwrap_err();
        assert_eq!(fault.code, Code::UnknownTool, "{name}");
    }
    for explanation in [
        session.explain("helpdesk", "ping"),
        turn.explain("helpdesk", "ping"),
        engine.explain(&session, "psl-skill", "get_visibility"),
    ] {
        assert_eq!(
            explanation.decision,
            Decision::Denied(Why::SwitchedOff),
            "{explanation:?}"
        );
    }
    let helpdesk: Arc<helpdesk::Helpdesk> = engine.skill().unwrap();
    assert_eq!(helpdesk.close_ticket().await, 1);
    assert_eq!(engine.skills().len(), 2);
}

#[tokio::test]
async fn se20_a_grant_is_there_after_five_turns_and_gone_after_the_end() {
    let engine = helpdesk::engine().await;
    let session = session(&engine).await;
    let mut first = turn(&session).await;
    let set = r#"{"skill_id":"helpdesk","level":"CONTEXT"}"#;
    answer(&mut first, "psl-skill__set_skill_visibility", set).await;
    first.finish().await.unwrap();
    for _ in 0..5 {
        assert_eq!(level(&session).await, Level::Context);
    }
    session.end("done").await.unwrap();
    session.end("twice is fine").await.unwrap();
    let gone = session
        .turn(skills_engine::skill::TurnRequest::empty())
        .await
        .unwrap_err();
    assert_eq!(gone.code, Code::NotPermitted);
    let set = session
        .open(
            "helpdesk",
            Level::Context,
            skills_engine::Span::UntilCleared,
            "",
        )
        .await;
    assert_eq!(set.unwrap_err().code, Code::NotPermitted);
    assert_eq!(level(&tests::session(&engine).await).await, Level::Metadata);
}

#[tokio::test]
async fn two_principals_with_one_session_id_have_two_sessions() {
    let engine = helpdesk::engine().await;
    let bob = Principal::new("bob", [""; 0]);
    let of_ada = session(&engine).await;
    let of_bob = engine.session(bob.clone(), "s1").await.unwrap();
    of_ada.put("ada's");
    open(&of_ada, "helpdesk", Level::Complete).await;
    assert_eq!(
        (level(&of_ada).await, level(&of_bob).await),
        (Level::Complete, Level::Metadata)
    );
    assert_eq!(of_bob.get::<&str>(), None);
    of_bob.end("done").await.unwrap();
    assert_eq!(level(&of_ada).await, Level::Complete);
    assert_eq!(engine.session_count(), 1);
    let again = session(&engine).await;
    assert_eq!(again.get::<&str>().as_deref(), Some(&"ada's"));
    // The two ids are kept apart, however they are put together.
    let left = engine
        .session(Principal::new("a", [""; 0]), "bc")
        .await
        .unwrap();
    let right = engine
        .session(Principal::new("ab", [""; 0]), "c")
        .await
        .unwrap();
    open(&left, "helpdesk", Level::Context).await;
    assert_eq!(
        (level(&left).await, level(&right).await),
        (Level::Context, Level::Metadata)
    );
}

#[tokio::test]
async fn ids_are_checked_and_minted_ones_differ() {
    let engine = helpdesk::engine().await;
    let long = "x".repeat(129);
    for id in ["", "a/b", "a b", "\u{0}", "é", "a\u{202e}", long.as_str()] {
        let fault = engine.session(ada(), id).await.unwrap_err();
        assert_eq!(fault.code, Code::InvalidArguments, "{id:?}");
    }
    for id in ["", "a\nb", &"x".repeat(257)] {
        let principal = Principal::new(id, [""; 0]);
        let fault = engine.session(principal, "s1").await.unwrap_err();
        assert_eq!(fault.code, Code::InvalidArguments, "{id:?}");
    }
    let first = engine.new_session(ada()).await.unwrap();
    let second = engine.new_session(ada()).await.unwrap();
    assert_ne!(first.id(), second.id());
    assert!(first.id().as_str().len() >= 32);
    assert_eq!(engine.session_count(), 2);
}

#[tokio::test]
async fn a_principal_holds_so_many_sessions_and_ending_one_makes_room() {
    let mut limits = Limits::default();
    limits.sessions_per_principal = 2;
    let engine = helpdesk::builder().limits(limits).build().await.unwrap();
    let first = engine.session(ada(), "s1").await.unwrap();
    engine.session(ada(), "s2").await.unwrap();
    engine.session(ada(), "s1").await.unwrap();
    let fault = engine.session(ada(), "s3").await.unwrap_err();
    assert_eq!(fault.code, Code::LimitExceeded);
    engine
        .session(Principal::new("bob", [""; 0]), "s3")
        .await
        .unwrap();
    first.end("done").await.unwrap();
    engine.session(ada(), "s3").await.unwrap();
}

const IDLE: Duration = Duration::from_secs(600);

async fn engine_on(clock: &ManualClock) -> Engine {
    let wait = tool("wait", |_| std::future::pending::<()>()).timeout(IDLE * 4);
    helpdesk::builder()
        .with_skill(skill("desk", [wait]))
        .session_idle(IDLE)
        .clock(Arc::new(clock.clone()))
        .build()
        .await
        .unwrap()
}

/// Lets time pass in steps in which the reaper sleeps and wakes.
async fn pass(clock: &ManualClock, duration: Duration, sleepers: usize) {
    for _ in 0..duration.as_secs() / 60 {
        until(|| clock.sleepers() >= sleepers).await;
        clock.advance(Duration::from_secs(60));
    }
    until(|| clock.sleepers() >= sleepers).await;
}

#[tokio::test]
async fn an_idle_session_ends_without_traffic_and_not_while_it_is_used() {
    let clock = ManualClock::default();
    let engine = engine_on(&clock).await;
    let session = session(&engine).await;
    open(&session, "helpdesk", Level::Context).await;
    let mut turn = turn(&session).await;
    for _ in 0..3 {
        pass(&clock, IDLE * 2 / 3, 1).await;
        assert_eq!(answer(&mut turn, "helpdesk__ping", "").await, "pong");
    }
    pass(&clock, IDLE, 1).await;
    assert_eq!(engine.session_count(), 0);
    assert_eq!(turn.view().await.unwrap_err().code, Code::NotPermitted);
    assert_eq!(level(&tests::session(&engine).await).await, Level::Metadata);
}

#[tokio::test]
async fn a_session_is_not_idle_while_a_tool_runs() {
    let clock = ManualClock::default();
    let engine = engine_on(&clock).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let time = async {
        pass(&clock, IDLE * 3, 2).await;
        assert_eq!(engine.session_count(), 1);
        clock.advance(IDLE);
    };
    let (result, ()) = tokio::join!(call(&mut turn, "desk__wait", ""), time);
    assert_eq!(result.outcome.unwrap_err().code, Code::Timeout);
    assert!(turn.view().await.is_ok());
}

#[tokio::test]
async fn a_grant_for_a_time_ends_by_itself() {
    let clock = ManualClock::default();
    let engine = engine_on(&clock).await;
    let session = session(&engine).await;
    let span = skills_engine::Span::Ttl(Duration::from_secs(60));
    let opened = session
        .open("helpdesk", Level::Context, span, "")
        .await
        .unwrap();
    assert_eq!(opened.span, "ttl");
    let mut turn = turn(&session).await;
    at_rest(&clock).await;
    clock.advance(Duration::from_millis(59_999));
    assert!(tools(&turn.view().await.unwrap()).contains(&"helpdesk__get_ticket_faq"));
    clock.advance(Duration::from_millis(1));
    let fault = call(&mut turn, "helpdesk__get_ticket_faq", "")
        .await
        .outcome
        .unwrap_err();
    assert_eq!(fault.code, Code::Hidden);
    assert!(!tools(&turn.view().await.unwrap()).contains(&"helpdesk__get_ticket_faq"));
}

/// A sink that stores nothing until it may.
#[derive(Default)]
struct SlowSink {
    may_store: AtomicBool,
}

impl AuditSink for SlowSink {
    fn append<'a>(&'a self, _records: &'a [AuditRecord]) -> BoxFuture<'a, Result<(), AuditError>> {
        Box::pin(async move {
            until(|| self.may_store.load(Ordering::Relaxed)).await;
            Ok(())
        })
    }
}

#[tokio::test]
async fn a_clear_ends_a_turn_grant_made_while_another_change_was_being_written_down() {
    let sink = Arc::new(SlowSink::default());
    let engine = bare()
        .with_skill(skill(
            "a",
            [tool("act", |_| async { "" }).level(Level::Complete)],
        ))
        .with_skill(skill("b", []))
        .audit(Arc::clone(&sink) as Arc<dyn AuditSink>)
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let release = async {
        tokio::task::yield_now().await;
        sink.may_store.store(true, Ordering::Relaxed);
    };
    // The turn is looked at first, so that its grant is made before the other change counts.
    let (of_turn, of_session, ()) = tokio::join!(
        turn.open("a", Level::Complete, ""),
        session.open("b", Level::Context, skills_engine::Span::UntilCleared, ""),
        release
    );
    assert_eq!(of_turn.unwrap().new_level, Level::Complete);
    of_session.unwrap();
    assert_eq!(turn.view().await.unwrap().level("a"), Some(Level::Complete));
    session.clear_all().await.unwrap();
    assert_eq!(turn.view().await.unwrap().level("a"), Some(Level::Metadata));
}
