//! Ids and names, with the rules of the runtime crate.

use proc_macro2::Span;
use syn::LitStr;

use crate::errors::Errors;

pub(super) const LONGEST: usize = 64;

/// Whether a text is `[a-z][a-z0-9-]{0,63}`.
fn is_skill_id(id: &str) -> bool {
    id.starts_with(|first: char| first.is_ascii_lowercase())
        && id.len() <= LONGEST
        && id
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
}

/// Whether a text is `[a-zA-Z0-9_]{1,64}`.
fn is_member_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= LONGEST
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Checks the id of a skill: `given`, or `derived` from the type at `span`.
pub(super) fn skill_id(given: Option<&LitStr>, derived: &str, span: Span, errors: &mut Errors) {
    const SHAPE: &str = "1 to 64 of a-z 0-9 -, beginning with a letter";
    match given {
        Some(id) if !is_skill_id(&id.value()) => {
            let value = id.value();
            let advice = corrected(&value, '-', true).filter(|id| is_skill_id(id)).map_or_else(
                String::new,
                |right| format!(", such as `{right}`"),
            );
            errors.add(
                id.span(),
                format!("{} is not a skill id; use {SHAPE}{advice}", shown(&value)),
            );
        }
        None if !is_skill_id(derived) => errors.add(
            span,
            format!(
                "`{derived}`, made from this name, is not a skill id; write `#[skill(id = \"…\")]` with {SHAPE}"
            ),
        ),
        Some(_) | None => {}
    }
}

/// Checks the name of a tool or attribute: `given`, or the Rust name at `span`.
pub(super) fn member(given: Option<&LitStr>, rust_name: &str, span: Span, errors: &mut Errors) {
    const SHAPE: &str = "1 to 64 of a-z A-Z 0-9 _";
    match given {
        Some(name) if !is_member_name(&name.value()) => {
            let value = name.value();
            let advice = corrected(&value, '_', false)
                .filter(|name| is_member_name(name))
                .map_or_else(String::new, |right| format!(", such as `{right}`"));
            errors.add(
                name.span(),
                format!(
                    "{} is not a name for a member; use {SHAPE}{advice}",
                    shown(&value)
                ),
            );
        }
        None if !is_member_name(rust_name) => errors.add(
            span,
            format!("`{rust_name}` is not a name for a member; add `name = \"…\"` with {SHAPE}"),
        ),
        Some(_) | None => {}
    }
}

/// Checks the name of a parameter.
pub(super) fn parameter(name: &str, span: Span, errors: &mut Errors) {
    if !is_member_name(name) {
        errors.add(
            span,
            format!("`{name}` is not a name models can use for an argument; rename it with 1 to 64 of a-z A-Z 0-9 _"),
        );
    }
}

/// The text with every illegal run replaced.
fn corrected(text: &str, filler: char, is_lower: bool) -> Option<String> {
    let mut out = String::new();
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() {
            out.push(if is_lower {
                letter.to_ascii_lowercase()
            } else {
                letter
            });
        } else if !out.is_empty() && !out.ends_with(filler) {
            out.push(filler);
        }
    }
    let out = out.trim_end_matches(filler);
    let out = if is_lower {
        out.trim_start_matches(|first: char| !first.is_ascii_lowercase())
    } else {
        out
    };
    let cut: String = out.chars().take(LONGEST).collect();
    (!cut.is_empty()).then_some(cut)
}

fn shown(text: &str) -> String {
    if text.is_empty() {
        return "an empty text".to_owned();
    }
    let text: String = text.chars().take(80).flat_map(char::escape_debug).collect();
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::corrected;

    #[test]
    fn corrections() {
        for (given, filler, is_lower, expected) in [
            ("Help Desk", '-', true, Some("help-desk")),
            ("42 tickets!", '-', true, Some("tickets")),
            ("get ticket", '_', false, Some("get_ticket")),
            ("a.b/c", '_', false, Some("a_b_c")),
            ("ü", '_', false, None),
        ] {
            assert_eq!(corrected(given, filler, is_lower).as_deref(), expected);
        }
    }
}
