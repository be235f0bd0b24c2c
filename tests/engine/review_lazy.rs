//! What a review of lazy attributes asked, each question as the behavior that answers it.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use skills_engine::Level;
use skills_engine::skill::{Attribute, Cache, SkillBuilder};

use super::stage::{Stage, settle, turn};

fn observed(attribute: Attribute) -> SkillBuilder {
    SkillBuilder::new("observed")
        .description("Has an attribute.")
        .attribute(attribute.level(Level::Metadata))
}

async fn stage(skill: SkillBuilder) -> Stage {
    Stage::with(0, |builder| builder.with_skill(skill.build().unwrap())).await
}

fn observation(snapshot: Option<String>, name: &str) -> Value {
    let snapshot: Value = serde_json::from_str(&snapshot.unwrap()).unwrap();
    snapshot["attributes"][name].clone()
}

/// Counts one more when it is dropped.
struct Guard(Arc<AtomicUsize>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[tokio::test]
async fn an_evaluation_that_hangs_ends_with_its_session() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dropped);
    let hangs = Attribute::lazy::<u8, _>("hangs", "Never ends.", move |cx| {
        let guard = Guard(Arc::clone(&counter));
        async move {
            let _kept = (cx, guard);
            std::future::pending().await
        }
    });
    let stage = stage(observed(hangs)).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    let view = stage.while_time_passes(turn.view()).await.unwrap();
    assert_eq!(
        observation(view.snapshot("observed"), "hangs")["status"],
        "timeout"
    );
    drop(view);
    drop(turn);
    session.end("done").await.unwrap();
    settle().await;
    assert_eq!(
        dropped.load(Ordering::SeqCst),
        1,
        "the session's handle is still there"
    );
}

#[tokio::test]
async fn an_evaluation_that_hangs_keeps_no_engine_alive() {
    let dropped = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&dropped);
    let hangs = Attribute::lazy::<u8, _>("hangs", "Never ends.", move |cx| {
        let guard = Guard(Arc::clone(&counter));
        async move {
            let _kept = (cx, guard);
            std::future::pending().await
        }
    });
    let stage = stage(observed(hangs)).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    stage.while_time_passes(turn.view()).await.unwrap();
    drop((turn, session, stage));
    settle().await;
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_value_is_kept_for_each_turn_when_turns_interleave() {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&count);
    let once = Attribute::lazy("once", "Counts.", move |_| {
        let number = counter.fetch_add(1, Ordering::SeqCst);
        async move { Ok(number) }
    })
    .cache(Cache::Turn);
    let stage = stage(observed(once)).await;
    let session = stage.session("s1").await;
    let (mut first, mut second) = (turn(&session).await, turn(&session).await);
    for _ in 0..3 {
        for (turn, value) in [(&mut first, 0), (&mut second, 1)] {
            let view = turn.view().await.unwrap();
            assert_eq!(
                observation(view.snapshot("observed"), "once")["value"],
                value
            );
        }
    }
    assert_eq!(count.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn sessions_that_keep_a_shared_value_do_not_each_start_an_evaluation_that_hangs() {
    let started = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&started);
    let (release, hold) = std::sync::mpsc::channel::<()>();
    let hold = Mutex::new(hold);
    let hangs = Attribute::blocking::<u8>("hangs", "Never ends.", move |_| {
        counter.fetch_add(1, Ordering::SeqCst);
        let _ = hold.lock().unwrap().recv();
        Ok(0)
    })
    .shared()
    .cache(Cache::Session);
    let stage = stage(observed(hangs)).await;
    for number in 0..8 {
        let session = stage.session(&format!("s{number}")).await;
        let mut turn = turn(&session).await;
        stage.while_time_passes(turn.view()).await.unwrap();
    }
    for _ in 0..1_000 {
        std::thread::yield_now();
    }
    assert!(started.load(Ordering::SeqCst) <= 1, "{started:?}");
    drop(release);
}

