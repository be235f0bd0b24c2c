//! Finds which modules of its own crate a source names.

use super::tokens::{Kind, Token};

/// A top-level name of the crate that a source uses, and where.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Reference<'a> {
    /// A module, another item of the crate root, or `*`.
    pub(super) name: &'a str,
    pub(super) line: usize,
    /// Whether it stands in a module of unit tests.
    pub(super) in_tests: bool,
}

/// The top-level names that the text of the module `path` takes from its own crate, whose name is `krate`.
pub(super) fn references<'a>(
    krate: &str,
    path: &[&'a str],
    tokens: &[Token<'a>],
) -> Vec<Reference<'a>> {
    let mut found = Vec::new();
    // The module at each place: inline modules are entered at their brace and left at its partner.
    let mut path = path.to_vec();
    let mut inline = Vec::new();
    let mut depth = 0_usize;
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    for at in 0..tokens.len() {
        match tokens[at].kind {
            Kind::Mark('{') => {
                depth += 1;
                let before = (
                    at.checked_sub(2).and_then(kind),
                    at.checked_sub(1).and_then(kind),
                );
                if let (Some(Kind::Word("mod")), Some(Kind::Word(name))) = before {
                    path.push(name);
                    inline.push(depth);
                }
            }
            Kind::Mark('}') => {
                if inline.last() == Some(&depth) {
                    inline.pop();
                    path.pop();
                }
                depth = depth.saturating_sub(1);
            }
            Kind::Word(word) if starts_path(krate, tokens, at) => {
                let base = if word == "crate" || word == krate {
                    Vec::new()
                } else {
                    path.clone()
                };
                let start = if base.is_empty() { at + 1 } else { at };
                let in_tests = path.contains(&"tests");
                let mut walk = Walk {
                    tokens,
                    at: start,
                    in_tests,
                };
                walk.follow(base, &mut found);
            }
            _ => {}
        }
    }
    found
}

/// What may stand before a path that starts with `::`.
const KEYWORDS: [&str; 13] = [
    "as", "const", "dyn", "else", "for", "if", "impl", "in", "match", "mut", "return", "use",
    "while",
];

/// Whether the word at `at` begins a path into its own crate: `crate::`, `self::`, `super::`, `krate::`, or is a
/// renamed `crate`.
fn starts_path(krate: &str, tokens: &[Token<'_>], at: usize) -> bool {
    let kind = |at: usize| tokens.get(at).map(|token| token.kind);
    let Kind::Word(word) = tokens[at].kind else {
        return false;
    };
    let before = at.checked_sub(1).and_then(kind);
    // `$crate` is the crate of whoever uses the macro's text.
    if before == Some(Kind::Mark('$')) {
        return false;
    }
    match kind(at + 1) {
        Some(Kind::Separator) if word == krate => {
            // `a::krate::b` is another's, `use ::krate::b` is ours.
            let continued = match at.checked_sub(2).and_then(kind) {
                Some(Kind::Word(earlier)) => !KEYWORDS.contains(&earlier),
                Some(Kind::Mark('>')) => true,
                _ => false,
            };
            before != Some(Kind::Separator) || !continued
        }
        Some(Kind::Separator) => {
            matches!(word, "crate" | "self" | "super") && before != Some(Kind::Separator)
        }
        Some(Kind::Word("as")) => word == "crate" && before == Some(Kind::Word("use")),
        _ => false,
    }
}

/// Follows one path, every branch of it when it has groups.
struct Walk<'a, 'tokens> {
    tokens: &'tokens [Token<'a>],
    at: usize,
    in_tests: bool,
}

impl<'a> Walk<'a, '_> {
    /// Reads on from the module `base` and notes each name that is taken from the crate root.
    fn follow(&mut self, mut base: Vec<&'a str>, found: &mut Vec<Reference<'a>>) {
        while let Some(&Token { kind, line }) = self.tokens.get(self.at) {
            self.at += 1;
            let name = match kind {
                Kind::Separator => continue,
                Kind::Mark('{') => return self.group(&base, found),
                Kind::Mark('*') => "*",
                Kind::Word("super") if self.continues() => {
                    base.pop();
                    continue;
                }
                Kind::Word("self") if self.continues() => continue,
                // The crate root itself, under another name.
                Kind::Word("as") => "self",
                Kind::Word(name) => name,
                Kind::Text(_) | Kind::Mark(_) => return,
            };
            if base.is_empty() {
                let in_tests = self.in_tests;
                found.push(Reference {
                    name,
                    line,
                    in_tests,
                });
            }
            return;
        }
    }

    fn continues(&self) -> bool {
        self.kind() == Some(Kind::Separator)
    }

    fn kind(&self) -> Option<Kind<'a>> {
        self.tokens.get(self.at).map(|token| token.kind)
    }

    fn group(&mut self, base: &[&'a str], found: &mut Vec<Reference<'a>>) {
        while let Some(kind) = self.kind() {
            if kind == Kind::Mark('}') {
                self.at += 1;
                return;
            }
            self.follow(base.to_vec(), found);
            self.skip_item();
        }
    }

    /// Goes past the rest of one item of a group and the comma behind it.
    fn skip_item(&mut self) {
        let mut depth = 0_usize;
        while let Some(kind) = self.kind() {
            match kind {
                Kind::Mark('{') => depth += 1,
                Kind::Mark('}') if depth == 0 => return,
                Kind::Mark('}') => depth -= 1,
                Kind::Mark(',') if depth == 0 => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }
}
