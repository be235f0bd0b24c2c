//! Words and paragraphs.

/// The words of a Rust type's name: `HTTPServer2` gives `HTTP`, `Server2`.
pub(crate) fn words_of_type(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    for (index, letter) in letters.iter().enumerate() {
        if *letter == '_' {
            words.push(String::new());
            continue;
        }
        let after_lower = index > 0 && !letters[index - 1].is_uppercase();
        let before_lower = letters
            .get(index + 1)
            .is_some_and(|next| next.is_lowercase());
        let begins = letter.is_uppercase() && (after_lower || before_lower);
        match words.last_mut() {
            Some(word) if !begins => word.push(*letter),
            _ => words.push(letter.to_string()),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The id of a type: kebab case.
pub(crate) fn kebab_case(name: &str) -> String {
    words_of_type(name).join("-").to_lowercase()
}

/// The name of a type in words: `HelpDesk` gives `Help desk`, `HTTPServer` gives `HTTP server`.
pub(crate) fn in_words(name: &str) -> String {
    let words = words_of_type(name)
        .into_iter()
        .enumerate()
        .map(|(index, word)| {
            let is_acronym = word.chars().count() > 1 && !word.chars().any(char::is_lowercase);
            if index == 0 || is_acronym {
                word
            } else {
                word.to_lowercase()
            }
        });
    words.collect::<Vec<_>>().join(" ")
}

/// Joins the lines of each paragraph; lists, headings, tables, quotes and code keep their lines.
pub(crate) fn unwrap_paragraphs(text: &str) -> String {
    let mut out = String::new();
    let mut is_code = false;
    let mut is_open = false;
    for line in text.lines() {
        let line = line.strip_prefix(' ').unwrap_or(line).trim_end();
        let is_fence = line.trim_start().starts_with("```");
        let keeps_line = is_code || is_fence || begins_block(line);
        if line.is_empty() && !is_code {
            out.push('\n');
            is_open = false;
            continue;
        }
        if is_open && !keeps_line {
            out.push(' ');
            out.push_str(line.trim_start());
        } else {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(line);
        }
        if is_fence {
            is_code = !is_code;
        }
        // A list's line may go on in the next one; a heading's or a table's may not.
        is_open = !is_code && !is_fence && !line.starts_with(['#', '|', '>']);
    }
    out.trim().to_owned()
}

fn begins_block(line: &str) -> bool {
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_numbered = digits > 0 && text[digits..].starts_with(". ");
    is_numbered
        || text.starts_with("- ")
        || text.starts_with("* ")
        || text.starts_with('#')
        || text.starts_with('|')
        || text.starts_with('>')
        || line.starts_with("    ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types() {
        for (name, id, words) in [
            ("Helpdesk", "helpdesk", "Helpdesk"),
            ("HelpDesk", "help-desk", "Help desk"),
            ("HTTPServer", "http-server", "HTTP server"),
            ("MyHTTPServer2", "my-http-server2", "My HTTP server2"),
            ("V2Api", "v2-api", "V2 api"),
            ("Snake_Case", "snake-case", "Snake case"),
            ("lower", "lower", "lower"),
            ("A", "a", "A"),
        ] {
            assert_eq!(kebab_case(name), id);
            assert_eq!(in_words(name), words);
        }
    }

    #[test]
    fn paragraphs_are_unwrapped() {
        for (text, expected) in [
            (" One.", "One."),
            (" One\n two.", "One two."),
            (" One.\n\n Two\n three.", "One.\n\nTwo three."),
            (
                " Some:\n - one\n - two\n   more",
                "Some:\n- one\n- two more",
            ),
            (" 1. one\n 2. two", "1. one\n2. two"),
            (
                " Code:\n ```\n a\n\n b\n ```\n end",
                "Code:\n```\na\n\nb\n```\nend",
            ),
            (" # Head\n text", "# Head\ntext"),
            ("\n  \n", ""),
        ] {
            assert_eq!(unwrap_paragraphs(text), expected, "{text:?}");
        }
    }
}
