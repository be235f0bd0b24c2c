//! The order of the library's modules: each uses only those above it.

mod cases;
mod references;
mod tokens;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use self::references::{Reference, references};
use self::tokens::{Kind, Token, tokens};

/// The library's name in paths.
const CRATE: &str = "skills_engine";

/// Top-level modules in the order data flows through them. One that is not here yet needs a place.
const ORDER: [&str; 17] = [
    "skill",
    "audit",
    "source",
    "registry",
    "session",
    "snapshot",
    "prompt",
    "tools",
    "store",
    "engine",
    "agent",
    "mcp",
    "http",
    "host",
    "cli",
    TESTING,
    "__private",
];

/// Uses every module, and unit tests of every module use it.
const TESTING: &str = "testing";

/// Modules that are not part of the flow, and all that they may use of it.
const EXCEPTIONS: [(&str, &[&str]); 1] = [("__private", &["skill", "source"])];

/// A source file: its path below `src`, with `/`, and its text.
type Sources = BTreeMap<String, String>;

#[test]
fn modules_use_only_those_above_them() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../skills-engine/src");
    let mut sources = Sources::new();
    read_sources(&root, "", &mut sources);
    let violations = violations(&sources);
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

fn read_sources(directory: &Path, below: &str, sources: &mut Sources) {
    for entry in fs::read_dir(directory).expect("the sources lie beside the tests") {
        let entry = entry.expect("an entry of the sources can be read");
        let name = entry.file_name().into_string().expect("names are UTF-8");
        let path = format!("{below}{name}");
        // Programs are crates of their own and see the public API only.
        if path == "main.rs" || path == "bin" {
            continue;
        }
        if entry.path().is_dir() {
            read_sources(&entry.path(), &format!("{path}/"), sources);
        } else if Path::new(&name).extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(entry.path()).expect("sources are UTF-8");
            sources.insert(path, text);
        }
    }
}

/// A module that lib.rs declares.
struct Declared {
    name: String,
    line: usize,
    /// Its file, when `#[path]` names one.
    file: Option<String>,
}

/// Everything in the sources that departs from the order, as `file:line: what`.
fn violations(sources: &Sources) -> Vec<String> {
    let declared = declared_modules(sources.get("lib.rs").map_or("", String::as_str));
    let mut violations = declaration_violations(&declared);
    for (file, text) in sources {
        if file == "lib.rs" {
            continue;
        }
        let path = module_path(file, &declared);
        let [top, ..] = path[..] else {
            violations.push(format!("{file}:1: lib.rs does not declare this module"));
            continue;
        };
        for reference in references(CRATE, &path, &tokens(text)) {
            if let Some(reason) = refusal(top, &reference) {
                violations.push(format!("{file}:{}: {reason}", reference.line));
            }
        }
    }
    violations
}

/// Why the module `from` may not use a name of the crate root, if it may not.
fn refusal(from: &str, reference: &Reference<'_>) -> Option<String> {
    let name = reference.name;
    let place = |wanted: &str| ORDER.iter().position(|module| *module == wanted);
    let Some(used) = place(name) else {
        return Some(format!(
            "`{from}` uses `crate::{name}`, which is no module; name the module it comes from"
        ));
    };
    if reference.in_tests && name == TESTING {
        return None;
    }
    let exception = EXCEPTIONS.iter().find(|(module, _)| *module == from);
    let allowed = match exception {
        Some((_, allowed)) => from == name || allowed.contains(&name),
        // Where `from` has no place, its declaration is reported.
        None => place(from).is_none_or(|own| used <= own),
    };
    (!allowed).then(|| format!("`{from}` uses `{name}`, which is not above it"))
}

fn declaration_violations(declared: &[Declared]) -> Vec<String> {
    let mut violations = Vec::new();
    let mut last: Option<(usize, &str)> = None;
    for module in declared {
        let Declared { name, line, .. } = module;
        let Some(place) = ORDER.iter().position(|it| it == name) else {
            violations.push(format!("lib.rs:{line}: `{name}` has no place in the order"));
            continue;
        };
        match last {
            Some((earlier, above)) if place <= earlier => violations.push(format!(
                "lib.rs:{line}: `{name}` stands below `{above}`, it belongs above"
            )),
            _ => last = Some((place, name)),
        }
    }
    violations
}

fn declared_modules(lib: &str) -> Vec<Declared> {
    let tokens = tokens(lib);
    let kinds: Vec<Kind<'_>> = tokens.iter().map(|token| token.kind).collect();
    let mut declared = Vec::new();
    let mut depth = 0_usize;
    let mut file = None;
    for (at, &Token { kind, line }) in tokens.iter().enumerate() {
        match (kind, &kinds[at + 1..]) {
            (Kind::Mark('{'), _) => {
                depth += 1;
                file = None;
            }
            (Kind::Mark('}'), _) => depth = depth.saturating_sub(1),
            (Kind::Mark(';'), _) => file = None,
            (Kind::Word("path"), [Kind::Mark('='), Kind::Text(path), ..]) => {
                file = Some((*path).to_owned());
            }
            (Kind::Word("mod"), [Kind::Word(name), ..]) if depth == 0 => {
                declared.push(Declared {
                    name: (*name).to_owned(),
                    line,
                    file: file.take(),
                });
            }
            _ => {}
        }
    }
    declared
}

/// The modules from the top level down to a file; empty when lib.rs declares no module for it.
fn module_path<'a>(file: &'a str, declared: &'a [Declared]) -> Vec<&'a str> {
    let renamed = declared
        .iter()
        .find(|module| module.file.as_deref() == Some(file));
    if let Some(module) = renamed {
        return vec![&module.name];
    }
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    // Parts of such a module lie in the folder that has its file's name.
    let part = declared.iter().find_map(|module| {
        let folder = module.file.as_deref()?.strip_suffix(".rs")?;
        let rest = stem.strip_prefix(folder)?.strip_prefix('/')?;
        Some((&*module.name, rest))
    });
    if let Some((module, rest)) = part {
        return std::iter::once(module).chain(rest.split('/')).collect();
    }
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    let path: Vec<&str> = stem.split('/').collect();
    let known = declared
        .iter()
        .any(|module| module.file.is_none() && module.name == path[0]);
    if known { path } else { Vec::new() }
}
