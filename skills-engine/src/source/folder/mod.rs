//! Skills from folders that hold a `SKILL.md`, by the Agent Skills standard.

mod discover;
mod document;
mod embedded;
mod embedded_folder;
mod embedded_skill;
mod escape;
mod fields;
mod findings;
mod folders;
mod handle;
mod header;
mod intake;
mod keys;
mod metadata;
mod name;
mod needs;
mod parallel;
mod read;
mod repair;
mod report;
mod resources;
mod root;
mod scan;
mod settle;
mod skill;
#[cfg(test)]
mod tests;
#[cfg(feature = "watch")]
mod watch;
mod yaml;

pub use self::document::{Document, Read, read_document};
pub use self::embedded::EmbeddedSkills;
pub(crate) use self::embedded::embedded_ids;
pub use self::embedded_folder::{EmbeddedFile, EmbeddedFolder, EmbeddedRoot};
pub use self::folders::{FolderReport, SkillFolders};
pub use self::header::Header;
pub use self::root::{ScopePrecedence, SkillRoot};
pub use self::skill::FolderSkill;
use super::{Diagnostic, DiagnosticKind, Severity};

/// The name of a main file.
const MAIN: &str = "SKILL.md";
/// The deepest folders below a root that are entered.
const DEPTH: usize = 6;
