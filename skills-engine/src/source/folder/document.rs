use std::borrow::Cow;
use std::ops::Range;

use super::header::read_header;
use super::repair::{Repair, repair};
use super::report::{Report, Source, place_in};
use super::yaml::{Content, Failure, MOST_SCALAR_BYTES, Parsed, Problem, parse};
use super::{Diagnostic, DiagnosticKind, Header, Severity};
use crate::skill::shown;

/// Bytes of a main file; one that is larger is not read.
pub(super) const MOST_BYTES: usize = 1024 * 1024;

/// Bytes of a header: twice what its texts may have, for names of keys, comments and quotes.
pub(super) const MOST_HEADER_BYTES: usize = 2 * MOST_SCALAR_BYTES;

/// What to do about a main file that is larger.
pub(super) const TOO_LARGE_HINT: &str =
    "move what is rarely needed to files beside it, which are read when they are asked for";

/// A main file that can be used.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Document {
    /// What the header says.
    pub header: Header,
    /// Where the body stands in the file, in bytes, without the blanks and empty lines around it.
    pub body: Range<usize>,
    /// What should be known about it: warnings.
    pub diagnostics: Vec<Diagnostic>,
    /// What those who are strict tell beside them.
    pub strict_diagnostics: Vec<Diagnostic>,
}

impl Document {
    /// The body in the bytes that the document was read from, its lines ended by LF.
    #[must_use]
    pub fn body_in<'a>(&self, bytes: &'a [u8]) -> Cow<'a, str> {
        let body = bytes.get(self.body.clone()).unwrap_or_default();
        let body = String::from_utf8_lossy(body);
        if body.contains('\r') {
            Cow::Owned(body.replace("\r\n", "\n").replace('\r', "\n"))
        } else {
            body
        }
    }

    /// Whether a validator that follows the prose of the specification takes the file, too, given all that was found
    /// about its skill.
    #[must_use]
    pub fn is_strictly_valid(&self, diagnostics: &[Diagnostic]) -> bool {
        !self.header.has_extension_fields
            && !diagnostics
                .iter()
                .any(|it| it.severity == Severity::Error || it.kind.is_strict_violation())
    }
}

/// What reading a main file comes to: a document, or diagnostics with at least one error.
pub type Read = Result<Document, Vec<Diagnostic>>;

/// Reads the bytes of a main file. `folder` is the name of the folder that it lies in, `path` what diagnostics call it.
///
/// # Errors
///
/// All that was found about the file, when one of it is an error.
pub fn read_document(bytes: &[u8], folder: &str, path: &str) -> Read {
    let mut report = Report::new(path);
    match read(bytes, folder, &mut report) {
        Some((header, body)) if !report.has_errors() => {
            let (diagnostics, strict_diagnostics) = report.into_parts();
            Ok(Document {
                header,
                body,
                diagnostics,
                strict_diagnostics,
            })
        }
        _ => Err(report.into_diagnostics()),
    }
}

fn read(bytes: &[u8], folder: &str, report: &mut Report<'_>) -> Option<(Header, Range<usize>)> {
    if bytes.len() > MOST_BYTES {
        report.file(
            DiagnosticKind::FileTooLarge,
            format!("the file has {} bytes, {MOST_BYTES} are read", bytes.len()),
            TOO_LARGE_HINT,
        );
        return None;
    }
    let text = decoded(bytes, report)?;
    let (header, rest) = split(text, report)?;
    let body = rest.trim_start();
    let start = bytes.len() - body.len();
    let body = start..start + body.trim_end().len();
    if body.is_empty() {
        report.file(
            DiagnosticKind::BodyEmpty,
            "there is no text below the header",
            "write below the second `---` what the skill teaches",
        );
    }
    let header = read_yaml(header, folder, report)?;
    Some((header, body))
}

/// The text of the file, without a byte order mark.
fn decoded<'a>(bytes: &'a [u8], report: &mut Report<'_>) -> Option<&'a str> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(err) => {
            let (valid, _) = bytes.split_at(err.valid_up_to());
            let before = String::from_utf8_lossy(valid);
            report.place(
                DiagnosticKind::EncodingInvalid,
                place_in(&before, before.len()),
                "the file is not UTF-8",
                "save it as UTF-8",
            );
            return None;
        }
    };
    let Some(text) = text.strip_prefix('\u{FEFF}') else {
        return Some(text);
    };
    report.place(
        DiagnosticKind::Bom,
        (1, 1),
        "the file begins with a byte order mark",
        "save it as UTF-8 without one: other clients do not find the header behind it",
    );
    Some(text)
}

