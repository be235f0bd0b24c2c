//! What a person is asked before it happens.

mod later;
mod openings;
mod questions;
mod refused;
mod trail;
mod versions;
mod waiting;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use skills_engine::engine::{
    ApprovalAnswer, ApprovalHandler, ApprovalKind, ApprovalRequest, ApprovalToken, CallResult,
    EngineBuilder, LeavePending, ToolCall,
};
use skills_engine::skill::{BoxFuture, Code, Tool, ToolContext};
use skills_engine::{Level, Session, Turn, skill, skill_tool};
use tests::call;
use tokio::sync::Notify;

use crate::stage::{self, Stage, turn};

const MINUTE: Duration = Duration::from_secs(60);
/// How long a person has by default.
const TTL: Duration = Duration::from_secs(15 * 60);

/// What a handler does when it is asked.
enum Does {
    Answer(ApprovalAnswer),
    PanicAtOnce,
    Panic,
    Hang,
    /// Waits, and answers then.
    Wait(Arc<Notify>, ApprovalAnswer),
}

/// A handler that does what it is told, one thing after another, and then leaves everything pending.
#[derive(Clone, Default)]
struct Person {
    does: Arc<Mutex<VecDeque<Does>>>,
    asked: Arc<Mutex<Vec<ApprovalRequest>>>,
    /// Counts the futures that were dropped before they gave an answer.
    dropped: Arc<Mutex<usize>>,
}

impl Person {
    fn who(does: impl IntoIterator<Item = Does>) -> Self {
        let person = Self::default();
        person.does.lock().unwrap().extend(does);
        person
    }

    fn answering(answers: impl IntoIterator<Item = ApprovalAnswer>) -> Self {
        Self::who(answers.into_iter().map(Does::Answer))
    }

    fn asked(&self) -> Vec<ApprovalRequest> {
        self.asked.lock().unwrap().clone()
    }

    fn was_asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }

    fn dropped(&self) -> usize {
        *self.dropped.lock().unwrap()
    }
}

/// Notes that a future is dropped, unless it has given its answer.
struct Unanswered(Option<Arc<Mutex<usize>>>);

impl Drop for Unanswered {
    fn drop(&mut self) {
        if let Some(dropped) = &self.0 {
            *dropped.lock().unwrap() += 1;
        }
    }
}

impl ApprovalHandler for Person {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        self.asked.lock().unwrap().push(request.clone());
        let does = self.does.lock().unwrap().pop_front();
        assert!(!matches!(does, Some(Does::PanicAtOnce)), "a bug");
        Box::pin(async move {
            let mut unanswered = Unanswered(Some(Arc::clone(&self.dropped)));
            let answer = match does {
                None => ApprovalAnswer::Pending,
                Some(Does::Answer(answer)) => answer,
                Some(Does::PanicAtOnce | Does::Panic) => panic!("a bug"),
                Some(Does::Hang) => std::future::pending().await,
                Some(Does::Wait(told, answer)) => {
                    told.notified().await;
                    answer
                }
            };
            unanswered.0 = None;
            answer
        })
    }
}

/// What tools ran with, oldest first.
#[derive(Clone, Default)]
struct Runs(Arc<Mutex<Vec<String>>>);

impl Runs {
    fn add(&self, arguments: &Value) {
        self.0.lock().unwrap().push(arguments.to_string());
    }

