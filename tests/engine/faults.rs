//! Tools that fail, hang or are given up: the turn goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use skills_engine::engine::ToolCall;
use skills_engine::skill::{Code, Limits, ToolContext};
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, skill, skill_tool};
use tests::{ada, after, answer, at_rest, bare, call, session, turn, until};

use crate::made::{self, tool};

/// Fails in every way.
#[skill(id = "fragile", manual)]
struct Fragile {
    gate: std::sync::Mutex<mpsc::Receiver<()>>,
    is_blocked: Arc<AtomicBool>,
    was_cancelled: Arc<AtomicBool>,
}

#[skill]
impl Fragile {
    /// Panics in place.
    #[skill_tool(level = Metadata)]
    fn panic_sync(&self) {
        panic!("secret of the sync tool");
    }

    /// Panics after a pause.
    #[skill_tool(level = Metadata)]
    async fn panic_async(&self) {
        tokio::task::yield_now().await;
        panic!("secret of the async tool");
    }

    /// Panics on a thread.
    #[skill_tool(level = Metadata, blocking)]
    fn panic_blocking(&self) {
        panic!("secret of the blocking tool");
    }

    /// Tells on which thread it runs.
    #[skill_tool(level = Metadata, blocking)]
    fn thread_name(&self) -> String {
        std::thread::current().name().unwrap_or_default().to_owned()
    }

    /// Blocks its thread until it is released.
    #[skill_tool(level = Metadata, blocking, timeout = "5s")]
    fn block(&self, cx: &ToolContext) -> &'static str {
        self.is_blocked.store(true, Ordering::Release);
        let _ = self.gate.lock().map(|gate| gate.recv());
        self.was_cancelled
            .store(cx.is_cancelled(), Ordering::Release);
        "late"
    }

    /// Never ends.
    #[skill_tool(level = Metadata)]
    async fn hang(&self) {
        std::future::pending::<()>().await;
    }

    /// Never ends, but not for long.
    #[skill_tool(level = Metadata, timeout = "2s")]
    async fn hang_briefly(&self, cx: &ToolContext) {
        let (cx, was_cancelled) = (cx.clone(), Arc::clone(&self.was_cancelled));
        tokio::spawn(async move {
            cx.cancelled().await;
            was_cancelled.store(true, Ordering::Release);
        });
        std::future::pending::<()>().await;
    }

    /// Works.
    #[skill_tool(level = Metadata)]
    fn fine(&self) -> &'static str {
        "fine"
    }
}

struct Bench {
    engine: Engine,
    clock: ManualClock,
    release: mpsc::Sender<()>,
    is_blocked: Arc<AtomicBool>,
    was_cancelled: Arc<AtomicBool>,
}

async fn bench() -> Bench {
    let (release, gate) = mpsc::channel();
    let is_blocked = Arc::new(AtomicBool::new(false));
    let was_cancelled = Arc::new(AtomicBool::new(false));
    let clock = ManualClock::default();
    let engine = bare()
        .skill(Fragile {
            gate: gate.into(),
            is_blocked: Arc::clone(&is_blocked),
            was_cancelled: Arc::clone(&was_cancelled),
        })
        .clock(Arc::new(clock.clone()))
        .build()
        .await
        .unwrap();
    Bench {
        engine,
        clock,
        release,
        is_blocked,
        was_cancelled,
    }
}

#[tokio::test]
async fn a_panic_is_a_result_that_tells_nothing_of_it() {
    let Bench { engine, .. } = bench().await;
    let mut turn = turn(&session(&engine).await).await;
    turn.view().await.unwrap();
    for name in ["panic_sync", "panic_async", "panic_blocking"] {
        let text = answer(&mut turn, &format!("fragile__{name}"), "").await;
        assert_eq!(
            text, "panic: the tool failed inside. Do not repeat the call; try another way",
            "{name}"
        );
    }
    assert_eq!(answer(&mut turn, "fragile__fine", "").await, "fine");
    assert!(turn.view().await.unwrap().is_unchanged());
    engine.audit().flush().await;
    for record in engine.audit_ring().unwrap().records() {
        assert!(!record.to_string().contains("secret"), "{record}");
    }
    turn.finish().await.unwrap();
}

#[tokio::test]
async fn a_tool_has_its_own_timeout_or_that_of_the_engine() {
    let Bench { engine, clock, .. } = bench().await;
    let mut turn = turn(&session(&engine).await).await;
    for (name, seconds, milliseconds) in [("hang", 30, 30_000), ("hang_briefly", 2, 2_000)] {
        at_rest(&clock).await;
        let name = format!("fragile__{name}");
        let called = call(&mut turn, &name, "");
        let result = after(&clock, 2, Duration::from_secs(seconds), called).await;
        assert_eq!(
            result.text(),
            format!(
                "timeout: the tool did not finish within {milliseconds} ms. Try again, or do without it"
            )
        );
    }
    assert_eq!(answer(&mut turn, "fragile__fine", "").await, "fine");
}

#[tokio::test]
async fn a_tool_that_timed_out_is_told_that_nobody_waits() {
    let Bench {
        engine,
        clock,
        was_cancelled,
        ..
    } = bench().await;
    let mut turn = turn(&session(&engine).await).await;
    at_rest(&clock).await;
    let called = call(&mut turn, "fragile__hang_briefly", "");
    let result = after(&clock, 2, Duration::from_secs(2), called).await;
    assert_eq!(result.outcome.unwrap_err().code, Code::Timeout);
    until(|| was_cancelled.load(Ordering::Acquire)).await;
}

