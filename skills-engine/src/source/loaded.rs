use std::fmt;
use std::sync::Arc;

use super::Diagnostic;
use crate::skill::{Skill, printable};

/// What a source gave, and what it could not give.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The skills, the last good version of a broken one among them.
    pub skills: Vec<Arc<dyn Skill>>,
    /// What could not be taken in.
    pub failed: Vec<FailedSkill>,
    /// Skills left out because another one has their name.
    pub shadowed: Vec<ShadowedSkill>,
    /// Whatever else should be known, and the reasons of the former in full.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<Vec<Arc<dyn Skill>>> for Loaded {
    fn from(skills: Vec<Arc<dyn Skill>>) -> Self {
        Self {
            skills,
            ..Self::default()
        }
    }
}

/// A skill, or a whole source, that could not be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedSkill {
    /// The source's name.
    pub source: String,
    /// The skill's id; `None` when the source itself gave no answer, or nobody can tell the id.
    pub skill: Option<String>,
    /// Where the skill lies, such as the path of its folder, if it lies anywhere.
    pub path: Option<String>,
    /// What is wrong, and what to do about it.
    pub problems: Vec<String>,
}

impl FailedSkill {
    /// A skill of a source that could not be taken in; `None` stands for the source itself.
    #[must_use]
    pub fn new(source: impl Into<String>, skill: Option<String>, problems: Vec<String>) -> Self {
        Self {
            source: source.into(),
            skill,
            path: None,
            problems,
        }
    }

    /// Says where the skill lies.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// On one line: what is not printable is escaped.
impl fmt::Display for FailedSkill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let source = printable(&self.source);
        match (&self.skill, &self.path) {
            (Some(skill), _) => write!(formatter, "skill `{}` of `{source}`: ", printable(skill))?,
            (None, Some(path)) => write!(formatter, "`{}` of `{source}`: ", printable(path))?,
            (None, None) => write!(formatter, "`{source}`: ")?,
        }
        formatter.write_str(&printable(&self.problems.join("; ")))
    }
}

/// A skill that was left out because another one has its id and goes first.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShadowedSkill {
    /// The source's name.
    pub source: String,
    /// The id that both have.
    pub skill: String,
    /// Where the skill that was left out lies, if it lies anywhere.
    pub path: Option<String>,
    /// The one that goes first: its path, or its source.
    pub by: String,
}

impl ShadowedSkill {
    /// A skill of a source that was left out for another one.
    #[must_use]
    pub fn new(source: impl Into<String>, skill: impl Into<String>, by: impl Into<String>) -> Self {
        Self {
            source: source.into(),
            skill: skill.into(),
            path: None,
            by: by.into(),
        }
    }

    /// Says where the skill lies.
    #[must_use]
    pub fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }
}

/// On one line: what is not printable is escaped.
impl fmt::Display for ShadowedSkill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            source,
            skill,
            path,
            by,
        } = self;
        write!(
            formatter,
            "skill `{}` of `{}`",
            printable(skill),
            printable(source)
        )?;
        if let Some(path) = path {
            write!(formatter, " at `{}`", printable(path))?;
        }
        // What says in words which skill it is has marks of its own.
        let mark = if by.contains('`') { "" } else { "`" };
        write!(
            formatter,
            " is left out for that of {mark}{}{mark}",
            printable(by)
        )
    }
}
