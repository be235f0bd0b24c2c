//! The same call that fails again and again in a turn is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use skills_engine::engine::{CallResults, ToolCall};
use skills_engine::skill::{Code, Tool};
use skills_engine::{Engine, Level, Turn};
use tests::{bare, session, turn};

use crate::made::{skill, tool};
use crate::stage;

const STOP: &str = "This call has now failed three times in a row. Stop repeating it: it will not be run again. \
                    Try something else, or tell the user what does not work.";

/// Skill `desk`: tools that fail, a closed one, one that works, and how often tools that fail ran.
struct Desk {
    engine: Engine,
    runs: Arc<AtomicUsize>,
    /// Whether `fail` works for once.
    is_well: Arc<AtomicBool>,
}

impl Desk {
    async fn new() -> Self {
        let runs = Arc::new(AtomicUsize::new(0));
        let is_well = Arc::new(AtomicBool::new(false));
        let failing = |name| -> Tool {
            let (runs, is_well) = (Arc::clone(&runs), Arc::clone(&is_well));
            stage::tool(name, move |_, _| {
                runs.fetch_add(1, Ordering::Relaxed);
                let is_well = is_well.load(Ordering::Relaxed);
                async move {
                    if is_well {
                        Ok("fine")
                    } else {
                        Err("no such ticket")
                    }
                }
            })
            .level(Level::Metadata)
        };
        let tools = [
            failing("fail"),
            failing("look").read_only(),
            tool("work", |_| async { "done" }),
            tool("later", |_| async { "done" }).level(Level::Complete),
            tool("panic", |_| async { assert_eq!(1, 2, "a bug") }),
        ];
        let engine = bare().with_skill(skill("desk", tools)).build().await;
        Self {
            engine: engine.unwrap(),
            runs,
            is_well,
        }
    }

    async fn turn(&self) -> Turn {
        turn(&session(&self.engine).await).await
    }

    fn runs(&self) -> usize {
        self.runs.load(Ordering::Relaxed)
    }
}

fn reply(calls: &[(&str, &str)]) -> Vec<ToolCall> {
    calls
        .iter()
        .zip(1..)
        .map(|((name, arguments), number): (_, u32)| {
            ToolCall::new(number.to_string(), *name, *arguments)
        })
        .collect()
}

/// What became of each call: `ok`, a code, or a code with `!` when the call was told to stop.
fn outline(results: &CallResults) -> Vec<String> {
    results
        .iter()
        .map(|result| {
            let code = match &result.outcome {
                Ok(_) => "ok",
                Err(fault) => fault.code.as_str(),
            };
            let is_stopped = result.text().ends_with(STOP);
            format!("{code}{}", if is_stopped { "!" } else { "" })
        })
        .collect()
}

async fn outlines(turn: &mut Turn, calls: &[(&str, &str)]) -> Vec<String> {
    outline(&turn.calls(reply(calls)).await)
}

