use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::ApprovalRequest;
use crate::skill::BoxFuture;

/// What a person says to a request.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum ApprovalAnswer {
    /// It may be done as it was asked for.
    Approve,
    /// The tool may be called with these arguments instead, as JSON text. The approval is then for these.
    ApproveWith(String),
    /// It must not be done; the text is what the model reads, cut at `limits.reason` characters.
    Deny(String),
    /// The reply to a question of a tool.
    Reply(Value),
    /// Not decided yet: [`Session::answer`](crate::Session::answer) will tell.
    Pending,
}

/// Without what a person wrote.
impl fmt::Debug for ApprovalAnswer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Approve => "Approve",
            Self::ApproveWith(_) => "ApproveWith(..)",
            Self::Deny(_) => "Deny(..)",
            Self::Reply(_) => "Reply(..)",
            Self::Pending => "Pending",
        })
    }
}

#[doc = include_str!("../../docs/approvals.md")]
pub trait ApprovalHandler: Send + Sync {
    /// Asks a person. The call that needs the approval waits for the answer: give
    /// [`Pending`](ApprovalAnswer::Pending) when there is none soon.
    ///
    /// The future is dropped when nobody needs the answer any more: the turn was dropped, the session ended, the host
    /// answered through the session, or `limits.approval_ttl` has passed. A panic stays inside, and the call is refused.
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer>;
}

impl<T: ApprovalHandler + ?Sized> ApprovalHandler for Arc<T> {
    fn ask<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        T::ask(self, request)
    }
}

/// Leaves every request to be answered later, through [`Session::approvals`](crate::Session::approvals) and
/// [`Session::answer`](crate::Session::answer).
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::exhaustive_structs,
    reason = "it is passed as a value and will never hold anything"
)]
pub struct LeavePending;

impl ApprovalHandler for LeavePending {
    fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        Box::pin(std::future::ready(ApprovalAnswer::Pending))
    }
}
