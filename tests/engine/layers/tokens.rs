//! Reads a Rust source as tokens.

/// What a source is made of, as far as paths are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind<'a> {
    /// A keyword, a name or a number.
    Word(&'a str),
    /// What stands between the quotes of a string.
    Text(&'a str),
    /// `::`
    Separator,
    /// Any other character.
    Mark(char),
}

/// A piece of source and the line it starts on, from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind<'a>,
    pub(super) line: usize,
}

/// The tokens of a source, without comments, lifetimes and character literals.
pub(super) fn tokens(source: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = source;
    let mut line = 1;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = next_token(rest, first);
        if let Some(kind) = kind {
            tokens.push(Token { kind, line });
        }
        let (taken, remaining) = rest.split_at(length);
        line += taken.matches('\n').count();
        rest = remaining;
    }
    tokens
}

/// What `rest` starts with, if it is a token, and how many bytes that takes.
fn next_token(rest: &str, first: char) -> (Option<Kind<'_>>, usize) {
    if rest.starts_with("//") {
        return (None, rest.find('\n').unwrap_or(rest.len()));
    }
    if rest.starts_with("/*") {
        return (None, block_comment_length(rest));
    }
    if rest.starts_with("::") {
        return (Some(Kind::Separator), 2);
    }
    match first {
        '"' => string(rest, 0),
        '\'' => (None, quote_length(rest)),
        _ if is_name(first) => word(rest),
        _ if first.is_whitespace() => (None, first.len_utf8()),
        _ => (Some(Kind::Mark(first)), first.len_utf8()),
    }
}

fn is_name(character: char) -> bool {
    character == '_' || character.is_alphanumeric()
}

fn name_length(rest: &str) -> usize {
    rest.find(|character| !is_name(character))
        .unwrap_or(rest.len())
}

/// A word, or the literal that starts with it: `b"…"`, `r#"…"#`, `b'…'`, `r#type`.
fn word(rest: &str) -> (Option<Kind<'_>>, usize) {
    let length = name_length(rest);
    let (name, after) = rest.split_at(length);
    let hashes = after.len() - after.trim_start_matches('#').len();
    match name {
        "b" | "c" if after.starts_with('"') => string(rest, length),
        "b" if after.starts_with('\'') => (None, length + quote_length(after)),
        "r" | "br" | "cr" if after[hashes..].starts_with('"') => {
            raw_string(rest, length + hashes, hashes)
        }
        "r" if hashes == 1 => {
            let start = length + 1;
            let end = start + name_length(&rest[start..]);
            (Some(Kind::Word(&rest[start..end])), end)
        }
        _ => (Some(Kind::Word(name)), length),
    }
}

/// A string whose opening quote is at `open`.
fn string(rest: &str, open: usize) -> (Option<Kind<'_>>, usize) {
    let body = &rest[open + 1..];
    let mut escaped = false;
    let end = body.find(|character| {
        let closes = character == '"' && !escaped;
        escaped = character == '\\' && !escaped;
        closes
    });
    let end = end.unwrap_or(body.len());
    let total = (open + 1 + end + 1).min(rest.len());
    (Some(Kind::Text(&body[..end])), total)
}

fn raw_string(rest: &str, open: usize, hashes: usize) -> (Option<Kind<'_>>, usize) {
    let body = &rest[open + 1..];
    let closing = format!("\"{}", "#".repeat(hashes));
    let end = body.find(&closing).unwrap_or(body.len());
    let total = (open + 1 + end + closing.len()).min(rest.len());
    (Some(Kind::Text(&body[..end])), total)
}

/// The length of a character literal or a lifetime.
fn quote_length(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    let Some((_, first)) = characters.next() else {
        return rest.len();
    };
    if first == '\\' {
        characters.next();
        let closing = characters.find(|(_, character)| *character == '\'');
        return closing.map_or(rest.len(), |(at, _)| at + 1);
    }
    match characters.next() {
        Some((at, '\'')) => at + 1,
        _ => 1 + name_length(&rest[1..]),
    }
}

fn block_comment_length(rest: &str) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}
