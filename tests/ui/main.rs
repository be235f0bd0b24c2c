//! What the compiler says of mistakes.
//!
//! The messages are those of one compiler; with another one the cases are skipped, and a note says so.
//! After a change, look at the difference that `TRYBUILD=overwrite cargo test -p ui` makes as at code.

use std::process::Command;

/// The compiler whose messages are kept.
const COMPILER: &str = "rustc 1.95.0 ";

#[test]
fn mistakes_are_explained() {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc).arg("--version").output();
    let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    match version {
        Ok(version) if version.starts_with(COMPILER) => {
            trybuild::TestCases::new().compile_fail("cases/*.rs");
        }
        Ok(version) => {
            println!("skipped: the messages are those of {COMPILER}, this is {version}");
        }
        Err(err) => println!("skipped: the compiler does not run: {err}"),
    }
}
