//! Changes that meet: at the same time, half done, cancelled, with a store or a sink that fails meanwhile.

mod unwritten;

use std::collections::BTreeSet;
use std::pin::pin;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skills_engine::engine::EngineBuilder;
use skills_engine::skill::{Actor, Clock as _, Code, Fault, TurnRequest, VisibilityChange};
use skills_engine::{Level, Principal, Session, Span};

use super::changes::{Kind, base, stored_level};
use super::stage::{
    Behavior, Entry, Operation, Stage, Store, level, outlines, sees, settle, skill, turn,
};

const FLOOR: Span = Span::UntilCleared;

fn many_skills(builder: EngineBuilder) -> EngineBuilder {
    (0..64).fold(builder, |builder, number| {
        let id: &'static str = format!("skill-{number:02}").leak();
        builder.with_skill(skill(id).build().unwrap())
    })
}

async fn open(session: &Session, skill: &str, to: Level) -> Result<VisibilityChange, Fault> {
    session.open(skill, to, FLOOR, "because").await
}

/// Polls a future `polls` times, other tasks running in between, and then drops it.
async fn drop_after<T>(polls: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..polls {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return Some(output);
        }
        // One turn for the writers of the audit log.
        tokio::task::yield_now().await;
    }
    None
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn se10_sessions_toggled_ten_thousand_times_never_influence_each_other() {
    let stage = Stage::new().await;
    let sessions = [stage.session("left").await, stage.session("right").await];
    let tasks = (0..8).map(|task| {
        let session = sessions[task % 2].clone();
        let (own, other) = [("alpha", "beta"), ("beta", "alpha")][task % 2];
        tokio::spawn(async move {
            let mut conflicts = 0;
            for round in 0..1_250 {
                let to = Level::ALL[(round + task) % 3];
                match open(&session, own, to).await {
                    Ok(change) => assert_eq!(change.skill, own),
                    Err(fault) => {
                        assert_eq!(fault.code, Code::Conflict);
                        conflicts += 1;
                    }
                }
                assert_eq!(level(&session, other), Level::Metadata);
            }
            conflicts
        })
    });
    let mut conflicts = 0;
    for task in tasks.collect::<Vec<_>>() {
        conflicts += task.await.unwrap();
    }
    let changes = stage.changes().await;
    for (session, skill) in sessions.iter().zip(["alpha", "beta"]) {
        let stored = stage.store.state(session).await;
        assert!(stored.skills().all(|(id, _)| **id == *skill));
        let standing = stored.standing(skill).highest_floor();
        assert_eq!(level(session, skill), standing.unwrap_or(Level::Metadata));
        let own = || {
            changes
                .iter()
                .filter(|entry| entry.session.as_deref() == Some(session.id().as_str()))
        };
        assert!(own().all(|entry| entry.field("skill") == skill));
        // Records stand in the order of the changes, so each begins where the one before it ended, but for tasks that
        // write at the same time; whatever their order, as many went up as came down, to where the session is now.
        let height = |name: &str| {
            let rank = |entry: &&Entry| {
                let level = Level::ALL
                    .iter()
                    .position(|level| level.as_str() == entry.field(name));
                level.unwrap()
            };
            own().map(|entry| rank(&entry)).sum::<usize>()
        };
        assert_eq!(
            height("new") - height("old"),
            level(session, skill) as usize
        );
    }
    let conflicting = changes
        .iter()
        .filter(|entry| entry.field("change") == "conflict");
    assert_eq!(conflicting.count(), conflicts);
}

