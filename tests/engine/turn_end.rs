//! Grants of a turn are there until it ends, however it ends, and never in another turn.

use std::collections::BTreeMap;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use serde_json::Value;
use skills_engine::engine::EngineBuilder;
use skills_engine::skill::{
    Actor, Attribute, AttributeFault, Code, Expose, SetVisibility, TurnRequest,
};
use skills_engine::{Level, Session, Span, Turn};

use super::stage::{Kept, Stage, call, outcome, outlines, sees, settle, skill, tool, turn};

const OPEN_ALPHA: &str = r#"{"skill_id":"alpha","level":"COMPLETE","ephemeral":true}"#;
const SET: &str = "psl-skill__set_skill_visibility";

/// Skill `odd`: tools that never end, panic, fail, and keep their context; an attribute that never comes.
fn odd(builder: EngineBuilder, kept: &Kept) -> EngineBuilder {
    let always = |name, call: fn(Value) -> Result<&'static str, &'static str>| {
        tool(name, move |value, _| async move { call(value) })
            .level(Level::Metadata)
            .expose(Expose::Always)
    };
    let hang = tool("hang", |_, _| std::future::pending::<&str>())
        .level(Level::Metadata)
        .expose(Expose::Always);
    let never = Attribute::lazy(
        "never",
        "Never comes.",
        std::future::pending::<Result<u32, AttributeFault>>.ignoring(),
    );
    let odd = skill("odd")
        .tool(always("panic", |_| panic!("a bug")))
        .tool(always("fail", |_| Err("no")))
        .tool(hang)
        .tool(kept.tool())
        .attribute(never);
    builder.with_skill(odd.build().unwrap())
}

/// A function without arguments as one that takes a context.
trait Ignoring<F> {
    fn ignoring<A>(self) -> impl Fn(A) -> F + Send + Sync + 'static;
}

impl<F, M: Fn() -> F + Send + Sync + 'static> Ignoring<F> for M {
    fn ignoring<A>(self) -> impl Fn(A) -> F + Send + Sync + 'static {
        move |_| self()
    }
}

async fn stage() -> (Stage, Session, Kept) {
    let kept = Kept::default();
    let stage = Stage::with(0, |builder| odd(builder, &kept)).await;
    let session = stage.session("s1").await;
    (stage, session, kept)
}

/// A turn in which the model opened `alpha` until it ends.
async fn opened(session: &Session) -> Turn {
    let mut turn = turn(session).await;
    assert!(!sees(&mut turn, "alpha__finish").await);
    assert_eq!(outcome(&mut turn, SET, OPEN_ALPHA).await, Ok(()));
    assert_eq!(
        outcome(&mut turn, "alpha__finish", "{}").await,
        Err(Code::Hidden)
    );
    for _ in 0..3 {
        assert!(sees(&mut turn, "alpha__finish").await);
    }
    assert_eq!(outcome(&mut turn, "alpha__finish", "{}").await, Ok(()));
    turn
}

async fn assert_gone(session: &Session, case: &str) {
    settle().await;
    let mut next = turn(session).await;
    assert!(!sees(&mut next, "alpha__finish").await, "{case}");
    assert_eq!(
        outcome(&mut next, "alpha__finish", "{}").await,
        Err(Code::Hidden),
        "{case}"
    );
    let standing = session.visibility().await.unwrap();
    let alpha = standing
        .iter()
        .find(|skill| skill.skill == "alpha")
        .unwrap();
    assert_eq!(alpha.level, Level::Metadata, "{case}");
    assert!(alpha.grants.is_empty(), "{case}");
}

fn poll_once<T>(future: impl Future<Output = T>) -> bool {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    matches!(future.as_mut().poll(&mut cx), Poll::Ready(_))
}

