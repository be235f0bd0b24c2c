//! Folders that are watched: an engine refreshes by itself.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use skills_engine::Engine;
use skills_engine::engine::RefreshReport;
use skills_engine::testing::ManualClock;
use tests::{bare, session, turn, until};

use super::scratch::{Scratch, main_file};

type Reports = Arc<Mutex<Vec<RefreshReport>>>;

/// An engine over watched folders, and what its refreshes did.
async fn watched(scratch: &Scratch) -> (Engine, Reports) {
    let reports = Reports::default();
    let kept = Arc::clone(&reports);
    let engine = bare()
        .source(scratch.user("skills").watch())
        .on_refresh(move |report| kept.lock().unwrap().push(report.clone()))
        .build()
        .await
        .unwrap();
    (engine, reports)
}

/// The first report after a change that says something.
async fn told(reports: &Reports, change: impl FnOnce()) -> RefreshReport {
    reports.lock().unwrap().clear();
    change();
    let said = |report: &&RefreshReport| {
        let RefreshReport {
            added,
            changed,
            removed,
            failed,
            ..
        } = report;
        !(added.is_empty() && changed.is_empty() && removed.is_empty() && failed.is_empty())
    };
    until(|| reports.lock().unwrap().iter().any(|report| said(&report))).await;
    let reports = reports.lock().unwrap();
    reports.iter().find(said).unwrap().clone()
}

#[tokio::test]
async fn se4_a_watcher_sees_what_is_added_edited_renamed_broken_and_deleted() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let (engine, reports) = watched(&scratch).await;
    let session = session(&engine).await;
    let mut running = turn(&session).await;
    running.view().await.unwrap();

    let added = told(&reports, || {
        scratch.skill("skills/deploy", "deploy", "Deploys.");
    });
    assert_eq!(added.await.added, ["deploy"]);
    let edited = told(&reports, || {
        let text = main_file("notes", "Takes notes.", "Another body.");
        scratch.put("skills/notes/SKILL.md", text);
    });
    assert_eq!(edited.await.changed, ["notes"]);
    let broken = told(&reports, || {
        scratch.put("skills/notes/SKILL.md", "---\nname: [\n---\n");
    });
    assert_eq!(broken.await.failed.len(), 1);
    let deleted = told(&reports, || scratch.remove("skills/notes")).await;
    assert_eq!(deleted.removed, ["notes"]);
    let renamed = told(&reports, || {
        let text = main_file("release", "Deploys.", "Body.");
        scratch.put("skills/deploy/SKILL.md", text);
    });
    let renamed = renamed.await;
    assert_eq!(
        (&*renamed.added[0], &*renamed.removed[0]),
        ("release", "deploy")
    );

    assert!(running.view().await.unwrap().is_unchanged());
    let mut next = turn(&session).await;
    let view = next.view().await.unwrap();
    assert!(view.level("release").is_some());
    assert!(view.level("notes").is_none());
}

#[tokio::test]
async fn se4_a_root_that_goes_is_watched_for_until_it_is_back() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let (_engine, reports) = watched(&scratch).await;
    let gone = told(&reports, || scratch.remove("skills")).await;
    assert_eq!(gone.removed, ["notes"]);
    let back = told(&reports, || {
        scratch.skill("skills/notes", "notes", "Takes notes.");
    });
    assert_eq!(back.await.added, ["notes"]);
    let more = told(&reports, || {
        scratch.skill("skills/deploy", "deploy", "Deploys.");
    });
    assert_eq!(more.await.added, ["deploy"]);
}

#[tokio::test]
async fn se4_files_must_be_left_alone_by_the_clock_of_the_engine() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let clock = Arc::new(ManualClock::default());
    let reports = Reports::default();
    let kept = Arc::clone(&reports);
    let _engine = bare()
        .clock(clock.clone())
        .source(scratch.user("skills").watch())
        .on_refresh(move |report| kept.lock().unwrap().push(report.clone()))
        .build()
        .await
        .unwrap();
    scratch.skill("skills/one", "one", "One.");
    // Beside the reaper, who waits for quiet sleeps.
    until(|| clock.sleepers() == 2).await;
    assert!(reports.lock().unwrap().is_empty());
    // Not for ever: while it refreshes, who waits for the source sleeps.
    for _ in 0..100 {
        until(|| clock.sleepers() == 2 || !reports.lock().unwrap().is_empty()).await;
        clock.advance(Duration::from_millis(20));
    }
    until(|| !reports.lock().unwrap().is_empty()).await;
    assert_eq!(reports.lock().unwrap()[0].added, ["one"]);
}

#[tokio::test]
async fn se4_nothing_of_a_watcher_outlives_its_engine() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let (engine, reports) = watched(&scratch).await;
    assert_eq!(Arc::strong_count(&reports), 2);
    drop(engine);
    until(|| Arc::strong_count(&reports) == 1).await;
}