#[tokio::test]
async fn a_late_value_that_is_kept_says_when_it_is_from_each_time() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let opened = Arc::clone(&gate);
    let late = Attribute::lazy("late", "Waits.", move |_| {
        let gate = Arc::clone(&opened);
        async move {
            let _ = gate.acquire().await;
            Ok(7)
        }
    })
    .cache(Cache::Session);
    let stage = stage(observed(late)).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    stage.while_time_passes(turn.view()).await.unwrap();
    gate.add_permits(1);
    settle().await;
    let second = turn.view().await.unwrap();
    let shown = observation(second.snapshot("observed"), "late");
    assert_eq!(shown["value"], 7);
    assert!(shown["as_of"].is_string());
    assert!(turn.view().await.unwrap().is_unchanged());
}

#[tokio::test]
async fn every_session_that_waited_is_shown_the_late_value_and_no_other() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let (opened, count) = (Arc::clone(&gate), Arc::new(AtomicUsize::new(0)));
    let counter = Arc::clone(&count);
    let late = Attribute::lazy("late", "Waits.", move |_| {
        let gate = Arc::clone(&opened);
        let number = counter.fetch_add(1, Ordering::SeqCst);
        async move {
            let _ = gate.acquire().await;
            Ok(number)
        }
    })
    .shared();
    let stage = stage(observed(late)).await;
    let mut turns = Vec::new();
    for id in ["s1", "s2", "s3"] {
        turns.push(turn(&stage.session(id).await).await);
    }
    stage.while_time_passes(turns[0].view()).await.unwrap();
    stage.while_time_passes(turns[1].view()).await.unwrap();
    gate.add_permits(1);
    settle().await;
    // The third did not wait, so it gets a fresh one, and takes nothing from the others.
    for (index, value, is_late) in [(2, 1, false), (1, 1, true), (0, 1, true), (0, 2, false)] {
        let view = turns[index].view().await.unwrap();
        let shown = observation(view.snapshot("observed"), "late");
        assert_eq!(
            (&shown["value"], shown["as_of"].is_string()),
            (&value.into(), is_late)
        );
    }
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_view_that_was_dropped_waiting_is_made_up_for_by_the_next() {
    let gate = Arc::new(tokio::sync::Semaphore::new(0));
    let opened = Arc::clone(&gate);
    let late = Attribute::lazy("late", "Waits.", move |_| {
        let gate = Arc::clone(&opened);
        async move {
            let _ = gate.acquire().await;
            Ok(7)
        }
    });
    let stage = stage(observed(late)).await;
    let mut turn = turn(&stage.session("s1").await).await;
    tokio::select! {
        biased;
        _ = turn.view() => panic!("the gate is closed"),
        () = settle() => {}
    }
    gate.add_permits(1);
    settle().await;
    let view = turn.view().await.unwrap();
    let shown = observation(view.snapshot("observed"), "late");
    assert_eq!(
        (&shown["value"], shown["as_of"].is_string()),
        (&7.into(), true)
    );
}

#[tokio::test]
async fn a_kept_value_is_small_whatever_was_returned() {
    let kept = Attribute::live("kept", "Long.", |_| "x".repeat(1 << 20)).cache(Cache::Session);
    let large = Attribute::live("large", "Large.", |_| vec![1_000_000; 10_000]).cache(Cache::Turn);
    let stage = stage(observed(kept).attribute(large.level(Level::Metadata))).await;
    let mut turn = turn(&stage.session("s1").await).await;
    for _ in 0..2 {
        let view = turn.view().await.unwrap();
        let kept = observation(view.snapshot("observed"), "kept");
        assert!(
            kept["value"]
                .as_str()
                .unwrap()
                .ends_with("more characters]")
        );
        let large = observation(view.snapshot("observed"), "large");
        assert_eq!(large["status"], "limit_exceeded");
    }
}
