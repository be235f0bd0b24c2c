//! The cases of the loader's contract that a main file alone decides, against what they expect.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::skill::ToolPattern;
use crate::source::folder::{Diagnostic, Document, Header, Severity, read_document};

/// What only a walk through folders can find.
const OF_FOLDERS: [&str; 6] = [
    "warning: filename-case",
    "warning: symlink-loop",
    "warning: resource-escape",
    "warning: nested-skill-ignored",
    "warning: resources-truncated",
    "error: symlink-escape",
];

/// Cases of one skill whose input is no plain file: their bytes come from `generated`, or they have no main file.
const GENERATED: [&str; 8] = ["h35", "h36", "h37", "h38", "h39", "h40", "h41", "h42"];

/// A case, with its main file.
struct Case {
    name: String,
    expected: Map<String, Value>,
    folder: String,
    bytes: Vec<u8>,
}

#[test]
fn se4_cases_of_one_main_file() {
    let cases = cases();
    assert_eq!(cases.len(), 37, "cases that a main file decides");
    for case in &cases {
        check(case);
    }
}

fn cases() -> Vec<Case> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/skillcases");
    let mut folders: Vec<PathBuf> = fs::read_dir(root)
        .expect("the cases lie beside the tests")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    assert_eq!(folders.len(), 45, "cases of the contract");
    folders.iter().filter_map(|path| case(path)).collect()
}

fn case(path: &Path) -> Option<Case> {
    let name = path.file_name()?.to_str()?.to_owned();
    let text = fs::read_to_string(path.join("expected.json")).expect("what the case expects");
    let expected: Map<String, Value> = serde_json::from_str(&text).expect("JSON");
    if expected["kind"] != "skill" {
        return None;
    }
    if GENERATED.iter().any(|it| name.starts_with(it)) {
        let (folder, bytes) = generated(&name)?;
        let folder = folder.to_owned();
        return Some(Case {
            name,
            expected,
            folder,
            bytes,
        });
    }
    let folder = fs::read_dir(path.join("input"))
        .expect("the input")
        .map(|entry| entry.expect("an entry").path())
        .find(|it| it.is_dir() && !it.ends_with("node_modules") && !is_hidden(it))
        .expect("the folder of a skill");
    let bytes = ["SKILL.md", "skill.md"]
        .iter()
        .find_map(|file| fs::read(folder.join(file)).ok())
        .expect("a main file");
    let folder = folder.file_name()?.to_str()?.to_owned();
    Some(Case {
        name,
        expected,
        folder,
        bytes,
    })
}

fn is_hidden(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with('.'))
}

/// Main files that cannot be stored as they are.
fn generated(name: &str) -> Option<(&'static str, Vec<u8>)> {
    match &name[..3] {
        "h35" => {
            let mut bytes = b"---\nname: old-bytes\ndescription: Pr".to_vec();
            bytes.extend(b"\xE9par\xE9 en 1998\n---\nTexte.\n");
            Some(("old-bytes", bytes))
        }
        "h36" => {
            let mut bytes = b"---\nname: whale\ndescription: Far too large to read\n---\n".to_vec();
            bytes.resize(12 * 1024 * 1024, b'x');
            Some(("whale", bytes))
        }
        _ => None,
    }
}

fn check(case: &Case) {
    let Case {
        name,
        expected,
        folder,
        bytes,
    } = case;
    let found = read_document(bytes, folder, "SKILL.md");
    let diagnostics = match &found {
        Ok(document) => &document.diagnostics,
        Err(diagnostics) => diagnostics,
    };
    let kinds: BTreeSet<String> = diagnostics.iter().map(|it| it.kind.to_string()).collect();
    let wanted: BTreeSet<String> = expected["diagnostics"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|it| it.as_str().expect("a text").to_owned())
        .filter(|it| !OF_FOLDERS.contains(&it.as_str()))
        .collect();
    for diagnostic in diagnostics {
        check_diagnostic(name, diagnostic);
    }
    let is_accepted = expected["accept"].as_bool().expect("a boolean");
    if let Ok(document) = &found {
        assert!(is_accepted, "{name} is accepted");
        assert_eq!(kinds, wanted, "{name}");
        check_document(case, document);
    } else {
        assert!(!is_accepted, "{name} is refused: {kinds:?}");
        let errors = kinds.into_iter().filter(|it| it.starts_with("error"));
        assert_eq!(errors.collect::<BTreeSet<_>>(), wanted, "{name}");
    }
}

