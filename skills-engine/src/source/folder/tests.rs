//! Tests of the reading of main files, which is not public.

mod bounds;
mod cases;
#[allow(unreachable_pub, reason = "the black-box tests have it, too")]
#[path = "../../../../tests/corpus.rs"]
mod corpus;
mod corpus_read;
mod documents;
mod fields;
mod keys;
mod names;
mod properties;
mod repairs;

use super::{Document, Read, read_document};

/// Reads a main file in a folder `a-skill`.
fn read(bytes: impl AsRef<[u8]>) -> Read {
    read_document(bytes.as_ref(), "a-skill", "a-skill/SKILL.md")
}

/// Reads a header, with a name and a body that say nothing.
fn read_lines(lines: &str) -> Read {
    read(format!("---\nname: a-skill\n{lines}\n---\nBody.\n"))
}

/// The diagnostics of a file, in order: `warning: yaml-repaired`.
fn kinds(read: &Read) -> Vec<String> {
    let diagnostics = match read {
        Ok(document) => &document.diagnostics,
        Err(diagnostics) => diagnostics,
    };
    diagnostics.iter().map(|it| it.kind.to_string()).collect()
}

/// The document of a header of which exactly this is told.
#[track_caller]
fn document(lines: &str, expected: &[&str]) -> Document {
    let read = read_lines(lines);
    assert_eq!(kinds(&read), expected, "{lines}");
    read.expect(lines)
}

/// Checks what is told of a header that is refused.
#[track_caller]
fn refused(lines: &str, expected: &[&str]) {
    let read = read_lines(lines);
    assert_eq!(kinds(&read), expected, "{lines}");
    read.expect_err(lines);
}