#[tokio::test]
async fn se10_of_64_concurrent_changes_none_is_lost_and_each_has_one_record() {
    let stage = Stage::with(2, many_skills).await;
    let session = stage.session("s1").await;
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let session = session.clone();
            let name = format!("skill-{number:02}");
            tokio::spawn(async move { (open(&session, &name, Level::Context).await, name) })
        })
        .collect();
    let (mut made, mut refused) = (BTreeSet::new(), BTreeSet::new());
    for task in tasks {
        let (result, name) = task.await.unwrap();
        match result {
            Ok(_) => made.insert(name),
            Err(fault) => {
                assert_eq!(fault.code, Code::Conflict, "{fault}");
                refused.insert(name)
            }
        };
    }
    assert!(
        stage.store.conflicts.load(Ordering::Relaxed) > 64,
        "nothing met, so nothing was tested"
    );
    let stored = stage.store.state(&session).await;
    let open: BTreeSet<_> = stored.skills().map(|(id, _)| id.to_string()).collect();
    assert_eq!(open, made);
    for name in &made {
        assert_eq!(level(&session, name), Level::Context);
    }
    let changes = stage.changes().await;
    let of = |change: &str| -> Vec<String> {
        let mut skills: Vec<_> = changes
            .iter()
            .filter(|entry| entry.field("change") == change)
            .map(|entry| entry.field("skill").to_owned())
            .collect();
        skills.sort();
        skills
    };
    assert_eq!(of("granted"), made.into_iter().collect::<Vec<_>>());
    assert_eq!(of("conflict"), refused.into_iter().collect::<Vec<_>>());
    assert_eq!(changes.len(), 64);
}

#[tokio::test]
async fn se10_a_read_that_was_overtaken_takes_nothing_back() {
    let stage = Stage::yielding(3).await;
    let session = stage.session("s1").await;
    open(&session, "alpha", Level::Complete).await.unwrap();
    // The read has its answer and is on its way back when the limit is set.
    let mut read = pin!(session.turn(TurnRequest::empty()));
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..4 {
        assert!(read.as_mut().poll(&mut cx).is_pending());
        tokio::task::yield_now().await;
    }
    session.limit("alpha", Level::Metadata).await.unwrap();
    let mut turn = read.await.unwrap();
    assert_eq!(level(&session, "alpha"), Level::Metadata);
    assert!(!sees(&mut turn, "alpha__act").await);
}

#[tokio::test]
async fn se10_a_failed_change_does_not_take_back_the_one_that_came_instead() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    stage.store.set(Operation::Apply, Behavior::Fail);
    let failed = open(&session, "alpha", Level::Context).await;
    assert_eq!(failed.unwrap_err().code, Code::StoreUnavailable);
    stage.store.set(Operation::Apply, Behavior::Work);
    open(&session, "alpha", Level::Context).await.unwrap();
    settle().await;
    assert_eq!(level(&session, "alpha"), Level::Context);
    let stored = stage.store.state(&session).await;
    assert!(stored.standing("alpha").floor(Actor::Host).is_some());
    assert_eq!(
        outlines(&stage.changes().await),
        [
            "alpha refused METADATA>METADATA",
            "alpha granted METADATA>CONTEXT"
        ]
    );
}

/// What must hold whenever everything has come to rest.
async fn assert_consistent(stage: &Stage, session: &Session, case: &str) {
    settle().await;
    for skill in ["alpha", "beta", "gamma"] {
        let mut last = None;
        for entry in stage.changes().await {
            if entry.field("skill") != skill {
                continue;
            }
            match entry.field("change") {
                "refused" | "conflict" => {}
                _ => last = Some(entry.field("new").to_owned()),
            }
        }
        let known = level(session, skill);
        let written = last.unwrap_or(base(skill).to_string());
        assert_eq!(
            known.to_string(),
            written,
            "{case}: {skill} and its records"
        );
        let stored = stored_level(stage, session, skill).await;
        assert_eq!(known, stored, "{case}: {skill} and what is stored");
    }
    // Nothing is stuck: the next change goes through.
    open(session, "beta", Level::Complete).await.unwrap();
    assert_eq!(level(session, "beta"), Level::Complete, "{case}");
}

#[tokio::test]
async fn se10_a_change_may_be_dropped_wherever_it_waits() {
    for kind in Kind::ALL {
        let mut is_done = false;
        for polls in 0..64 {
            let case = format!("{kind:?} dropped after {polls} polls");
            let stage = Stage::yielding(2).await;
            let session = stage.session("s1").await;
            kind.prepare(&session).await;
            let done = drop_after(polls, kind.make(&session)).await;
            assert_consistent(&stage, &session, &case).await;
            if let Some(result) = done {
                result.unwrap();
                is_done = true;
                break;
            }
        }
        assert!(is_done, "{kind:?} takes more polls than were tried");
    }
}

