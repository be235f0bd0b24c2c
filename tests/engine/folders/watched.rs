//! Folders that are watched: an engine refreshes by itself.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skills_engine::Engine;
use skills_engine::engine::RefreshReport;
use skills_engine::source::{SkillFolders, SkillRoot};
use skills_engine::testing::ManualClock;
use tests::{bare, session, turn, until};

use super::scratch::{Scratch, main_file};

type Reports = Arc<Mutex<Vec<RefreshReport>>>;

/// An engine over watched folders, and what its refreshes did.
async fn watched(scratch: &Scratch) -> (Engine, Reports) {
    watching(scratch.user("skills")).await
}

async fn watching(folders: SkillFolders) -> (Engine, Reports) {
    let reports = Reports::default();
    let kept = Arc::clone(&reports);
    let engine = bare()
        .source(folders.watch())
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
    next(reports).await
}

/// The first report that says something.
async fn next(reports: &Reports) -> RefreshReport {
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

/// Makes a change and waits until an engine has a skill with a description.
async fn shown(engine: &Engine, (id, description): (&str, &str), change: impl FnOnce()) {
    change();
    until(|| {
        let skills = engine.skills().into_iter();
        let described = skills.map(|skill| skill.definition().description.to_string());
        let ids = engine.skills().into_iter();
        let ids = ids.map(|skill| skill.definition().id.to_string());
        ids.zip(described)
            .any(|(it, text)| it == id && text == description)
    })
    .await;
}

/// Whether the system watches a folder for this process.
#[cfg(target_os = "linux")]
fn is_watched(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let number = format!("ino:{:x} ", folder.metadata().unwrap().ino());
    let descriptors = fs::read_dir("/proc/self/fdinfo").unwrap();
    descriptors.filter_map(Result::ok).any(|descriptor| {
        // It may have been closed in the meantime.
        let told = fs::read_to_string(descriptor.path()).unwrap_or_default();
        let mut lines = told.lines();
        lines.any(|line| line.starts_with("inotify ") && line.contains(&number))
    })
}

#[tokio::test]
async fn se4_roots_may_come_late_vanish_and_come_back() {
    let scratch = Scratch::new();
    let (_engine, reports) = watching(scratch.user("project/.agents/skills")).await;
    let put = || scratch.skill("project/.agents/skills/notes", "notes", "Takes notes.");
    for _ in 0..2 {
        assert_eq!(told(&reports, put).await.added, ["notes"]);
        for gone in ["project/.agents/skills", "project/.agents", "project"] {
            let removed = told(&reports, || scratch.remove(gone)).await;
            assert_eq!(removed.removed, ["notes"], "{gone}");
            assert_eq!(removed.diagnostics.len(), 1, "{gone}: the root is missing");
            assert_eq!(told(&reports, put).await.added, ["notes"], "{gone}");
        }
        let removed = told(&reports, || scratch.remove("project")).await;
        assert_eq!(removed.removed, ["notes"]);
    }
}

#[tokio::test]
async fn se4_a_folder_far_above_a_root_may_be_replaced() {
    let scratch = Scratch::new();
    scratch.skill("a/b/c/d/skills/notes", "notes", "Old.");
    scratch.skill("other/c/d/skills/notes", "notes", "New.");
    let (engine, _reports) = watching(scratch.user("a/b/c/d/skills")).await;
    let replace = || {
        fs::rename(scratch.at("a/b"), scratch.at("away")).unwrap();
        fs::rename(scratch.at("other"), scratch.at("a/b")).unwrap();
    };
    shown(&engine, ("notes", "New."), replace).await;
    // What is there now is watched, and what was there no more.
    #[cfg(target_os = "linux")]
    {
        until(|| is_watched(&scratch.at("a/b/c/d/skills/notes"))).await;
        until(|| !is_watched(&scratch.at("away/c/d/skills/notes"))).await;
        assert!(!is_watched(&scratch.at("away")));
    }
    let edit = || scratch.skill("a/b/c/d/skills/notes", "notes", "New, edited.");
    shown(&engine, ("notes", "New, edited."), edit).await;
    let bring_back = || {
        fs::rename(scratch.at("a"), scratch.at("gone")).unwrap();
        fs::create_dir_all(scratch.at("a")).unwrap();
        fs::rename(scratch.at("away"), scratch.at("a/b")).unwrap();
    };
    shown(&engine, ("notes", "Old."), bring_back).await;
}

#[tokio::test]
async fn se4_a_folder_that_is_made_again_is_watched_again() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let (engine, _reports) = watched(&scratch).await;
    for round in 0..3 {
        for folder in ["skills/notes", "skills"] {
            let again = format!("Again {folder} {round}");
            let make = || {
                // File systems are quick to give the same number again.
                scratch.remove(folder);
                scratch.skill("skills/notes", "notes", &again);
            };
            shown(&engine, ("notes", &again), make).await;
            let edited = format!("Edited {folder} {round}");
            let edit = || scratch.skill("skills/notes", "notes", &edited);
            shown(&engine, ("notes", &edited), edit).await;
        }
    }
}

