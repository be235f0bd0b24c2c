use super::{Code, Fault, shown};

/// Checks the id of a macro or builder skill: `[a-z][a-z0-9-]{0,63}`.
///
/// # Errors
///
/// `invalid_arguments`, saying what an id looks like.
pub fn check_skill_id(id: &str) -> Result<(), Fault> {
    let is_legal = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let starts_with_letter = id
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_lowercase());
    if starts_with_letter && id.len() <= 64 && id.bytes().all(is_legal) {
        return Ok(());
    }
    let shown = shown(id, 80);
    Err(Fault::new(
        Code::InvalidArguments,
        format!(
            "`{shown}` is not a skill id; use 1 to 64 of a-z 0-9 -, beginning with a letter, such as `help-desk`"
        ),
    ))
}

/// Checks the name of a tool or attribute: `[a-zA-Z0-9_]{1,64}`.
///
/// # Errors
///
/// `invalid_arguments`, saying what a name looks like.
pub fn check_tool_name(name: &str) -> Result<(), Fault> {
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !name.is_empty() && name.len() <= 64 && name.bytes().all(is_legal) {
        return Ok(());
    }
    let shown = shown(name, 80);
    Err(Fault::new(
        Code::InvalidArguments,
        format!(
            "`{shown}` is not a tool or attribute name; use 1 to 64 of a-z A-Z 0-9 _, such as `get_ticket`"
        ),
    ))
}

/// A kebab-case id in words: `help-desk` becomes `Help desk`.
#[must_use]
pub fn words_of(id: &str) -> String {
    let words = id.replace(['-', '_'], " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => words,
    }
}
