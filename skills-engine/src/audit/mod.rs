#![doc = include_str!("../docs/audit.md")]

mod approval;
mod chain;
mod commit;
mod contents;
mod event;
mod file;
mod heads;
mod health;
mod hook;
mod json;
mod jsonl;
mod key;
mod line;
mod log;
mod outage;
mod queue;
mod receipt;
mod record;
mod ring;
mod sink;
mod verify;
mod writer;

pub use self::approval::{ApprovalOutcome, ApprovalSubject};
pub(crate) use self::contents::ContentSource;
pub use self::contents::{
    AuditContent, AuditContents, AuditDetail, ContentDigests, ContentStore, ContentsHealth,
    MalformedContent, MemoryContents, ViewContents,
};
pub use self::event::{AuditEvent, AuditKind, Observed, TurnOutcome, VisibilityOutcome};
pub use self::health::{AuditHealth, SinkHealth};
pub use self::hook::HookFailure;
pub use self::jsonl::JsonLines;
pub use self::key::AuditKey;
pub(crate) use self::key::SecretDigest;
pub use self::log::AuditLog;
pub use self::record::{AuditEntry, AuditRecord, ChainHead, ChainId, MalformedRecord};
pub use self::ring::MemoryRing;
pub use self::sink::{AuditError, AuditQuery, AuditSink, AuditStore, VerifyError};
pub use self::verify::{Broken, Coverage, Defect, Verified, Verifier, verify};

#[cfg(test)]
mod tests {
    pub(super) mod fixtures;
}
