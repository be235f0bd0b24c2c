//! Files and folders that were left alone for long, so that a scan goes by their times, sizes and numbers.

use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use skills_engine::skill::{Skill as _, Timestamp};
use skills_engine::source::{FolderReport, SkillFolders};
use skills_engine::testing::ManualClock;

use super::scratch::{Scratch, content, main_file, only, resources};

/// Makes everything below a folder look as if it were from 2001.
fn age(path: &Path) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            age(&entry.unwrap().path());
        }
    }
    let old = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    let opened = File::open(path).unwrap();
    // Some systems let nobody set the times of what is open for reading; there, what is young is read anyhow.
    let _ = opened.set_modified(old);
}

/// Folders that are scanned far in the future, when nothing is young any more.
fn late(scratch: &Scratch) -> SkillFolders {
    let clock = ManualClock::new(Timestamp(4_000_000_000_000));
    scratch.user("skills").clock(Arc::new(clock))
}

fn old_skill() -> Scratch {
    let scratch = Scratch::new();
    scratch.skill("skills/group/notes", "notes", "Takes notes.");
    scratch.put("skills/group/notes/references/deep/api.md", "api");
    scratch.put("skills/group/notes/scripts/run.sh", "run");
    age(scratch.path());
    scratch
}

async fn scan(folders: &SkillFolders) -> FolderReport {
    let report = folders.scan().await.unwrap();
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    report
}

#[tokio::test]
async fn se4_each_change_in_an_old_folder_is_seen() {
    type Change = (&'static str, fn(&Scratch));
    let changes: [Change; 9] = [
        ("another description, as long", |scratch| {
            scratch.skill("skills/group/notes", "notes", "Makes notes.");
        }),
        ("another body, as long", |scratch| {
            let text = main_file("notes", "Takes notes.", "Body of n0tes.");
            scratch.put("skills/group/notes/SKILL.md", text);
        }),
        ("a file that replaces another one", |scratch| {
            scratch.skill("other", "notes", "Other notes.");
            age(&scratch.at("other"));
            let main = scratch.at("skills/group/notes/SKILL.md");
            fs::rename(scratch.at("other/SKILL.md"), main).unwrap();
        }),
        ("a new file", |scratch| {
            scratch.put("skills/group/notes/readme.md", "");
        }),
        ("a new file below", |scratch| {
            scratch.put("skills/group/notes/references/deep/more.md", "");
        }),
        ("a new folder", |scratch| {
            scratch.put("skills/group/notes/assets/logo.svg", "");
        }),
        ("a file that grew", |scratch| {
            scratch.put("skills/group/notes/references/deep/api.md", "apis");
        }),
        ("a file that went", |scratch| {
            scratch.remove("skills/group/notes/scripts/run.sh");
        }),
        ("a file with another name", |scratch| {
            let from = scratch.at("skills/group/notes/scripts/run.sh");
            fs::rename(from, scratch.at("skills/group/notes/scripts/go.sh")).unwrap();
        }),
    ];
    for (name, change) in changes {
        let scratch = old_skill();
        let folders = late(&scratch);
        let first = scan(&folders).await;
        let same = scan(&folders).await;
        assert!(Arc::ptr_eq(only(&first), only(&same)), "{name}");
        change(&scratch);
        let second = scan(&folders).await;
        let edited = only(&second);
        assert!(!Arc::ptr_eq(only(&first), edited), "{name}");
        // It is what a source that knows nothing of before finds.
        let fresh = scan(&late(&scratch)).await;
        let fresh = only(&fresh);
        assert_eq!(
            edited.definition().description,
            fresh.definition().description,
            "{name}"
        );
        assert_eq!(content(edited).digest(), content(fresh).digest(), "{name}");
        assert_eq!(resources(edited), resources(fresh), "{name}");
        assert_eq!(
            content(edited).resources(),
            content(fresh).resources(),
            "{name}"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn se4_a_file_that_becomes_executable_is_a_change() {
    use std::os::unix::fs::PermissionsExt as _;

    let scratch = old_skill();
    let folders = late(&scratch);
    let is_executable = |report: &FolderReport| content(only(report)).resources()[1].is_executable;
    assert!(!is_executable(&scan(&folders).await));
    let script = scratch.at("skills/group/notes/scripts/run.sh");
    fs::set_permissions(script, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(is_executable(&scan(&folders).await));
}

#[cfg(unix)]
#[tokio::test]
async fn se4_what_a_link_leads_to_is_looked_at_however_old_it_is() {
    let scratch = old_skill();
    scratch.put(
        "elsewhere/SKILL.md",
        main_file("linked", "The first.", "One."),
    );
    scratch.put(
        "elsewhere/other.md",
        main_file("linked", "The other.", "Two."),
    );
    scratch.remove("skills/group");
    scratch.link("../../elsewhere/SKILL.md", "skills/linked/SKILL.md");
    scratch.put("skills/linked/references/a.md", "a");
    scratch.link("references/a.md", "skills/linked/b.md");
    age(&scratch.at("elsewhere"));
    age(&scratch.at("skills"));
    let folders = late(&scratch);
    let description = |report: &FolderReport| only(report).definition().description.to_string();
    let first = scan(&folders).await;
    assert_eq!(description(&first), "The first.");
    assert_eq!(resources(only(&first)), ["b.md", "references/a.md"]);
    scratch.remove("skills/linked/SKILL.md");
    scratch.link("../../elsewhere/other.md", "skills/linked/SKILL.md");
    assert_eq!(description(&scan(&folders).await), "The other.");
    scratch.put(
        "elsewhere/other.md",
        main_file("linked", "Yet another.", "Three."),
    );
    assert_eq!(description(&scan(&folders).await), "Yet another.");
}

#[tokio::test]
async fn se4_a_skill_that_moves_is_another_one() {
    let scratch = old_skill();
    let folders = late(&scratch);
    let first = scan(&folders).await;
    fs::rename(scratch.at("skills/group"), scratch.at("skills/team")).unwrap();
    let moved = scan(&folders).await;
    assert!(!Arc::ptr_eq(only(&first), only(&moved)));
    assert_eq!(only(&moved).path(), scratch.at("skills/team/notes"));
    let part = content(only(&moved)).read("scripts/run.sh", 0, 10).await;
    assert_eq!(part.unwrap().bytes, b"run");
}
