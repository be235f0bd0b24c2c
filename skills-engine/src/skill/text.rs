//! Untrusted text: what of it is invisible, and how it is shown in a message.

use std::fmt::Write as _;

/// Whether a character shows nothing by itself, or changes how what surrounds it is shown: zero-width and bidi
/// characters, tags, variation selectors, fillers, line separators, noncharacters. Controls are not among them.
///
/// It covers `Default_Ignorable_Code_Point` of Unicode (UAX #44), U+2028, U+2029, U+FFF9 to U+FFFB and the blank of
/// Braille.
pub(crate) fn is_hidden(character: char) -> bool {
    let code = u32::from(character);
    // Everything below is a single comparison for most text.
    if code < 0xAD {
        return false;
    }
    matches!(
        code,
        0xAD | 0x34F
            | 0x61C
            | 0x115F..=0x1160
            | 0x17B4..=0x17B5
            | 0x180B..=0x180F
            | 0x200B..=0x200F
            | 0x2028..=0x202E
            | 0x2060..=0x206F
            | 0x2800
            | 0x3164
            | 0xFDD0..=0xFDEF
            | 0xFE00..=0xFE0F
            | 0xFEFF
            | 0xFFA0
            | 0xFFF0..=0xFFFB
            | 0x1_BCA0..=0x1_BCA3
            | 0x1_D173..=0x1_D17A
            | 0xE_0000..=0xE_0FFF
    ) || code & 0xFFFE == 0xFFFE
}

/// Writes a control or hidden character so that it can be seen: `\n`, `\t`, `\r` or `\u{200b}`.
pub(crate) fn push_visible(character: char, out: &mut String) {
    match character {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        // Writing into a `String` does not fail.
        other => drop(write!(out, "\\u{{{:x}}}", u32::from(other))),
    }
}

/// Untrusted text as part of a one-line message: controls and hidden characters visible, cut after `most` characters.
pub(crate) fn shown(text: &str, most: usize) -> String {
    let mut out = String::new();
    for (index, character) in text.chars().enumerate() {
        if index == most {
            out.push('…');
            break;
        }
        if character.is_control() || is_hidden(character) {
            push_visible(character, &mut out);
        } else {
            out.push(character);
        }
    }
    out
}

/// Untrusted text of any length as part of one line: controls and hidden characters visible.
pub(crate) fn printable(text: &str) -> String {
    shown(text, usize::MAX)
}

/// As [`shown`], but cut in the middle: where the end says what was wrong.
pub(crate) fn shown_ends(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return shown(text, most);
    }
    let tail = most / 3;
    let start = text
        .char_indices()
        .nth(count - tail)
        .map_or(text.len(), |(start, _)| start);
    let mut out = shown(text, most - tail);
    out.push_str(&shown(&text[start..], tail));
    out
}

/// A text without regard to case.
///
/// Upper case first, so that letters with several lower-case forms come out as one, and letter by letter, so that none
/// depends on where it stands: as the sigmas.
pub(crate) fn folded(text: &str) -> String {
    text.chars()
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect()
}

/// Whether a part of a text is a whole word, or several: no word goes on beyond its ends.
pub(crate) fn is_word_at(text: &str, start: usize, end: usize) -> bool {
    let part = &text[start..end];
    let goes_on = |before: Option<char>, after: Option<char>| {
        before.zip(after).is_some_and(|(before, after)| {
            (is_of_word(before)
                && is_of_word(after)
                && !is_spaceless(before)
                && !is_spaceless(after))
                || is_combining(after)
        })
    };
    !goes_on(text[..start].chars().next_back(), part.chars().next())
        && !goes_on(part.chars().next_back(), text[end..].chars().next())
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || is_combining(letter)
}

/// The common combining marks; those of single scripts are alphabetic, mostly.
pub(crate) fn is_combining(letter: char) -> bool {
    matches!(u32::from(letter), 0x300..=0x36F | 0x1AB0..=0x1AFF | 0x1DC0..=0x1DFF | 0x20D0..=0x20FF)
}

