//! What a review of the whole engine asked, each question as the behavior that answers it.

use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::time::Duration;

use serde_json::Value;
use skills_engine::Level;
use skills_engine::engine::ToolCall;
use skills_engine::skill::{Code, Limits, SkillBuilder, Span};
use skills_engine::tools::Dialect;

use super::stage::{Stage, call, outcome, sees, turn};

#[tokio::test]
async fn a_host_value_may_look_at_the_session_when_it_is_replaced() {
    struct Looks(skills_engine::Session);
    impl Drop for Looks {
        fn drop(&mut self) {
            let _ = self.0.get::<u8>();
        }
    }
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let other = session.clone();
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || {
        other.put(Looks(other.clone()));
        other.put(Looks(other.clone()));
        done.send(())
    });
    let answer = wait.recv_timeout(Duration::from_secs(10));
    assert_eq!(answer, Ok(()), "it waits for itself");
}

#[tokio::test]
async fn a_session_whose_turn_makes_calls_is_not_idle() {
    let stage = Stage::with(0, |builder| builder.session_idle(Duration::from_secs(60))).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    for _ in 0..10 {
        assert!(sees(&mut turn, "alpha__look").await);
        let results = turn.calls([call("alpha__look", "{}")]).await;
        assert!(results.iter().all(|result| result.outcome.is_ok()));
        stage.pass(Duration::from_secs(20), 1).await;
    }
    turn.finish().await.unwrap();
    stage.pass(Duration::from_secs(50), 1).await;
    assert!(
        session.visibility().await.is_ok(),
        "the turn ended just now"
    );
}

#[tokio::test]
async fn a_long_call_id_takes_no_room_in_the_audit_trail() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    let id = "é".repeat(1 << 19);
    for name in ["alpha__look", "made_up"] {
        let calls = (0..32).map(|_| ToolCall::new(id.as_str(), name, "{}"));
        let results = turn.calls(calls).await;
        assert!(results.messages().all(|message| *message.call_id == *id));
    }
    assert!(!stage.engine.audit().is_failing());
    assert_eq!(stage.engine.audit().health().sinks[0].lost, 0);
}

#[tokio::test]
async fn tool_lists_say_what_providers_would_else_assume() {
    let stage = Stage::with(0, |builder| builder.without("psl-skill")).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    let tools: Value = serde_json::from_str(view.tools_json(Dialect::OpenAiResponses)).unwrap();
    assert!(
        tools
            .as_array()
            .unwrap()
            .iter()
            .all(|tool| tool["strict"] == false)
    );
    for dialect in [
        Dialect::OpenAiChat,
        Dialect::Anthropic,
        Dialect::Mcp,
        Dialect::Gemini,
    ] {
        assert!(!view.tools_json(dialect).contains("strict"), "{dialect:?}");
    }
    let off = Stage::with(0, |builder| builder.enabled(false)).await;
    let session = off.session("s1").await;
    let mut turn = self::turn(&session).await;
    let view = turn.view().await.unwrap();
    assert_eq!(view.tools_json(Dialect::Gemini), "[]");
}

#[tokio::test]
async fn a_search_that_there_is_not_is_not_advised() {
    let stage = Stage::with(0, |builder| {
        let names = (0..30).map(|number| SkillBuilder::new(format!("skill-{number}")).build());
        names.fold(builder.without("psl-skill"), |builder, skill| {
            builder.with_skill(skill.unwrap())
        })
    })
    .await;
    let session = stage.session("s1").await;
    let opened = session
        .open("no-such", Level::Context, Span::UntilCleared, "")
        .await;
    let message = opened.unwrap_err().message;
    assert!(message.ends_with("and 13 more"), "{message}");
}

/// Whether a future that is polled once, and dropped, was not done.
fn is_pending<T>(future: impl Future<Output = T>) -> bool {
    let mut cx = Context::from_waker(Waker::noop());
    pin!(future).as_mut().poll(&mut cx).is_pending()
}

#[tokio::test]
async fn a_view_that_nobody_got_is_not_the_latest() {
    let mut limits = Limits::default();
    limits.audit_queue = 64;
    let stage = Stage::with(100, |builder| builder.limits(limits)).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    turn.open("alpha", Level::Context, "").await.unwrap();
    // So many records wait that whoever makes more gives way.
    let calls = (0..17).map(|_| call("alpha__look", "{}"));
    assert!(is_pending(turn.calls(calls)));
    assert!(is_pending(turn.view()));
    let code = outcome(&mut turn, "alpha__act", "{}").await;
    assert_eq!(code, Err(Code::Hidden));
}
