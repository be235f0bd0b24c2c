//! Canonical JSON by hand: the bytes that are hashed must not depend on how a library happens to print.

use crate::skill::Timestamp;

/// A JSON object being written to the end of a buffer.
pub(super) struct Object<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    pub(super) fn begin(out: &'a mut Vec<u8>) -> Self {
        out.push(b'{');
        Self {
            out,
            is_empty: true,
        }
    }

    /// Writes a key, a fixed name that needs no escaping, and hands out the buffer for its value.
    pub(super) fn key(&mut self, key: &'static str) -> &mut Vec<u8> {
        self.out
            .extend_from_slice(if self.is_empty { b"\"" } else { b",\"" });
        self.is_empty = false;
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":");
        self.out
    }

    pub(super) fn number(&mut self, key: &'static str, value: u64) {
        number(self.key(key), value);
    }

    /// A text of ours: no character of it needs escaping.
    pub(super) fn word(&mut self, key: &'static str, word: &'static str) {
        let out = self.key(key);
        out.push(b'"');
        out.extend_from_slice(word.as_bytes());
        out.push(b'"');
    }

    /// A text of anybody, at most `most` characters of it.
    pub(super) fn text(&mut self, key: &'static str, value: &str, most: usize) {
        text(self.key(key), value, most);
    }

    /// JSON text of anybody, of at most `most` bytes; `null` for more.
    pub(super) fn json(&mut self, key: &'static str, value: &str, most: usize) {
        json(
            self.key(key),
            if value.len() > most { "null" } else { value },
        );
    }

    pub(super) fn hex(&mut self, key: &'static str, value: &[u8]) {
        let out = self.key(key);
        out.push(b'"');
        hex(out, value);
        out.push(b'"');
    }

    pub(super) fn end(self) {
        self.out.push(b'}');
    }
}