const FAIL: (&str, &str) = ("desk__fail", r#"{"ticket":1}"#);

#[tokio::test]
async fn the_third_failure_says_stop_and_the_fourth_call_is_not_run() {
    let desk = Desk::new().await;
    let mut turn = desk.turn().await;
    for expected in ["tool_error", "tool_error", "tool_error!"] {
        assert_eq!(outlines(&mut turn, &[FAIL]).await, [expected]);
    }
    for _ in 0..3 {
        let results = turn.calls(reply(&[FAIL])).await;
        assert_eq!(
            results.iter().next().unwrap().text(),
            "repeated_failure: the same call failed 3 times in a row and is not run again. Try something else, or tell \
             the user what does not work"
        );
    }
    assert_eq!(desk.runs(), 3);

    // A turn of its own knows nothing of it.
    let mut next = desk.turn().await;
    assert_eq!(outlines(&mut next, &[FAIL]).await, ["tool_error"]);
}

#[tokio::test]
async fn the_warning_is_not_the_tools_own_word() {
    let desk = Desk::new().await;
    let mut turn = desk.turn().await;
    let results = turn.calls(reply(&[FAIL; 3])).await;
    let message = results.messages().last().unwrap();
    assert_eq!(
        message.text,
        format!("<result tool=\"desk__fail\">\ntool_error: no such ticket\n</result>\n{STOP}")
    );
}

#[tokio::test]
async fn another_call_in_between_or_a_success_begins_anew() {
    let desk = Desk::new().await;
    let mut turn = desk.turn().await;
    let others = [
        ("another tool", ("desk__work", "{}")),
        ("one that fails", ("desk__panic", "{}")),
        ("other arguments", ("desk__fail", r#"{"ticket":2}"#)),
        ("other bytes", ("desk__fail", r#"{ "ticket":1}"#)),
        ("an unknown one", ("desk__faill", r#"{"ticket":1}"#)), // misspelled on purpose
    ];
    for (case, other) in others {
        let calls = [FAIL, FAIL, FAIL, other, FAIL, FAIL, other];
        let outlines = outlines(&mut turn, &calls).await;
        assert_eq!(outlines[2], "tool_error!", "{case}");
        assert_eq!(outlines[4..6], ["tool_error", "tool_error"], "{case}");
    }
    assert_eq!(
        outlines(&mut turn, &[FAIL, FAIL]).await,
        ["tool_error", "tool_error"]
    );
    desk.is_well.store(true, Ordering::Relaxed);
    assert_eq!(outlines(&mut turn, &[FAIL]).await, ["ok"]);
    desk.is_well.store(false, Ordering::Relaxed);
    assert_eq!(
        outlines(&mut turn, &[FAIL; 4]).await,
        [
            "tool_error",
            "tool_error",
            "tool_error!",
            "repeated_failure"
        ]
    );
    assert_eq!(
        outlines(&mut turn, &[("desk__work", "{}"), FAIL]).await,
        ["ok", "tool_error"]
    );
}

#[tokio::test]
async fn refused_calls_are_stopped_too() {
    let rows = [
        ("hidden", ("desk__later", "{}"), "hidden"),
        ("unknown", ("made_up", "{}"), "unknown_tool"),
        ("arguments", ("desk__work", "[]"), "invalid_arguments"),
        ("panic", ("desk__panic", "{}"), "panic"),
    ];
    for (case, call, code) in rows {
        let desk = Desk::new().await;
        let mut turn = desk.turn().await;
        turn.view().await.unwrap();
        assert_eq!(
            outlines(&mut turn, &[call; 5]).await,
            [
                code,
                code,
                &format!("{code}!"),
                "repeated_failure",
                "repeated_failure"
            ],
            "{case}"
        );
        let refused: Vec<_> = turn
            .calls(reply(&[call]))
            .await
            .into_iter()
            .map(|result| result.outcome.unwrap_err().code)
            .collect();
        assert_eq!(refused, [Code::RepeatedFailure], "{case}");
    }
}

#[tokio::test]
async fn calls_that_run_at_the_same_time_count_in_their_order() {
    let look = ("desk__look", "{}");
    let other = ("desk__look", r#"{"other":true}"#);
    let desk = Desk::new().await;
    let mut turn = desk.turn().await;
    assert_eq!(
        outlines(&mut turn, &[look, look, look, look, other, look]).await,
        [
            "tool_error",
            "tool_error",
            "tool_error!",
            "repeated_failure",
            "tool_error",
            "tool_error"
        ]
    );
    assert_eq!(desk.runs(), 5);
    assert_eq!(
        outlines(&mut turn, &[look, look, look]).await,
        ["tool_error", "tool_error!", "repeated_failure"]
    );
    desk.is_well.store(true, Ordering::Relaxed);
    let mut next = desk.turn().await;
    assert_eq!(outlines(&mut next, &[look; 10]).await, ["ok"; 10]);
}
