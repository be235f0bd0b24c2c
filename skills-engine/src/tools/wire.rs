//! Names of tools as models and providers see them.

use sha2::{Digest, Sha256};

use crate::skill::SkillDefinition;

/// Bytes of a name on the wire: what providers take.
const MOST_BYTES: usize = 64;
/// Bytes of the mark of a name that was changed: `_` and 8 hexadecimal digits.
const MARK_BYTES: usize = 9;

/// The name of a tool on the wire, `skill__tool`: 1 to 64 of `a-z A-Z 0-9 _ -`.
///
/// Each other character becomes `_`. When there was one, or when `skill__tool` is longer than 64 characters, the name
/// is cut to 55 and ends in `_` and 8 lower-case hexadecimal digits: the first four bytes of the SHA-256 of the
/// skill's id, one byte 0xFF, and the tool's name, both as they were, in UTF-8.
///
/// The same two names give the same name on the wire, in every process and release.
///
/// # Examples
///
/// ```
/// use skills_engine::tools::wire_name;
///
/// assert_eq!(wire_name("help-desk", "get_ticket"), "help-desk__get_ticket");
/// assert_eq!(wire_name("help desk", "get_ticket"), "help_desk__get_ticket_7bcfdc10");
/// ```
///
/// The engine's own tools for what skills hold, such as `load_skill`, go by their bare names.
#[must_use]
pub fn wire_name(skill: &str, tool: &str) -> String {
    let mut is_changed = false;
    let mut name: String = skill
        .chars()
        .chain("__".chars())
        .chain(tool.chars())
        .take(MOST_BYTES + 1)
        .map(|character| {
            if character.is_ascii_alphanumeric() || matches!(character, '_' | '-') {
                character
            } else {
                is_changed = true;
                '_'
            }
        })
        .collect();
    // What lies beyond the 65th character need not be looked at: the name is cut, hence marked, all the same.
    if is_changed || name.len() > MOST_BYTES {
        name.truncate(MOST_BYTES - MARK_BYTES);
        name.push('_');
        let digest = Sha256::new()
            .chain_update(skill)
            .chain_update([0xFF])
            .chain_update(tool)
            .finalize();
        for byte in &digest[..4] {
            for nibble in [byte >> 4, byte & 0xF] {
                name.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        }
    }
    name
}

/// The name of a tool of a skill: [`wire_name`], or the bare one where the skill holds tools of the engine's own.
pub(crate) fn name_on_wire(skill: &SkillDefinition, tool: &str) -> String {
    if skill.is_built_in {
        return tool.to_owned();
    }
    wire_name(&skill.id, tool)
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::wire_name;

    #[test]
    fn names_are_stable() {
        let x = |count: usize| "x".repeat(count);
        for (name, skill, tool, expected) in [
            (
                "plain",
                "help-desk",
                "get_ticket",
                "help-desk__get_ticket".to_owned(),
            ),
            ("upper case", "a", "GetTicket9", "a__GetTicket9".to_owned()),
            ("64 characters", "a", &x(61), format!("a__{}", x(61))),
            (
                "65 characters",
                "a",
                &x(62),
                format!("a__{}_af7cdf4c", x(52)),
            ),
            (
                "66 characters",
                "a",
                &x(63),
                format!("a__{}_5d8aa7c9", x(52)),
            ),
            (
                "space",
                "help desk",
                "get",
                "help_desk__get_7c279008".to_owned(),
            ),
            (
                "slash",
                "help/desk",
                "get",
                "help_desk__get_2b6ce6c4".to_owned(),
            ),
            ("not ASCII", "héé", "漢字", "h_______6154f030".to_owned()),
            (
                "hostile",
                "</skill>\0\u{202e}",
                "a",
                "__skill_____a_76d263ed".to_owned(),
            ),
            ("empty", "", "", "__".to_owned()),
        ] {
            assert_eq!(wire_name(skill, tool), expected, "{name}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 200,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(64),
            ..ProptestConfig::default()
        })]

        #[test]
        fn any_name_is_legal_and_always_the_same(skill in ".{0,80}", tool in "\\PC{0,80}") {
            let name = wire_name(&skill, &tool);
            prop_assert!((1..=64).contains(&name.len()));
            prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte)));
            prop_assert_eq!(wire_name(&skill, &tool), name);
        }

        #[test]
        fn legal_names_stay(skill in "[a-z][a-z0-9-]{0,29}", tool in "[a-zA-Z0-9_]{1,32}") {
            prop_assert_eq!(wire_name(&skill, &tool), format!("{skill}__{tool}"));
        }

        // Few letters, so that names that differ in a replaced or cut place are frequent.
        #[test]
        fn different_tools_have_different_names(
            pairs in prop::collection::hash_set(("[a ./é]{1,3}", "[a:]{1,2}|x{60}[a ./é]{1,9}"), 0..60),
        ) {
            let mut owners = HashMap::new();
            for (skill, tool) in &pairs {
                if let Some(other) = owners.insert(wire_name(skill, tool), (skill, tool)) {
                    prop_assert!(false, "{other:?} and {:?}", (skill, tool));
                }
            }
        }
    }
}
