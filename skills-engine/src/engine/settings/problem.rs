use std::fmt;

use super::SettingOrigin;

/// Problems that are written out; more are counted.
pub(super) const MOST_SHOWN: usize = 50;

/// What is wrong with one setting, or with a file as a whole. No secret is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SettingsProblem {
    /// The key, dotted; `None` when it is about a whole file.
    pub key: Option<String>,
    /// Where it stands; `None` for settings read from another format through serde.
    pub origin: Option<SettingOrigin>,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl fmt::Display for SettingsProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(formatter, "{origin}: ")?;
        }
        formatter.write_str(&self.message)
    }
}

/// Why settings cannot be loaded: every problem found, not only the first.
#[derive(Clone, PartialEq, Eq)]
pub struct SettingsError {
    problems: Vec<SettingsProblem>,
}

impl SettingsError {
    pub(super) fn new(problems: Vec<SettingsProblem>) -> Self {
        Self { problems }
    }

    /// The problems, in the order of the sources.
    #[must_use]
    pub fn problems(&self) -> &[SettingsProblem] {
        &self.problems
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [problem] = &*self.problems {
            return fmt::Display::fmt(problem, formatter);
        }
        write!(formatter, "{} problems with settings", self.problems.len())?;
        for problem in self.problems.iter().take(MOST_SHOWN) {
            write!(formatter, "\n- {problem}")?;
        }
        match self.problems.len().saturating_sub(MOST_SHOWN) {
            0 => Ok(()),
            more => write!(formatter, "\n- and {more} more"),
        }
    }
}

/// As [`Display`](fmt::Display): a `main` that returns the error prints it this way.
impl fmt::Debug for SettingsError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl std::error::Error for SettingsError {}
