//! The one repair of a header that is not YAML. What it does to a text is all that it does: no value is guessed.

use std::borrow::Cow;
use std::collections::HashSet;

use super::document::line_at;
use super::yaml::is_yaml;

/// Keys whose values are prose: their text may go on over several lines.
const PROSE: [&str; 5] = [
    "name",
    "description",
    "license",
    "compatibility",
    "argument-hint",
];

/// A line and what ends it.
struct Line<'a> {
    text: Cow<'a, str>,
    end: &'a str,
}

impl Line<'_> {
    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn is_indented(&self) -> bool {
        self.text.starts_with(' ')
    }

    fn is_comment(&self) -> bool {
        self.text.trim_start().starts_with('#')
    }
}

/// The header with tabs before the text of a line as two blanks each, and with quotes around values of the top level
/// that are not YAML as they stand. `None` when that changes nothing. Lines keep their numbers.
pub(super) fn repaired(header: &str) -> Option<String> {
    let lines = lines_without_tabs(header);
    let anchors = anchor_names(header);
    let mut out = String::with_capacity(header.len() + 64);
    let mut rest = lines.as_slice();
    while let Some((first, below)) = rest.split_first() {
        let Some(colon) = key_end(&first.text) else {
            push_line(first, &mut out);
            rest = below;
            continue;
        };
        let count = below
            .iter()
            .position(|line| !(line.is_indented() || line.is_blank()))
            .unwrap_or(below.len());
        let (more, next) = below.split_at(count);
        // Lines at the left edge that are no key belong to the value, too: a list, or the end of one in brackets.
        let edge = next
            .iter()
            .position(|line| key_end(&line.text).is_some())
            .unwrap_or(next.len());
        push_entry(first, colon, more, &next[..edge], &anchors, &mut out);
        rest = &next[edge..];
    }
    (out != header).then_some(out)
}

fn push_entry(
    first: &Line<'_>,
    colon: usize,
    more: &[Line<'_>],
    edge: &[Line<'_>],
    anchors: &HashSet<&str>,
    out: &mut String,
) {
    let start = out.len();
    for line in std::iter::once(first).chain(more).chain(edge) {
        push_line(line, out);
    }
    if is_yaml(&out[start..], anchors) {
        return;
    }
    let (key, value) = first.text.split_at(colon);
    let is_prose = PROSE.contains(&key.trim_end());
    let goes_on = more
        .iter()
        .any(|line| !(line.is_blank() || line.is_comment()));
    let value = value[1..].trim();
    let joined = if is_prose {
        joined(value, more)
    } else if goes_on || value.is_empty() {
        return;
    } else {
        value.to_owned()
    };
    if joined.is_empty() {
        return;
    }
    out.truncate(start);
    out.push_str(key);
    out.push_str(": '");
    out.push_str(&joined.replace('\'', "''"));
    out.push('\'');
    out.push_str(first.end);
    for line in more {
        if is_prose || line.is_blank() {
            out.push_str(line.end);
        } else {
            push_line(line, out);
        }
    }
    for line in edge {
        push_line(line, out);
    }
}

/// A value and the lines below it as one line. What says that a block begins is no part of its text.
fn joined(value: &str, more: &[Line<'_>]) -> String {
    let mut out = String::new();
    let first = if is_block_start(value) { "" } else { value };
    let parts = more.iter().map(|line| line.text.trim());
    for part in std::iter::once(first).chain(parts) {
        if !out.is_empty() && !part.is_empty() {
            out.push(' ');
        }
        out.push_str(part);
    }
    out
}

/// Where the colon of a key stands that begins at the left edge; `None` for any other line.
fn key_end(line: &str) -> Option<usize> {
    let colon = line.find(':')?;
    let key = line[..colon].trim_end_matches([' ', '\t']);
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.');
    let begins = key.starts_with(|it: char| it.is_alphanumeric() || it == '_');
    let ends = matches!(line.as_bytes().get(colon + 1), None | Some(b' ' | b'\t'));
    (begins && ends && key.chars().all(is_part)).then_some(colon)
}

/// Whether a value begins a block: `|` or `>`, how far it is indented, what becomes of its end, and perhaps a comment.
fn is_block_start(value: &str) -> bool {
    let Some(rest) = value.strip_prefix(['|', '>']) else {
        return false;
    };
    let rest = rest.trim_start_matches(|it: char| matches!(it, '+' | '-' | '0'..='9'));
    let comment = rest.trim_start_matches([' ', '\t']);
    rest.is_empty() || (comment.len() < rest.len() && comment.starts_with('#'))
}

/// The lines of a header, their tabs before the text as two blanks each. Inside a block only those at the left edge:
/// behind blanks they are text.
fn lines_without_tabs(header: &str) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    let mut start = 0;
    // How far the line that begins a block is indented.
    let mut block: Option<usize> = None;
    while start < header.len() {
        let (text, next) = line_at(header, start);
        let end = &header[start + text.len()..next];
        let at_edge = text.len() - text.trim_start_matches('\t').len();
        let before_text = text.len() - text.trim_start_matches([' ', '\t']).len();
        let indented = without_tabs(text, at_edge);
        let indent = indented.len() - indented.trim_start_matches(' ').len();
        let is_inside = block.is_some_and(|it| indent > it) || text.trim().is_empty();
        let text = if is_inside && block.is_some() {
            indented
        } else {
            let text = without_tabs(text, before_text);
            let indent = text.len() - text.trim_start_matches(' ').len();
            let value = text.rsplit_once(": ").map_or("", |(_, value)| value.trim());
            let item = text.trim_start().strip_prefix("- ").unwrap_or_default();
            block = (is_block_start(value) || is_block_start(item.trim())).then_some(indent);
            text
        };
        lines.push(Line { text, end });
        start = next;
    }
    lines
}

/// A line whose first `count` bytes are blanks and tabs, each of these tabs as two blanks.
fn without_tabs(line: &str, count: usize) -> Cow<'_, str> {
    let (indent, text) = line.split_at(count);
    if indent.contains('\t') {
        Cow::Owned(indent.replace('\t', "  ") + text)
    } else {
        Cow::Borrowed(line)
    }
}

/// Names that the header gives to nodes, or seems to: an alias of one of them is no mistake.
fn anchor_names(header: &str) -> HashSet<&str> {
    header
        .split('&')
        .skip(1)
        .filter_map(|rest| {
            rest.split(|it: char| it.is_whitespace() || matches!(it, ',' | '[' | ']' | '{' | '}'))
                .next()
        })
        .filter(|name| !name.is_empty())
        .collect()
}

fn push_line(line: &Line<'_>, out: &mut String) {
    out.push_str(&line.text);
    out.push_str(line.end);
}
