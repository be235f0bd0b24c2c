#![doc = include_str!("../docs/audit.md")]

mod chain;
mod event;
#[cfg(test)]
mod fixtures;
mod json;
mod jsonl;
mod key;
mod line;
mod log;
mod queue;
mod receipt;
mod record;
mod ring;
mod sink;
mod verify;
mod writer;

pub use self::event::{AuditEvent, AuditKind, TurnOutcome, VisibilityOutcome};
pub use self::jsonl::JsonLines;
pub use self::key::AuditKey;
pub use self::log::{AuditHealth, AuditLog, SinkHealth};
pub use self::record::{AuditEntry, AuditRecord, ChainHead, ChainId, MalformedRecord};
pub use self::ring::MemoryRing;
pub use self::sink::{AuditError, AuditQuery, AuditSink, AuditStore, VerifyError};
pub use self::verify::{Broken, Coverage, Defect, Verified, Verifier, verify};
