//! Where grants are kept: backends of [`VisibilityStore`](crate::session::VisibilityStore).

mod memory;

pub use self::memory::MemoryStore;
