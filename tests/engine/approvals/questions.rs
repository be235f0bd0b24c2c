//! Questions of tools to the person their session belongs to.

use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use serde_json::{Value, json};
use skills_engine::engine::{ApprovalAnswer, ApprovalKind, ApprovalRequest, EngineBuilder};
use skills_engine::skill::{Clock as _, Code, Fault, Limits, Question, Tool, ToolContext};
use skills_engine::{Level, skill, skill_tool};
use tests::{bare, call, session, turn};
use tokio::sync::Notify;

use super::{Desk, Does, MINUTE, Person, TTL, code};
use crate::stage::{Kept, settle, tool};

/// A tool that asks, and gives what it heard.
fn ask(name: &'static str) -> Tool {
    tool(name, |_, cx: ToolContext| async move {
        let question = Question::new("Which one?").schema(json!({"type": "string"}));
        cx.ask(question).await
    })
    .level(Level::Metadata)
    .timeout(Duration::from_secs(1))
}

fn with_ask(builder: EngineBuilder) -> EngineBuilder {
    builder.with_skill(crate::made::skill("odd", [ask("ask")]))
}

async fn waiting(desk: &Desk) -> ApprovalRequest {
    settle().await;
    let mut waiting = desk.session.approvals();
    assert_eq!(waiting.len(), 1, "one question waits");
    waiting.remove(0)
}

