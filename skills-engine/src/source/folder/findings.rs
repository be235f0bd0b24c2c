use std::io;
use std::path::Path;

use super::{DEPTH, Diagnostic, DiagnosticKind, MAIN};

/// A diagnostic about a file or folder.
pub(super) fn diagnostic(
    kind: DiagnosticKind,
    path: &Path,
    message: impl Into<String>,
    hint: &str,
) -> Diagnostic {
    Diagnostic::new(kind, path.to_string_lossy(), message, hint)
}

/// Says of a folder that those in it lie too deep.
pub(super) fn left_out(path: &Path, too_deep: usize) -> Diagnostic {
    diagnostic(
        DiagnosticKind::ScanDepthLimit,
        path,
        format!("{too_deep} folders are deeper than {DEPTH} below the root and were left out"),
        "move skills up, or add a root nearer to them",
    )
}

pub(super) fn main_not_file(path: &Path) -> Diagnostic {
    diagnostic(
        DiagnosticKind::SkillMdNotFile,
        path,
        "it is not a file",
        "write the skill's header and text into a file of this name",
    )
}

/// Says that the main file's name differs in case.
pub(super) fn other_case(shown: &str) -> Diagnostic {
    Diagnostic::new(
        DiagnosticKind::FilenameCase,
        shown,
        format!("the file is not spelled `{MAIN}`"),
        "rename it: other clients do not find it",
    )
}

pub(super) fn symlink_loop(path: &Path) -> Diagnostic {
    diagnostic(
        DiagnosticKind::SymlinkLoop,
        path,
        "the link leads to a folder that it lies in, and is not followed",
        "remove it",
    )
}

/// Says that a link leads out of a project.
pub(super) fn symlink_escape(path: &Path) -> Diagnostic {
    diagnostic(
        DiagnosticKind::SymlinkEscape,
        path,
        "it leads out of the project, so nothing there is read",
        "copy what it leads to into the project, or add it as a root of the user",
    )
}

pub(super) fn unreadable(path: &Path, error: &io::Error) -> Diagnostic {
    diagnostic(
        DiagnosticKind::Unreadable,
        path,
        format!("it cannot be read: {error}"),
        "see to its permissions and to the disk",
    )
}
