use super::{has_variations, is_invisible, push_inline, push_visible};

/// What the marks of prompts begin with, of this engine's and of those that models know, without `-` and `_`.
const MARKS: [&str; 10] = [
    "commandname",
    "commandmessage",
    "commandargs",
    "skill",
    "availableskill",
    "systemreminder",
    "result",
    "open",
    "live",
    "turn",
];

/// What the lines before a skill's instructions begin with, without what stands between the letters.
const LINES: [&str; 2] = ["basedirectoryforthisskill", "instructionsalreadyloaded"];

/// Appends the instructions of a skill, or what else is shown as its author wrote it: Markdown and code stay readable.
///
/// Only what could pass for a mark of the engine's is changed: the `<` of a tag such as `</skill_content>` becomes `&lt;`,
/// and a line like those before the instructions gets a backslash. CR LF and CR become LF.
///
/// # Examples
///
/// ```
/// use skills_engine::prompt::escape_instructions;
///
/// let mut out = String::new();
/// escape_instructions("# Steps\n\n<b>1 < 2</b></skill_content>", &mut out);
/// assert_eq!(out, "# Steps\n\n<b>1 < 2</b>&lt;/skill_content>");
/// ```
pub fn escape_instructions(text: &str, out: &mut String) {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    guard_line(&text, out);
    let mut rest = &*text;
    while let Some(at) = rest.find(|one: char| matches!(one, '<' | '\n') || is_changed(one)) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let one = tail.chars().next().unwrap_or_default();
        rest = &tail[one.len_utf8()..];
        let follows_visible = || {
            let before = &text[..text.len() - tail.len()];
            before.chars().next_back().is_some_and(has_variations)
        };
        match one {
            '\n' => {
                out.push('\n');
                guard_line(rest, out);
            }
            '<' if is_mark(tail) => push_inline('<', out),
            '<' => out.push('<'),
            // The style of an emoji.
            '\u{FE0E}' | '\u{FE0F}' if follows_visible() => out.push(one),
            other => push_visible(other, out),
        }
    }
    out.push_str(rest);
}

fn is_changed(one: char) -> bool {
    one != '\t' && is_invisible(one)
}

/// Puts a backslash before a line like those that stand before instructions.
fn guard_line(text: &str, out: &mut String) {
    /// As many characters as a reader may look at.
    const FAR: usize = 128;
    let letters = || {
        text.chars()
            .take(FAR)
            .take_while(|one| *one != '\n')
            .filter(|one| one.is_alphanumeric())
    };
    if LINES.iter().any(|begin| begins(letters(), begin)) {
        out.push('\\');
    }
}

/// Whether a text that begins with `<` begins with what a reader may take for a mark.
pub(in crate::prompt) fn is_mark(text: &str) -> bool {
    /// As many characters as a reader may look at.
    const FAR: usize = 128;
    let inner = || text.chars().skip(1).take(FAR);
    let (mut has_gap, mut has_slash) = (false, false);
    let mut begin = 0;
    for one in inner() {
        match one {
            '/' | '\\' => has_slash = true,
            _ if one.is_whitespace() => has_gap = true,
            _ if is_invisible(one) => {}
            _ => break,
        }
        begin += 1;
    }
    // `a < skills` compares; `< /skill>` closes.
    if has_gap && !has_slash {
        return false;
    }
    let is_between = |one: &char| matches!(one, '-' | '_') || is_invisible(*one);
    let letters = || inner().skip(begin).filter(|one| !is_between(one));
    MARKS.iter().any(|mark| begins(letters(), mark))
}

/// Whether letters begin with those given.
fn begins(mut letters: impl Iterator<Item = char>, begin: &str) -> bool {
    begin
        .chars()
        .all(|letter| letters.next().map(|one| one.to_ascii_lowercase()) == Some(letter))
}
