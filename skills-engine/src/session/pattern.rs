use std::fmt;
use std::sync::Arc;

use crate::skill::{Code, Fault, shown};

/// Patterns of one allow-list, and of one role.
const MOST_PATTERNS: usize = 1_024;
/// Bytes of one pattern.
const LONGEST_PATTERN: usize = 256;

/// Names skills and members: `*`, `skill`, `skill/*` (the same as `skill`) or `skill/member`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Pattern {
    /// `None` stands for every skill.
    skill: Option<Box<str>>,
    /// `None` stands for every member.
    member: Option<Box<str>>,
}

/// How much of a skill a set of patterns names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Coverage {
    Nothing,
    SomeMembers,
    Whole,
}

impl Pattern {
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let (skill, member) = text.split_once('/').unwrap_or((text, "*"));
        let is_skill = |part: &str| {
            let is_trimmed = part.trim().len() == part.len();
            let is_odd = |character: char| character.is_control() || matches!(character, '/' | '*');
            !part.is_empty() && is_trimmed && !part.chars().any(is_odd)
        };
        // Names of folders may hold blanks, names of members never do.
        let is_member = |part: &str| is_skill(part) && !part.contains(char::is_whitespace);
        if let Some((skill, tool)) = text.split_once("__")
            && !text.contains('/')
        {
            return Err(Fault::new(
                Code::InvalidArguments,
                format!(
                    "`{}` is a tool's name on the wire and no pattern. Write `{}/{}`",
                    shown(text, 80),
                    shown(skill, 40),
                    shown(tool, 40)
                ),
            ));
        }
        let is_legal = match (skill, member) {
            ("*", "*") => text.len() == 1 || text == "*/*",
            (skill, "*") => is_skill(skill),
            (skill, member) => is_skill(skill) && is_member(member),
        };
        if !is_legal || text.len() > LONGEST_PATTERN {
            return Err(Fault::new(
                Code::InvalidArguments,
                format!(
                    "`{}` is no pattern. Write `skill` or `skill/*` for all of a skill, `skill/member` for one tool or attribute of it, or `*` for everything",
                    shown(text, 80)
                ),
            ));
        }
        let part = |part: &str| (part != "*").then(|| part.into());
        Ok(Self {
            skill: part(skill),
            member: part(member),
        })
    }

    /// How much of a skill it names.
    pub(crate) fn coverage(&self, skill: &str) -> Coverage {
        match (&self.skill, &self.member) {
            (Some(named), _) if **named != *skill => Coverage::Nothing,
            (_, None) => Coverage::Whole,
            (_, Some(_)) => Coverage::SomeMembers,
        }
    }

    /// Whether it names a member of a skill that it names.
    pub(crate) fn covers_member(&self, member: &str) -> bool {
        self.member.as_deref().is_none_or(|named| named == member)
    }

    /// The one member it names, if it names no more.
    pub(crate) fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.skill.as_deref().unwrap_or("*"))?;
        match &self.member {
            Some(member) => write!(formatter, "/{member}"),
            None => Ok(()),
        }
    }
}

/// What may be seen at most: `skill` or `skill/*` (all of it), `skill/member`, or `*`. What no pattern names is denied; an empty
/// list allows nothing.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AllowList {
    patterns: Arc<[Pattern]>,
}

impl AllowList {
    /// Checks patterns and makes a list of them.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for what is no pattern, `limit_exceeded` beyond 1,024 of them.
    pub fn new<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Result<Self, Fault> {
        let mut checked = Vec::new();
        for pattern in patterns {
            if checked.len() == MOST_PATTERNS {
                return Err(too_many());
            }
            checked.push(Pattern::parse(pattern.as_ref())?);
        }
        checked.sort_unstable();
        checked.dedup();
        Ok(Self {
            patterns: checked.into(),
        })
    }

    /// The patterns, sorted.
    pub fn patterns(&self) -> impl Iterator<Item = String> {
        self.patterns.iter().map(ToString::to_string)
    }

    pub(crate) fn as_slice(&self) -> &[Pattern] {
        &self.patterns
    }

    /// How much of a skill the list names.
    pub(crate) fn coverage(&self, skill: &str) -> Coverage {
        let coverages = self.patterns.iter().map(|pattern| pattern.coverage(skill));
        coverages.max().unwrap_or(Coverage::Nothing)
    }

    /// Whether the list names a member.
    pub(crate) fn covers(&self, skill: &str, member: &str) -> bool {
        self.patterns.iter().any(|pattern| {
            pattern.coverage(skill) > Coverage::Nothing && pattern.covers_member(member)
        })
    }
}

fn too_many() -> Fault {
    Fault::new(
        Code::LimitExceeded,
        format!(
            "a list has at most {MOST_PATTERNS} patterns; name whole skills instead of members"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_name_skills_and_members() {
        let coverage = |pattern: &str, skill| Pattern::parse(pattern).unwrap().coverage(skill);
        assert_eq!(coverage("deploy", "deploy"), Coverage::Whole);
        assert_eq!(coverage("deploy/*", "deploy"), Coverage::Whole);
        assert_eq!(coverage("deploy/status", "deploy"), Coverage::SomeMembers);
        assert_eq!(coverage("*", "deploy"), Coverage::Whole);
        assert_eq!(coverage("My Notes", "My Notes"), Coverage::Whole);
        assert_eq!(coverage("My Notes/list", "My Notes"), Coverage::SomeMembers);
        assert_eq!(coverage("deploy", "deploys"), Coverage::Nothing);
        assert_eq!(
            Pattern::parse("deploy/*").unwrap(),
            Pattern::parse("deploy").unwrap()
        );
        assert_eq!(Pattern::parse("*/*").unwrap(), Pattern::parse("*").unwrap());
        let wire = Pattern::parse("deploy__status").unwrap_err();
        assert!(wire.message.contains("Write `deploy/status`"), "{wire}");
    }

    #[test]
    fn what_is_no_pattern_says_what_one_is() {
        let long = "a".repeat(257);
        for text in [
            "", "/", "a/", "/b", "a/b/c", "de*", "*/status", "a\u{7}", " a", "a ", "a/b c", &long,
        ] {
            let fault = Pattern::parse(text).unwrap_err();
            assert_eq!(fault.code, Code::InvalidArguments, "{text:?}");
            assert!(fault.message.contains("skill/member"), "{fault}");
            assert!(!fault.message.contains('\u{7}'));
        }
    }

    #[test]
    fn an_empty_list_covers_nothing() {
        let list = AllowList::new([] as [&str; 0]).unwrap();
        assert_eq!(list.coverage("deploy"), Coverage::Nothing);
        assert!(!list.covers("deploy", "status"));
    }
}