pub(super) fn number(out: &mut Vec<u8>, mut value: u64) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    loop {
        start -= 1;
        digits[start] = b"0123456789"[(value % 10) as usize];
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

pub(super) fn hex(out: &mut Vec<u8>, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(bytes.len() * 2);
    for byte in bytes {
        let pair = [
            DIGITS[usize::from(byte >> 4)],
            DIGITS[usize::from(byte & 15)],
        ];
        out.extend_from_slice(&pair);
    }
}

pub(super) fn hex_text(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    hex(&mut out, bytes);
    String::from_utf8(out).unwrap_or_default()
}

/// Reads lower-case hex of exactly `N` bytes.
pub(super) fn parse_hex<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != N * 2 {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

/// Writes a JSON string of at most `most` characters; what is cut is marked by a last `…`.
///
/// Beyond what JSON asks for, every control character and every invisible or direction-changing one is escaped:
/// a line of the log is one line on any terminal and shows what it holds. The value is unchanged when read back.
pub(super) fn text(out: &mut Vec<u8>, value: &str, most: usize) {
    let (value, is_cut) = cut(value, most);
    out.push(b'"');
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\');
    if value.as_bytes().iter().all(is_plain) {
        out.extend_from_slice(value.as_bytes());
    } else {
        value.chars().for_each(|letter| escape(out, letter));
    }
    if is_cut {
        out.extend_from_slice("…".as_bytes());
    }
    out.push(b'"');
}

/// Writes valid JSON text without white space between its parts, its strings escaped as [`text`] does.
fn json(out: &mut Vec<u8>, value: &str) {
    let mut is_string = false;
    let mut is_escaped = false;
    for letter in value.chars() {
        match letter {
            ' ' | '\n' | '\r' | '\t' if !is_string => continue,
            // What is escaped already stays as it is.
            '"' | '\\' => out.push(letter as u8),
            _ => escape(out, letter),
        }
        is_string ^= letter == '"' && !is_escaped;
        is_escaped = letter == '\\' && !is_escaped;
    }
}

/// The first `most` characters, and whether there were more.
pub(super) fn cut(value: &str, most: usize) -> (&str, bool) {
    if value.len() <= most {
        return (value, false);
    }
    match value.char_indices().nth(most) {
        Some((end, _)) => (&value[..end], true),
        None => (value, false),
    }
}

fn escape(out: &mut Vec<u8>, letter: char) {
    match letter {
        '"' | '\\' => out.extend_from_slice(&[b'\\', letter as u8]),
        _ if letter.is_control() || is_unseen(letter) => {
            for unit in letter.encode_utf16(&mut [0; 2]) {
                out.extend_from_slice(b"\\u");
                hex(out, &unit.to_be_bytes());
            }
        }
        _ => out.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
    }
}

/// Format characters, line and paragraph separators, variation selectors and blank letters of Unicode.
fn is_unseen(letter: char) -> bool {
    matches!(letter,
        '\u{ad}' | '\u{34f}' | '\u{600}'..='\u{605}' | '\u{61c}' | '\u{6dd}' | '\u{70f}' | '\u{890}'..='\u{891}'
        | '\u{8e2}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{110bd}' | '\u{110cd}'
        | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Writes moments as RFC 3339 text, remembering the last second: most records share theirs with the one before.
#[derive(Default)]
pub(super) struct TimeText {
    second: i64,
    /// All of the text up to the fraction, the point included.
    text: String,
}

impl TimeText {
    pub(super) fn write(&mut self, out: &mut Vec<u8>, time: Timestamp) {
        let second = time.0.div_euclid(1_000);
        if self.text.is_empty() || self.second != second {
            self.second = second;
            self.text = Timestamp(second.saturating_mul(1_000)).to_string();
            self.text
                .truncate(self.text.len().saturating_sub("000Z".len()));
        }
        let milli = time.0.rem_euclid(1_000).unsigned_abs();
        let digit = |power| b"0123456789"[(milli / power % 10) as usize];
        out.push(b'"');
        out.extend_from_slice(self.text.as_bytes());
        out.extend_from_slice(&[digit(100), digit(10), digit(1), b'Z', b'"']);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(value: &str, most: usize) -> String {
        let mut out = Vec::new();
        text(&mut out, value, most);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn hostile_text_is_escaped_and_reads_back_unchanged() {
        let rows = [
            ("plain", "ticket T-1042", r#""ticket T-1042""#),
            ("quotes", "a\"b\\c", r#""a\"b\\c""#),
            (
                "line breaks",
                "a\nb\r\u{2028}\u{85}",
                r#""a\u000ab\u000d\u2028\u0085""#,
            ),
            (
                "escape and delete",
                "\u{1b}[2J\u{7f}\0",
                r#""\u001b[2J\u007f\u0000""#,
            ),
            ("bidi", "\u{202e}evil\u{2066}", r#""\u202eevil\u2066""#),
            ("tags", "\u{e0041}", r#""\udb40\udc41""#),
            ("letters", "größe 量 🙂", "\"größe 量 🙂\""),
        ];
        for (name, value, expected) in rows {
            let json = written(value, 100);
            assert_eq!(json, expected, "{name}");
            assert_eq!(
                serde_json::from_str::<String>(&json).unwrap(),
                value,
                "{name}"
            );
        }
    }

    #[test]
    fn embedded_json_is_one_line_and_means_the_same() {
        let rows = [
            ("plain", r#"{"a":[1,-2.5e3,true,null,"b c"]}"#, None),
            (
                "white space",
                "{ \"a b\" :\n[ 1,\t\"x  y\" ] }\r\n",
                Some(r#"{"a b":[1,"x  y"]}"#),
            ),
            ("escapes", r#"["\\"," \\\" ","\u202e"]"#, None),
            (
                "hidden characters",
                "[\"\u{202e}evil\u{85}\u{e0041}\"]",
                Some(r#"["\u202eevil\u0085\udb40\udc41"]"#),
            ),
        ];
        for (name, value, expected) in rows {
            let mut out = Vec::new();
            json(&mut out, value);
            let written = String::from_utf8(out).unwrap();
            assert_eq!(written, expected.unwrap_or(value), "{name}");
            let read = |text| serde_json::from_str::<serde_json::Value>(text).unwrap();
            assert_eq!(read(&written), read(value), "{name}");
        }
    }

    #[test]
    fn long_text_is_cut_at_a_character_and_marked() {
        assert_eq!(written("größe", 5), "\"größe\"");
        assert_eq!(written("größe", 3), "\"grö…\"");
        assert_eq!(written("\"\"\"", 2), r#""\"\"…""#);
    }

    #[test]
    fn times_are_written_as_timestamps_display_them() {
        let mut times = TimeText::default();
        for time in [0, 1, 999, 1_000, 951_782_400_123, -1, 4_107_542_400_001] {
            let mut out = Vec::new();
            times.write(&mut out, Timestamp(time));
            assert_eq!(out, format!("\"{}\"", Timestamp(time)).into_bytes());
        }
    }

    #[test]
    fn numbers_and_hex_are_written_in_full() {
        let mut out = Vec::new();
        for value in [0, 7, 10, u64::MAX] {
            number(&mut out, value);
        }
        assert_eq!(out, b"071018446744073709551615");
        assert_eq!(parse_hex(hex_text(&[0, 0xaf]).as_bytes()), Some([0, 0xaf]));
        assert_eq!(parse_hex::<2>(b"00aF"), None);
    }
}
