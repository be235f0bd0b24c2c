//! What a person is asked before it happens: calls of tools that need an approval, openings that a policy sends to a
//! person, and questions of tools.

mod answer;
mod ask;
mod binding;
mod book;
mod calls;
mod claim;
mod host;
mod opening;
mod question;
mod request;

pub use self::answer::{ApprovalAnswer, ApprovalHandler, LeavePending};
pub(super) use self::ask::nobody;
pub(super) use self::book::Approvals;
pub(super) use self::claim::Claim;
pub(super) use self::opening::{Opening, approve_opening};
pub(super) use self::question::ask;
pub use self::request::{ApprovalKind, ApprovalRequest, ApprovalToken};