#[tokio::test]
async fn se11_a_grant_of_a_turn_is_gone_however_the_turn_ends() {
    let (stage, session, _) = stage().await;

    opened(&session).await.finish().await.unwrap();
    assert_gone(&session, "finished").await;

    opened(&session).await.fail();
    assert_gone(&session, "failed").await;

    drop(opened(&session).await);
    assert_gone(&session, "dropped").await;

    let mut turn = opened(&session).await;
    assert!(!poll_once(turn.calls([call("odd__hang", "{}")])));
    drop(turn);
    assert_gone(&session, "dropped while a tool was awaited").await;

    let mut turn = opened(&session).await;
    turn.open("odd", Level::Complete, "").await.unwrap();
    assert!(!poll_once(turn.view()));
    drop(turn);
    assert_gone(&session, "dropped while an attribute was awaited").await;

    let turn = opened(&session).await;
    assert!(!poll_once(turn.open("beta", Level::Complete, "")));
    drop(turn);
    assert_gone(&session, "dropped while an opening was awaited").await;

    let turn = opened(&session).await;
    let task = tokio::spawn(async move {
        let mut turn = turn;
        turn.calls([call("odd__hang", "{}")]).await;
    });
    settle().await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_gone(&session, "aborted with its task").await;

    let turn = opened(&session).await;
    let task = tokio::spawn(async move {
        let _turn = turn;
        panic!("a bug in the host");
    });
    assert!(task.await.unwrap_err().is_panic());
    assert_gone(&session, "unwound").await;

    std::mem::forget(opened(&session).await);
    assert_gone(&session, "forgotten").await;

    stage.engine.audit().flush().await;
    let ends: Vec<_> = stage
        .sink
        .entries()
        .iter()
        .filter(|entry| entry.kind == "turn_ended")
        .map(|entry| entry.field("outcome").to_owned())
        .collect();
    let mut counts = BTreeMap::new();
    for end in &ends {
        *counts.entry(end.as_str()).or_insert(0) += 1;
    }
    // Eight turns that looked afterwards were dropped too; one was still there.
    assert_eq!(
        counts,
        BTreeMap::from([("dropped", 15), ("failed", 1), ("finished", 1)])
    );
}

#[tokio::test]
async fn se11_a_panic_or_failure_of_a_tool_leaves_the_turn_its_grants_until_it_ends() {
    let (_stage, session, _) = stage().await;
    let mut turn = opened(&session).await;
    for (tool, code) in [("odd__panic", Code::Panic), ("odd__fail", Code::ToolError)] {
        assert_eq!(outcome(&mut turn, tool, "{}").await, Err(code));
        assert!(sees(&mut turn, "alpha__finish").await);
        assert_eq!(outcome(&mut turn, "alpha__finish", "{}").await, Ok(()));
    }
    turn.finish().await.unwrap();
    assert_gone(&session, "a tool panicked").await;
}