/// The header, between two fences, and what stands below.
fn split<'a>(text: &'a str, report: &mut Report<'_>) -> Option<(&'a str, &'a str)> {
    let (first, header_start) = line_at(text, 0);
    if !is_fence(first) {
        report.place(
            DiagnosticKind::FrontmatterMissing,
            (1, 1),
            "the first line is not `---`",
            "begin the file with a header: a line `---`, `name` and `description`, another line `---`",
        );
        return None;
    }
    let mut start = header_start;
    while start < text.len() {
        let (line, next) = line_at(text, start);
        if is_fence(line) {
            return Some((&text[header_start..start], &text[next..]));
        }
        start = next;
    }
    report.place(
        DiagnosticKind::FrontmatterUnclosed,
        (1, 1),
        "no line `---` ends the header",
        "put a line of three hyphens, without blanks before them, below the last key",
    );
    None
}

/// The line that begins at `start`, without its end, and where the next one begins.
pub(super) fn line_at(text: &str, start: usize) -> (&str, usize) {
    let rest = &text[start..];
    let bytes = rest.as_bytes();
    match bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
        None => (rest, text.len()),
        Some(end) => {
            let is_pair = bytes[end] == b'\r' && bytes.get(end + 1) == Some(&b'\n');
            (&rest[..end], start + end + 1 + usize::from(is_pair))
        }
    }
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.bytes().all(|byte| matches!(byte, b' ' | b'\t')))
}

/// Reads the YAML of a header, repaired where it must be.
fn read_yaml(header: &str, folder: &str, report: &mut Report<'_>) -> Option<Header> {
    let source = Source(header);
    if header.len() > MOST_HEADER_BYTES {
        let size = header.len();
        let message = format!("it has {size} bytes, {MOST_HEADER_BYTES} are read");
        report_limit(&Problem { at: 0, message }, source, report);
        return None;
    }
    let first = match parse(header) {
        Ok(parsed) => return read_parsed(&parsed, source, folder, report),
        Err(Failure::Limit(problem)) => {
            report_limit(&problem, source, report);
            return None;
        }
        Err(Failure::Syntax(problem)) => problem,
    };
    let (line, column) = source.place(first.at);
    let what = format!(
        "the header is not YAML at line {line}, column {column}: {}",
        first.message
    );
    let text = match repair(header) {
        Repair::Text(text) => Some(text),
        Repair::Nothing => None,
        Repair::TooLarge(at) => {
            let message = "texts are too large to be repaired".to_owned();
            report_limit(&Problem { at, message }, source, report);
            return None;
        }
    };
    match text.as_deref().map(|text| (Source(text), parse(text))) {
        Some((source, Ok(parsed))) => {
            report.place(
                DiagnosticKind::YamlRepaired,
                (line, column),
                format!("{what}; it was read after a repair"),
                "put the value in quotes, or write it below its key as a block: `key: >`; indent with blanks only",
            );
            read_parsed(&parsed, source, folder, report)
        }
        Some((source, Err(Failure::Limit(problem)))) => {
            report_limit(&problem, source, report);
            None
        }
        Some((_, Err(Failure::Syntax(_)))) | None => {
            report.place(
                DiagnosticKind::YamlInvalid,
                (line, column),
                what,
                "correct the header there: quote texts that hold `: ` or begin with a sign, and indent alike what belongs together",
            );
            None
        }
    }
}

fn report_limit(problem: &Problem, source: Source<'_>, report: &mut Report<'_>) {
    report.place(
        DiagnosticKind::YamlLimits,
        source.place(problem.at),
        format!("the header is too large: {}", problem.message),
        "keep to the header what finds the skill, and move the rest to the body or to a file beside it",
    );
}

fn read_parsed(
    parsed: &Parsed<'_>,
    source: Source<'_>,
    folder: &str,
    report: &mut Report<'_>,
) -> Option<Header> {
    if let Some(key) = &parsed.duplicate {
        report.place(
            DiagnosticKind::DuplicateKey,
            source.place(key.at),
            format!(
                "the key `{}` stands there twice",
                shown(&key.source_text(), 80)
            ),
            "keep one of the two: readers differ in which one they take",
        );
        return None;
    }
    match parsed.root.as_ref().map(|root| &root.content) {
        None => Some(&[][..]),
        Some(Content::Mapping(entries)) => Some(entries.as_slice()),
        Some(Content::Scalar(scalar)) if scalar.is_plain && scalar.text.is_empty() => Some(&[][..]),
        Some(Content::Scalar(_) | Content::Sequence(_)) => {
            let at = parsed.root.as_ref().map_or(0, |root| root.at);
            report.place(
                DiagnosticKind::FrontmatterNotMapping,
                source.place(at),
                "the header is not a mapping",
                "write a key and a value on each line: `name: my-skill`",
            );
            None
        }
    }
    .and_then(|entries| read_header(entries, source, folder, report))
}
