//! The one repair of a header that is not YAML. What it does to a text is all that it does: no value is guessed.

use std::borrow::Cow;
use std::collections::HashSet;

use super::document::line_at;
use super::yaml::{MOST_NODES, MOST_SCALAR_BYTES, is_yaml};

/// Keys whose values are prose: their text may go on over several lines.
const PROSE: [&str; 5] = [
    "name",
    "description",
    "license",
    "compatibility",
    "argument-hint",
];

/// Keys of the top level that are looked at. A header with more has too many nodes, whatever becomes of them.
const MOST_KEYS: usize = MOST_NODES / 2;

/// Bytes of values that are looked into. More of them is more text than a header may have, but for escapes.
const MOST_LOOKED_INTO: usize = 2 * MOST_SCALAR_BYTES;

/// What a repair comes to.
pub(super) enum Repair {
    /// Nothing was found to change.
    Nothing,
    /// Values are so large that they are not looked into: an offset in bytes.
    TooLarge(usize),
    /// The header with other text.
    Text(String),
}

/// Writes tabs before the text of a line as two blanks each, and quotes around values of the top level that are not
/// YAML as they stand. Lines keep their numbers.
pub(super) fn repair(header: &str) -> Repair {
    let text = without_tabs(header);
    let anchors = anchor_names(&text);
    let mut out = String::with_capacity(text.len() + 64);
    let mut start = 0;
    let mut keys = 0;
    let mut looked_into = 0;
    while start < text.len() {
        let (first, next) = line_at(&text, start);
        let Some(colon) = key_end(first) else {
            out.push_str(&text[start..next]);
            start = next;
            continue;
        };
        let (below, end) = value_ends(&text, next);
        let entry = Entry {
            key: first[..colon].trim_end(),
            value: first[colon + 1..].trim(),
            line_end: &text[start + first.len()..next],
            below: &text[next..below],
            edge: &text[below..end],
        };
        keys += 1;
        let source = text[start..end].trim_end();
        if keys <= MOST_KEYS && entry.can_be_quoted() {
            looked_into += source.len();
            if looked_into > MOST_LOOKED_INTO {
                return Repair::TooLarge(start);
            }
            if is_yaml(source, &anchors) {
                out.push_str(&text[start..end]);
            } else {
                entry.push_quoted(&mut out);
            }
        } else {
            out.push_str(&text[start..end]);
        }
        start = end;
    }
    if out == header {
        Repair::Nothing
    } else {
        Repair::Text(out)
    }
}

/// A key of the top level and the lines of its value.
struct Entry<'a> {
    key: &'a str,
    /// What stands on the line of the key.
    value: &'a str,
    /// What ends the line of the key.
    line_end: &'a str,
    /// The indented lines below, and the blank ones between them.
    below: &'a str,
    /// What else stands there before the next key.
    edge: &'a str,
}

impl Entry<'_> {
    fn is_prose(&self) -> bool {
        PROSE.contains(&self.key)
    }

    /// Whether there is a text to quote. That of other keys is on their own line.
    fn can_be_quoted(&self) -> bool {
        let mut lines = lines(self.below).map(|(line, _)| line);
        if self.is_prose() {
            !self.value.is_empty() || !lines.all(is_blank)
        } else {
            !self.value.is_empty() && lines.all(|line| is_blank(line) || is_comment(line))
        }
    }

    /// Writes the entry with its value in quotes.
    fn push_quoted(&self, out: &mut String) {
        let joined = if self.is_prose() {
            Cow::Owned(self.joined())
        } else {
            Cow::Borrowed(self.value)
        };
        for part in [
            self.key,
            ": '",
            &joined.replace('\'', "''"),
            "'",
            self.line_end,
        ] {
            out.push_str(part);
        }
        if self.is_prose() {
            // What follows keeps the numbers of its lines.
            out.extend(lines(self.below).map(|(_, end)| end));
        } else {
            out.push_str(self.below);
        }
        out.push_str(self.edge);
    }

    /// The value and the lines below it as one line. What says that a block begins is no part of its text.
    fn joined(&self) -> String {
        let mut out = String::new();
        if !is_block_start(self.value) {
            out.push_str(self.value);
        }
        for part in lines(self.below).map(|(line, _)| line.trim()) {
            if !out.is_empty() && !part.is_empty() {
                out.push(' ');
            }
            out.push_str(part);
        }
        out
    }
}

