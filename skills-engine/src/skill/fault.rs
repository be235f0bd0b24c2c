use std::fmt;

use serde::Serialize;

/// Why something did not happen, in a word a program can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
#[expect(
    missing_docs,
    reason = "each name is its own explanation, and the wire name beside it"
)]
pub enum Code {
    UnknownTool,
    UnknownSkill,
    UnknownSession,
    Hidden,
    InvalidArguments,
    ToolError,
    Panic,
    Timeout,
    Cancelled,
    ApprovalRequired,
    ApprovalDenied,
    HeldBy,
    NotPermitted,
    Conflict,
    LimitExceeded,
    StoreUnavailable,
    AuditUnavailable,
    RepeatedFailure,
}

impl Code {
    /// The name on the wire, in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::UnknownSkill => "unknown_skill",
            Self::UnknownSession => "unknown_session",
            Self::Hidden => "hidden",
            Self::InvalidArguments => "invalid_arguments",
            Self::ToolError => "tool_error",
            Self::Panic => "panic",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::ApprovalRequired => "approval_required",
            Self::ApprovalDenied => "approval_denied",
            Self::HeldBy => "held_by",
            Self::NotPermitted => "not_permitted",
            Self::Conflict => "conflict",
            Self::LimitExceeded => "limit_exceeded",
            Self::StoreUnavailable => "store_unavailable",
            Self::AuditUnavailable => "audit_unavailable",
            Self::RepeatedFailure => "repeated_failure",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// A defined failure: a [`Code`] for programs and a message for whoever can act on it.
///
/// Printed as `code: message`, which is also what a model reads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, thiserror::Error)]
#[error("{code}: {message}")]
#[non_exhaustive]
pub struct Fault {
    /// What kind of failure it is.
    pub code: Code,
    /// What happened and what to do next: a sentence or two.
    pub message: String,
}

impl Fault {
    /// Makes a fault.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}
