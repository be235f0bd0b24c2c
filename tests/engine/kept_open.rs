//! What the model may not open, or not without being approved, it does not keep open either.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use skills_engine::session::AskWhenUntrusted;
use skills_engine::skill::{Actor, Code, SkillBuilder};
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, Level, Span, Turn};
use tests::{bare, call, session, turn, until};

use crate::made::tool;

/// An engine with the skill `vault`, which the model may not open.
async fn engine(clock: &ManualClock) -> Engine {
    let vault = SkillBuilder::new("vault")
        .host_only()
        .tool(tool("unlock", |_| async { "unlocked" }).level(Level::Context))
        .build();
    let builder = bare().with_skill(vault.unwrap());
    let engine = builder.clock(Arc::new(clock.clone())).build().await;
    engine.unwrap()
}

/// Has the model set the level of the vault, with another argument.
async fn ask(turn: &mut Turn, level: Level, (name, value): (&str, Value)) -> Result<(), Code> {
    let mut wish = json!({ "skill_id": "vault", "level": level });
    wish[name] = value;
    let tool = "psl-skill__set_skill_visibility";
    let answer = call(turn, tool, &wish.to_string()).await.outcome;
    answer.map(drop).map_err(|fault| fault.code)
}

#[tokio::test]
async fn the_model_does_not_keep_open_what_was_opened_for_a_turn() {
    let engine = engine(&ManualClock::default()).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    turn.open("vault", Level::Context, "").await.unwrap();
    for (span, expected) in [
        (("reason", json!("more")), Err(Code::NotPermitted)),
        (("ttl_seconds", json!(60)), Err(Code::NotPermitted)),
        // It is open for the turn already.
        (("ephemeral", json!(true)), Ok(())),
    ] {
        let answer = ask(&mut turn, Level::Context, span.clone()).await;
        assert_eq!(answer, expected, "{span:?}");
    }
    // Less than what the host holds.
    turn.open("vault", Level::Complete, "").await.unwrap();
    let answer = ask(&mut turn, Level::Context, ("reason", json!("less"))).await;
    assert_eq!(answer, Err(Code::HeldBy));
    turn.finish().await.unwrap();
    assert_eq!(
        session.explain("vault", "unlock").level,
        Some(Level::Metadata)
    );
}

#[tokio::test]
async fn the_model_does_not_keep_open_what_was_opened_for_a_time() {
    let clock = ManualClock::default();
    let engine = engine(&clock).await;
    let session = session(&engine).await;
    let user = session.acting_as(Actor::User);
    let minute = Span::Ttl(Duration::from_secs(60));
    user.open("vault", Level::Context, minute, "")
        .await
        .unwrap();
    let mut turn = turn(&session).await;
    for (level, span, expected) in [
        // It is open for as long already.
        (Level::Context, ("ttl_seconds", json!(60)), Ok(())),
        (
            Level::Context,
            ("ttl_seconds", json!(61)),
            Err(Code::NotPermitted),
        ),
        (
            Level::Context,
            ("ephemeral", json!(true)),
            Err(Code::NotPermitted),
        ),
        (
            Level::Context,
            ("reason", json!("more")),
            Err(Code::NotPermitted),
        ),
        (
            Level::Metadata,
            ("reason", json!("less")),
            Err(Code::HeldBy),
        ),
    ] {
        let answer = ask(&mut turn, level, span.clone()).await;
        assert_eq!(answer, expected, "{level} {span:?}");
    }
    until(|| clock.sleepers() >= 1).await;
    clock.advance(Duration::from_secs(60));
    assert_eq!(turn.explain("vault", "unlock").level, Some(Level::Metadata));
}

#[tokio::test]
async fn what_was_read_from_outside_makes_keeping_destructive_tools_open_a_matter_for_a_person() {
    let web = SkillBuilder::new("web").tool(tool("read", |_| async { "a page" }).open_world());
    let vault = SkillBuilder::new("vault").tool(
        tool("empty", |_| async { "emptied" })
            .level(Level::Context)
            .destructive(),
    );
    let builder = bare()
        .with_skill(web.build().unwrap())
        .with_skill(vault.build().unwrap())
        .policy(AskWhenUntrusted::default());
    let engine = builder.build().await.unwrap();
    let mut turn = turn(&session(&engine).await).await;
    turn.open("vault", Level::Context, "").await.unwrap();
    call(&mut turn, "web__read", "{}").await.outcome.unwrap();
    let answer = ask(&mut turn, Level::Context, ("reason", json!("more"))).await;
    assert_eq!(answer, Err(Code::ApprovalRequired));
    let answer = ask(&mut turn, Level::Context, ("ephemeral", json!(true))).await;
    assert_eq!(answer, Ok(()));
}
