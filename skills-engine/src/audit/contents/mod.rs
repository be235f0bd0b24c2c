//! What recorded views showed, kept once under its digest.

mod content;
mod detail;
mod keeper;
mod memory;
mod shown;
mod store;

pub use self::content::{AuditContent, MalformedContent};
pub use self::detail::{AuditDetail, ContentDigests};
pub use self::keeper::{AuditContents, ContentsHealth};
pub use self::memory::MemoryContents;
pub(crate) use self::shown::ContentSource;
pub use self::shown::ViewContents;
pub(super) use self::shown::compose_contents;
pub use self::store::ContentStore;
