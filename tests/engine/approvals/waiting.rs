//! What happens while a call waits for a person.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use skills_engine::engine::{
    ApprovalAnswer, ApprovalHandler, ApprovalRequest, CallResult, ToolCall,
};
use skills_engine::skill::{BoxFuture, Code, Limits};
use skills_engine::{Level, Session, Span};
use tests::call;
use tokio::sync::Notify;

use super::{Desk, Does, MINUTE, Person, SUM, code};
use crate::stage::{Behavior, settle, tool};

/// A desk whose person answers when told to.
async fn asked_later(answer: ApprovalAnswer) -> (Desk, Arc<Notify>) {
    let told = Arc::new(Notify::new());
    let person = Person::who([Does::Wait(Arc::clone(&told), answer)]);
    (Desk::new(person).await, told)
}

/// The request of a call that waits.
async fn waiting(desk: &Desk) -> ApprovalRequest {
    settle().await;
    let mut waiting = desk.session.approvals();
    assert_eq!(waiting.len(), 1, "one call waits");
    waiting.remove(0)
}

#[tokio::test]
async fn se30_what_was_revoked_while_a_person_decided_does_not_run() {
    let (desk, told) = asked_later(ApprovalAnswer::Approve).await;
    let open = async || {
        let span = Span::UntilCleared;
        let opened = desk.session.open("desk", Level::Complete, span, "").await;
        opened.unwrap();
    };
    open().await;
    let mut turn = desk.turn().await;
    turn.view().await.unwrap();
    let revoke = async {
        waiting(&desk).await;
        desk.session.clear("desk").await.unwrap();
        told.notify_one();
    };
    let (result, ()) = tokio::join!(call(&mut turn, "desk__late", "{}"), revoke);
    assert_eq!(code(&result), Err(Code::Hidden));
    assert_eq!(desk.runs.count(), 0);

    // Nothing ran, so the approval counts still, for the very same call.
    open().await;
    turn.view().await.unwrap();
    let result = call(&mut turn, "desk__late", "{}").await;
    assert_eq!(result.text(), "done");
    assert_eq!(desk.person.was_asked(), 1);
    assert_eq!(desk.runs.count(), 1);
}

#[tokio::test]
async fn se30_a_session_that_ends_while_a_person_decides_ends_the_wait() {
    let (desk, told) = asked_later(ApprovalAnswer::Approve).await;
    let end = async {
        let request = waiting(&desk).await;
        desk.session.end("enough").await.unwrap();
        request
    };
    // Nobody answers: the end of the session is what wakes the call.
    let (result, request) = tokio::join!(desk.call("desk__pay", SUM), end);
    assert_eq!(code(&result), Err(Code::NotPermitted));
    assert_eq!(desk.person.dropped(), 1);
    told.notify_one();
    settle().await;
    let late = desk.session.answer(&request.token, ApprovalAnswer::Approve);
    assert_eq!(late.unwrap_err().code, Code::NotPermitted);
    assert_eq!(desk.runs.count(), 0);
}

#[tokio::test]
async fn se30_an_audit_trail_that_fails_while_a_person_decides_stops_the_call() {
    let (desk, told) = asked_later(ApprovalAnswer::Approve).await;
    let fail = async {
        waiting(&desk).await;
        desk.stage.sink.set(Behavior::Fail);
        // Something to write.
        desk.session.limit("beta", Level::Metadata).await.unwrap();
        settle().await;
        told.notify_one();
    };
    let (result, ()) = tokio::join!(desk.call("desk__pay", SUM), fail);
    assert_eq!(code(&result), Err(Code::AuditUnavailable));
    assert_eq!(desk.runs.count(), 0);
}

#[tokio::test]
async fn se30_the_host_may_answer_before_its_handler_does() {
    for (answer, expected) in [
        (ApprovalAnswer::Approve, Ok(())),
        (
            ApprovalAnswer::Deny("no".to_owned()),
            Err(Code::ApprovalDenied),
        ),
    ] {
        let desk = Desk::new(Person::who([Does::Hang])).await;
        let decide = async {
            let request = waiting(&desk).await;
            let early = desk.resume(&request.token).await;
            assert_eq!(early.unwrap_err(), Code::ApprovalRequired);
            desk.session.answer(&request.token, answer.clone()).unwrap();
        };
        let (result, ()) = tokio::join!(desk.call("desk__pay", SUM), decide);
        assert_eq!(code(&result), expected);
        assert_eq!(desk.person.dropped(), 1);
        assert_eq!(desk.runs.count(), usize::from(expected.is_ok()));
    }
}

/// Answers through the session while it is asked, and says that it is left.
#[derive(Clone, Default)]
struct Roundabout(Arc<Mutex<Option<Session>>>);

impl ApprovalHandler for Roundabout {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        let session = self.0.lock().unwrap().clone().unwrap();
        session
            .answer(&request.token, ApprovalAnswer::Approve)
            .unwrap();
        Box::pin(async { ApprovalAnswer::Pending })
    }
}

#[tokio::test]
async fn se30_a_handler_may_answer_through_the_session() {
    let handler = Roundabout::default();
    let desk = Desk::handled_by(handler.clone()).await;
    *handler.0.lock().unwrap() = Some(desk.session.clone());
    assert_eq!(desk.call("desk__pay", SUM).await.text(), "paid");
    assert_eq!(desk.runs.count(), 1);
}

