//! What a person is not bothered with, and what becomes of handlers that fail.

use std::sync::Arc;

use skills_engine::engine::ApprovalAnswer;
use skills_engine::skill::{Actor, Code, Limits};
use skills_engine::{Level, Span};
use tests::{bare, call, session, turn};
use tokio::sync::Notify;

use super::{Desk, Does, MINUTE, Person, Runs, SUM, TTL, code, send};
use crate::stage::{Behavior, settle};

#[tokio::test]
async fn se30_a_person_is_asked_only_for_what_would_run() {
    let desk = Desk::new(Person::default()).await;
    let mut turn = desk.turn().await;
    turn.view().await.unwrap();
    let large = format!(r#"{{"sum":1,"to":"{}"}}"#, "x".repeat(1 << 20));
    let rows = [
        ("hidden", "desk__late", "{}", Code::Hidden),
        ("unknown", "desk__made_up", "{}", Code::UnknownTool),
        ("no sum", "desk__pay", "{}", Code::InvalidArguments),
        ("no JSON", "desk__send", "{", Code::InvalidArguments),
        ("too large", "desk__pay", &large, Code::LimitExceeded),
    ];
    for (case, name, arguments, expected) in rows {
        let result = call(&mut turn, name, arguments).await;
        assert_eq!(code(&result), Err(expected), "{case}");
        assert_eq!(result.pending, None, "{case}");
    }
    // Open now, but not in the turn's latest view.
    desk.session
        .open("desk", Level::Complete, Span::UntilCleared, "")
        .await
        .unwrap();
    assert_eq!(
        code(&call(&mut turn, "desk__late", "{}").await),
        Err(Code::Hidden)
    );
    // Nothing but reading may be done while the trail cannot be written.
    desk.stage.sink.set(Behavior::Fail);
    settle().await;
    assert_eq!(
        code(&call(&mut turn, "desk__send", "{}").await),
        Err(Code::AuditUnavailable)
    );
    assert_eq!(desk.person.was_asked(), 0);
    assert_eq!(
        code(&call(&mut turn, "desk__look", "{}").await),
        Err(Code::ApprovalRequired)
    );
    assert_eq!(desk.person.was_asked(), 1);
    assert_eq!(desk.runs.count(), 0);
}

#[tokio::test]
async fn se30_without_a_handler_calls_are_refused() {
    let runs = Runs::default();
    let engine = bare()
        .with_skill(crate::made::skill("desk", [send("send", &runs)]))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let result = call(&mut turn, "desk__send", "{}").await;
    assert_eq!(
        result.text(),
        "approval_required: a person must approve `desk__send`, and nobody can be asked here. Do without it"
    );
    assert_eq!(result.pending, None);
    assert!(session.approvals().is_empty());
}

#[tokio::test]
async fn se30_a_handler_that_fails_lets_nothing_through() {
    let reply = ApprovalAnswer::Reply(serde_json::json!("yes"));
    let desk = Desk::new(Person::who([
        Does::PanicAtOnce,
        Does::Panic,
        Does::Answer(reply),
    ]))
    .await;
    for case in ["panics at once", "panics", "answers a question"] {
        let result = desk.call("desk__pay", SUM).await;
        assert_eq!(
            result.text(),
            "approval_required: a person must approve `desk__pay`, and asking failed. Do without it, or tell the user",
            "{case}"
        );
        assert_eq!(result.pending, None, "{case}");
        assert!(desk.session.approvals().is_empty(), "{case}");
    }
    assert_eq!(desk.person.was_asked(), 3);
    assert_eq!(desk.runs.count(), 0);
}

#[tokio::test]
async fn se30_a_handler_that_hangs_is_waited_for_until_the_request_expires() {
    let desk = Desk::new(Person::who([Does::Hang])).await;
    let waiting = async {
        settle().await;
        let [request] = &*desk.session.approvals() else {
            panic!("one request waits");
        };
        desk.stage.pass(MINUTE, 14).await;
        assert_eq!(desk.person.dropped(), 0);
        desk.stage.pass(MINUTE, 1).await;
        request.token.clone()
    };
    let (result, token) = tokio::join!(desk.call("desk__pay", SUM), waiting);
    assert_eq!(
        result.text(),
        "approval_required: nobody decided about `desk__pay` in time. Do without it, or ask the user first"
    );
    assert_eq!(result.pending, None);
    assert_eq!(desk.person.dropped(), 1);
    assert_eq!(desk.runs.count(), 0);
    let late = desk.session.answer(&token, ApprovalAnswer::Approve);
    assert_eq!(late.unwrap_err().code, Code::Timeout);
    assert_eq!(TTL, MINUTE * 15);
}

#[tokio::test]
async fn se30_the_handlers_future_is_dropped_with_the_turn_and_its_request_withdrawn() {
    let told = Arc::new(Notify::new());
    let desk = Desk::new(Person::who([Does::Wait(
        Arc::clone(&told),
        ApprovalAnswer::Approve,
    )]))
    .await;
    let mut turn = desk.turn().await;
    let task = tokio::spawn(async move { call(&mut turn, "desk__pay", SUM).await });
    settle().await;
    let [request] = &*desk.session.approvals() else {
        panic!("one request waits");
    };
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert_eq!(desk.person.dropped(), 1);
    assert!(desk.session.approvals().is_empty());
    told.notify_one();
    settle().await;
    let late = desk.session.answer(&request.token, ApprovalAnswer::Approve);
    assert_eq!(late.unwrap_err().code, Code::Conflict);
    assert_eq!(
        desk.resume(&request.token).await.unwrap_err(),
        Code::Conflict
    );
    assert_eq!(desk.runs.count(), 0);
}

#[tokio::test]
async fn se30_what_waits_in_a_session_is_bounded() {
    let mut limits = Limits::default();
    limits.approvals = 3;
    let desk = Desk::with(Person::default(), |builder| builder.limits(limits)).await;
    for number in 0..3 {
        desk.pending("desk__pay", &format!(r#"{{"sum":{number}}}"#))
            .await;
    }
    let refused = desk.call("desk__pay", r#"{"sum":3}"#).await;
    assert_eq!(
        refused.text(),
        "limit_exceeded: too much waits for a person in this session already. Do without it, or try again later"
    );
    assert_eq!(desk.session.approvals().len(), 3);
    // Whose time is over makes room.
    desk.stage.clock.advance(TTL);
    assert!(desk.session.approvals().is_empty());
    desk.pending("desk__pay", r#"{"sum":3}"#).await;

    let mut limits = Limits::default();
    limits.arguments = 1_000;
    let desk = Desk::with(Person::default(), |builder| builder.limits(limits)).await;
    let text = |number: u32| format!(r#"{{"text":"{number}{}"}}"#, "x".repeat(900));
    for number in 0..4 {
        desk.pending("desk__send", &text(number)).await;
    }
    let refused = desk.call("desk__send", &text(4)).await;
    assert_eq!(code(&refused), Err(Code::LimitExceeded));
}

#[tokio::test]
async fn se30_the_model_answers_nothing() {
    let desk = Desk::later().await;
    let token = desk.pending("desk__pay", SUM).await;
    let fault = desk
        .session
        .acting_as(Actor::Model)
        .answer(&token, ApprovalAnswer::Approve)
        .unwrap_err();
    assert_eq!(fault.code, Code::NotPermitted);
    assert_eq!(
        desk.resume(&token).await.unwrap_err(),
        Code::ApprovalRequired
    );

    // No tool that a model sees takes a token, and no message tells it one.
    let mut turn = desk.turn().await;
    let view = turn.view().await.unwrap();
    let result = call(&mut turn, "desk__pay", SUM).await;
    let shown = format!(
        "{}{}{:?}{:?}",
        view.system_prompt(),
        view.tools_json(skills_engine::tools::Dialect::OpenAiChat),
        result.message(),
        result
    );
    assert_eq!(result.pending.as_ref(), Some(&token));
    assert!(!shown.contains(token.as_str()));
    assert!(!view.system_prompt().contains("approval"));
}
