use unicode_normalization::{UnicodeNormalization as _, is_nfkc};

use super::DiagnosticKind;
use super::fields::Fields;
use super::report::Report;
use crate::skill::{is_hidden, shown};

/// Characters of a name.
const MOST_NAME: usize = 64;

/// The name of the skill; `None` after an error.
pub(super) fn read_name(
    fields: &Fields<'_, '_>,
    folder: &str,
    report: &mut Report<'_>,
) -> Option<String> {
    let folder = normalized(folder);
    let node = fields.node("name");
    let given = node.and_then(|node| node.text()).map(str::trim);
    let name = match given.filter(|name| !name.is_empty()) {
        Some(name) => normalized(name),
        None => folder.clone(),
    };
    let place = node.map_or((1, 1), |node| fields.source.place(node.at));
    let quoted = shown(&name, 80);
    if given.is_none_or(str::is_empty) {
        report.place(
            DiagnosticKind::NameMissing,
            place,
            format!("there is no name, so it is that of the folder, `{quoted}`"),
            "write the name of the folder as `name`",
        );
    }
    if let Some(reason) = unsafe_reason(&name) {
        report.place(
            DiagnosticKind::NameUnsafe,
            place,
            format!("the name `{quoted}` {reason}"),
            "use lower-case letters, digits and single hyphens",
        );
        return None;
    }
    let count = name.chars().count();
    if count > MOST_NAME {
        report.place(
            DiagnosticKind::NameTooLong,
            place,
            format!("the name has {count} characters, {MOST_NAME} are allowed"),
            "shorten it, and the name of the folder with it",
        );
    }
    if !is_well_formed(&name) {
        report.place(
            DiagnosticKind::NameFormat,
            place,
            format!("the name `{quoted}` is not lower-case letters, digits and single hyphens"),
            "write it as in `review-invoices`, and the name of the folder with it",
        );
    }
    if name != folder {
        let folder = shown(&folder, 80);
        report.place(
            DiagnosticKind::NameDirMismatch,
            place,
            format!("the name is `{quoted}`, the folder `{folder}`"),
            "give both the same name",
        );
    }
    Some(name)
}

/// A name in NFKC, in which names that look alike more often are alike.
fn normalized(name: &str) -> String {
    if is_nfkc(name) {
        name.to_owned()
    } else {
        name.nfkc().collect()
    }
}

/// Why a name cannot be a key, a part of a path or of an address.
fn unsafe_reason(name: &str) -> Option<&'static str> {
    if matches!(name, "." | "..") {
        return Some("stands for a folder");
    }
    if name.contains(['/', '\\']) {
        return Some("has a slash");
    }
    if name.chars().any(char::is_control) {
        return Some("has a control character");
    }
    if name.chars().any(is_bidi) {
        return Some("has a character that changes the direction of what is shown");
    }
    // A model reads what a person who looks the skill over does not see.
    name.chars()
        .any(is_hidden)
        .then_some("has a character that is not seen")
}

/// Whether a character only sets the direction of others (`Bidi_Control` of Unicode).
fn is_bidi(character: char) -> bool {
    matches!(
        character,
        '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}'
    )
}

fn is_well_formed(name: &str) -> bool {
    let is_part = |it: char| it == '-' || (it.is_alphanumeric() && !it.is_uppercase());
    name.chars().all(is_part)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}