#[tokio::test]
async fn se30_an_approval_is_for_the_call_that_waits_for_it() {
    let desk = Desk::new(Person::who([Does::Hang, Does::Hang])).await;
    let decide = async {
        settle().await;
        let requests = desk.session.approvals();
        assert_eq!(requests.len(), 2, "each of two equal calls is asked for");
        let [first, second] = requests.as_slice() else {
            panic!("there are two");
        };
        let answers = [
            (first, ApprovalAnswer::Approve),
            (second, ApprovalAnswer::Deny("once is enough".to_owned())),
        ];
        for (request, answer) in answers {
            desk.session.answer(&request.token, answer).unwrap();
        }
    };
    let (first, second, ()) = tokio::join!(
        desk.call("desk__pay", SUM),
        desk.call("desk__pay", SUM),
        decide
    );
    assert_eq!(first.text(), "paid");
    assert_eq!(second.text(), "approval_denied: once is enough");
    assert_eq!(desk.runs.count(), 1);
}

#[tokio::test]
async fn se30_the_time_of_the_tool_begins_with_its_approval() {
    let slow = tool("slow", |_, _| async {
        tokio::task::yield_now().await;
        "done"
    })
    .level(Level::Metadata)
    .timeout(Duration::from_secs(1))
    .requires_approval();
    let told = Arc::new(Notify::new());
    let person = Person::who([Does::Wait(Arc::clone(&told), ApprovalAnswer::Approve)]);
    let desk = Desk::with(person, |builder| {
        builder.with_skill(crate::made::skill("odd", [slow]))
    })
    .await;
    let decide = async {
        waiting(&desk).await;
        desk.stage.pass(MINUTE, 10).await;
        told.notify_one();
    };
    let (result, ()) = tokio::join!(desk.call("odd__slow", "{}"), decide);
    assert_eq!(result.text(), "done");
}

#[tokio::test]
async fn se30_a_session_that_waits_for_a_person_is_not_idle_and_its_waits_are_bounded() {
    let mut limits = Limits::default();
    limits.calls_in_flight = 1;
    limits.session_idle = MINUTE;
    let told = Arc::new(Notify::new());
    let person = Person::who([Does::Wait(Arc::clone(&told), ApprovalAnswer::Approve)]);
    let desk = Desk::with(person, |builder| builder.limits(limits)).await;
    let decide = async {
        waiting(&desk).await;
        desk.stage.pass(MINUTE, 5).await;
        let refused = desk.call("desk__pay", SUM).await;
        assert_eq!(code(&refused), Err(Code::LimitExceeded));
        told.notify_one();
    };
    let (result, ()) = tokio::join!(desk.call("desk__pay", SUM), decide);
    assert_eq!(result.text(), "paid");
}

#[tokio::test]
async fn se30_calls_of_one_reply_wait_each_for_their_own_answer() {
    let told = Arc::new(Notify::new());
    let deny = ApprovalAnswer::Deny("no".to_owned());
    let desk = Desk::new(Person::who([
        Does::Wait(Arc::clone(&told), ApprovalAnswer::Approve),
        Does::Answer(deny),
    ]))
    .await;
    let mut turn = desk.turn().await;
    // They only read, and so wait at the same time.
    let calls = [("1", "desk__look", "{}"), ("2", "desk__look", r#"{"a":1}"#)];
    let calls = calls.map(|(id, name, json)| ToolCall::new(id, name, json));
    let decide = async {
        settle().await;
        assert_eq!(desk.person.was_asked(), 2);
        told.notify_one();
    };
    let (results, ()) = tokio::join!(turn.calls(calls), decide);
    let texts: Vec<_> = results.iter().map(CallResult::text).collect();
    assert_eq!(texts, ["done", "approval_denied: no"]);
    assert_eq!(desk.runs.list(), ["{}"]);
}

#[tokio::test]
async fn se30_a_call_that_waits_has_not_failed() {
    let desk = Desk::later().await;
    let mut turn = desk.turn().await;
    let mut tokens = Vec::new();
    for _ in 0..5 {
        let result = call(&mut turn, "desk__pay", SUM).await;
        assert_eq!(code(&result), Err(Code::ApprovalRequired));
        tokens.extend(result.pending);
    }
    assert_eq!(desk.session.approvals().len(), 1);
    desk.session
        .answer(&tokens[0], ApprovalAnswer::Approve)
        .unwrap();
    assert_eq!(call(&mut turn, "desk__pay", SUM).await.text(), "paid");

    // One that is denied has.
    for expected in [
        Code::ApprovalDenied,
        Code::ApprovalDenied,
        Code::ApprovalDenied,
        Code::RepeatedFailure,
    ] {
        if expected == Code::ApprovalDenied {
            let pending = call(&mut turn, "desk__pay", SUM).await.pending.unwrap();
            let deny = ApprovalAnswer::Deny("no".to_owned());
            desk.session.answer(&pending, deny).unwrap();
        }
        let result = call(&mut turn, "desk__pay", SUM).await;
        assert_eq!(code(&result), Err(expected));
    }
}
