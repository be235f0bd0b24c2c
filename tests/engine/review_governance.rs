//! Who may, under attack: names made to pass for others, and changes in the middle of a wait.

mod children;
mod dropped;
mod openings;
mod refreshed;

use std::time::Duration;

use skills_engine::{Level, Principal, Span};
use tests::{ada, answer, bare, session, tools, turn};

use crate::made;
use crate::stage::{Stage, settle};

#[tokio::test]
async fn se28_lists_that_look_alike_when_written_in_a_row_are_not_the_same() {
    let skill = |id| made::skill(id, [made::tool("status", |_| async { "up" })]);
    let engine = bare()
        .with_skill(skill("billing"))
        .with_skill(skill("deploy"))
        .build()
        .await
        .unwrap();
    let wide = session(&engine).await;
    wide.allow(["billing", "deploy"]).unwrap();
    let mut all = turn(&wide).await;
    assert_eq!(
        tools(&all.view().await.unwrap()),
        ["billing__status", "deploy__status"]
    );
    for (number, hostile) in ["billing,deploy", "billing;deploy", "billing:deploy/status"]
        .into_iter()
        .enumerate()
    {
        let session = engine.session(ada(), &format!("n{number}")).await.unwrap();
        assert_eq!(session.allow([hostile]).unwrap(), [hostile]);
        let mut none = turn(&session).await;
        assert!(tools(&none.view().await.unwrap()).is_empty(), "{hostile}");
        assert_eq!(
            answer(&mut none, "deploy__status", "{}")
                .await
                .split(':')
                .next(),
            Some("unknown_tool"),
            "{hostile}"
        );
    }
}

#[tokio::test]
async fn looking_into_a_session_does_not_keep_it_alive() {
    let hour = Duration::from_secs(3_600);
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    session
        .open("alpha", Level::Context, Span::Ttl(20 * hour), "")
        .await
        .unwrap();
    let observer = Principal::new("eve", ["observer"]);
    // No sweep comes in between: the look settles what has expired.
    stage.clock.advance(23 * hour);
    let foreign = stage
        .engine
        .foreign_session(&observer, "ada", "s1")
        .unwrap();
    foreign.view().await.unwrap();
    stage.pass(2 * hour, 1).await;
    settle().await;
    assert_eq!(stage.engine.session_count(), 0);
}

#[tokio::test]
async fn what_is_set_for_a_session_that_has_ended_is_not_written_down_as_its_successors() {
    let stage = Stage::new().await;
    let ended = stage.session("s1").await;
    ended.end("done").await.unwrap();
    let next = stage.session("s1").await;
    ended.set_roles(["admin"]);
    ended.allow(["alpha"]).unwrap();
    assert_eq!(next.principal().roles().count(), 0);
    stage.engine.audit().flush().await;
    let entries = stage.sink.entries();
    assert!(entries.iter().all(|entry| entry.kind != "access_changed"));
    next.set_roles(["admin"]);
    stage.engine.audit().flush().await;
    let entries = stage.sink.entries();
    assert!(entries.iter().any(|entry| entry.kind == "access_changed"));
}
