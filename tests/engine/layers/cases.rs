//! What the check of the order says of small sources.

use super::{Sources, violations};

/// Three modules in order, the last from a file of another name.
const LIB: &str = "
pub mod skill;
pub(crate) mod session;
#[doc(hidden)]
#[path = \"private.rs\"]
pub mod __private;
pub use session::Session;
";

fn sources(files: &[(&str, &str)]) -> Sources {
    let own = |(path, text): &(&str, &str)| ((*path).to_owned(), (*text).to_owned());
    files.iter().map(own).collect()
}

/// What is reported for one file beside [`LIB`].
fn reported(file: &str, text: &str) -> Vec<String> {
    violations(&sources(&[("lib.rs", LIB), (file, text)]))
}

#[test]
fn what_is_above_may_be_used() {
    let cases = [
        ("a module above", "session.rs", "use crate::skill::Level;"),
        (
            "its own module",
            "session.rs",
            "use crate::session::Session;",
        ),
        ("its own parts", "session/mod.rs", "use self::grant::Grant;"),
        ("its own parent", "skill/tool.rs", "use super::Level;"),
        (
            "the parent of an inline module",
            "skill/tool.rs",
            "mod inner { use super::super::Level; } use super::Level;",
        ),
        (
            "a group",
            "session.rs",
            "use crate::{session::{a, b::*}, skill};",
        ),
        (
            "the exception",
            "private.rs",
            "pub use crate::skill::Level;",
        ),
        (
            "a line comment",
            "skill.rs",
            "// use crate::session::Session;\n",
        ),
        ("a block comment", "skill.rs", "/* /* */ crate::session */"),
        (
            "a doc comment",
            "skill.rs",
            "/// [crate::session]\nfn f() {}",
        ),
        (
            "a string",
            "skill.rs",
            r#"const A: &str = "\" crate::session";"#,
        ),
        (
            "a raw string",
            "skill.rs",
            "const A: &str = r#\"\" crate::session\"#;",
        ),
        (
            "a byte string",
            "skill.rs",
            "const A: &[u8] = b\"crate::session\";",
        ),
        (
            "text of a macro",
            "skill.rs",
            "macro_rules! m { () => { $crate::session::f() } }",
        ),
        (
            "another crate's module",
            "skill.rs",
            "use other::skills_engine::session;",
        ),
        (
            "visibility",
            "skill.rs",
            "pub(crate) fn a() {} pub(super) fn b() {}",
        ),
        (
            "testing in unit tests",
            "skill.rs",
            "mod tests { use crate::testing::ManualClock; }",
        ),
    ];
    for (name, file, text) in cases {
        assert_eq!(reported(file, text), [""; 0], "{name}");
    }
}

#[test]
fn what_is_below_is_reported_with_its_line() {
    let below = "skill.rs:2: `skill` uses `session`, which is not above it";
    let cases = [
        ("an import", "\nuse crate::session::Session;"),
        (
            "an import of several lines",
            "use crate::{\nsession::Session};",
        ),
        (
            "the second of a group",
            "use crate::{skill::{a, b},\nsession};",
        ),
        ("a nested group", "use crate::{\n{session::a}};"),
        ("a path in code", "fn f() {\ncrate::session::open() }"),
        ("a way around", "\nuse super::session::Session;"),
        (
            "a longer way around",
            "mod a {\nuse super::super::session::S; }",
        ),
        ("a way around from itself", "\nuse self::super::session::S;"),
        ("a group around", "use super::{\nsession::Session};"),
        (
            "the crate by its name",
            "\nuse ::skills_engine::session::S;",
        ),
        ("a raw name", "\nuse crate::r#session::S;"),
        (
            "after a quote",
            "const A: char = '\"';\nuse crate::session::S;",
        ),
        (
            "after an escaped quote",
            "const A: char = '\\'';\nuse crate::session::S;",
        ),
        (
            "after a lifetime",
            "fn f<'a>(a: &'a str) {\ncrate::session::f(a) }",
        ),
        ("after a comment", "/* ' \" */\nuse crate::session::S;"),
        (
            "behind an inline module",
            "mod a { fn f() {} }\nuse super::session::S;",
        ),
        ("unit tests", "mod tests {\nuse crate::session::S; }"),
        ("a visible re-export", "\npub use crate::session as s;"),
    ];
    for (name, text) in cases {
        assert_eq!(reported("skill.rs", text), [below], "{name}");
    }
}

#[test]
fn other_departures_are_reported() {
    let cases = [
        (
            "the exception's limit",
            "private.rs",
            "use crate::session::Session;",
            "private.rs:1: `__private` uses `session`, which is not above it",
        ),
        (
            "the limit in a part of the exception",
            "private/hooks.rs",
            "use crate::session::Session;",
            "private/hooks.rs:1: `__private` uses `session`, which is not above it",
        ),
        (
            "use of the exception",
            "session.rs",
            "use crate::__private::instance;",
            "session.rs:1: `session` uses `__private`, which is not above it",
        ),
        (
            "testing outside unit tests",
            "session.rs",
            "use crate::testing::ManualClock;",
            "session.rs:1: `session` uses `testing`, which is not above it",
        ),
        (
            "a name of the crate root",
            "session.rs",
            "use crate::Session;",
            "session.rs:1: `session` uses `crate::Session`, which is no module; name the module it comes from",
        ),
        (
            "everything of the crate root",
            "session/mod.rs",
            "use super::*;",
            "session/mod.rs:1: `session` uses `crate::*`, which is no module; name the module it comes from",
        ),
        (
            "the crate root under another name",
            "session/a.rs",
            "use crate as root;",
            "session/a.rs:1: `session` uses `crate::self`, which is no module; name the module it comes from",
        ),
        (
            "a file no module is declared for",
            "tools/mod.rs",
            "",
            "tools/mod.rs:1: lib.rs does not declare this module",
        ),
    ];
    for (name, file, text, expected) in cases {
        assert_eq!(reported(file, text), [expected], "{name}");
    }
}

#[test]
fn the_declarations_keep_the_order() {
    let cases: [(&str, &str, &[&str]); 4] = [
        ("in order", "mod skill;\npub mod engine;\nmod testing;", &[]),
        (
            "swapped",
            "mod audit;\nmod skill;\nmod source;",
            &["lib.rs:2: `skill` stands below `audit`, it belongs above"],
        ),
        (
            "twice",
            "mod skill;\nmod skill;",
            &["lib.rs:2: `skill` stands below `skill`, it belongs above"],
        ),
        (
            "unknown",
            "mod skill;\nmod utilities;\nmod audit { mod part {} }",
            &["lib.rs:2: `utilities` has no place in the order"],
        ),
    ];
    for (name, lib, expected) in cases {
        assert_eq!(violations(&sources(&[("lib.rs", lib)])), expected, "{name}");
    }
}
