//! How much memory sessions take, and that nothing a model, a client or a failing store does makes it grow.
//!
//! A binary of its own, because the allocator counts for all of it.
#![allow(
    clippy::unwrap_used,
    reason = "what tests share stops at the first surprise too"
)]

#[allow(dead_code, reason = "the other binary uses the rest")]
mod stage;

use std::alloc::System;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use cap::Cap;
use skills_engine::engine::EngineBuilder;
use skills_engine::skill::{Code, Limits};
use skills_engine::tools::Dialect;
use skills_engine::{Level, Principal, Span};

use self::stage::{Behavior, Operation, Stage, call, outcome, settle, skill, turn};

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

const DAY: Duration = Duration::from_secs(24 * 3_600);
const MIB: usize = 1 << 20;

/// Runs one test at a time: the heap is one.
fn alone(test: impl Future<Output = ()>) {
    static LOCK: Mutex<()> = Mutex::new(());
    let _guard = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(test);
}

/// With a sink that keeps nothing.
async fn stage(limits: Limits, adapt: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Stage {
    let stage = Stage::with(0, |builder| adapt(builder).limits(limits)).await;
    stage.sink.set(Behavior::Forget);
    stage
}

/// Live heap once everything that waited was written and dropped.
async fn heap(stage: &Stage) -> usize {
    stage.engine.audit().flush().await;
    settle().await;
    HEAP.allocated()
}

async fn begin(stage: &Stage, principal: usize, session: usize) -> skills_engine::Session {
    // As hosts do: a principal is made from each request.
    let principal = Principal::new(format!("principal-{principal:04}"), ["support"]);
    let id = format!("{session:032x}");
    stage.engine.session(principal, &id).await.unwrap()
}

#[track_caller]
fn assert_flat(before: usize, after: usize, case: &str) {
    let room = MIB.max(before / 10);
    assert!(
        after <= before + room,
        "{case}: {after} bytes after {before}"
    );
}

async fn reap(stage: &Stage) {
    stage.clock.advance(DAY);
    for _ in 0..20 {
        settle().await;
        stage.clock.advance(Duration::from_secs(60));
    }
    settle().await;
    assert_eq!(stage.engine.session_count(), 0);
    assert!(stage.store.inner.is_empty());
}

#[test]
fn se12_a_hundred_thousand_abandoned_sessions_take_320_bytes_each_and_are_reaped() {
    alone(async {
        let stage = stage(Limits::default(), |builder| builder).await;
        for number in 0..100 {
            begin(&stage, number, number).await.end("").await.unwrap();
        }
        let empty = heap(&stage).await;
        for number in 0..100_000 {
            begin(&stage, number / 100, number).await;
            stage.engine.audit().relieve().await;
        }
        let full = heap(&stage).await;
        let bytes = (full - empty) / 100_000;
        println!("{bytes} bytes of heap for a session, key and principal included");
        assert!(bytes <= 320, "{bytes} bytes");
        // Some do more before they are abandoned: in the middle of a turn, or with grants that end or not.
        for number in (0..100_000).step_by(20) {
            let session = begin(&stage, number / 100, number).await;
            let span = match number % 60 {
                0 => Span::UntilCleared,
                20 => Span::Ttl(Duration::from_secs(3_600)),
                _ => {
                    let mut turn = turn(&session).await;
                    turn.open("beta", Level::Complete, "").await.unwrap();
                    turn.view().await.unwrap();
                    continue;
                }
            };
            session
                .open("alpha", Level::Context, span, "")
                .await
                .unwrap();
        }
        assert_eq!(stage.engine.session_count(), 100_000);
        assert_eq!(stage.store.inner.len(), 3_334);
        reap(&stage).await;
        let reaped = heap(&stage).await;
        println!("{} bytes left of all of them", reaped.saturating_sub(empty));
        assert_flat(empty, reaped, "after reaping");
    });
}

#[test]
fn se12_a_session_that_is_the_only_one_of_its_principal_takes_no_more_than_320_bytes_either() {
    alone(async {
        let stage = stage(Limits::default(), |builder| builder).await;
        let empty = heap(&stage).await;
        // A little more than maps hold before they double: the worst number.
        for number in 0..16_000 {
            begin(&stage, number, number).await;
            stage.engine.audit().relieve().await;
        }
        let bytes = (heap(&stage).await - empty) / 16_000;
        println!("{bytes} bytes of heap for a session that is the only one of its principal");
        assert!(bytes <= 320, "{bytes} bytes");
    });
}

#[test]
fn names_that_models_make_up_leave_memory_flat() {
    alone(async {
        let stage = stage(Limits::default(), |builder| builder).await;
        let session = stage.session("s1").await;
        let mut turn = turn(&session).await;
        turn.view().await.unwrap();
        let set = "psl-skill__set_skill_visibility";
        let before = heap(&stage).await;
        for number in 0..10_000 {
            let name = format!("made_up_{number}");
            let unknown = outcome(&mut turn, &name, "{}").await;
            assert_eq!(unknown, Err(Code::UnknownTool));
            if number % 20 == 0 {
                let arguments = format!(r#"{{"skill_id":"{name}","level":"COMPLETE"}}"#);
                outcome(&mut turn, set, &arguments).await.unwrap_err();
                let arguments = format!(r#"{{"{name}":1}}"#);
                outcome(&mut turn, set, &arguments).await.unwrap_err();
                let _ = session.explain(&name, &name);
                session
                    .open(&name, Level::Context, Span::UntilCleared, "")
                    .await
                    .unwrap_err();
                session.search(&name).await.unwrap();
            }
            stage.engine.audit().relieve().await;
        }
        assert_flat(before, heap(&stage).await, "10,000 unknown names");
        // Long ones are not kept either, not even while the trail is not written.
        let long = "n".repeat(MIB);
        for _ in 0..50 {
            outcome(&mut turn, &long, "{}").await.unwrap_err();
            session
                .open(&long, Level::Context, Span::UntilCleared, &long)
                .await
                .unwrap_err();
            turn.calls([call("psl-skill__get_visibility", &long)]).await;
        }
        drop(long);
        let now = HEAP.allocated();
        assert_flat(before, now, "50 names of a megabyte");
    });
}

#[test]
fn a_store_or_sink_that_fails_for_long_leaves_memory_flat() {
    alone(async {
        let stage = stage(Limits::default(), |builder| builder).await;
        let session = stage.session("s1").await;
        let before = heap(&stage).await;
        for (load, apply) in [
            (Behavior::Work, Behavior::Fail),
            (Behavior::Fail, Behavior::Fail),
            (Behavior::Work, Behavior::WorkAndFail),
        ] {
            stage.store.set(Operation::Apply, apply);
            let mut turn = turn(&session).await;
            stage.store.set(Operation::Load, load);
            for number in 0..3_000 {
                let level = Level::ALL[number % 3];
                let arguments = format!(
                    r#"{{"skill_id":"alpha","level":"{level}","ttl_seconds":{}}}"#,
                    number + 60
                );
                let set = "psl-skill__set_skill_visibility";
                let _ = outcome(&mut turn, set, &arguments).await;
                if number % 64 == 0 {
                    settle().await;
                }
            }
            stage.store.set_all(Behavior::Work);
            session.visibility().await.unwrap();
        }
        settle().await;
        assert_flat(before, heap(&stage).await, "failing store");
        session
            .open("alpha", Level::Complete, Span::UntilCleared, "")
            .await
            .unwrap();
    });
}

#[test]
fn views_are_kept_within_their_bytes_however_many_there_are() {
    alone(async {
        const BYTES: usize = 2 * MIB;
        let mut limits = Limits::default();
        limits.view_cache = BYTES;
        let stage = stage(limits, |builder| {
            (0..24).fold(builder, |builder, number| {
                let id: &'static str = format!("skill-{number:02}").leak();
                builder.with_skill(skill(id).build().unwrap())
            })
        })
        .await;
        let dialects = [
            Dialect::OpenAiChat,
            Dialect::OpenAiResponses,
            Dialect::Anthropic,
            Dialect::Gemini,
            Dialect::Mcp,
        ];
        // What every skill adds is rendered once and stays.
        let session = stage.session("first").await;
        let mut first = turn(&session).await;
        for number in 0..24 {
            for level in [Level::Context, Level::Complete] {
                first
                    .open(&format!("skill-{number:02}"), level, "")
                    .await
                    .unwrap();
                first.view().await.unwrap();
            }
        }
        drop(first);
        let before = heap(&stage).await;
        let mut peak = 0;
        // What is looked at once takes a small part of the bytes; most of these are looked at again.
        for look in 0..8_000_u32 {
            let sequence = if look < 2_000 { look } else { look / 2 };
            let mut turn = turn(&session).await;
            // Three of 24 skills in some order: 12,144 sequences.
            let [one, two, three] = [sequence % 24, sequence / 24 % 23, sequence / 552 % 22];
            let two = (one + 1 + two) % 24;
            let three = (0..24)
                .filter(|skill| *skill != one && *skill != two)
                .nth(three as usize)
                .unwrap();
            for number in [one, two, three] {
                turn.open(&format!("skill-{number:02}"), Level::Context, "")
                    .await
                    .unwrap();
            }
            let view = turn.view().await.unwrap();
            for dialect in dialects {
                assert!(!view.tools_json(dialect).is_empty());
            }
            peak = peak.max(HEAP.allocated());
        }
        let after = heap(&stage).await;
        println!(
            "{} KiB for views of {} KiB",
            (after - before) >> 10,
            BYTES >> 10
        );
        // Beside the views themselves: the map that holds them, and what waits for the audit trail.
        assert!(
            after <= before + BYTES + BYTES / 4,
            "{after} after {before}"
        );
        assert!(after >= before + BYTES / 2, "{after} after {before}");
        assert!(peak <= before + BYTES + 2 * MIB, "{peak} after {before}");
    });
}
