//! Skills from 5,000 folders, each with a header of ten lines, a body of 2 KB and two more files.

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use divan::Bencher;
use divan::counter::ItemsCount;
use skills_engine::Engine;
use skills_engine::source::{FolderReport, Linked, SkillFolders};
use tokio::runtime::Runtime;

const FOLDERS: usize = 5_000;

/// The folders, made anew by each run of this program and left behind for whoever wants to look at them.
fn root() -> &'static PathBuf {
    static ROOT: OnceLock<PathBuf> = OnceLock::new();
    ROOT.get_or_init(|| {
        let root = std::env::temp_dir().join("skills-engine-bench-folders");
        let _ = fs::remove_dir_all(&root);
        let line = "Look at what there is before anything is changed, and say what was done.\n";
        let body = format!("# How it is done\n\n{}", line.repeat(2_048 / line.len()));
        for number in 0..FOLDERS {
            let name = format!("skill-{number}");
            let folder = root.join(format!("group-{}", number / 100)).join(&name);
            for below in ["references", "scripts"] {
                fs::create_dir_all(folder.join(below)).expect("folders can be made");
            }
            let main = format!(
                "---\nname: {name}\ndescription: Does the thing that has the number {number}, when somebody asks for it.\n\
                 license: MIT\ncompatibility: Needs a shell.\nmetadata:\n  author: somebody\n  version: \"1.{number}\"\n\
                 allowed-tools: Read Bash(git log:*)\n---\n{body}"
            );
            fs::write(folder.join("SKILL.md"), main).expect("files can be written");
            fs::write(folder.join("references/api.md"), line).expect("files can be written");
            fs::write(folder.join("scripts/run.sh"), line).expect("files can be written");
        }
        // Files that were changed a moment ago are always read again.
        std::thread::sleep(Duration::from_millis(2_500));
        root
    })
}

fn folders() -> SkillFolders {
    SkillFolders::new().user(root()).kept_bodies(0)
}

fn runtime() -> Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

fn scan(runtime: &Runtime, folders: &SkillFolders) -> FolderReport {
    let report = runtime.block_on(folders.scan()).expect("a scan");
    assert_eq!(report.skills.len(), FOLDERS);
    report
}

/// At most 250 ms.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn scanned_cold(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    bencher
        .counter(ItemsCount::new(FOLDERS))
        .with_inputs(folders)
        .bench_refs(|folders| scan(&runtime, folders));
}

/// At most 100 ms.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn scanned_again_without_change(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let folders = folders();
    drop(scan(&runtime, &folders));
    bencher
        .counter(ItemsCount::new(FOLDERS))
        .bench_local(|| scan(&runtime, &folders));
}

/// The same, with the engine's part of it.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn engine_refreshed_without_change(bencher: Bencher<'_, '_>) {
    let runtime = runtime();
    let builder = Engine::builder().linked(Linked::None).source(folders());
    let engine = runtime.block_on(builder.build()).expect("an engine");
    bencher
        .counter(ItemsCount::new(FOLDERS))
        .bench_local(|| runtime.block_on(engine.refresh()).expect("a report"));
}
