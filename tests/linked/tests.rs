//! A linked crate's skill is found with no registration code, and one that is only listed is missed with advice.

use std::io::Read as _;
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
    let (skills, problem) = printed.split_at(printed.find("no skill").unwrap_or(printed.len()));
    assert_eq!(skills, "helpdesk: 3 tools\npsl-skill: 4 tools\n");
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
