use std::ffi::OsStr;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use super::MAIN;
use super::handle::{EntryKind, Folder, FolderId, OpenError, OpenFile};
use crate::skill::{Code, Fault, ResourcePart, shown};

/// Bytes that one read gives at most, whatever is asked for.
pub(super) const MOST_AT_ONCE: usize = 4 << 20;

// Why a path is refused: what there is under it.
pub(super) const IS_NOT_LISTED: &str = "is not one of the files that the skill lists";
pub(super) const IS_FOLDER: &str = "is a folder";
pub(super) const IS_BELOW_FILE: &str = "leads through a file as if it were a folder";
pub(super) const IS_MISSING: &str = "does not exist";

/// A folder that was listed, to be opened again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Home {
    /// Its path without links.
    pub(super) real: PathBuf,
    pub(super) id: FolderId,
}

impl Home {
    /// Opens the folder, if it is still the one that was listed.
    fn open(&self) -> Result<Folder, Fault> {
        let gone = || {
            Fault::new(
                Code::Conflict,
                "the skill's folder is not the one that was listed. Refresh the skills, then read again",
            )
        };
        let folder = match Folder::open(&self.real) {
            Ok(folder) => folder,
            Err(OpenError::Missing | OpenError::Is(_)) => return Err(gone()),
            Err(OpenError::Io(error)) => return Err(unreadable("the skill's folder", &error)),
        };
        match folder.id() {
            Ok(id) if id == self.id => Ok(folder),
            Ok(_) => Err(gone()),
            Err(error) => Err(unreadable("the skill's folder", &error)),
        }
    }

    /// Reads a part of the file with a path below the folder. No part of the path may be a link.
    pub(super) fn read(
        &self,
        path: &str,
        real: &str,
        offset: u64,
        limit: usize,
    ) -> Result<ResourcePart, Fault> {
        let OpenFile { mut file, stat } = match open(self.open()?, real) {
            Ok(file) => file,
            Err(error) => return Err(changed(path, error)),
        };
        let total = stat.key.size;
        let rest = total.saturating_sub(offset);
        let limit = limit
            .min(MOST_AT_ONCE)
            .min(usize::try_from(rest).unwrap_or(usize::MAX));
        let mut bytes = Vec::with_capacity(limit);
        let mut fill = || {
            if limit > 0 {
                file.seek(SeekFrom::Start(offset))?;
                (&mut file).take(limit as u64).read_to_end(&mut bytes)?;
            }
            Ok(())
        };
        match fill() {
            Ok(()) => Ok(ResourcePart::new(bytes, offset, total)),
            Err(error) => Err(unreadable(&format!("`{}`", shown(path, 200)), &error)),
        }
    }

    /// Why a path that is not listed is refused; nothing is read.
    pub(super) fn refusal(&self, path: &str) -> Fault {
        match reason_of_form(path).map_or_else(|| self.reason_of_place(path), Ok) {
            Ok(reason) => refused(path, reason),
            Err(fault) => fault,
        }
    }

    fn reason_of_place(&self, path: &str) -> Result<&'static str, Fault> {
        let found = parent(self.open()?, path)
            .and_then(|(folder, name)| Ok(folder.stat(OsStr::new(name))?.kind));
        match found {
            Ok(EntryKind::File) => Ok(IS_NOT_LISTED),
            Ok(EntryKind::Folder) | Err(OpenError::Is(EntryKind::Folder)) => Ok(IS_FOLDER),
            Ok(EntryKind::Link) | Err(OpenError::Is(EntryKind::Link)) => {
                Ok("is a link, or leads through one, that the skill does not list")
            }
            Ok(EntryKind::Special) => Ok("is a pipe, a socket or a device"),
            Err(OpenError::Is(EntryKind::File | EntryKind::Special)) => Ok(IS_BELOW_FILE),
            Err(OpenError::Missing) => Ok(IS_MISSING),
            Err(OpenError::Io(_)) => Ok("cannot be looked at"),
        }
    }
}

