use crate::skill::{is_hidden, is_spaceless};

/// Characters of a word that count; the rest of a longer one is cut off.
const LONGEST: usize = 64;

/// A part of a text that can be found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Token<'a> {
    /// A word between spaces.
    Word(&'a str),
    /// One or two characters of a script whose words cannot be told by spaces.
    Gram(&'a str),
}

/// What tokens are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be found: every character of a script without spaces, and every two in a row.
    Index,
    /// To find: two in a row, and one only where it stands alone.
    Query,
}

/// Gives the tokens of a text that is [`comparable`], in order.
///
/// A word is a run of letters, digits and marks. Chinese and Japanese, Thai, Lao, Khmer and Burmese have no spaces between
/// words, and Korean joins particles to them: their runs are cut into pairs of characters, which needs no dictionary.
pub(super) fn each_token<'a>(text: &'a str, purpose: Purpose, mut give: impl FnMut(Token<'a>)) {
    let mut run: Option<(Class, usize)> = None;
    for (at, letter) in text.char_indices() {
        let mut class = class(letter);
        if class == Class::Mark {
            class = run.map_or(Class::Gap, |(open, _)| open);
        }
        if let Some((open, start)) = run {
            if open == class {
                continue;
            }
            open.give(&text[start..at], purpose, &mut give);
        }
        run = (class != Class::Gap).then_some((class, at));
    }
    if let Some((open, start)) = run {
        open.give(&text[start..], purpose, &mut give);
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Gap,
    Mark,
    Word,
    Gram,
}

fn class(letter: char) -> Class {
    match letter {
        _ if is_spaceless(letter) || is_hangul(letter) => {
            // Their punctuation is within the ranges of some.
            if letter.is_alphanumeric() || is_mark(letter) {
                Class::Gram
            } else {
                Class::Gap
            }
        }
        _ if letter.is_alphanumeric() => Class::Word,
        _ if is_mark(letter) => Class::Mark,
        _ => Class::Gap,
    }
}

impl Class {
    fn give<'a>(self, run: &'a str, purpose: Purpose, give: &mut impl FnMut(Token<'a>)) {
        if self == Self::Word {
            let end = run.char_indices().nth(LONGEST);
            give(Token::Word(end.map_or(run, |(end, _)| &run[..end])));
            return;
        }
        let mut before = None;
        for (at, letter) in run.char_indices() {
            let end = at + letter.len_utf8();
            if purpose == Purpose::Index || run.len() == letter.len_utf8() {
                give(Token::Gram(&run[at..end]));
            }
            if let Some(before) = before.replace(at) {
                give(Token::Gram(&run[before..end]));
            }
        }
    }
}

fn is_hangul(letter: char) -> bool {
    matches!(
        u32::from(letter),
        0x1100..=0x11FF | 0x3130..=0x318F | 0xA960..=0xA97F | 0xAC00..=0xD7FF
    )
}

/// A text as it is compared: without regard to case and to what cannot be seen.
///
/// With the feature `folders` also without regard to width, to how letters are composed (NFKC), and to the accents that
/// Latin, Greek and Cyrillic letters carry.
pub(super) fn comparable(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let shown = text
        .chars()
        .filter(|letter| !is_hidden(*letter) || letter.is_whitespace());
    folded(shown)
}

#[cfg(feature = "folders")]
fn folded(letters: impl Iterator<Item = char>) -> String {
    use unicode_normalization::UnicodeNormalization as _;

    letters
        .nfkd()
        .filter(|letter| !matches!(letter, '\u{300}'..='\u{36f}'))
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .nfc()
        .collect()
}

#[cfg(not(feature = "folders"))]
fn folded(letters: impl Iterator<Item = char>) -> String {
    crate::skill::folded(&letters.collect::<String>())
}

#[cfg(feature = "folders")]
use unicode_normalization::char::is_combining_mark as is_mark;

#[cfg(not(feature = "folders"))]
use crate::skill::is_combining as is_mark;

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str, purpose: Purpose) -> String {
        let text = comparable(text);
        let mut found = Vec::new();
        each_token(&text, purpose, |token| match token {
            Token::Word(word) => found.push(word),
            Token::Gram(gram) => found.push(gram),
        });
        found.join("|")
    }

    #[test]
    fn texts_of_any_script_are_cut_into_what_can_be_found() {
        for (name, text, index, query) in [
            ("nothing", "", "", ""),
            (
                "words",
                "Pays-back: node.js, snake_case",
                "pays|back|node|js|snake|case",
                "pays|back|node|js|snake|case",
            ),
            (
                "case",
                "ΟΔΥΣΣΕΥΣ STRASSE straße",
                "οδυσσευσ|strasse|strasse",
                "οδυσσευσ|strasse|strasse",
            ),
            (
                "Cyrillic",
                "Возврат ДЕНЕГ",
                "возврат|денег",
                "возврат|денег",
            ),
            (
                "hidden",
                "work\u{200b}shop so\u{ad}ft",
                "workshop|soft",
                "workshop|soft",
            ),
            ("lines", "a\u{2028}b", "a|b", "a|b"),
            ("Chinese", "退款单", "退|款|退款|单|款单", "退款|款单"),
            ("one", "量", "量", "量"),
            (
                "mixed",
                "iPhone15退款v2",
                "iphone15|退|款|退款|v2",
                "iphone15|退款|v2",
            ),
            ("punctuation", "退款。单、", "退|款|退款|单", "退款|单"),
            ("Korean", "환불을", "환|불|환불|을|불을", "환불|불을"),
            (
                "Thai",
                "คืนเงิน",
                "ค|ื|คื|น|ืน|เ|นเ|ง|เง|ิ|งิ|น|ิน",
                "คื|ืน|นเ|เง|งิ|ิน",
            ),
        ] {
            if name == "Thai" && !cfg!(feature = "folders") {
                continue;
            }
            assert_eq!(tokens(text, Purpose::Index), index, "{name}");
            assert_eq!(tokens(text, Purpose::Query), query, "{name}");
        }
        let long = "é".repeat(1_000);
        assert_eq!(tokens(&long, Purpose::Index).chars().count(), LONGEST);
    }

    #[cfg(feature = "folders")]
    #[test]
    fn texts_are_compared_without_accents_width_and_composition() {
        for (name, text, other) in [
            ("accents", "Café", "CAFE"),
            ("composition", "cafe\u{301}", "café"),
            ("yo", "счёт", "СЧЕТ"),
            ("tonos", "Οδυσσεύς", "ΟΔΥΣΣΕΥΣ"),
            ("dotted", "İSTANBUL", "istanbul"),
            ("width", "ＡＢＣ１", "abc1"),
            ("kana", "ﾊﾞｯｸｱｯﾌﾟ", "バックアップ"),
            ("Hangul", "환불", "환불"),
            ("fancy", "𝐃𝐞𝐩𝐥𝐨𝐲", "deploy"),
        ] {
            assert_eq!(comparable(text), comparable(other), "{name}");
        }
        // Marks that are letters to their script stay, and do not end a word.
        assert_eq!(tokens("हिन्दी", Purpose::Query), "हिन्दी");
        assert_ne!(comparable("が"), comparable("か"));
    }
}
