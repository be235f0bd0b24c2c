//! What holds for a whole process.

use std::process::{Command, ExitStatus};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Far more than the program takes.
const HANGS: Duration = Duration::from_secs(60);

#[test]
fn se06_a_process_exits_at_once_although_an_attribute_and_a_tool_hang() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hanging_attribute"))
        .spawn()
        .unwrap();
    let begun = Instant::now();
    let status: ExitStatus = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if begun.elapsed() > HANGS {
            child.kill().unwrap();
            panic!("the process does not exit");
        }
        sleep(Duration::from_millis(5));
    };
    assert!(status.success(), "{status}");
}