#[tokio::test]
async fn se10_dropping_the_end_of_a_session_leaves_none_stuck() {
    for polls in 0..16 {
        let stage = Stage::yielding(2).await;
        let session = stage.session("s1").await;
        open(&session, "alpha", Level::Complete).await.unwrap();
        let done = drop_after(polls, session.end("enough")).await;
        settle().await;
        let again = stage.session("s1").await;
        let expected = if polls == 0 {
            Level::Complete
        } else {
            Level::Metadata
        };
        again.visibility().await.unwrap();
        assert_eq!(level(&again, "alpha"), expected, "after {polls} polls");
        open(&again, "beta", Level::Context).await.unwrap();
        if done.is_some() {
            return;
        }
    }
    panic!("ending takes more polls than were tried");
}

#[tokio::test]
async fn se10_a_change_that_meets_the_end_of_its_session_does_not_outlive_it() {
    for polls in 0..32 {
        let stage = Stage::yielding(1).await;
        stage.store.slow_down_changes(8);
        let session = stage.session("s1").await;
        let mut change = pin!(open(&session, "alpha", Level::Complete));
        let mut cx = Context::from_waker(Waker::noop());
        let mut made = None;
        for _ in 0..polls {
            if let Poll::Ready(result) = change.as_mut().poll(&mut cx) {
                made = Some(result);
                break;
            }
            tokio::task::yield_now().await;
        }
        let is_done = made.is_some();
        let ending = session.clone();
        let end = tokio::spawn(async move { ending.end("enough").await });
        if !is_done {
            made = Some(change.await);
        }
        end.await.unwrap().unwrap();
        settle().await;
        assert!(
            stage.store.inner.is_empty(),
            "after {polls} polls: {made:?}"
        );
        let next = stage.session("s1").await;
        assert_eq!(level(&next, "alpha"), Level::Metadata);
        if is_done {
            return;
        }
    }
    panic!("a change takes more polls than were tried");
}

#[tokio::test]
async fn a_store_that_misbehaves_at_any_operation_opens_nothing_without_a_record() {
    use Behavior::{Fail, Hang, WorkAndFail, WorkAndHang};
    for operation in [Operation::Load, Operation::Apply] {
        for behavior in [Fail, Hang, WorkAndFail, WorkAndHang] {
            for kind in Kind::ALL {
                let case = format!("{kind:?} while {operation:?} does {behavior:?}");
                let stage = Stage::new().await;
                let session = stage.session("s1").await;
                kind.prepare(&session).await;
                let before = [level(&session, "alpha"), level(&session, "gamma")];
                stage.store.set(operation, behavior);
                let from = stage.clock.now();
                let result = stage.while_time_passes(kind.make(&session)).await;
                let took = stage.clock.now().since(from);
                assert_eq!(result.unwrap_err().code, Code::StoreUnavailable, "{case}");
                assert!(took <= Duration::from_millis(2_100), "{case}: {took:?}");
                if kind.raises() {
                    let after = [level(&session, "alpha"), level(&session, "gamma")];
                    assert_eq!(after, before, "{case}");
                }
                // Also while it goes on: what stands without a record does not count.
                stage.pass(Duration::from_secs(1), 5).await;
                if kind.raises() {
                    let after = [level(&session, "alpha"), level(&session, "gamma")];
                    assert_eq!(after, before, "{case}");
                }
                stage.store.set(operation, Behavior::Work);
                session.visibility().await.unwrap();
                assert_consistent(&stage, &session, &case).await;
            }
        }
    }
}

