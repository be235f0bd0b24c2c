//! A linked crate's skills are found with no registration code, and one that is only listed is missed with advice. What
//! a crate embeds is what lies in its folder when it is built.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Guards against a hang; a cold build takes a tenth of it.
const MOST: Duration = Duration::from_secs(20 * 60);

#[track_caller]
fn printed(command: &mut Command) -> String {
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("it starts");
    let mut stdout = child.stdout.take().expect("its output is piped");
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut text = String::new();
        let read = stdout.read_to_string(&mut text);
        let _ = sender.send(read.map(|_| text));
    });
    let Ok(text) = receiver.recv_timeout(MOST) else {
        let _ = child.kill();
        panic!("{command:?} did not end");
    };
    let status = child.wait().expect("it ends");
    assert!(status.success(), "{command:?} failed");
    text.expect("it prints text")
}

#[track_caller]
fn assert_one_arrived(printed: &str) {
    let (skills, problem) = printed.split_at(printed.find("no skill of").unwrap_or(printed.len()));
    assert_eq!(
        skills,
        "escalate: 0 tools\n\
         helpdesk: 3 tools\n\
         psl-skill: 4 tools\n\
         helpdesk-skill: escalate, helpdesk\n\
         changed: 0\n\
         only it: escalate, helpdesk, psl-skill\n\
         only another: psl-skill\n\
         without: helpdesk, psl-skill\n\
         `builder.without(\"escalates\")` names no skill (did you mean `escalate`?); check the id\n"
    );
    assert_eq!(
        problem,
        "no skill of crate `renamed` arrived: either nothing uses the crate, so that it is not linked (write \
         `skills_engine::link!(renamed);`), or the build holds two versions of `skills-engine` (see `cargo tree -d`)\n"
    );
}

#[test]
fn se19_a_linked_skill_is_found_in_debug() {
    assert_one_arrived(&printed(&mut Command::new(env!("CARGO_BIN_EXE_linked"))));
}

// A linker that sees the whole program drops what nothing refers to; what the macros leave behind must stay.
#[test]
fn se19_a_linked_skill_is_found_in_release_with_fat_lto() {
    let target = concat!(env!("CARGO_TARGET_TMPDIR"), "/fat-lto");
    assert_one_arrived(&printed(
        Command::new(env!("CARGO"))
            .args(["run", "--quiet", "--locked", "--release", "--bin", "linked"])
            .args(["--config", "profile.release.lto=\"fat\""])
            .args(["--target-dir", target])
            .current_dir(env!("CARGO_MANIFEST_DIR")),
    ));
}

/// Embeds a folder and prints what is in it. It stands in for the framework, which takes long to build.
const PROGRAM: &str = r#"
#![allow(dead_code)]

mod framework {
    pub mod __private {
        #[derive(Clone, Copy)]
        pub struct Place;
        impl Place {
            pub const fn new(_: &str, _: u32, _: u32) -> Self { Self }
        }
        pub struct Origin;
        impl Origin {
            pub const fn new(_: &str, _: &str, _: &str, _: Place) -> Self { Self }
        }
        pub struct EmbeddedRoot {
            pub path: &'static str,
            pub origin: Origin,
            pub folders: &'static [EmbeddedFolder],
            pub too_deep: &'static [(&'static str, usize)],
        }
        pub struct EmbeddedFolder {
            pub path: &'static str,
            pub main_name: &'static str,
            pub main: Option<&'static [u8]>,
            pub files: &'static [EmbeddedFile],
            pub is_cut: bool,
        }
        pub struct EmbeddedFile {
            pub path: &'static str,
            pub bytes: &'static [u8],
            pub is_executable: bool,
        }
        pub struct EmbeddedSkills(&'static EmbeddedRoot);
        impl EmbeddedSkills {
            pub fn new(root: &'static EmbeddedRoot) -> Self { Self(root) }
            pub fn print(&self) {
                for folder in self.0.folders {
                    let main = folder.main.unwrap_or_default();
                    println!("{}: {}", folder.path, String::from_utf8_lossy(main));
                    for file in folder.files {
                        println!("{}/{}", folder.path, file.path);
                    }
                }
            }
        }
    }
}

fn main() {
    skills_engine_macros::embedded_skills!("skills", crate = crate::framework).print();
}
"#;

// What the guide tells authors to write: without it a build does not look for files that came.
const BUILD_SCRIPT: &str = r#"fn main() { println!("cargo::rerun-if-changed=skills"); }"#;

#[test]
fn se4_files_that_come_change_and_go_are_seen_by_the_next_build() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("embedding");
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let _ = fs::remove_dir_all(&folder);
    let put = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("it lies in the folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    let macros = here.join("../../skills-engine-macros");
    let manifest = format!(
        "[package]\nname = \"embedding\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nskills-engine-macros = {{ path = {macros:?} }}\n"
    );
    put("Cargo.toml", &manifest);
    fs::copy(here.join("../../Cargo.lock"), folder.join("Cargo.lock")).expect("copied");
    put("build.rs", BUILD_SCRIPT);
    put("src/main.rs", PROGRAM);
    put("skills/a/SKILL.md", "first");
    let run = || {
        printed(
            Command::new(env!("CARGO"))
                .args(["run", "--quiet", "--offline"])
                .args([
                    "--target-dir",
                    concat!(env!("CARGO_TARGET_TMPDIR"), "/embedded"),
                ])
                .current_dir(&folder),
        )
    };
    assert_eq!(run(), "a: first\n");
    put("skills/a/SKILL.md", "second");
    assert_eq!(run(), "a: second\n");
    put("skills/a/references/x.md", "text");
    put("skills/b/SKILL.md", "other");
    assert_eq!(run(), "a: second\na/references/x.md\nb: other\n");
    fs::remove_dir_all(folder.join("skills/b")).expect("removed");
    assert_eq!(run(), "a: second\na/references/x.md\n");
}
