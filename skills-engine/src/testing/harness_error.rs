use std::fmt;

use crate::registry::BuildError;
use crate::skill::{Code, Fault};

/// Why a test with a [`Harness`](super::Harness) got no answer. Printed the same way by `{}` and `{:?}`, so that a test
/// that returns it fails with words.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HarnessError {
    /// The engine refuses the skill.
    #[error("the engine cannot be built: {0}")]
    Build(#[from] BuildError),
    /// The session, its turn, or an opening was refused.
    #[error("{0}")]
    Session(#[from] Fault),
    /// A call was answered with a fault.
    #[error("`{tool}`: {fault}{}", Advice(advice.as_deref()))]
    #[non_exhaustive]
    Call {
        /// The wire name that was called.
        tool: String,
        /// What a model reads.
        fault: Fault,
        /// What the test can do about it, where the fault does not say it.
        advice: Option<String>,
    },
}

impl HarnessError {
    /// The fault, unless the engine was not built.
    #[must_use]
    pub fn fault(&self) -> Option<&Fault> {
        match self {
            Self::Build(_) => None,
            Self::Session(fault) | Self::Call { fault, .. } => Some(fault),
        }
    }

    /// The code of the fault.
    #[must_use]
    pub fn code(&self) -> Option<Code> {
        self.fault().map(|fault| fault.code)
    }
}

impl fmt::Debug for HarnessError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

struct Advice<'a>(Option<&'a str>);

impl fmt::Display for Advice<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(advice) => write!(formatter, "\n  in the test: {advice}"),
            None => Ok(()),
        }
    }
}
