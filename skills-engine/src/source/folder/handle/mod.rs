//! Folders held open, and what lies in them: nothing here follows a link unless it says so, nothing waits for a peer.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod windows;

use std::ffi::OsString;
use std::fs::File;
use std::io;

#[cfg(unix)]
pub(super) use self::unix::{Folder, FolderId};
#[cfg(not(unix))]
pub(super) use self::windows::{Folder, FolderId};

/// What a name in a folder stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Folder,
    Link,
    /// A pipe, a socket, a device.
    Special,
}

/// A name in a folder.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: EntryKind,
}

/// What decides whether a file is read again: times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileKey {
    pub(super) modified: i64,
    /// When the file or its name was changed in any way; when it was made, where the system says no more.
    pub(super) changed: i64,
    pub(super) size: u64,
    /// The number of the file and of its device, where there are such numbers.
    pub(super) number: (u64, u64),
}

/// What a name stands for, and more of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stat {
    pub(super) kind: EntryKind,
    pub(super) key: FileKey,
    pub(super) is_executable: bool,
}

/// Why a file or folder was not opened.
#[derive(Debug)]
pub(super) enum OpenError {
    /// Nothing has the name.
    Missing,
    /// The name is another kind of thing than was asked for.
    Is(EntryKind),
    Io(io::Error),
}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound {
            Self::Missing
        } else {
            Self::Io(error)
        }
    }
}

/// A file that was opened, and what it was then.
#[derive(Debug)]
pub(super) struct OpenFile {
    pub(super) file: File,
    pub(super) stat: Stat,
}

/// Seconds and nanoseconds as nanoseconds; times beyond the years 1677 and 2262 stay at these.
#[cfg(unix)]
fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}