#[tokio::test]
async fn se11_two_turns_of_one_session_do_not_see_each_others_grants() {
    let (_stage, session, _) = stage().await;
    let mut left = opened(&session).await;
    let mut right = turn(&session).await;
    assert!(!sees(&mut right, "alpha__finish").await);
    assert_eq!(
        outcome(&mut right, "alpha__finish", "{}").await,
        Err(Code::Hidden)
    );
    right.open("beta", Level::Complete, "").await.unwrap();
    assert!(sees(&mut right, "beta__finish").await);
    assert!(!sees(&mut left, "beta__finish").await);
    drop(right);
    assert!(sees(&mut left, "alpha__finish").await);
    // What one turn opens for the session, both see.
    assert_eq!(
        outcome(&mut left, SET, r#"{"skill_id":"beta","level":"CONTEXT"}"#).await,
        Ok(())
    );
    let mut third = turn(&session).await;
    assert!(sees(&mut third, "beta__act").await);
    assert!(sees(&mut left, "beta__act").await);
}

#[tokio::test]
async fn se11_the_hosts_limit_and_lowering_beat_a_grant_of_a_turn_at_once() {
    let (_stage, session, _) = stage().await;
    let mut turn = opened(&session).await;
    session.limit("alpha", Level::Context).await.unwrap();
    // Not seen to be gone, and refused all the same.
    assert_eq!(
        outcome(&mut turn, "alpha__finish", "{}").await,
        Err(Code::Hidden)
    );
    assert!(!sees(&mut turn, "alpha__finish").await);
    assert!(sees(&mut turn, "alpha__act").await);
    let results = turn.calls([call(SET, OPEN_ALPHA)]).await;
    let refused = results.iter().next().unwrap().text();
    assert!(refused.contains("not_permitted: "), "{refused}");
    session.lift_limit("alpha").await.unwrap();
    assert!(sees(&mut turn, "alpha__finish").await);

    for actor in [Actor::User, Actor::Host] {
        let mut turn = opened(&session).await;
        session.acting_as(actor).clear("alpha").await.unwrap();
        assert!(!sees(&mut turn, "alpha__finish").await, "{actor} cleared");
        let mut turn = opened(&session).await;
        let session = session.acting_as(actor);
        session
            .open("alpha", Level::Context, Span::UntilCleared, "")
            .await
            .unwrap();
        assert!(!sees(&mut turn, "alpha__finish").await, "{actor} lowered");
        session.clear_all().await.unwrap();
    }
}

#[tokio::test]
async fn se11_a_context_kept_beyond_its_turn_changes_nothing() {
    let (stage, session, kept) = stage().await;
    for case in ["finished", "dropped", "failed"] {
        let mut turn = opened(&session).await;
        assert_eq!(outcome(&mut turn, "odd__keep", "{}").await, Ok(()));
        let cx = kept.take();
        match case {
            "finished" => turn.finish().await.unwrap(),
            "failed" => turn.fail(),
            _ => drop(turn),
        }
        for span in [
            Span::Turn,
            Span::UntilCleared,
            Span::Ttl(std::time::Duration::from_secs(9)),
        ] {
            let request = SetVisibility::new("alpha", Level::Complete).span(span);
            let refused = cx.visibility().set(request).await.unwrap_err();
            assert_eq!(refused.code, Code::Cancelled, "{case} {span:?}");
        }
        let refused = cx.visibility().clear(Some("alpha")).await.unwrap_err();
        assert_eq!(refused.code, Code::Cancelled, "{case}");
        assert_gone(&session, case).await;
    }
    let changes = stage.changes().await;
    let refused = changes
        .iter()
        .filter(|entry| entry.field("code") == "cancelled");
    assert_eq!(refused.count(), 12);
}

#[tokio::test]
async fn se11_a_change_that_is_under_way_when_its_turn_ends_opens_nothing_for_the_turn() {
    for polls in 0..12 {
        let kept = Kept::default();
        let stage = Stage::with(2, |builder| odd(builder, &kept)).await;
        let session = stage.session("s1").await;
        let mut turn = turn(&session).await;
        assert_eq!(outcome(&mut turn, "odd__keep", "{}").await, Ok(()));
        let cx = kept.take();
        let request = SetVisibility::new("alpha", Level::Complete).span(Span::Turn);
        let mut change = pin!(cx.visibility().set(request));
        let mut context = Context::from_waker(Waker::noop());
        let mut is_done = false;
        for _ in 0..polls {
            is_done |= change.as_mut().poll(&mut context).is_ready();
            if is_done {
                break;
            }
            tokio::task::yield_now().await;
        }
        turn.finish().await.unwrap();
        if !is_done {
            assert_eq!(change.await.unwrap_err().code, Code::Cancelled);
        }
        assert_gone(&session, "ended meanwhile").await;
        if is_done {
            return;
        }
    }
    panic!("the change takes more polls than were tried");
}

#[tokio::test]
async fn se11_when_a_model_closes_what_it_opened_for_the_turn_a_record_says_so() {
    let (stage, session, _) = stage().await;
    let mut turn = opened(&session).await;
    let close = r#"{"skill_id":"alpha","level":"METADATA"}"#;
    let results = turn.calls([call(SET, close)]).await;
    let text = results.iter().next().unwrap().text();
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["old_level"], "COMPLETE");
    assert_eq!(answer["new_level"], "METADATA");
    assert_eq!(answer.get("already_open"), None);
    assert!(!sees(&mut turn, "alpha__finish").await);
    assert_eq!(
        outlines(&stage.changes().await),
        [
            "alpha granted METADATA>COMPLETE",
            "alpha cleared COMPLETE>METADATA"
        ]
    );
}

#[tokio::test]
async fn se11_when_a_session_ends_its_turns_see_and_do_nothing_more() {
    let (_stage, session, _) = stage().await;
    let mut turn = opened(&session).await;
    session.end("enough").await.unwrap();
    assert_eq!(turn.view().await.unwrap_err().code, Code::NotPermitted);
    let refused = [
        ("alpha__finish", "{}"),
        (SET, OPEN_ALPHA),
        ("alpha__look", "{}"),
    ];
    for (tool, arguments) in refused {
        assert_eq!(
            outcome(&mut turn, tool, arguments).await,
            Err(Code::NotPermitted)
        );
    }
    assert_eq!(
        turn.open("alpha", Level::Complete, "")
            .await
            .unwrap_err()
            .code,
        Code::NotPermitted
    );
    let begun = session.turn(TurnRequest::empty()).await;
    assert_eq!(begun.unwrap_err().code, Code::NotPermitted);
}
