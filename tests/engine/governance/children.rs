//! Child sessions.

use std::sync::Arc;
use std::time::Duration;

use skills_engine::skill::{Code, TurnRequest};
use skills_engine::testing::ManualClock;
use skills_engine::{Level, Span};
use tests::{open, session, tools, turn, until};

use super::{assert_absent, built, calls, opens, two_skills};

#[tokio::test]
async fn se31_a_child_never_sees_more_than_its_parent() {
    let engine = built(two_skills()).await;
    let session = session(&engine).await;
    open(&session, "deploy", Level::Context).await;
    let parent = turn(&session).await;
    parent.open("billing", Level::Complete, "").await.unwrap();
    let child = parent.child().await.unwrap();
    let mut work = turn(&child).await;
    // Its own grants, under the parent's level.
    assert_eq!(
        tools(&work.view().await.unwrap()),
        ["billing__status", "deploy__status"]
    );
    assert_eq!(
        opens(&mut work, "deploy", Level::Complete).await,
        Err(Code::NotPermitted)
    );
    open(&child, "deploy", Level::Complete).await;
    open(&child, "billing", Level::Complete).await;
    let view = work.view().await.unwrap();
    assert_eq!(view.level("deploy"), Some(Level::Context));
    assert_eq!(view.level("billing"), Some(Level::Complete));
    assert_eq!(calls(&mut work, "billing__roll_back").await, Ok(()));
    // Narrowed from outside, in the middle of the child's turn.
    session.limit("billing", Level::Metadata).await.unwrap();
    assert_eq!(
        calls(&mut work, "billing__roll_back").await,
        Err(Code::Hidden)
    );
    session.lift_limit("billing").await.unwrap();
    assert_eq!(
        work.view().await.unwrap().level("billing"),
        Some(Level::Complete)
    );
    // What the parent's turn opened goes with it.
    parent.finish().await.unwrap();
    assert_eq!(
        calls(&mut work, "billing__roll_back").await,
        Err(Code::Hidden)
    );
    assert_eq!(
        work.view().await.unwrap().level("billing"),
        Some(Level::Metadata)
    );
    session.clear("deploy").await.unwrap();
    assert_eq!(
        work.view().await.unwrap().level("deploy"),
        Some(Level::Metadata)
    );
    session.allow(["deploy"]).unwrap();
    assert_absent(&mut work, "billing").await;

    let deeper = child.child().await.unwrap_err();
    assert_eq!(deeper.code, Code::LimitExceeded);
    session.end("done").await.unwrap();
    assert_eq!(work.view().await.unwrap_err().code, Code::NotPermitted);
    assert_eq!(
        calls(&mut work, "deploy__status").await,
        Err(Code::NotPermitted)
    );
    assert_eq!(engine.session_count(), 0);
    assert_eq!(session.child().await.unwrap_err().code, Code::NotPermitted);
}

#[tokio::test]
async fn se31_the_lists_of_a_request_hold_for_children_that_outlive_its_turn() {
    let engine = built(two_skills()).await;
    let session = session(&engine).await;
    let request = TurnRequest::empty().allow(["deploy"]);
    let parent = session.turn(request).await.unwrap();
    let child = parent.child().await.unwrap();
    drop(parent);
    let mut work = turn(&child).await;
    assert_absent(&mut work, "billing").await;
}

#[tokio::test]
async fn se31_what_a_parent_has_open_for_a_time_ends_for_its_child_too_whatever_ended_before() {
    let clock = ManualClock::default();
    let engine = built(two_skills().clock(Arc::new(clock.clone()))).await;
    let session = session(&engine).await;
    let for_seconds = |seconds| Span::Ttl(Duration::from_secs(seconds));
    let pass = async |seconds| {
        until(|| clock.sleepers() >= 1).await;
        clock.advance(Duration::from_secs(seconds));
    };
    for (skill, seconds) in [("billing", 1), ("deploy", 2)] {
        let open = session.open(skill, Level::Context, for_seconds(seconds), "");
        open.await.unwrap();
    }
    let child = session.child().await.unwrap();
    open(&child, "deploy", Level::Complete).await;
    pass(1).await;
    // Nobody has looked at the parent since, so that what ended still stands there.
    let mut work = turn(&child).await;
    let view = work.view().await.unwrap();
    assert_eq!(view.level("deploy"), Some(Level::Context));
    pass(1).await;
    assert_eq!(calls(&mut work, "deploy__plan").await, Err(Code::Hidden));
    let view = work.view().await.unwrap();
    assert_eq!(view.level("deploy"), Some(Level::Metadata));
}
