//! Where skills come from: linked crates, instances that the host passes, folders, and sources of the host's own.

mod construct;
mod diagnostic;
#[cfg(feature = "folders")]
pub(crate) mod folder;
mod instances;
mod linked;
mod loaded;
mod skill_source;
mod typed;

pub(crate) use self::construct::{Provided, construct};
pub use self::diagnostic::{Diagnostic, DiagnosticKind, Severity};
#[cfg(feature = "folders")]
pub use self::folder::{
    EmbeddedSkills, FolderReport, FolderSkill, Header, ScopePrecedence, SkillFolders, SkillRoot,
};
pub use self::instances::Instances;
pub use self::linked::Linked;
pub(crate) use self::linked::{
    blocks_by_type, linked_entries, linked_folder_ids, linked_packages, linked_sources,
};
pub use self::loaded::{FailedSkill, Loaded, ShadowedSkill};
pub use self::skill_source::{Precedence, SkillSource};
pub(crate) use self::typed::typed_skill;
