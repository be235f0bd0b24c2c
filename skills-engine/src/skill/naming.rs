//! How a principal and a session are named, in one allocation, for every session holds one.
//!
//! The text is `{principal's id}/{session's id}`, and behind it, where the principal has roles, `{roles};{their length in
//! bytes}` and a NUL, each role after its own length and a colon. It is read from its end, so any principal's id will do:
//! a session's id ends with none of these characters, and a name without a session ends with the slash.

use std::fmt::Write as _;
use std::sync::Arc;

const ROLES: char = '\0';

pub(super) fn name(principal: &str, session: &str, roles: &str) -> Arc<str> {
    let mut text = [principal, "/", session, roles].concat();
    if !roles.is_empty() {
        // Writing to a string does not fail.
        let _ = write!(text, ";{}{ROLES}", roles.len());
    }
    text.into()
}

/// What tells a session from all others: the ids.
pub(super) fn key(name: &str) -> &str {
    split(name).0
}

/// The roles, as [`next_role`] takes them apart.
pub(super) fn roles(name: &str) -> &str {
    split(name).1
}

fn split(name: &str) -> (&str, &str) {
    let split = || {
        let (rest, length) = name.strip_suffix(ROLES)?.rsplit_once(';')?;
        let at = rest.len().checked_sub(length.parse().ok()?)?;
        rest.split_at_checked(at)
    };
    split().unwrap_or((name, ""))
}

/// Adds a role to those of a principal.
pub(super) fn add_role(roles: &mut String, role: &str) {
    // Writing to a string does not fail.
    let _ = write!(roles, "{}:{role}", role.len());
}

/// The first of the roles, and the others.
pub(super) fn next_role(roles: &str) -> Option<(&str, &str)> {
    let (length, rest) = roles.split_once(':')?;
    rest.split_at_checked(length.parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_roles_are_told_apart_whatever_they_hold() {
        let texts = [
            "",
            "ada",
            "a/da",
            "/",
            "7:support",
            ";9\0",
            "\0",
            "ada/s1;3\0",
            "größe",
        ];
        for principal in texts {
            for session in ["", "s1", "0"] {
                for count in 0..3 {
                    for role in texts {
                        let mut all = String::new();
                        (0..count).for_each(|_| add_role(&mut all, role));
                        let name = name(principal, session, &all);
                        let expected = format!("{principal}/{session}");
                        assert_eq!(key(&name), expected, "{name:?}");
                        assert_eq!(roles(&name), all, "{name:?}");
                        let mut rest = roles(&name);
                        for _ in 0..count {
                            let (next, others) = next_role(rest).unwrap();
                            assert_eq!(next, role);
                            rest = others;
                        }
                        assert_eq!(next_role(rest), None);
                    }
                }
            }
        }
    }
}
