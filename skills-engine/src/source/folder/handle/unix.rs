use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

use super::{Entry, EntryKind, FileKey, OpenError, OpenFile, Stat, nanoseconds};

/// Says which folder it is, whatever path leads to it: its device and its number.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(in crate::source::folder) struct FolderId(u64, u64);

/// A folder held open.
#[derive(Debug)]
pub(in crate::source::folder) struct Folder {
    dir: Dir,
}

impl Folder {
    /// Opens a folder by its path, links followed.
    pub(in crate::source::folder) fn open(path: &Path) -> Result<Self, OpenError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match openat(CWD, path, flags, Mode::empty()) {
            Ok(descriptor) => Self::of(descriptor),
            Err(rustix::io::Errno::NOTDIR) => Err(OpenError::Is(EntryKind::File)),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }

    /// Opens a folder in this one.
    pub(in crate::source::folder) fn enter(&self, name: &OsStr) -> Result<Self, OpenError> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        match openat(self.descriptor()?, name, flags, Mode::empty()) {
            Ok(descriptor) => Self::of(descriptor),
            Err(error) => Err(self.reason(name, error)),
        }
    }

    fn of(descriptor: OwnedFd) -> Result<Self, OpenError> {
        let dir = Dir::new(descriptor).map_err(io::Error::from)?;
        Ok(Self { dir })
    }

    fn descriptor(&self) -> io::Result<BorrowedFd<'_>> {
        Ok(self.dir.fd()?)
    }

    pub(in crate::source::folder) fn id(&self) -> io::Result<FolderId> {
        Ok(self.stat_self()?.0)
    }

    /// Which folder it is, and what it is.
    pub(in crate::source::folder) fn stat_self(&self) -> io::Result<(FolderId, Stat)> {
        let stat = stat_of(&self.dir.stat()?);
        let (device, number) = stat.key.number;
        Ok((FolderId(device, number), stat))
    }

    /// All names in the folder, in no order, as long as `take` wants more.
    pub(in crate::source::folder) fn entries(
        &mut self,
        mut take: impl FnMut(Entry) -> bool,
    ) -> io::Result<()> {
        self.dir.rewind();
        while let Some(entry) = self.dir.read() {
            let entry = entry?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            let name = OsStr::from_bytes(name.to_bytes());
            let kind = match entry.file_type() {
                FileType::Unknown => match self.stat(name) {
                    Ok(stat) => stat.kind,
                    // It went in the meantime.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error),
                },
                known => kind_of(known),
            };
            let name = name.to_owned();
            if !take(Entry { name, kind }) {
                break;
            }
        }
        Ok(())
    }

    /// What a name in this folder stands for.
    pub(in crate::source::folder) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        let stat = statat(self.descriptor()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(stat_of(&stat))
    }

    /// Opens a file in this folder for reading.
    pub(in crate::source::folder) fn file(&self, name: &OsStr) -> Result<OpenFile, OpenError> {
        // Only to open a device can do something; what is opened is looked at once more below.
        let stat = self.stat(name)?;
        if stat.kind != EntryKind::File {
            return Err(OpenError::Is(stat.kind));
        }
        // Without `NONBLOCK`, a pipe put there in between would wait for a writer.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let descriptor = openat(self.descriptor()?, name, flags, Mode::empty())
            .map_err(|error| self.reason(name, error))?;
        let file = File::from(descriptor);
        let metadata = file.metadata()?;
        let stat = Stat {
            kind: kind_of(FileType::from_raw_mode(metadata.mode() as _)),
            key: FileKey {
                modified: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
                changed: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
                size: metadata.size(),
                number: (metadata.dev(), metadata.ino()),
            },
            is_executable: metadata.mode() & 0o100 != 0,
        };
        match stat.kind {
            EntryKind::File => Ok(OpenFile { file, stat }),
            other => Err(OpenError::Is(other)),
        }
    }

    /// Systems have several errors for a link that is not followed; what stands there now tells more.
    fn reason(&self, name: &OsStr, error: rustix::io::Errno) -> OpenError {
        use rustix::io::Errno;
        match self.stat(name) {
            Ok(stat)
                if matches!(
                    error,
                    Errno::NOTDIR | Errno::LOOP | Errno::MLINK | Errno::NXIO
                ) =>
            {
                OpenError::Is(stat.kind)
            }
            _ => io::Error::from(error).into(),
        }
    }
}

fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Special,
    }
}

#[allow(
    clippy::cast_lossless,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::unnecessary_cast,
    reason = "the types of these fields differ from system to system, and all fit"
)]
fn stat_of(stat: &rustix::fs::Stat) -> Stat {
    let mode = stat.st_mode;
    Stat {
        kind: kind_of(FileType::from_raw_mode(mode)),
        key: FileKey {
            modified: nanoseconds(stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: nanoseconds(stat.st_ctime as i64, stat.st_ctime_nsec as i64),
            size: stat.st_size as u64,
            number: (stat.st_dev as u64, stat.st_ino as u64),
        },
        is_executable: mode & 0o100 != 0,
    }
}