fn check_diagnostic(name: &str, diagnostic: &Diagnostic) {
    assert_eq!(diagnostic.severity, diagnostic.kind.severity(), "{name}");
    assert_eq!(diagnostic.path, "SKILL.md", "{name}");
    assert!(!diagnostic.message.is_empty(), "{name}: {diagnostic}");
    assert!(!diagnostic.hint.is_empty(), "{name}: {diagnostic}");
}

fn check_document(case: &Case, document: &Document) {
    let Case {
        name,
        expected,
        bytes,
        ..
    } = case;
    let header = &document.header;
    assert_eq!(expected["name"], *header.name, "{name}");
    assert_eq!(expected["description"], *header.description, "{name}");
    let body = document.body_in(bytes);
    let start = expected["body_starts_with"].as_str().expect("a text");
    assert!(body.starts_with(start), "{name}: {body}");
    assert!(!start.is_empty() || body.is_empty(), "{name}: {body}");
    assert_eq!(body, body.trim(), "{name}");
    assert!(!body.contains('\r'), "{name}");
    // The file itself may be spelled wrong, which no strict validator takes.
    let is_misspelled = expected["diagnostics"]
        .as_array()
        .is_some_and(|it| it.contains(&Value::from("warning: filename-case")));
    if let (Some(is_valid), false) = (expected["strict_valid"].as_bool(), is_misspelled) {
        let found = document.is_strictly_valid(&document.diagnostics);
        assert_eq!(found, is_valid, "{name}");
    }
    let Some(optional) = expected.get("optional") else {
        return;
    };
    for (field, value) in optional.as_object().expect("an object") {
        check_field(name, header, field, value);
    }
}

fn check_field(name: &str, header: &Header, field: &str, expected: &Value) {
    let found = match field {
        "license" => Value::from(header.license.clone()),
        "compatibility" => Value::from(header.compatibility.clone()),
        "metadata" => serde_json::to_value::<&BTreeMap<_, _>>(&header.metadata).expect("texts"),
        "allowed_tools" => {
            let tools = header.allowed_tools.clone().expect("tools");
            tools.patterns().iter().map(ToolPattern::as_str).collect()
        }
        "argument_hint" => Value::from(header.argument_hint.clone()),
        "disable_model_invocation" => Value::from(header.disable_model_invocation),
        "user_invocable" => Value::from(header.user_invocable),
        "context" => Value::from(header.context.clone()),
        other => panic!("{name} expects {other}, which this test does not know"),
    };
    assert_eq!(&found, expected, "{name}: {field}");
}

#[test]
fn se4_the_first_error_of_a_header_has_its_line_and_column() {
    let case = cases()
        .into_iter()
        .find(|case| case.name.starts_with("h44"))
        .expect("the case of crooked lines");
    let diagnostics = read_document(&case.bytes, &case.folder, "a/SKILL.md").expect_err("an error");
    let error = diagnostics
        .iter()
        .find(|it| it.severity == Severity::Error)
        .expect("an error");
    assert_eq!((error.line, error.column), (Some(6), Some(3)));
    assert!(error.message.contains("line 6, column 3"), "{error}");
    assert!(
        error
            .to_string()
            .starts_with("a/SKILL.md:6:3: error: yaml-invalid: "),
        "{error}"
    );
}