    fn list(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn count(&self) -> usize {
        self.0.lock().unwrap().len()
    }
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Payment {
    sum: u64,
    to: Option<String>,
}

/// Approvals on a stage: skill `desk` with `pay` (needs an approval, arguments of a type), `send` (needs one, any
/// arguments), `late` (the same at COMPLETE) and `quick` (needs none); all of them note that they ran.
struct Desk {
    stage: Stage,
    session: Session,
    runs: Runs,
    person: Person,
}

/// A tool that takes anything and needs an approval.
fn send(name: &'static str, runs: &Runs) -> Tool {
    let runs = runs.clone();
    stage::tool(name, move |arguments, _: ToolContext| {
        runs.add(&arguments);
        async { "done" }
    })
    .level(Level::Metadata)
    .requires_approval()
}

impl Desk {
    async fn new(person: Person) -> Self {
        Self::with(person, |builder| builder).await
    }

    /// Where everything is answered later.
    async fn later() -> Self {
        Self::handled_by(LeavePending).await
    }

    async fn handled_by(handler: impl ApprovalHandler + 'static) -> Self {
        Self::with(Person::default(), |builder| builder.approvals(handler)).await
    }

    async fn with(person: Person, adapt: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Self {
        let runs = Runs::default();
        let noted = runs.clone();
        let pay = Tool::new("pay", "Pays.", move |payment: Payment, _: ToolContext| {
            noted.add(&serde_json::to_value(&payment).unwrap());
            async { "paid" }
        });
        let mut quick = send("quick", &runs);
        quick.definition.requires_approval = false;
        let tools = [
            pay.level(Level::Metadata).requires_approval(),
            send("send", &runs),
            send("late", &runs).level(Level::Complete),
            send("look", &runs).read_only(),
            quick,
        ];
        let desk = crate::made::skill("desk", tools);
        let handler = person.clone();
        let stage = Stage::with(0, |builder| {
            adapt(builder.with_skill(desk).approvals(handler))
        })
        .await;
        let session = stage.session("s1").await;
        Self {
            stage,
            session,
            runs,
            person,
        }
    }

    async fn turn(&self) -> Turn {
        turn(&self.session).await
    }

    /// Calls a tool in a turn of its own.
    async fn call(&self, name: &str, arguments: &str) -> CallResult {
        let mut turn = self.turn().await;
        let result = call(&mut turn, name, arguments).await;
        turn.finish().await.unwrap();
        result
    }

    /// A call that waits for a person, and its token.
    async fn pending(&self, name: &str, arguments: &str) -> ApprovalToken {
        let result = self.call(name, arguments).await;
        assert_eq!(code(&result), Err(Code::ApprovalRequired));
        result.pending.unwrap()
    }

    async fn resume(&self, token: &ApprovalToken) -> Result<CallResult, Code> {
        let turn = self.turn().await;
        turn.resume(token).await.map_err(|fault| fault.code)
    }
}

fn code(result: &CallResult) -> Result<(), Code> {
    result
        .outcome
        .as_ref()
        .map(drop)
        .map_err(|fault| fault.code)
}

const SUM: &str = r#"{"sum":5}"#;

#[tokio::test]
async fn se30_an_approved_call_runs_once_and_the_person_saw_what_would_run() {
    let desk = Desk::new(Person::answering([ApprovalAnswer::Approve])).await;
    let mut turn = desk.turn().await;
    let results = turn
        .calls([ToolCall::new("call-7", "desk__pay", SUM)])
        .await;
    let result = results.iter().next().unwrap();
    assert_eq!(result.text(), "paid");
    assert_eq!(result.pending, None);
    assert_eq!(desk.runs.list(), [r#"{"sum":5,"to":null}"#]);

    let asked = desk.person.asked();
    let [request] = asked.as_slice() else {
        panic!("one request");
    };
    let ApprovalKind::Tool {
        skill,
        tool,
        skill_version,
        arguments,
        ..
    } = &request.kind
    else {
        panic!("a request about a tool");
    };
    assert_eq!((&**skill, &**tool), ("desk", "pay"));
    assert_eq!(&**skill_version, "0.0.0");
    assert_eq!(&**arguments, SUM);
    assert_eq!(request.session.as_str(), "s1");
    assert_eq!(request.principal.id(), "ada");
    assert_eq!(request.turn, Some(turn.id()));
    assert_eq!(request.call_id.as_deref(), Some("call-7"));
    assert_eq!(
        &*request.why,
        "the model wants to call `desk__pay`, which needs an approval"
    );
    assert_eq!(request.expires.since(request.created), TTL);
    assert!(desk.session.approvals().is_empty());

    // The next one is asked for anew: nobody has answered it.
    assert_eq!(
        code(&call(&mut turn, "desk__pay", SUM).await),
        Err(Code::ApprovalRequired)
    );
    assert_eq!(desk.person.was_asked(), 2);
    assert_eq!(desk.runs.count(), 1);
}

#[tokio::test]
async fn se30_a_denied_call_gives_the_message_and_does_not_run() {
    let long = "no ".repeat(1_000);
    let deny = |message: &str| ApprovalAnswer::Deny(message.to_owned());
    let desk = Desk::new(Person::answering([
        deny("the budget is spent until May"),
        deny("  "),
        deny(&long),
    ]))
    .await;
    let mut turn = desk.turn().await;
    let result = call(&mut turn, "desk__pay", SUM).await;
    assert_eq!(
        result.text(),
        "approval_denied: the budget is spent until May"
    );
    assert_eq!(result.pending, None);
    assert_eq!(
        call(&mut turn, "desk__pay", SUM).await.text(),
        "approval_denied: a person decided against it. Do without it"
    );
    let cut = call(&mut turn, "desk__pay", r#"{"sum":6}"#).await.text();
    assert_eq!(cut.len(), "approval_denied: ".len() + 500);
    assert_eq!(desk.runs.count(), 0);
}

#[tokio::test]
async fn se30_edited_arguments_run_in_place_of_the_models() {
    let edit = |json: &str| ApprovalAnswer::ApproveWith(json.to_owned());
    let desk = Desk::new(Person::answering([
        edit(r#"{"sum":4,"to":"Bea"}"#),
        edit(r#"{"sum":"MARKER"}"#),
        edit("{"),
        edit(&format!(r#"{{"sum":1,"to":"{}"}}"#, "x".repeat(1 << 20))),
    ]))
    .await;
    let mut turn = desk.turn().await;
    assert_eq!(call(&mut turn, "desk__pay", SUM).await.text(), "paid");
    assert_eq!(desk.runs.list(), [r#"{"sum":4,"to":"Bea"}"#]);
    for number in 0..3 {
        let arguments = format!(r#"{{"sum":{number}}}"#);
        let text = call(&mut turn, "desk__pay", &arguments).await.text();
        assert_eq!(
            text,
            "approval_required: a person must approve `desk__pay`, and asking failed. Do without it, or tell the user"
        );
    }
    assert_eq!(desk.runs.count(), 1);
    assert!(desk.session.approvals().is_empty());
}

#[derive(Default)]
struct Count(std::sync::atomic::AtomicUsize);

/// Counts how often its tools ran.
#[skill(manual)]
struct Counter {
    count: Arc<Count>,
}

#[skill]
impl Counter {
    /// Adds to the count, at once.
    #[skill_tool(level = Metadata, requires_approval)]
    fn add(&self, number: usize) -> usize {
        self.count
            .0
            .fetch_add(number, std::sync::atomic::Ordering::Relaxed)
    }

    /// Adds to the count on a thread.
    #[skill_tool(level = Metadata, requires_approval, blocking)]
    fn add_blocking(&self, number: usize) -> usize {
        self.add(number)
    }

    /// Adds to the count, and may be waited for.
    #[skill_tool(level = Metadata, requires_approval)]
    async fn add_async(&self, number: usize) -> usize {
        self.add(number)
    }
}

#[tokio::test]
async fn se30_annotated_tools_run_after_the_approval_and_their_arguments_are_checked_before() {
    let count = Arc::new(Count::default());
    let counter = Counter {
        count: Arc::clone(&count),
    };
    let approve = || ApprovalAnswer::Approve;
    let person = Person::answering([approve(), approve(), approve()]);
    let desk = Desk::with(person, |builder| builder.skill(counter)).await;
    let total = || count.0.load(std::sync::atomic::Ordering::Relaxed);
    for (number, tool) in ["add", "add_blocking", "add_async"].iter().enumerate() {
        let name = format!("counter__{tool}");
        for wrong in ["{}", r#"{"number":"x"}"#, r#"{"number":1,"other":2}"#, "["] {
            let result = desk.call(&name, wrong).await;
            assert_eq!(code(&result), Err(Code::InvalidArguments), "{tool} {wrong}");
        }
        assert_eq!(desk.person.was_asked(), number, "{tool}");
        assert_eq!(total(), number, "{tool}");
        let result = desk.call(&name, r#"{"number":1}"#).await;
        assert_eq!(result.text(), number.to_string(), "{tool}");
        assert_eq!(total(), number + 1, "{tool}");
    }
}