#[tokio::test]
async fn a_store_that_misbehaves_keeps_sessions_from_beginning_and_ending() {
    for behavior in [Behavior::Fail, Behavior::Hang] {
        let stage = Stage::new().await;
        let session = stage.session("s1").await;
        open(&session, "alpha", Level::Context).await.unwrap();
        stage.store.set_all(behavior);
        let principal = Principal::new("ada", [] as [&str; 0]);
        let begun = stage
            .while_time_passes(stage.engine.session(principal, "s2"))
            .await;
        assert_eq!(begun.unwrap_err().code, Code::StoreUnavailable);
        let ended = stage.while_time_passes(session.end("enough")).await;
        assert_eq!(ended.unwrap_err().code, Code::StoreUnavailable);
        stage.store.set_all(Behavior::Work);
        assert_eq!(level(&session, "alpha"), Level::Context);
        session.end("enough").await.unwrap();
        assert_eq!(stage.engine.session_count(), 0);
        assert!(stage.store.inner.is_empty());
    }
}

#[tokio::test]
async fn reaping_goes_on_after_a_session_whose_end_was_dropped() {
    let stage = Stage::yielding(1).await;
    for number in 0..300 {
        let session = stage.session(&format!("s{number}")).await;
        drop_after(1, session.end("enough")).await;
    }
    settle().await;
    stage.pass(Duration::from_secs(60), 3).await;
    stage.pass(Duration::from_secs(24 * 3_600), 3).await;
    assert_eq!(stage.engine.session_count(), 0);
}

#[tokio::test]
async fn a_store_that_cannot_forget_one_idle_session_is_asked_for_no_other_in_that_sweep() {
    let stage = Stage::new().await;
    for number in 0..5 {
        stage.session(&format!("s{number}")).await;
    }
    stage.pass(Duration::from_secs(60), 3).await;
    stage.store.set(Operation::Remove, Behavior::Fail);
    stage.pass(Duration::from_secs(24 * 3_600), 1).await;
    assert_eq!(stage.engine.session_count(), 5);
    assert_eq!(stage.store.removals.load(Ordering::Relaxed), 1);
    stage.store.set(Operation::Remove, Behavior::Work);
    stage.pass(Duration::from_secs(60), 1).await;
    assert_eq!(stage.engine.session_count(), 0);
}

#[tokio::test]
async fn a_grant_of_a_turn_made_beside_an_unwritten_change_still_yields_to_the_host() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    // The change is stored, and neither confirmed nor taken back.
    stage.store.set(Operation::Apply, Behavior::WorkAndFail);
    stage.store.set(Operation::Load, Behavior::WorkAndFail);
    let failed = session.open("alpha", Level::Context, FLOOR, "").await;
    assert_eq!(failed.unwrap_err().code, Code::StoreUnavailable);
    settle().await;
    turn.open("beta", Level::Complete, "").await.unwrap();
    stage.store.set_all(Behavior::Work);
    assert!(sees(&mut turn, "beta__finish").await);
    session.clear("beta").await.unwrap();
    assert!(!sees(&mut turn, "beta__finish").await);
}

#[tokio::test]
async fn se10_principals_beyond_their_number_of_sessions_are_refused_also_at_once() {
    let stage = Stage::with(1, |builder| {
        let mut limits = skills_engine::skill::Limits::default();
        limits.sessions_per_principal = 3;
        builder.limits(limits)
    })
    .await;
    let tasks: Vec<_> = (0..10)
        .map(|number| {
            let engine = stage.engine.clone();
            let principal = Principal::new("ada", [] as [&str; 0]);
            tokio::spawn(async move { engine.session(principal, &format!("s{number}")).await })
        })
        .collect();
    let mut begun = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(_) => begun += 1,
            Err(fault) => assert_eq!(fault.code, Code::LimitExceeded),
        }
    }
    assert_eq!((begun, stage.engine.session_count()), (3, 3));
}

#[tokio::test]
async fn one_store_serves_two_engines_that_see_each_others_changes() {
    let store = Store::yielding(0);
    let build = || {
        let store = std::sync::Arc::clone(&store);
        Stage::with(0, move |builder| builder.store(store))
    };
    let (left, right) = (build().await, build().await);
    let (here, there) = (left.session("s1").await, right.session("s1").await);
    open(&here, "alpha", Level::Complete).await.unwrap();
    there.limit("alpha", Level::Context).await.unwrap();
    assert_eq!(level(&there, "alpha"), Level::Context);
    here.visibility().await.unwrap();
    assert_eq!(level(&here, "alpha"), Level::Context);
}
