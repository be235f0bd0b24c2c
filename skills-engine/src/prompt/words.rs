/// Arguments told apart as a shell does, without anything else that a shell would do with them.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// All of them, one after another.
    text: String,
    ends: Vec<usize>,
}

impl Words {
    /// Splits at white space outside of quotes. `'…'` keeps everything, `"…"` all but `\"`, `\\`, `\$` and `` \` ``, and a
    /// `\` elsewhere keeps the next character. A text with a quote that is not closed has no quotes at all.
    pub(super) fn split(arguments: &str) -> Self {
        Self::quoted(arguments).unwrap_or_else(|| Self::plain(arguments))
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<&str> {
        let end = *self.ends.get(index)?;
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    fn plain(arguments: &str) -> Self {
        let mut words = Self::default();
        for word in arguments.split_whitespace() {
            words.text.push_str(word);
            words.ends.push(words.text.len());
        }
        words
    }

    fn quoted(arguments: &str) -> Option<Self> {
        let mut words = Self::default();
        let mut quote = None;
        // A word can be empty: `""`.
        let mut is_in_word = false;
        let mut letters = arguments.chars().peekable();
        while let Some(letter) = letters.next() {
            match (quote, letter) {
                (Some(open), _) if letter == open => quote = None,
                (None, '\'' | '"') => {
                    quote = Some(letter);
                    is_in_word = true;
                }
                (None, _) if letter.is_whitespace() => {
                    if is_in_word {
                        words.ends.push(words.text.len());
                        is_in_word = false;
                    }
                }
                (None | Some('"'), '\\') => {
                    let keeps =
                        |next: &char| quote.is_none() || matches!(next, '"' | '\\' | '$' | '`');
                    words.text.push(letters.next_if(keeps).unwrap_or('\\'));
                    is_in_word = true;
                }
                _ => {
                    words.text.push(letter);
                    is_in_word = true;
                }
            }
        }
        if is_in_word {
            words.ends.push(words.text.len());
        }
        quote.is_none().then_some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::Words;

    #[test]
    fn arguments_are_told_apart_as_by_a_shell() {
        let rows: [(&str, &[&str]); 14] = [
            ("", &[]),
            (" \t\n", &[]),
            ("a  b\tc\nd", &["a", "b", "c", "d"]),
            (r#""a b" c"#, &["a b", "c"]),
            (r#"'a "b"' c"#, &[r#"a "b""#, "c"]),
            (r#"a"b c"d'e f'"#, &["ab cde f"]),
            (r#""" '' x"#, &["", "", "x"]),
            (r"a\ b \\ \'", &["a b", r"\", "'"]),
            (r#""\"\\\$\`\n""#, &[r#""\$`\n"#]),
            (r"'\' x", &[r"\", "x"]),
            (r"end\", &[r"end\"]),
            ("it's late", &["it's", "late"]),
            (r#"say "hello wor"#, &["say", r#""hello"#, "wor"]),
            ("a\u{3000}b $(id) | c", &["a", "b", "$(id)", "|", "c"]),
        ];
        for (arguments, expected) in rows {
            let words = Words::split(arguments);
            let found: Vec<_> = (0..words.len()).map(|at| words.get(at).unwrap()).collect();
            assert_eq!(found, expected, "{arguments}");
            assert_eq!(words.get(words.len()), None, "{arguments}");
        }
    }
}
