//! What `embed_skills!` leaves behind in a binary. Not public API.

use std::borrow::Cow;
use std::fmt;

use crate::skill::Origin;

/// A folder that was searched for skills when its crate was compiled.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct EmbeddedRoot {
    /// Its path below the crate's folder.
    pub path: &'static str,
    /// The crate, and the place of the macro in it.
    pub origin: Origin,
    /// The folders in it that hold a main file, in the order of their paths.
    pub folders: &'static [EmbeddedFolder],
    /// Folders below it that hold folders too deep to be searched, and how many of those.
    pub too_deep: &'static [(&'static str, usize)],
}

/// A folder with a main file.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct EmbeddedFolder {
    /// Its path below the root, with `/`; empty for the root itself.
    pub path: &'static str,
    /// The main file's name: `SKILL.md`, or what differs from it in case alone.
    pub main_name: &'static str,
    /// The main file; `None` where a folder has its name.
    pub main: Option<&'static [u8]>,
    /// All its other files.
    pub files: &'static [EmbeddedFile],
    /// Whether there are more, in folders too deep to be looked into.
    pub is_cut: bool,
}

/// A file of a skill.
#[derive(Clone, Copy)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct EmbeddedFile {
    /// Its path below the skill's folder, with `/`.
    pub path: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
    /// Whether its owner could execute it.
    pub is_executable: bool,
}

inventory::collect!(EmbeddedRoot);

impl EmbeddedRoot {
    /// The path of a folder below it as reports tell it.
    pub(super) fn place(&self, path: &str) -> Cow<'static, str> {
        if path.is_empty() {
            Cow::Borrowed(self.path)
        } else {
            Cow::Owned(format!("{}/{path}", self.path))
        }
    }
}

impl fmt::Debug for EmbeddedFolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EmbeddedFolder")
            .field("path", &self.path)
            .field("main_name", &self.main_name)
            .field("files", &self.files)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for EmbeddedFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EmbeddedFile")
            .field("path", &self.path)
            .field("bytes", &self.bytes.len())
            .field("is_executable", &self.is_executable)
            .finish()
    }
}