/// Letters of scripts that put no space between words: Thai, Lao, Myanmar, Khmer, Chinese and Japanese.
pub(crate) fn is_spaceless(letter: char) -> bool {
    matches!(
        u32::from(letter),
        0xE00..=0xEFF
            | 0x1000..=0x109F
            | 0x1780..=0x17FF
            | 0x2E80..=0x2FDF
            | 0x3005..=0x3007
            | 0x3040..=0x30FF
            | 0x31F0..=0x31FF
            | 0x3400..=0x4DBF
            | 0x4E00..=0x9FFF
            | 0xF900..=0xFAFF
            | 0xFF66..=0xFF9F
            | 0x2_0000..=0x3_23AF
    )
}

/// The name that a mistyped word most likely means: at most a third of its letters differ, case and `_` aside.
pub(crate) fn nearest<'n>(word: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    const LONGEST: usize = 64;
    let letters = |text: &str| -> Vec<char> {
        text.chars()
            .filter(|letter| !matches!(letter, '_' | '-' | ' ' | '.'))
            .flat_map(char::to_lowercase)
            .take(LONGEST + 1)
            .collect()
    };
    let word = letters(word);
    if word.is_empty() || word.len() > LONGEST {
        return None;
    }
    names
        .map(|name| (distance(&word, &letters(name)), name))
        .filter(|(distance, name)| *distance <= word.len().max(name.len()) / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// The number of letters to insert, remove, replace or swap to make one word the other.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let mut best = above[column] + usize::from(letter != other);
            best = best.min(above[column + 1] + 1).min(current[column] + 1);
            let is_swap =
                row > 0 && column > 0 && *letter == right[column - 1] && left[row - 1] == *other;
            if is_swap {
                best = best.min(before[column - 1] + 1);
            }
            current.push(best);
        }
        before = std::mem::replace(&mut above, current);
    }
    above[right.len()]
}

#[cfg(test)]
mod tests {
    use super::{nearest, shown, shown_ends};

    #[test]
    fn hidden_characters_are_shown() {
        for (name, text, expected) in [
            ("plain", "a é 漢 👍", "a é 漢 👍"),
            (
                "controls",
                "a\0\x1b[1m\n\t\r\x7f\u{85}",
                "a\\u{0}\\u{1b}[1m\\n\\t\\r\\u{7f}\\u{85}",
            ),
            ("bidi", "\u{202e}a\u{2066}", "\\u{202e}a\\u{2066}"),
            (
                "zero width",
                "a\u{200b}\u{feff}\u{ad}",
                "a\\u{200b}\\u{feff}\\u{ad}",
            ),
            ("tags", "\u{e0041}\u{e01ef}", "\\u{e0041}\\u{e01ef}"),
            ("separators", "\u{2028}\u{2029}", "\\u{2028}\\u{2029}"),
            ("noncharacters", "\u{fffe}\u{1ffff}", "\\u{fffe}\\u{1ffff}"),
            ("cut", "abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrst…"),
        ] {
            assert_eq!(shown(text, 20), expected, "{name}");
        }
    }

    #[test]
    fn a_long_text_keeps_its_ends() {
        let text = format!("{}\u{202e}end", "é".repeat(100));
        assert_eq!(shown_ends(&text, 12), "éééééééé…\\u{202e}end");
        assert_eq!(shown_ends("short", 5), "short");
    }

    #[test]
    fn a_typo_finds_the_nearest_name() {
        let names = ["ticket_id", "language", "x"];
        for (word, expected) in [
            ("ticket_ids", Some("ticket_id")),
            ("ticketId", Some("ticket_id")),
            ("ticket_di", Some("ticket_id")),
            ("TICKET-ID", Some("ticket_id")),
            ("languages", Some("language")),
            ("lang", None),
            ("y", None),
            ("", None),
            ("session", None),
        ] {
            assert_eq!(nearest(word, names.into_iter()), expected, "{word}");
        }
        assert_eq!(nearest(&"a".repeat(1 << 20), names.into_iter()), None);
    }
}