#[tokio::test]
async fn se4_a_folder_that_is_renamed_is_watched_under_its_new_name() {
    let scratch = Scratch::new();
    scratch.skill("skills/more/review", "review", "Reviews.");
    scratch.skill("skills/other/notes", "notes", "Takes notes.");
    let (engine, _reports) = watched(&scratch).await;
    let rename = || {
        fs::rename(scratch.at("skills/more"), scratch.at("skills/less")).unwrap();
        scratch.skill("skills/less/review", "review", "Reviews much.");
    };
    shown(&engine, ("review", "Reviews much."), rename).await;
    let edit = || scratch.skill("skills/less/review", "review", "Reviews less.");
    shown(&engine, ("review", "Reviews less."), edit).await;
    // Two folders that change their places.
    let swap = || {
        fs::rename(scratch.at("skills/less"), scratch.at("skills/third")).unwrap();
        fs::rename(scratch.at("skills/other"), scratch.at("skills/less")).unwrap();
        fs::rename(scratch.at("skills/third"), scratch.at("skills/other")).unwrap();
        scratch.skill("skills/last", "last", "Comes last.");
    };
    shown(&engine, ("last", "Comes last."), swap).await;
    for (folder, name) in [("less/notes", "notes"), ("other/review", "review")] {
        let edit = || scratch.skill(&format!("skills/{folder}"), name, "After the swap.");
        shown(&engine, (name, "After the swap."), edit).await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn se4_links_are_watched_with_what_they_lead_to() {
    let scratch = Scratch::new();
    scratch.skill("one/skills/notes", "notes", "One.");
    scratch.skill("two/skills/notes", "notes", "Two.");
    scratch.skill("shared/review", "review", "One.");
    scratch.link(scratch.at("one"), "chain");
    scratch.link("chain", "current");
    scratch.link(scratch.at("shared/review"), "one/skills/review");
    scratch.link(scratch.at("late/deploy"), "one/skills/deploy");
    scratch.put("texts/main.md", main_file("linked", "One.", "Body."));
    scratch.link(scratch.at("texts/main.md"), "one/skills/linked/SKILL.md");
    let (engine, _reports) = watching(scratch.user("current/skills")).await;

    let edit = || scratch.skill("shared/review", "review", "Two.");
    shown(&engine, ("review", "Two."), edit).await;
    let replace = || {
        fs::rename(scratch.at("shared"), scratch.at("away")).unwrap();
        scratch.skill("shared/review", "review", "Three.");
    };
    shown(&engine, ("review", "Three."), replace).await;
    let edit = || scratch.put("texts/main.md", main_file("linked", "Two.", "Body."));
    shown(&engine, ("linked", "Two."), edit).await;
    let come = || scratch.skill("late/deploy", "deploy", "Deploys.");
    shown(&engine, ("deploy", "Deploys."), come).await;
    // A link in the middle of those that lead to the root.
    let retarget = || {
        scratch.link(scratch.at("two"), "next");
        fs::rename(scratch.at("next"), scratch.at("chain")).unwrap();
    };
    shown(&engine, ("notes", "Two."), retarget).await;
    let edit = || scratch.skill("two/skills/notes", "notes", "Again.");
    shown(&engine, ("notes", "Again."), edit).await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn se4_only_what_is_searched_is_watched() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    scratch.put("skills/notes/references/deep/more.md", "more");
    scratch.put("skills/notes/.git/objects/object", "");
    scratch.put("tree/a/b/c/d/e/f/g/h/file", "");
    scratch.put("tree/node_modules/package/file", "");
    scratch.put("tree/.hidden/folder/file", "");
    scratch.link(scratch.at("tree"), "skills/tree");
    scratch.skill("project/skills/review", "review", "Reviews.");
    let project = scratch.at("project");
    let untrusted = SkillRoot::project(project.join("skills"), &project).trusted(false);
    let (engine, _reports) = watching(scratch.user("skills").root(untrusted)).await;
    let watched = [
        "",
        "skills",
        "skills/notes",
        "skills/notes/references/deep",
        "tree",
        "tree/a/b/c/d/e",
    ];
    for folder in watched {
        assert!(is_watched(&scratch.at(folder)), "{folder}");
    }
    let others = [
        "skills/notes/.git",
        "skills/notes/.git/objects",
        "tree/a/b/c/d/e/f/g",
        "tree/a/b/c/d/e/f/g/h",
        "tree/node_modules",
        "tree/node_modules/package",
        "tree/.hidden",
        "project",
        "project/skills",
        "project/skills/review",
    ];
    for folder in others {
        assert!(!is_watched(&scratch.at(folder)), "{folder}");
    }
    drop(engine);
    until(|| !is_watched(&scratch.at("skills"))).await;
}

#[tokio::test]
async fn se4_after_a_flood_of_changes_the_next_one_is_seen() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let (engine, _reports) = watched(&scratch).await;
    let flood = || {
        // Each unlike the one before, or the system would tell of one.
        let files = ["skills/one", "skills/two"].map(|file| scratch.at(file));
        for file in &files {
            fs::write(file, "").unwrap();
        }
        let permissions = fs::metadata(&files[0]).unwrap().permissions();
        for count in 0..20_000 {
            fs::set_permissions(&files[count % 2], permissions.clone()).unwrap();
        }
        scratch.skill("skills/notes", "notes", "After the flood.");
    };
    shown(&engine, ("notes", "After the flood."), flood).await;
    let edit = || scratch.skill("skills/notes", "notes", "Later.");
    shown(&engine, ("notes", "Later."), edit).await;
}
