//! Where skills come from: linked crates, and instances that the host passes.

mod construct;
#[cfg(feature = "folders")]
pub(crate) mod folder;
mod linked;
mod skill_source;
mod typed;

pub(crate) use self::construct::{Provided, construct};
#[cfg(feature = "folders")]
pub use self::folder::{Diagnostic, DiagnosticKind, Severity};
pub use self::linked::Linked;
pub(crate) use self::linked::{blocks_by_type, linked_entries};
pub use self::skill_source::SkillSource;
pub(crate) use self::typed::typed_skill;