#[tokio::test]
async fn se30_a_tool_asks_and_is_given_the_reply() {
    let person = Person::answering([
        ApprovalAnswer::Reply(json!({"choice": "second"})),
        ApprovalAnswer::Deny("none of your business".to_owned()),
        ApprovalAnswer::Approve,
    ]);
    let desk = Desk::with(person, with_ask).await;
    let result = desk.call("odd__ask", "{}").await;
    assert_eq!(result.text(), r#"{"choice":"second"}"#);
    let result = desk.call("odd__ask", "{}").await;
    assert_eq!(result.text(), "approval_denied: none of your business");
    // An answer that is none.
    let result = desk.call("odd__ask", "{}").await;
    assert_eq!(code(&result), Err(Code::ApprovalRequired));

    let asked = desk.person.asked();
    let ApprovalKind::Question {
        skill,
        tool,
        text,
        schema,
        ..
    } = &asked[0].kind
    else {
        panic!("a question");
    };
    assert_eq!((&**skill, &**tool, &**text), ("odd", "ask", "Which one?"));
    assert_eq!(schema.as_deref(), Some(&json!({"type": "string"})));
    assert_eq!(&*asked[0].why, "`ask` of `odd` asks a question");
    assert_eq!(asked[0].call_id.as_deref(), Some("call"));
}

#[tokio::test]
async fn se30_a_question_left_pending_waits_for_the_hosts_answer() {
    let desk = Desk::with(Person::default(), with_ask).await;
    let answer = async {
        let request = waiting(&desk).await;
        desk.stage.pass(MINUTE, 10).await;
        let session = &desk.session;
        for wrong in [
            ApprovalAnswer::Approve,
            ApprovalAnswer::ApproveWith("{}".to_owned()),
        ] {
            let fault = session.answer(&request.token, wrong).unwrap_err();
            assert_eq!(fault.code, Code::InvalidArguments);
        }
        assert_eq!(
            desk.resume(&request.token).await.unwrap_err(),
            Code::InvalidArguments
        );
        let long = ApprovalAnswer::Reply(json!("x".repeat(1 << 20)));
        let fault = session.answer(&request.token, long).unwrap_err();
        assert_eq!(fault.code, Code::LimitExceeded);
        let reply = ApprovalAnswer::Reply(json!("the first"));
        session.answer(&request.token, reply.clone()).unwrap();
        settle().await;
        let again = session.answer(&request.token, reply);
        assert_eq!(again.unwrap_err().code, Code::Conflict);
    };
    let (result, ()) = tokio::join!(desk.call("odd__ask", "{}"), answer);
    assert_eq!(result.text(), "the first");
}

#[tokio::test]
async fn se30_a_question_that_nobody_answers_ends() {
    let desk = Desk::with(Person::default(), with_ask).await;
    let pass = async {
        waiting(&desk).await;
        desk.stage.pass(TTL, 1).await;
    };
    let (result, ()) = tokio::join!(desk.call("odd__ask", "{}"), pass);
    assert_eq!(
        result.text(),
        "timeout: nobody answered the question in time. Go on without the answer"
    );
    assert!(desk.session.approvals().is_empty());

    let end = async {
        waiting(&desk).await;
        desk.session.end("").await.unwrap();
    };
    let (result, ()) = tokio::join!(desk.call("odd__ask", "{}"), end);
    assert_eq!(code(&result), Err(Code::NotPermitted));
}

#[tokio::test]
async fn se30_a_question_is_taken_back_with_its_call() {
    let kept = Kept::default();
    let keep = kept.tool();
    let desk = Desk::with(Person::default(), |builder| {
        with_ask(builder).with_skill(crate::made::skill("kept", [keep]))
    })
    .await;
    let mut turn = desk.turn().await;
    let task = tokio::spawn(async move { call(&mut turn, "odd__ask", "{}").await });
    let request = waiting(&desk).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(desk.session.approvals().is_empty());
    let late = desk
        .session
        .answer(&request.token, ApprovalAnswer::Reply(Value::Null));
    assert_eq!(late.unwrap_err().code, Code::Conflict);

    // A turn that has ended asks nothing more.
    let result = desk.call("kept__keep", "{}").await;
    assert_eq!(result.text(), "kept");
    let fault = kept.take().ask("still there?").await.unwrap_err();
    assert_eq!(fault.code, Code::Cancelled);
    assert!(desk.session.approvals().is_empty());
}

/// A tool that works for so long, asks, and works again, on the clock of its stage.
fn works_around_a_question(before: Duration, after: Duration, sleeps: &Arc<Sleeps>) -> Tool {
    let sleeps = Arc::clone(sleeps);
    tool("work", move |_, cx: ToolContext| {
        let sleeps = Arc::clone(&sleeps);
        async move {
            sleeps.sleep(before).await;
            let first = cx.ask("And now?").await?;
            // Two at once count once.
            let (second, third) = tokio::join!(cx.ask("And then?"), cx.ask("And else?"));
            second.and(third)?;
            sleeps.sleep(after).await;
            Ok::<_, Fault>(first)
        }
    })
    .level(Level::Metadata)
    .timeout(Duration::from_secs(30))
}

/// Sleeps on a clock that is there only once the stage is.
#[derive(Default)]
struct Sleeps(Mutex<Option<skills_engine::testing::ManualClock>>);

impl Sleeps {
    async fn sleep(&self, duration: Duration) {
        let clock = self.0.lock().unwrap().clone().unwrap();
        clock.sleep(duration).await;
    }
}

#[tokio::test]
async fn se30_the_time_a_tool_waits_for_a_person_is_not_its_own() {
    let seconds = Duration::from_secs;
    let rows = [
        (seconds(20), seconds(9), Ok(())),
        (seconds(20), seconds(11), Err(Code::Timeout)),
        (seconds(29), seconds(0), Ok(())),
        (seconds(0), seconds(29), Ok(())),
        (seconds(0), seconds(31), Err(Code::Timeout)),
    ];
    for (before, after, expected) in rows {
        let case = format!("{before:?} and {after:?}");
        let told: Vec<_> = (0..3).map(|_| Arc::new(Notify::new())).collect();
        let reply = || ApprovalAnswer::Reply(json!("go on"));
        let does = told
            .iter()
            .map(|told| Does::Wait(Arc::clone(told), reply()));
        let sleeps = Arc::new(Sleeps::default());
        let work = works_around_a_question(before, after, &sleeps);
        let desk = Desk::with(Person::who(does), |builder| {
            builder.with_skill(crate::made::skill("odd", [work]))
        })
        .await;
        *sleeps.0.lock().unwrap() = Some(desk.stage.clock.clone());
        let pass = async {
            settle().await;
            desk.stage.pass(seconds(1), 29).await;
            // Ten minutes for the first question, five for each of the two that overlap by four.
            desk.stage.pass(MINUTE, 10).await;
            told[0].notify_one();
            settle().await;
            assert_eq!(desk.person.was_asked(), 3, "{case}");
            desk.stage.pass(MINUTE, 5).await;
            told[1].notify_one();
            desk.stage.pass(MINUTE, 1).await;
            told[2].notify_one();
            settle().await;
            desk.stage.pass(seconds(1), 40).await;
        };
        let (result, ()) = tokio::join!(desk.call("odd__work", "{}"), pass);
        assert_eq!(code(&result), expected, "{case}");
    }
}

#[tokio::test]
async fn se30_a_tool_that_has_used_its_time_is_stopped_however_often_it_asks() {
    let busy = tool("busy", |_, cx: ToolContext| async move {
        for _ in 0..1_000 {
            cx.ask("Still?").await?;
        }
        std::future::pending::<Result<Value, Fault>>().await
    })
    .level(Level::Metadata)
    .timeout(Duration::from_secs(30));
    let answers = (0..1_000).map(|_| ApprovalAnswer::Reply(Value::Null));
    let desk = Desk::with(Person::answering(answers), |builder| {
        builder.with_skill(crate::made::skill("odd", [busy]))
    })
    .await;
    let pass = async {
        settle().await;
        desk.stage.pass(Duration::from_secs(30), 1).await;
    };
    let (result, ()) = tokio::join!(desk.call("odd__busy", "{}"), pass);
    assert_eq!(code(&result), Err(Code::Timeout));
    assert_eq!(desk.person.was_asked(), 1_000);
}

#[tokio::test]
async fn se30_questions_are_bounded() {
    let long = tool("long", |_, cx: ToolContext| async move {
        cx.ask("x".repeat((1 << 20) + 1)).await
    });
    let mut many = ask("many");
    many.definition.timeout = None;
    let flood = tool("flood", |_, cx: ToolContext| async move {
        let asked = (0..20).map(|_| cx.ask("?"));
        let answers = futures(asked).await;
        json!(answers.into_iter().filter(Result::is_err).count())
    });
    let mut limits = Limits::default();
    limits.approvals = 4;
    let desk = Desk::with(Person::default(), |builder| {
        builder.limits(limits).with_skill(crate::made::skill(
            "odd",
            [long, flood].map(|tool| tool.level(Level::Metadata)),
        ))
    })
    .await;
    let result = desk.call("odd__long", "{}").await;
    assert_eq!(
        result.text(),
        "limit_exceeded: a question has at most 1048576 bytes. Send less"
    );
    let answer = async {
        settle().await;
        let waiting = desk.session.approvals();
        assert_eq!(waiting.len(), 4);
        for request in waiting {
            let reply = ApprovalAnswer::Reply(Value::Null);
            desk.session.answer(&request.token, reply).unwrap();
        }
    };
    let (result, ()) = tokio::join!(desk.call("odd__flood", "{}"), answer);
    assert_eq!(result.text(), "16");
}

/// Awaits all of some futures at the same time.
async fn futures<T>(futures: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut futures: Vec<_> = futures.map(Box::pin).collect();
    let mut outputs = Vec::new();
    std::future::poll_fn(move |cx| {
        futures.retain_mut(|future| match future.as_mut().poll(cx) {
            Poll::Ready(output) => {
                outputs.push(output);
                false
            }
            Poll::Pending => true,
        });
        if futures.is_empty() {
            Poll::Ready(std::mem::take(&mut outputs))
        } else {
            Poll::Pending
        }
    })
    .await
}

/// Asks from a thread.
#[derive(Default)]
#[skill(id = "threads")]
struct Threads;

#[skill]
impl Threads {
    /// Asks, and gives the failure.
    #[skill_tool(level = Metadata, blocking)]
    fn ask(&self, cx: &ToolContext) -> String {
        let mut asked = pin!(cx.ask("May I?"));
        let mut task = Context::from_waker(Waker::noop());
        match asked.as_mut().poll(&mut task) {
            Poll::Ready(answer) => answer.unwrap_err().to_string(),
            Poll::Pending => "it waits".to_owned(),
        }
    }
}

#[tokio::test]
async fn se30_where_nobody_can_be_asked_a_question_is_refused_at_once() {
    let engine = bare()
        .with_skill(crate::made::skill("odd", [ask("ask")]))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let mut of_nobody = turn(&session).await;
    assert_eq!(
        call(&mut of_nobody, "odd__ask", "{}").await.text(),
        "approval_required: the question cannot be asked here. Do without the answer"
    );

    let detached = ToolContext::detached();
    let fault = detached.ask("Anyone?").await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "not_permitted: this call belongs to no session; make it through a turn"
    );

    let desk = Desk::with(Person::default(), |builder| builder.skill(Threads)).await;
    let result = desk.call("threads__ask", "{}").await;
    assert_eq!(
        result.text(),
        "not_permitted: a `blocking` tool cannot ask: it would hold a thread for as long as a person takes. Make it `async`"
    );
    assert_eq!(desk.person.was_asked(), 0);
}
