use std::ffi::OsStr;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::{Entry, EntryKind, FileKey, OpenError, OpenFile, Stat};

/// Says which folder it is, whatever path leads to it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::source::folder) struct FolderId(PathBuf);

/// `FILE_SHARE_READ | FILE_SHARE_WRITE`: without `FILE_SHARE_DELETE`, nothing that is held open can be renamed or
/// replaced, nor can a folder above it.
const SHARE: u32 = 0x1 | 0x2;
/// `FILE_FLAG_BACKUP_SEMANTICS`, without which folders are not opened.
const FOLDERS: u32 = 0x0200_0000;
/// `FILE_FLAG_OPEN_REPARSE_POINT`: opens a link itself.
const LINKS: u32 = 0x0020_0000;
/// From 1601, where the system's time begins, to 1970, in steps of 100 nanoseconds.
const EPOCH: u64 = 116_444_736_000_000_000;

/// A folder held open: as long as it is, its path leads to it.
#[derive(Debug)]
pub(in crate::source::folder) struct Folder {
    path: PathBuf,
    held: File,
}

impl Folder {
    /// Opens a folder by its path, links followed.
    pub(in crate::source::folder) fn open(path: &Path) -> Result<Self, OpenError> {
        Self::hold(fs::canonicalize(path)?)
    }

    /// Opens a folder in this one.
    pub(in crate::source::folder) fn enter(&self, name: &OsStr) -> Result<Self, OpenError> {
        Self::hold(self.path.join(name))
    }

    fn hold(path: PathBuf) -> Result<Self, OpenError> {
        let held = open(&path)?;
        match kind_of(&held.metadata()?) {
            EntryKind::Folder => Ok(Self { path, held }),
            other => Err(OpenError::Is(other)),
        }
    }

    pub(in crate::source::folder) fn id(&self) -> io::Result<FolderId> {
        fs::canonicalize(&self.path).map(FolderId)
    }

    /// Which folder it is, and what it is.
    pub(in crate::source::folder) fn stat_self(&self) -> io::Result<(FolderId, Stat)> {
        Ok((self.id()?, stat_of(&self.held.metadata()?)))
    }

    /// All names in the folder, in no order, as long as `take` wants more.
    pub(in crate::source::folder) fn entries(
        &mut self,
        mut take: impl FnMut(Entry) -> bool,
    ) -> io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            let file_type = entry.file_type()?;
            let kind = if file_type.is_symlink() {
                EntryKind::Link
            } else if file_type.is_dir() {
                EntryKind::Folder
            } else {
                EntryKind::File
            };
            let name = entry.file_name();
            if !take(Entry { name, kind }) {
                break;
            }
        }
        Ok(())
    }

    /// What a name in this folder stands for.
    pub(in crate::source::folder) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(stat_of(&fs::symlink_metadata(self.path.join(name))?))
    }

    /// Opens a file in this folder for reading.
    pub(in crate::source::folder) fn file(&self, name: &OsStr) -> Result<OpenFile, OpenError> {
        let file = open(&self.path.join(name))?;
        let stat = stat_of(&file.metadata()?);
        match stat.kind {
            EntryKind::File => Ok(OpenFile { file, stat }),
            other => Err(OpenError::Is(other)),
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .share_mode(SHARE)
        .custom_flags(FOLDERS | LINKS)
        .open(path)
}

fn kind_of(metadata: &Metadata) -> EntryKind {
    let file_type = metadata.file_type();
    if file_type.is_symlink() {
        EntryKind::Link
    } else if file_type.is_dir() {
        EntryKind::Folder
    } else if file_type.is_file() {
        EntryKind::File
    } else {
        EntryKind::Special
    }
}

fn stat_of(metadata: &Metadata) -> Stat {
    let nanoseconds = |time: u64| {
        let steps = i64::try_from(time.saturating_sub(EPOCH)).unwrap_or(i64::MAX);
        steps.saturating_mul(100)
    };
    Stat {
        kind: kind_of(metadata),
        key: FileKey {
            modified: nanoseconds(metadata.last_write_time()),
            changed: nanoseconds(metadata.creation_time()),
            size: metadata.file_size(),
            number: (0, 0),
        },
        is_executable: false,
    }
}
