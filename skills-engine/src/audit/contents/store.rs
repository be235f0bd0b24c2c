use super::super::AuditError;
use super::AuditContent;
use crate::skill::{BoxFuture, Timestamp};

/// A place where the texts of recorded views are kept, each once under its digest.
///
/// The engine calls `touch` for every text of a recorded view and `put` where the answer is that it is not kept; it
/// drops a future after `limits.store_timeout`. What fails is counted, and not tried again until the text is shown
/// again.
pub trait ContentStore: Send + Sync + 'static {
    /// Notes that a text is shown at a time, later than any before; false when it is not kept.
    ///
    /// # Errors
    ///
    /// When the store cannot be asked.
    fn touch<'a>(
        &'a self,
        digest: &'a [u8; 32],
        at: Timestamp,
    ) -> BoxFuture<'a, Result<bool, AuditError>>;

    /// Keeps a text that is shown at a time, unless it is kept already.
    ///
    /// # Errors
    ///
    /// When it cannot be kept.
    fn put(&self, content: AuditContent, at: Timestamp) -> BoxFuture<'_, Result<(), AuditError>>;

    /// The text under a digest.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    fn get<'a>(
        &'a self,
        digest: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<AuditContent>, AuditError>>;

    /// Forgets what was last shown before a time, and says how many texts that were.
    ///
    /// # Errors
    ///
    /// When the store cannot be reached.
    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, AuditError>>;
}
