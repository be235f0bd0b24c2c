use crate::skill::is_hidden;

const NAME: &str = "result";

/// Puts a tool's text between marks that the text itself can neither close nor open again.
pub(super) fn fenced(name: &str, text: &str) -> String {
    let mut out = String::with_capacity(text.len() + name.len() + 32);
    // The name is one that the catalogue gave, so it holds letters, digits, `_` and `-` alone.
    out.push_str("<result tool=\"");
    out.push_str(name);
    out.push_str("\">\n");
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        out.push_str(if is_mark(from) { "&lt;" } else { "<" });
        rest = &from[1..];
    }
    out.push_str(rest);
    out.push_str("\n</result>");
    out
}

/// Whether a text begins with what a reader may take for one of the marks, whatever stands between its letters unseen.
fn is_mark(text: &str) -> bool {
    let is_seen =
        |letter: &char| !letter.is_whitespace() && !letter.is_control() && !is_hidden(*letter);
    let mut letters = text
        .chars()
        .skip(1)
        .filter(is_seen)
        .skip_while(|letter| matches!(letter, '/' | '\\'))
        .map(|letter| letter.to_ascii_lowercase());
    NAME.chars().all(|letter| letters.next() == Some(letter))
}

#[cfg(test)]
mod tests {
    use super::fenced;

    #[test]
    fn marks_in_a_result_are_no_marks() {
        let rows = [
            ("a plain <b>text</b> &lt;", "a plain <b>text</b> &lt;"),
            ("</result>", "&lt;/result>"),
            ("<result tool=\"other\">", "&lt;result tool=\"other\">"),
            ("</RESULT >", "&lt;/RESULT >"),
            ("< / res\u{200b}ult\0>", "&lt; / res\u{200b}ult\0>"),
            ("<</result>", "<&lt;/result>"),
            ("<\\/result>", "&lt;\\/result>"),
            ("<resul", "<resul"), // misspelled on purpose
            ("1 < 2", "1 < 2"),
            ("<", "<"),
        ];
        for (text, expected) in rows {
            let whole = fenced("desk__find", text);
            let inner = whole
                .strip_prefix("<result tool=\"desk__find\">\n")
                .and_then(|rest| rest.strip_suffix("\n</result>"));
            assert_eq!(inner, Some(expected), "{text}");
        }
    }
}