#[tokio::test]
async fn a_blocking_tool_runs_on_a_thread_of_the_engine_and_times_out() {
    let Bench {
        engine,
        clock,
        release,
        is_blocked,
        was_cancelled,
    } = bench().await;
    let mut turn = turn(&session(&engine).await).await;
    assert_eq!(
        answer(&mut turn, "fragile__thread_name", "").await,
        "skills-engine"
    );
    at_rest(&clock).await;
    let time = async {
        // A job that no thread has taken yet would be taken back.
        until(|| is_blocked.load(Ordering::Acquire)).await;
        until(|| clock.sleepers() == 2).await;
        clock.advance(Duration::from_secs(5));
    };
    let (result, ()) = tokio::join!(call(&mut turn, "fragile__block", ""), time);
    assert_eq!(result.outcome.unwrap_err().code, Code::Timeout);
    release.send(()).unwrap();
    until(|| was_cancelled.load(Ordering::Acquire)).await;
    release.send(()).unwrap();
    assert_eq!(answer(&mut turn, "fragile__block", "").await, "late");
}

/// Waits on a thread.
#[skill(id = "waiting", manual)]
struct Waiting {
    gate: std::sync::Mutex<mpsc::Receiver<()>>,
    waiting: Arc<AtomicUsize>,
}

#[skill]
impl Waiting {
    /// Waits until it is released, or not at all.
    #[skill_tool(level = Metadata, blocking, read_only)]
    fn wait(&self, is_long: bool) -> &'static str {
        if is_long {
            self.waiting.fetch_add(1, Ordering::AcqRel);
            let _ = self.gate.lock().map(|gate| gate.recv());
        }
        "done"
    }
}

#[tokio::test]
async fn blocking_calls_of_one_session_that_hang_leave_threads_to_the_others() {
    const LONG: &str = r#"{"is_long":true}"#;
    let (release, gate) = mpsc::channel();
    let waiting = Arc::new(AtomicUsize::new(0));
    let skill = Waiting {
        gate: gate.into(),
        waiting: Arc::clone(&waiting),
    };
    let mut limits = Limits::default();
    limits.blocking_threads = 4;
    let engine = bare().limits(limits).skill(skill).build().await.unwrap();
    let mut first = turn(&engine.session(ada(), "first").await.unwrap()).await;
    let mut second = turn(&engine.session(ada(), "second").await.unwrap()).await;
    let wait = |id: &'static str| ToolCall::new(id, "waiting__wait", LONG);
    tokio::select! {
        biased;
        _ = first.calls([wait("1"), wait("2")]) => panic!("they hang"),
        () = until(|| waiting.load(Ordering::Acquire) == 2) => {}
    }
    // Nobody waits for these two any more, and their threads run on.
    let refused = call(&mut first, "waiting__wait", LONG).await;
    assert_eq!(refused.outcome.unwrap_err().code, Code::LimitExceeded);
    let short = r#"{"is_long":false}"#;
    assert_eq!(answer(&mut second, "waiting__wait", short).await, "done");
    release.send(()).unwrap();
    release.send(()).unwrap();
}

#[tokio::test]
async fn calls_that_are_dropped_are_cancelled_and_recorded() {
    let Bench {
        engine,
        clock,
        was_cancelled,
        ..
    } = bench().await;
    let mut turn = turn(&session(&engine).await).await;
    at_rest(&clock).await;
    tokio::select! {
        biased;
        _ = call(&mut turn, "fragile__hang_briefly", "") => panic!("it hangs"),
        () = until(|| clock.sleepers() == 2) => {}
    }
    until(|| was_cancelled.load(Ordering::Acquire)).await;
    assert_eq!(answer(&mut turn, "fragile__fine", "").await, "fine");
    engine.audit().flush().await;
    let records = engine.audit_ring().unwrap().records();
    let ended = records
        .iter()
        .map(ToString::to_string)
        .find(|record| record.contains("call_ended"))
        .unwrap();
    assert!(ended.contains("cancelled"), "{ended}");
}

#[tokio::test]
async fn one_call_that_hangs_does_not_keep_its_neighbors_from_their_results() {
    let clock = ManualClock::default();
    let finished = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&finished);
    let mut limits = Limits::default();
    limits.tool_timeout = Duration::from_secs(1);
    let engine = bare()
        .with_skill(made::skill(
            "desk",
            [
                tool("hang", |_| std::future::pending::<()>()).read_only(),
                tool("quick", move |_| {
                    count.fetch_add(1, Ordering::Relaxed);
                    async { "quick" }
                })
                .read_only(),
            ],
        ))
        .clock(Arc::new(clock.clone()))
        .limits(limits)
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    at_rest(&clock).await;
    let names = ["desk__quick", "desk__hang", "desk__quick"];
    let calls = turn.calls(names.map(|name| ToolCall::new(name, name, "")));
    let results = after(&clock, 2, Duration::from_secs(1), calls).await;
    let codes: Vec<_> = results
        .iter()
        .map(|result| result.outcome.as_ref().err().map(|fault| fault.code))
        .collect();
    assert_eq!(codes, [None, Some(Code::Timeout), None]);
    assert_eq!(finished.load(Ordering::Relaxed), 2);
}
