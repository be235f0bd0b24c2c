use super::DiagnosticKind;
use super::fields::Fields;
use super::report::Report;
use super::yaml::Node;
use crate::skill::{nearest, shown};

/// Keys of the specification.
const STANDARD: [&str; 6] = [
    "name",
    "description",
    "license",
    "compatibility",
    "metadata",
    "allowed-tools",
];

/// Keys of clients, which are no mistake.
const EXTENSIONS: [&str; 12] = [
    "argument-hint",
    "arguments",
    "disable-model-invocation",
    "user-invocable",
    "when_to_use",
    "model",
    "effort",
    "context",
    "agent",
    "hooks",
    "paths",
    "shell",
];

/// Keys that are named; more are counted.
const MOST_NAMED: usize = 8;

/// Bytes of a key that may be a misspelled one.
const LONGEST_MISSPELLED: usize = 64;

/// Reports the keys that the specification does not have: once those that nobody knows, and, for who is strict, once those
/// of clients. Says whether there are any.
pub(super) fn report_keys(fields: &Fields<'_, '_>, report: &mut Report<'_>) -> bool {
    let is_among =
        |known: &[&str], key: &Node<'_>| key.text().is_some_and(|it| known.contains(&it));
    let keys = fields.entries.iter().map(|entry| &*entry.key);
    let (extensions, unknown): (Vec<_>, Vec<_>) = keys
        .filter(|key| !is_among(&STANDARD, key))
        .partition(|key| is_among(&EXTENSIONS, key));
    if let Some(first) = unknown.first() {
        report.place(
            DiagnosticKind::UnknownField,
            fields.source.place(first.at),
            format!(
                "no client is known to read {}",
                listed(&unknown, |key| meant(key, fields))
            ),
            "correct the key, or move it below `metadata`",
        );
    }
    if let Some(first) = extensions.first() {
        report.strict_place(
            DiagnosticKind::ExtensionField,
            fields.source.place(first.at),
            format!(
                "the specification does not have {}",
                listed(&extensions, |_| None)
            ),
            "take out what only clients read, or move it below `metadata`",
        );
    }
    !(extensions.is_empty() && unknown.is_empty())
}

/// The keys, each with what it may have been meant to be.
fn listed<'m>(keys: &[&Node<'_>], meant: impl Fn(&Node<'_>) -> Option<&'m str>) -> String {
    let mut named: Vec<String> = keys
        .iter()
        .take(MOST_NAMED)
        .map(|key| {
            let text = shown(&key.source_text(), 80);
            match meant(key) {
                Some(meant) => format!("`{text}` (did you mean `{meant}`?)"),
                None => format!("`{text}`"),
            }
        })
        .collect();
    if keys.len() > MOST_NAMED {
        named.push(format!("{} more", keys.len() - MOST_NAMED));
    }
    named.join(", ")
}

/// The known key that a misspelled one most likely is, unless the header has that, too.
fn meant(key: &Node<'_>, fields: &Fields<'_, '_>) -> Option<&'static str> {
    let key = key.text().filter(|key| key.len() <= LONGEST_MISSPELLED)?;
    let known = STANDARD.into_iter().chain(EXTENSIONS);
    nearest(
        key,
        known.filter(|known| fields.node(known).is_none() && is_like(key, known)),
    )
}

/// Whether a key is another one but for its spelling. Word by word it must be near: `disallowed-tools` is the opposite of
/// `allowed-tools` and `disable-user-invocation` has little to do with `disable-model-invocation`, although few letters
/// differ.
fn is_like(key: &str, known: &str) -> bool {
    let (key, known) = (words(key), words(known));
    if key.concat() == known.concat() {
        return true;
    }
    let first = |words: &[String]| words.first().and_then(|word| word.chars().next());
    first(&key) == first(&known)
        && key.len() == known.len()
        && key
            .iter()
            .zip(&known)
            .all(|(left, right)| nearest(left, std::iter::once(right.as_str())).is_some())
}

/// The words of a key in lower case, whether hyphens, underscores or capitals tell them apart.
fn words(key: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_small = false;
    for letter in key.trim().chars() {
        let is_between = matches!(letter, '-' | '_' | '.' | ' ');
        if is_between || (was_small && letter.is_uppercase()) {
            words.push(String::new());
        }
        if let (false, Some(word)) = (is_between, words.last_mut()) {
            word.extend(letter.to_lowercase());
        }
        was_small = letter.is_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}
