use std::fmt;

/// The tools that a skill's author lists in `allowed-tools`: patterns in the author's order, such as `Read` or
/// `Bash(git add:*)`.
///
/// A list that cannot be read has no patterns and [says so](Self::is_unparsable). Whoever goes by the list then treats it
/// as one that names nothing: a mistake in it never allows more.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllowedTools {
    patterns: Vec<ToolPattern>,
    is_unparsable: bool,
}

impl AllowedTools {
    /// Reads a text: patterns with blanks or commas between them. What stands in parentheses is part of its pattern.
    ///
    /// Parentheses that do not match make it unparsable.
    #[must_use]
    pub fn from_text(text: &str) -> Self {
        Self::from_items([text])
    }

    /// Reads the items of a list, each of them as [`from_text`](Self::from_text) does.
    #[must_use]
    pub fn from_items<'a>(items: impl IntoIterator<Item = &'a str>) -> Self {
        let mut patterns = Vec::new();
        for item in items {
            match split(item) {
                Some(parts) => patterns.extend(parts),
                None => return Self::unparsable(),
            }
        }
        Self {
            patterns,
            is_unparsable: false,
        }
    }

    /// A list that cannot be read.
    #[must_use]
    pub const fn unparsable() -> Self {
        Self {
            patterns: Vec::new(),
            is_unparsable: true,
        }
    }

    /// The patterns, in the author's order; none when the list cannot be read.
    #[must_use]
    pub fn patterns(&self) -> &[ToolPattern] {
        &self.patterns
    }

    /// Whether the list cannot be read.
    #[must_use]
    pub const fn is_unparsable(&self) -> bool {
        self.is_unparsable
    }
}

/// One pattern of [`AllowedTools`]: the name of a tool, perhaps with what it may be called with in parentheses.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ToolPattern(Box<str>);

impl ToolPattern {
    /// The pattern as its author wrote it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What stands before the parentheses: `Bash` of `Bash(git add:*)`.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.0.split_once('(').map_or(&*self.0, |(tool, _)| tool)
    }

    /// What stands in the parentheses: `git add:*` of `Bash(git add:*)`; `None` without any.
    #[must_use]
    pub fn argument(&self) -> Option<&str> {
        let (_, rest) = self.0.split_once('(')?;
        Some(rest.strip_suffix(')').unwrap_or(rest))
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// The patterns of a text; `None` when one of them is none, or parentheses do not match.
fn split(text: &str) -> Option<Vec<ToolPattern>> {
    let mut parts = Vec::new();
    let mut depth = 0_usize;
    let mut start = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 && (character == ',' || character.is_whitespace()) {
            parts.push(&text[start..at]);
            start = at + character.len_utf8();
        }
    }
    parts.push(&text[start..]);
    let mut patterns = Vec::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        if !is_pattern(part) {
            return None;
        }
        patterns.push(ToolPattern(part.into()));
    }
    (depth == 0).then_some(patterns)
}

/// Whether a part names a tool, and ends where its parentheses do.
fn is_pattern(part: &str) -> bool {
    part.split_once('(')
        .is_none_or(|(tool, _)| !tool.is_empty() && closes_at_end(part))
}

/// Whether the parenthesis that is opened first is closed by the last character.
fn closes_at_end(part: &str) -> bool {
    let mut depth = 0_usize;
    for (at, character) in part.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1 == part.len();
                }
            }
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::{AllowedTools, ToolPattern};

    #[track_caller]
    fn check(text: &str, expected: Option<&[&str]>) {
        let tools = AllowedTools::from_text(text);
        let patterns: Vec<&str> = tools.patterns().iter().map(ToolPattern::as_str).collect();
        assert_eq!(tools.is_unparsable(), expected.is_none(), "{text}");
        assert_eq!(patterns, expected.unwrap_or_default(), "{text}");
    }

    #[test]
    fn patterns_stay_whole_and_mistakes_leave_none() {
        check("", Some(&[]));
        check(" , ,", Some(&[]));
        check("Read Grep\tGlob", Some(&["Read", "Grep", "Glob"]));
        check("Read,Grep , Glob", Some(&["Read", "Grep", "Glob"]));
        check(
            "Bash(git add:*) Bash(git log:*, git show:*),Read",
            Some(&["Bash(git add:*)", "Bash(git log:*, git show:*)", "Read"]),
        );
        check("Bash(echo (a b)) Read", Some(&["Bash(echo (a b))", "Read"]));
        check(
            "mcp__desk__find Skill(*)",
            Some(&["mcp__desk__find", "Skill(*)"]),
        );
        check("Read Bash(git add:*", None);
        check("Read) Bash", None);
        check("(git add:*) Read", None);
        check("Bash(a)(b)", None);
        check("Bash(a)b", None);
        check("Bash (git add:*)", None);
    }

    #[test]
    fn a_pattern_says_its_tool_and_argument() {
        let tools = AllowedTools::from_items(["Bash(git add:*)", "Read, Task()"]);
        let parts: Vec<_> = tools
            .patterns()
            .iter()
            .map(|it| (it.tool(), it.argument()))
            .collect();
        assert_eq!(
            parts,
            [
                ("Bash", Some("git add:*")),
                ("Read", None),
                ("Task", Some(""))
            ]
        );
        let broken = AllowedTools::from_items(["Read", "Bash(git"]);
        assert!(broken.is_unparsable() && broken.patterns().is_empty());
    }
}
