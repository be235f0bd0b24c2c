//! Openings of skills that a policy sends to a person.

use std::sync::Arc;
use std::time::Duration;

use skills_engine::engine::{ApprovalAnswer, ApprovalHandler, ApprovalKind};
use skills_engine::session::{PolicyAnswer, PolicyQuestion, PslPolicy};
use skills_engine::skill::{Actor, Code};
use skills_engine::{Level, Session, Span, Turn};
use tests::answer;
use tokio::sync::Notify;

use super::{Does, MINUTE, Person};
use crate::stage::{Stage, level, outcome, settle, turn};

/// Sends everything that raises to a person.
struct AskAlways;

impl PslPolicy for AskAlways {
    fn check(&self, question: &PolicyQuestion<'_>) -> PolicyAnswer {
        if question.raises() && question.actor < Actor::Host {
            return PolicyAnswer::Ask("everything is asked for".to_owned());
        }
        PolicyAnswer::Allow
    }
}

async fn stage(handler: impl ApprovalHandler + 'static) -> (Stage, Session) {
    let stage = Stage::with(0, |builder| builder.policy(AskAlways).approvals(handler)).await;
    let session = stage.session("s1").await;
    (stage, session)
}

const SET: &str = "psl-skill__set_skill_visibility";
const OPEN: &str = r#"{"skill_id":"alpha","level":"CONTEXT","reason":"to act"}"#;

async fn opens(turn: &mut Turn) -> Result<(), Code> {
    outcome(turn, SET, OPEN).await
}

#[tokio::test]
async fn se30_a_person_decides_about_an_opening() {
    let person = Person::answering([
        ApprovalAnswer::Deny("not now".to_owned()),
        ApprovalAnswer::Approve,
        ApprovalAnswer::ApproveWith("{}".to_owned()),
    ]);
    let (_stage, session) = stage(person.clone()).await;
    let mut turn = turn(&session).await;
    assert_eq!(
        answer(&mut turn, SET, OPEN).await,
        "approval_denied: not now"
    );
    assert_eq!(level(&session, "alpha"), Level::Metadata);
    assert_eq!(opens(&mut turn).await, Ok(()));
    assert_eq!(level(&session, "alpha"), Level::Context);
    session.clear("alpha").await.unwrap();
    assert_eq!(
        answer(&mut turn, SET, OPEN).await,
        "approval_required: a person must approve opening `alpha` at CONTEXT, and asking failed. Do without it, or tell \
         the user"
    );

    let asked = person.asked();
    let ApprovalKind::Opening {
        skill,
        level,
        span,
        actor,
        reason,
        ..
    } = &asked[0].kind
    else {
        panic!("an opening");
    };
    assert_eq!((&**skill, *level), ("alpha", Level::Context));
    assert_eq!((*span, *actor), (Span::UntilCleared, Actor::Model));
    assert_eq!(&**reason, "to act");
    assert_eq!(&*asked[0].why, "everything is asked for");
    assert_eq!(asked[0].call_id.as_deref(), Some("call"));
    assert_eq!(asked[0].turn, Some(turn.id()));
}

#[tokio::test]
async fn se30_the_same_opening_goes_through_once_after_its_approval() {
    let (_stage, session) = stage(Person::default()).await;
    let mut first = turn(&session).await;
    let waits = answer(&mut first, SET, OPEN).await;
    assert_eq!(
        waits,
        "approval_required: a person must approve opening `alpha` at CONTEXT, was asked, and has not decided yet. Go on \
         without it, or tell the user that it waits"
    );
    assert_eq!(opens(&mut first).await, Err(Code::ApprovalRequired));
    first.finish().await.unwrap();
    let [request] = &*session.approvals() else {
        panic!("it was asked for once");
    };
    session
        .answer(&request.token, ApprovalAnswer::Approve)
        .unwrap();
    let mut second = turn(&session).await;
    assert_eq!(
        second.resume(&request.token).await.unwrap_err().code,
        Code::InvalidArguments
    );

    // Any other opening, or the same by another, is another matter.
    for other in [
        r#"{"skill_id":"alpha","level":"COMPLETE"}"#,
        r#"{"skill_id":"alpha","level":"CONTEXT","ephemeral":true}"#,
        r#"{"skill_id":"alpha","level":"CONTEXT","ttl_seconds":60}"#,
        r#"{"skill_id":"beta","level":"CONTEXT"}"#,
    ] {
        assert_eq!(
            outcome(&mut second, SET, other).await,
            Err(Code::ApprovalRequired),
            "{other}"
        );
    }
    let as_user = session.acting_as(Actor::User);
    let opened = as_user
        .open("alpha", Level::Context, Span::UntilCleared, "")
        .await;
    assert_eq!(opened.unwrap_err().code, Code::ApprovalRequired);
    assert_eq!(session.approvals().len(), 5);

    assert_eq!(opens(&mut second).await, Ok(()));
    assert_eq!(level(&session, "alpha"), Level::Context);
    session.clear("alpha").await.unwrap();
    assert_eq!(opens(&mut second).await, Err(Code::ApprovalRequired));

    let of_user = session
        .approvals()
        .into_iter()
        .find(|request| request.call_id.is_none())
        .unwrap();
    let deny = ApprovalAnswer::Deny("no".to_owned());
    session.answer(&of_user.token, deny).unwrap();
    let opened = as_user
        .open("alpha", Level::Context, Span::UntilCleared, "")
        .await;
    assert_eq!(opened.unwrap_err().to_string(), "approval_denied: no");
}

#[tokio::test]
async fn se30_the_time_a_person_takes_is_not_that_of_the_control_tool() {
    let told = Arc::new(Notify::new());
    let person = Person::who([Does::Wait(Arc::clone(&told), ApprovalAnswer::Approve)]);
    let (stage, session) = stage(person).await;
    let mut turn = turn(&session).await;
    let decide = async {
        settle().await;
        stage.pass(MINUTE, 10).await;
        stage.pass(Duration::from_secs(1), 1).await;
        told.notify_one();
    };
    let (opened, ()) = tokio::join!(opens(&mut turn), decide);
    assert_eq!(opened, Ok(()));
}

#[tokio::test]
async fn se30_a_session_that_ends_while_a_person_decides_opens_nothing() {
    let (stage, session) = stage(Person::who([Does::Hang])).await;
    let mut turn = turn(&session).await;
    let end = async {
        settle().await;
        session.end("").await.unwrap();
    };
    let (opened, ()) = tokio::join!(opens(&mut turn), end);
    assert_eq!(opened, Err(Code::NotPermitted));
    assert_eq!(level(&stage.session("s1").await, "alpha"), Level::Metadata);
}
