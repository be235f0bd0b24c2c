//! Approvals that the host gives after the turn that needed them.

use std::sync::Arc;

use skills_engine::engine::{ApprovalAnswer, ApprovalToken};
use skills_engine::skill::{Actor, Code};
use skills_engine::{Level, Principal, Span};
use tests::call;
use tokio::sync::Barrier;

use super::{Desk, MINUTE, SUM, code};
use crate::stage::{Behavior, settle, turn};

fn approve(desk: &Desk, token: &ApprovalToken) {
    desk.session.answer(token, ApprovalAnswer::Approve).unwrap();
}

#[tokio::test]
async fn se30_a_pending_approval_survives_its_turn_until_the_answer_and_runs_once() {
    let desk = Desk::later().await;
    let mut first = desk.turn().await;
    let result = call(&mut first, "desk__pay", SUM).await;
    assert_eq!(
        result.text(),
        "approval_required: a person must approve `desk__pay`, was asked, and has not decided yet. Go on without it, \
         or tell the user that it waits"
    );
    let token = result.pending.unwrap();
    first.finish().await.unwrap();
    for _ in 0..3 {
        desk.turn().await.finish().await.unwrap();
    }
    let waiting = desk.session.approvals();
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].token, token);
    let kept = ApprovalToken::from_text(token.as_str());
    assert_eq!(
        desk.resume(&kept).await.unwrap_err(),
        Code::ApprovalRequired
    );

    approve(&desk, &kept);
    assert!(desk.session.approvals().is_empty());
    assert_eq!(desk.runs.count(), 0, "nobody has carried it out");
    let result = desk.resume(&kept).await.unwrap();
    assert_eq!((&*result.call_id, &*result.name), ("call", "desk__pay"));
    assert_eq!(result.text(), "paid");
    for _ in 0..2 {
        assert_eq!(desk.resume(&kept).await.unwrap_err(), Code::Conflict);
    }
    assert_eq!(desk.runs.list(), [r#"{"sum":5,"to":null}"#]);
}

#[tokio::test]
async fn se30_the_same_call_made_again_uses_the_approval_and_any_other_does_not() {
    let desk = Desk::later().await;
    let token = desk.pending("desk__send", r#"{"a":1,"b":[1, 2]}"#).await;
    // Made again before it is decided, it waits under the same token.
    let again = desk.pending("desk__send", r#"{"b":[1,2],"a":1}"#).await;
    assert_eq!(again, token);
    approve(&desk, &token);
    let others = [
        ("desk__send", r#"{"a":1,"b":[2,1]}"#),
        ("desk__send", r#"{"a":1.0,"b":[1,2]}"#),
        ("desk__send", r#"{"a":1,"b":[1,2],"c":null}"#),
        ("desk__send", "{}"),
        ("desk__look", r#"{"a":1,"b":[1,2]}"#),
    ];
    for (name, arguments) in others {
        let other = desk.pending(name, arguments).await;
        assert_ne!(other, token, "{name} {arguments}");
    }
    assert_eq!(desk.runs.count(), 0);
    assert_eq!(desk.session.approvals().len(), others.len());

    let result = desk.call("desk__send", r#" {"b":[1,2],"a":1}"#).await;
    assert_eq!(result.text(), "done");
    assert_eq!(desk.runs.list(), [r#"{"a":1,"b":[1,2]}"#]);
    // Replayed, it is asked for anew.
    let next = desk.pending("desk__send", r#"{"a":1,"b":[1, 2]}"#).await;
    assert_ne!(next, token);
    assert_eq!(desk.resume(&token).await.unwrap_err(), Code::Conflict);
    assert_eq!(desk.runs.count(), 1);
}

#[tokio::test]
async fn se30_an_edit_binds_the_edited_arguments() {
    let desk = Desk::later().await;
    let edit = |json: &str| ApprovalAnswer::ApproveWith(json.to_owned());
    let token = desk.pending("desk__pay", SUM).await;
    let rows = [
        (r#"{"sum":-1}"#, Code::InvalidArguments),
        (r#"{"sum":1,"other":2}"#, Code::InvalidArguments),
        ("", Code::InvalidArguments),
    ];
    for (json, expected) in rows {
        let fault = desk.session.answer(&token, edit(json)).unwrap_err();
        assert_eq!(fault.code, expected, "{json}");
    }
    let large = format!(r#"{{"sum":1,"to":"{}"}}"#, "x".repeat(1 << 20));
    let fault = desk.session.answer(&token, edit(&large)).unwrap_err();
    assert_eq!(fault.code, Code::LimitExceeded);
    assert_eq!(desk.session.approvals().len(), 1, "nothing is decided");

    desk.session.answer(&token, edit(r#"{"sum":3}"#)).unwrap();
    // What the model asked for is not what was approved.
    let other = desk.pending("desk__pay", SUM).await;
    assert_ne!(other, token);
    let result = desk.call("desk__pay", r#"{"sum":3}"#).await;
    assert_eq!(result.text(), "paid");

    desk.session.answer(&other, edit(r#"{"sum":2}"#)).unwrap();
    assert_eq!(desk.resume(&other).await.unwrap().text(), "paid");
    assert_eq!(
        desk.runs.list(),
        [r#"{"sum":3,"to":null}"#, r#"{"sum":2,"to":null}"#]
    );
}

#[tokio::test]
async fn se30_another_session_or_principal_knows_nothing_of_it() {
    let desk = Desk::later().await;
    let token = desk.pending("desk__pay", SUM).await;
    let engine = &desk.stage.engine;
    let bea = Principal::new("bea", [] as [&str; 0]);
    let others = [
        desk.stage.session("s2").await,
        engine.session(bea, "s1").await.unwrap(),
    ];
    let made_up = ApprovalToken::from_text(&"0".repeat(32));
    for other in &others {
        let id = (other.principal().id().to_owned(), other.id().clone());
        // Made use of once before it is decided, and once after.
        for is_decided in [false, true] {
            if is_decided && !desk.session.approvals().is_empty() {
                approve(&desk, &token);
            }
            for token in [&token, &made_up] {
                let fault = other.answer(token, ApprovalAnswer::Approve).unwrap_err();
                assert_eq!(
                    fault.to_string(),
                    "invalid_arguments: there is no such approval in this session. Check the token",
                    "{id:?}"
                );
                let resumed = turn(other).await.resume(token).await;
                assert_eq!(resumed.unwrap_err(), fault, "{id:?}");
            }
        }
        assert!(other.approvals().is_empty());
        let mut turn = turn(other).await;
        let result = call(&mut turn, "desk__pay", SUM).await;
        assert_eq!(code(&result), Err(Code::ApprovalRequired), "{id:?}");
    }
    // Another session under the same name is another session.
    desk.session.end("").await.unwrap();
    let fault = desk
        .session
        .answer(&token, ApprovalAnswer::Approve)
        .unwrap_err();
    assert_eq!(fault.code, Code::NotPermitted);
    assert!(desk.session.approvals().is_empty());
    let anew = desk.stage.session("s1").await;
    let resumed = turn(&anew).await.resume(&token).await;
    assert_eq!(resumed.unwrap_err().code, Code::InvalidArguments);
    let mut turn = turn(&anew).await;
    let result = call(&mut turn, "desk__pay", SUM).await;
    assert_eq!(code(&result), Err(Code::ApprovalRequired));
    assert_eq!(desk.runs.count(), 0);
}

#[tokio::test]
async fn se30_an_approval_expires_whether_it_was_given_or_not() {
    let desk = Desk::later().await;
    let undecided = desk.pending("desk__pay", SUM).await;
    let approved = desk.pending("desk__send", "{}").await;
    approve(&desk, &approved);
    desk.stage.clock.advance(MINUTE * 14);
    let younger = desk.pending("desk__send", r#"{"a":1}"#).await;
    approve(&desk, &younger);
    desk.stage.clock.advance(MINUTE);

    assert!(desk.session.approvals().is_empty());
    let fault = desk
        .session
        .answer(&undecided, ApprovalAnswer::Approve)
        .unwrap_err();
    assert_eq!(
        fault.to_string(),
        "timeout: the time to decide it, or to use the approval, is over. Have it asked for anew"
    );
    for token in [&undecided, &approved] {
        assert_eq!(desk.resume(token).await.unwrap_err(), Code::Timeout);
    }
    assert_ne!(desk.pending("desk__send", "{}").await, approved);
    assert_eq!(desk.runs.count(), 0);
    assert_eq!(desk.resume(&younger).await.unwrap().text(), "done");
}

#[tokio::test]
async fn se30_a_denial_reaches_whoever_asks_next_once() {
    let desk = Desk::later().await;
    let deny = || ApprovalAnswer::Deny("not this month".to_owned());
    let token = desk.pending("desk__pay", SUM).await;
    desk.session.answer(&token, deny()).unwrap();
    let result = desk.call("desk__pay", SUM).await;
    assert_eq!(result.text(), "approval_denied: not this month");
    assert_eq!(desk.resume(&token).await.unwrap_err(), Code::Conflict);

    let token = desk.pending("desk__pay", SUM).await;
    desk.session.answer(&token, deny()).unwrap();
    let result = desk.resume(&token).await.unwrap();
    assert_eq!(result.text(), "approval_denied: not this month");

    // What was approved and not used can be taken back.
    let token = desk.pending("desk__pay", SUM).await;
    approve(&desk, &token);
    let again = desk.session.answer(&token, ApprovalAnswer::Approve);
    assert_eq!(again.unwrap_err().code, Code::Conflict);
    desk.session.answer(&token, deny()).unwrap();
    let result = desk.call("desk__pay", SUM).await;
    assert_eq!(code(&result), Err(Code::ApprovalDenied));
    assert_eq!(desk.runs.count(), 0);
}

#[tokio::test]
async fn se30_answers_that_do_not_fit_decide_nothing() {
    let desk = Desk::later().await;
    let token = desk.pending("desk__pay", SUM).await;
    let reply = ApprovalAnswer::Reply(serde_json::json!(true));
    let fault = desk.session.answer(&token, reply).unwrap_err();
    assert_eq!(fault.code, Code::InvalidArguments);
    desk.session
        .answer(&token, ApprovalAnswer::Pending)
        .unwrap();
    assert_eq!(desk.session.approvals().len(), 1);
    desk.session
        .acting_as(Actor::User)
        .answer(&token, ApprovalAnswer::Approve)
        .unwrap();
    assert_eq!(desk.resume(&token).await.unwrap().text(), "paid");
}

#[tokio::test]
async fn se30_the_rule_is_checked_again_before_a_resumed_call_runs() {
    let desk = Desk::later().await;
    let open = async || {
        desk.session
            .open("desk", Level::Complete, Span::UntilCleared, "")
            .await
            .unwrap();
    };
    open().await;
    let token = desk.pending("desk__late", "{}").await;
    approve(&desk, &token);
    desk.session.clear("desk").await.unwrap();
    let result = desk.resume(&token).await.unwrap();
    assert_eq!(code(&result), Err(Code::Hidden));

    desk.stage.sink.set(Behavior::Fail);
    settle().await;
    desk.session.limit("beta", Level::Metadata).await.unwrap();
    settle().await;
    let quick = desk.call("desk__quick", "{}").await;
    assert_eq!(code(&quick), Err(Code::AuditUnavailable));
    desk.stage.sink.set(Behavior::Work);
    desk.stage.pass(MINUTE, 1).await;
    open().await;

    // Seen by no view of this turn yet.
    let mut turn = desk.turn().await;
    desk.session.clear("desk").await.unwrap();
    turn.view().await.unwrap();
    open().await;
    let result = turn.resume(&token).await.unwrap();
    assert_eq!(code(&result), Err(Code::Hidden));
    assert_eq!(desk.runs.count(), 0);

    // It was not used by what did not run.
    turn.view().await.unwrap();
    assert_eq!(turn.resume(&token).await.unwrap().text(), "done");
    assert_eq!(desk.runs.count(), 1);
}

#[tokio::test]
async fn se30_a_resume_that_is_dropped_before_it_began_gives_the_approval_back() {
    let desk = Desk::later().await;
    let token = desk.pending("desk__pay", SUM).await;
    approve(&desk, &token);
    let turn = desk.turn().await;
    drop(turn.resume(&token));
    assert_eq!(turn.resume(&token).await.unwrap().text(), "paid");
    assert_eq!(desk.runs.count(), 1);
}

#[tokio::test]
async fn se30_a_resume_that_is_dropped_after_it_began_has_used_the_approval() {
    let hang = crate::stage::tool("hang", |_, _| std::future::pending::<&str>())
        .level(Level::Metadata)
        .requires_approval();
    let desk = Desk::with(super::Person::default(), |builder| {
        builder.with_skill(crate::made::skill("odd", [hang]))
    })
    .await;
    let token = desk.pending("odd__hang", "{}").await;
    approve(&desk, &token);
    let turn = desk.turn().await;
    let resumed = tokio::time::timeout(std::time::Duration::ZERO, turn.resume(&token)).await;
    assert!(resumed.is_err());
    assert_eq!(turn.resume(&token).await.unwrap_err().code, Code::Conflict);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn se30_of_concurrent_resumes_and_replays_one_runs() {
    const AT_ONCE: usize = 4;
    const ROUNDS: usize = 100;
    let desk = Desk::later().await;
    for round in 1..=ROUNDS {
        let token = desk.pending("desk__pay", SUM).await;
        approve(&desk, &token);
        let barrier = Arc::new(Barrier::new(AT_ONCE));
        let tasks: Vec<_> = (0..AT_ONCE)
            .map(|number| {
                let (session, token) = (desk.session.clone(), token.clone());
                let barrier = Arc::clone(&barrier);
                tokio::spawn(async move {
                    let mut turn = turn(&session).await;
                    barrier.wait().await;
                    if number == 0 {
                        code(&call(&mut turn, "desk__pay", SUM).await)
                    } else {
                        let result = turn.resume(&token).await;
                        result.map_err(|fault| fault.code).map(drop)
                    }
                })
            })
            .collect();
        let mut ran = 0;
        for (number, task) in tasks.into_iter().enumerate() {
            match (number, task.await.unwrap()) {
                (_, Ok(())) => ran += 1,
                (0, Err(code)) => assert_eq!(code, Code::ApprovalRequired),
                (_, Err(code)) => assert_eq!(code, Code::Conflict),
            }
        }
        assert_eq!(ran, 1);
        assert_eq!(desk.runs.count(), round);
        // What the repeated call had asked for.
        for request in desk.session.approvals() {
            let deny = ApprovalAnswer::Deny(String::new());
            desk.session.answer(&request.token, deny).unwrap();
            desk.resume(&request.token).await.unwrap();
        }
    }
}