/// Refuses a path for a reason.
pub(super) fn refused(path: &str, reason: &str) -> Fault {
    Fault::new(
        Code::InvalidArguments,
        format!(
            "`{}` {reason}. Give the path of a file from the skill's list, as it stands there",
            shown(path, 200)
        ),
    )
}

/// Why no list has such a path, by its form alone.
pub(super) fn reason_of_form(path: &str) -> Option<&'static str> {
    let bytes = path.as_bytes();
    let has_drive = matches!(bytes, [letter, b':', ..] if letter.is_ascii_alphabetic());
    let lower = path.to_ascii_lowercase();
    let is_encoded = ["%2e", "%2f", "%5c", "%00"]
        .iter()
        .any(|code| lower.contains(code));
    let parts = || path.split(['/', '\\']);
    if path.is_empty() {
        Some("is empty")
    } else if bytes.contains(&0) {
        Some("holds a NUL character")
    } else if path.starts_with('/') {
        Some("is an absolute path")
    } else if has_drive {
        Some("begins with a drive letter")
    } else if path.contains('\\') {
        Some("holds a backslash")
    } else if is_encoded {
        Some("is percent-encoded")
    } else if parts().any(|part| part == "..") {
        Some("holds `..`")
    } else if parts().any(|part| part.is_empty() || part == ".") {
        Some("holds a part that is empty or `.`")
    } else if path == MAIN {
        Some("is the skill itself, whose body is given when it is loaded")
    } else {
        None
    }
}

/// Opens the file with a path below a folder, without following any link.
fn open(folder: Folder, path: &str) -> Result<OpenFile, OpenError> {
    let (folder, name) = parent(folder, path)?;
    folder.file(OsStr::new(name))
}

/// The folder that holds what has a path below another, and its name there; no link is followed.
fn parent(mut folder: Folder, path: &str) -> Result<(Folder, &str), OpenError> {
    let Some((parents, name)) = path.rsplit_once('/') else {
        return Ok((folder, path));
    };
    for parent in parents.split('/') {
        folder = folder.enter(OsStr::new(parent))?;
    }
    Ok((folder, name))
}

/// Why a listed file was not opened.
fn changed(path: &str, error: OpenError) -> Fault {
    let path = shown(path, 200);
    let what = match error {
        OpenError::Missing => "is gone",
        OpenError::Is(EntryKind::Link) => "is a link now, or leads through one",
        OpenError::Is(EntryKind::Folder) => "is a folder now",
        OpenError::Is(EntryKind::Special) => "is a pipe, a socket or a device now",
        OpenError::Is(EntryKind::File) => "leads through a file now",
        OpenError::Io(error) => return unreadable(&format!("`{path}`"), &error),
    };
    Fault::new(
        Code::Conflict,
        format!(
            "`{path}` was a file when it was listed and {what}. Refresh the skills, then read again"
        ),
    )
}

pub(super) fn unreadable(what: &str, error: &std::io::Error) -> Fault {
    Fault::new(
        Code::ToolError,
        format!("{what} cannot be read: {error}. See to its permissions and to the disk"),
    )
}

/// Reads a file of at most `most` bytes; `None` when it is larger.
pub(super) fn read_whole(file: OpenFile, most: usize) -> std::io::Result<Option<Vec<u8>>> {
    let OpenFile { file, stat } = file;
    let size = usize::try_from(stat.key.size).unwrap_or(usize::MAX);
    if size > most {
        return Ok(None);
    }
    // One more, so that a file that grows in the meantime is found out.
    let mut bytes = Vec::with_capacity(size + 1);
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() <= most).then_some(bytes))
}

/// Opens the main file again: its folder without links, and the name in it.
pub(super) fn open_main(folder: &Path, name: &OsStr) -> Result<OpenFile, OpenError> {
    Folder::open(folder)?.file(name)
}