/// Where the colon of a key stands that begins at the left edge; `None` for any other line.
fn key_end(line: &str) -> Option<usize> {
    let is_part = |it: char| it.is_alphanumeric() || matches!(it, '-' | '_' | '.');
    let key_end = line.find(|it| !is_part(it))?;
    let rest = line[key_end..].trim_start_matches([' ', '\t']);
    let colon = line.len() - rest.len();
    let value = rest.strip_prefix(':')?;
    let begins = line.starts_with(|it: char| it.is_alphanumeric() || it == '_');
    let ends = value.is_empty() || value.starts_with([' ', '\t']);
    (begins && ends).then_some(colon)
}

/// Whether a value begins a block: `|` or `>`, how far it is indented, what becomes of its end, and perhaps a comment.
fn is_block_start(value: &str) -> bool {
    let Some(rest) = value.strip_prefix(['|', '>']) else {
        return false;
    };
    let rest = rest.trim_start_matches(|it: char| matches!(it, '+' | '-' | '0'..='9'));
    let comment = rest.trim_start_matches([' ', '\t']);
    comment.is_empty() || (comment.len() < rest.len() && comment.starts_with('#'))
}

/// The header with the tabs before the text of its lines as two blanks each. Inside a block only those at the left edge:
/// behind blanks they are text.
fn without_tabs(header: &str) -> Cow<'_, str> {
    if !header.contains('\t') {
        return Cow::Borrowed(header);
    }
    let mut out = String::with_capacity(header.len());
    // How far the line that begins a block is indented.
    let mut block: Option<usize> = None;
    for (line, end) in lines(header) {
        let text = line.trim_start_matches([' ', '\t']);
        let indent = &line[..line.len() - text.len()];
        let at_edge = indent.len() - indent.trim_start_matches('\t').len();
        let blanks = indent[at_edge..]
            .bytes()
            .take_while(|it| *it == b' ')
            .count();
        let depth = 2 * at_edge + blanks;
        let is_inside = block.is_some_and(|it| depth > it || text.is_empty());
        let tabs = if is_inside { at_edge } else { indent.len() };
        for character in indent[..tabs].chars() {
            out.push_str(if character == '\t' { "  " } else { " " });
        }
        out.push_str(&line[tabs..]);
        out.push_str(end);
        if !is_inside {
            let value = text.rsplit_once([' ', '\t']).map_or("", |(_, value)| value);
            block = is_block_start(value).then_some(depth);
        }
    }
    Cow::Owned(out)
}

/// Names that the header gives to nodes, or seems to: an alias of one of them is no mistake.
fn anchor_names(header: &str) -> HashSet<&str> {
    let is_end = |it: char| it.is_whitespace() || matches!(it, ',' | '[' | ']' | '{' | '}');
    header
        .split('&')
        .skip(1)
        .filter_map(|rest| rest.split(is_end).next())
        .filter(|name| !name.is_empty())
        .take(MOST_NODES)
        .collect()
}

/// The lines of a text, and what ends each.
fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut start = 0;
    std::iter::from_fn(move || {
        if start == text.len() {
            return None;
        }
        let (line, next) = line_at(text, start);
        let end = &text[start + line.len()..next];
        start = next;
        Some((line, end))
    })
}

/// Where the indented lines end that begin at `start`, and where the next key of the top level begins. Between the two
/// stand lines at the left edge that are no key: a list, the end of one in brackets, comments, blank lines.
fn value_ends(text: &str, start: usize) -> (usize, usize) {
    let mut at = start;
    let mut below = start;
    let mut is_below = true;
    while at < text.len() {
        let (line, next) = line_at(text, at);
        if key_end(line).is_some() {
            break;
        }
        at = next;
        if !is_blank(line) {
            is_below &= line.starts_with(' ');
            if is_below {
                below = next;
            }
        }
    }
    (below, at)
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}
