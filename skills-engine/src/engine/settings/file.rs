use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::SettingOrigin;
use super::draft::Draft;
use super::tree::{Node, Table, Tree};

/// Bytes of a settings file.
const MOST_BYTES: u64 = 1 << 20;
/// Mistakes in the syntax that are told: the later ones mostly follow from the first.
const MOST_MISTAKES: usize = 10;

/// Reads a TOML file into a draft.
pub(super) fn read_into(draft: &mut Draft, path: &Path, may_be_missing: bool) {
    let at = |line| SettingOrigin::File {
        path: path.to_owned(),
        line,
    };
    let text = match text(path) {
        Ok(text) => text,
        Err(Unread::Missing) if may_be_missing => return,
        Err(unread) => {
            let line = match unread {
                Unread::NotUtf8(line) => Some(line),
                _ => None,
            };
            return draft.problem(None, Some(at(line)), unread.message());
        }
    };
    // An editor's mark at the beginning is no part of the text.
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let lines = Lines::of(text);
    let (root, mut mistakes) = DeTable::parse_recoverable(text);
    if mistakes.is_empty() {
        let root = table(root.into_inner(), Some(&lines));
        return draft.add(root, &|line| Some(at(line)));
    }
    mistakes.sort_by_key(|mistake| mistake.span().map(|span| span.start));
    // The whole of such an error would show the line, with whatever secret is on it.
    for mistake in mistakes.iter().take(MOST_MISTAKES) {
        let line = mistake.span().map(|span| lines.number(span.start));
        let message = format!("this is not TOML: {}", mistake.message());
        draft.problem(None, Some(at(line)), message);
    }
}

/// Why a file gave no text.
enum Unread {
    Missing,
    NoFile,
    TooLong,
    /// At a line.
    NotUtf8(usize),
    Failed(std::io::Error),
}

impl Unread {
    fn message(&self) -> String {
        match self {
            Self::Missing => "there is no such file; create it, or do not name it".to_owned(),
            Self::NoFile => "this is not a regular file; name one".to_owned(),
            Self::TooLong => format!("the file has more than {MOST_BYTES} bytes; shorten it"),
            Self::NotUtf8(_) => "this is not UTF-8; save the file in that encoding".to_owned(),
            Self::Failed(err) => format!("the file cannot be read: {err}"),
        }
    }
}

impl From<std::io::Error> for Unread {
    fn from(err: std::io::Error) -> Self {
        match err.kind() {
            ErrorKind::NotFound => Self::Missing,
            _ => Self::Failed(err),
        }
    }
}

fn text(path: &Path) -> Result<String, Unread> {
    // Opening a pipe would wait for whoever writes to it.
    if !std::fs::metadata(path)?.is_file() {
        return Err(Unread::NoFile);
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(MOST_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Unread::TooLong);
    }
    String::from_utf8(bytes).map_err(|err| {
        let valid = &err.as_bytes()[..err.utf8_error().valid_up_to()];
        Unread::NotUtf8(valid.split(|byte| *byte == b'\n').count())
    })
}

/// Where the lines of a text begin.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(end, _)| end + 1).collect())
    }

    /// The line of a byte, counted from 1.
    fn number(&self, byte: usize) -> usize {
        1 + self.0.partition_point(|start| *start <= byte)
    }
}

/// A value written as in a TOML file; the error is what is wrong with it, without the text itself.
pub(super) fn value(text: &str) -> Result<Tree, String> {
    match DeValue::parse(text) {
        Ok(value) => Ok(tree(value.into_inner(), None)),
        Err(err) => Err(err.message().to_owned()),
    }
}

fn table(entries: DeTable<'_>, lines: Option<&Lines>) -> Table {
    let entry = |(name, value): (toml::Spanned<_>, toml::Spanned<_>)| {
        let line = lines.map(|lines| lines.number(name.span().start));
        let tree = tree(value.into_inner(), lines);
        let name: std::borrow::Cow<'_, str> = name.into_inner();
        (name.into_owned(), Node { tree, line })
    };
    entries.into_iter().map(entry).collect()
}

fn tree(value: DeValue<'_>, lines: Option<&Lines>) -> Tree {
    match value {
        DeValue::String(text) => Tree::Text(text.into_owned()),
        DeValue::Integer(number) => {
            let value = i128::from_str_radix(number.as_str(), number.radix());
            value.map_or_else(|_| Tree::Other(number.to_string()), Tree::Integer)
        }
        DeValue::Float(number) => Tree::Other(number.as_str().to_owned()),
        DeValue::Boolean(is_on) => Tree::Switch(is_on),
        DeValue::Datetime(time) => Tree::Other(time.to_string()),
        DeValue::Array(values) => {
            let node = |value: toml::Spanned<DeValue<'_>>| Node {
                line: lines.map(|lines| lines.number(value.span().start)),
                tree: tree(value.into_inner(), lines),
            };
            Tree::List(values.into_iter().map(node).collect())
        }
        DeValue::Table(entries) => Tree::Table(table(entries, lines)),
    }
}
