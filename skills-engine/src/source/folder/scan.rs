use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::Duration;

use sha2::{Digest as _, Sha256};

use super::discover::{Cancelled, Found, Spot, Trace, Visit, Walk, open_below};
use super::document::{MOST_BYTES, TOO_LARGE_HINT};
use super::findings::{diagnostic, main_not_file, other_case, unreadable};
use super::handle::{EntryKind, FileKey, Folder, OpenError, Stat};
use super::read::{Home, read_whole};
use super::resources::{self, Below, Listing};
use super::root::SkillRoot;
use super::skill::{FolderSkill, Main, Place};
use super::{Diagnostic, DiagnosticKind, MAIN};
use crate::skill::Timestamp;

/// How long something must have been left alone before its times say that it was not changed: they are no finer than the
/// system's clock, and some file systems round them to seconds.
const SETTLES: Duration = Duration::from_secs(2);

/// What a scan remembers for the next one, by the folder's path.
pub(super) type Known = HashMap<PathBuf, KnownFolder>;

/// A folder as it was looked at last.
#[derive(Clone, Debug)]
pub(super) struct KnownFolder {
    seen: Seen,
    /// The last skill that was made of it.
    pub(super) skill: Option<Arc<FolderSkill>>,
}

/// What a scan saw of a folder with a main file.
#[derive(Clone, Debug)]
struct Seen {
    place: Arc<Place>,
    /// The folder itself, when it would be another if something in it had come, gone or been renamed since.
    key: Option<FileKey>,
    listing: Arc<Listing>,
    below: Below,
    #[cfg_attr(not(feature = "watch"), expect(dead_code, reason = "for who watches"))]
    is_main_link: bool,
    main: Option<SeenMain>,
}

/// A main file as it was read last.
#[derive(Clone, Debug)]
struct SeenMain {
    key: FileKey,
    /// Whether the file would have another key now if it had been changed since.
    is_settled: bool,
    /// Of the file's bytes.
    digest: [u8; 32],
    read: Result<Arc<Main>, Vec<Diagnostic>>,
}

/// A folder with a main file, as this scan found it.
pub(super) struct Scanned {
    seen: Seen,
    /// Why the main file was not read.
    unread: Option<Diagnostic>,
}

/// All that a scan found.
pub(super) struct Scan {
    pub(super) folders: Vec<Scanned>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) unknown: Vec<PathBuf>,
    #[cfg_attr(not(feature = "watch"), expect(dead_code, reason = "for who watches"))]
    pub(super) trace: Trace,
}

/// Searches the roots, in this order, and reads what changed since it was known.
pub(super) fn scan<'r>(
    roots: impl Iterator<Item = &'r SkillRoot>,
    now: Timestamp,
    known: &Known,
    room: &Arc<AtomicUsize>,
    cancelled: &AtomicBool,
) -> Result<Scan, Cancelled> {
    let settles = i64::try_from(SETTLES.as_nanos()).unwrap_or(i64::MAX);
    let scanner = Scanner {
        known,
        room,
        settled: now.0.saturating_mul(1_000_000).saturating_sub(settles),
    };
    let mut walk = Walk::new(cancelled);
    let mut folders = Vec::new();
    for root in roots {
        let mut found = walk.root(root, &scanner)?;
        found.sort_by(|left, right| left.place().path.cmp(&right.place().path));
        folders.extend(found);
    }
    Ok(Scan {
        folders,
        diagnostics: walk.diagnostics,
        unknown: walk.unknown,
        trace: walk.trace,
    })
}

struct Scanner<'a> {
    known: &'a Known,
    room: &'a Arc<AtomicUsize>,
    /// What was changed before this moment would have another key if it had been changed again.
    settled: i64,
}

impl Visit for Scanner<'_> {
    type Made = Scanned;

    fn visit(&self, found: &Found<'_>) -> Scanned {
        let spot = found.spot;
        let name = (spot.path.file_name().or_else(|| spot.real.file_name()))
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let shown_path = spot.path.join(&found.main.name);
        let mut place = Place {
            path: spot.path.clone(),
            name,
            home: Home {
                real: spot.real.clone(),
                id: found.id.clone(),
            },
            main: (spot.real.clone(), found.main.name.clone()),
            shown: shown_path.to_string_lossy().into_owned(),
        };
        let main = self.main(found, &mut place, &shown_path);
        let (listing, below) = resources::list(found, |key| self.is_settled(key));
        let known = self.known.get(&spot.path).map(|known| &known.seen);
        // What is the same is shared, which makes it quick to see.
        let listing = match known {
            Some(known) if *known.listing == listing => Arc::clone(&known.listing),
            _ => Arc::new(listing),
        };
        let place = match known {
            Some(known) if *known.place == place => Arc::clone(&known.place),
            _ => Arc::new(place),
        };
        let is_main_link = found.main.kind == EntryKind::Link;
        let key = (self.is_settled(&found.key) && !is_main_link).then_some(found.key);
        let (main, unread) = match main {
            Ok(main) => (Some(main), None),
            Err(diagnostic) => (None, Some(diagnostic)),
        };
        Scanned {
            seen: Seen {
                place,
                key,
                listing,
                below,
                is_main_link,
                main,
            },
            unread,
        }
    }

    fn visit_known(&self, spot: &Spot, folder: &Folder, stat: &Stat) -> Option<Scanned> {
        let known = &self.known.get(&spot.path)?.seen;
        let is_same = known.place.home.real == spot.real && known.key == Some(stat.key);
        if !is_same || !known.below.holds(folder, &known.listing) {
            return None;
        }
        let main = known.main.as_ref()?;
        let now = folder.stat(&known.place.main.1).ok()?;
        (main.is_settled && main.key == now.key).then(|| Scanned {
            seen: known.clone(),
            unread: None,
        })
    }
}

impl Scanner<'_> {
    fn is_settled(&self, key: &FileKey) -> bool {
        key.modified.max(key.changed) < self.settled
    }

    /// Reads the main file, unless it is known.
    fn main(
        &self,
        found: &Found<'_>,
        place: &mut Place,
        shown_path: &Path,
    ) -> Result<SeenMain, Diagnostic> {
        let not_file = || main_not_file(shown_path);
        let problem = |error: OpenError| match error {
            OpenError::Missing => unreadable(shown_path, &io::ErrorKind::NotFound.into()),
            OpenError::Is(_) => not_file(),
            OpenError::Io(error) => unreadable(shown_path, &error),
        };
        let linked;
        let folder = match found.main.kind {
            EntryKind::File => found.folder,
            EntryKind::Folder | EntryKind::Special => return Err(not_file()),
            EntryKind::Link => {
                linked = follow_main(found, shown_path, &mut place.main)
                    .map_err(|error| error.unwrap_or_else(&problem))?;
                &linked
            }
        };
        let name = &place.main.1;
        let known = self.known.get(&place.path).map(|known| &known.seen);
        // The folder's name goes into the reading, and its path into what is told.
        let known = known.filter(|known| known.place.name == place.name);
        let known = known.and_then(|known| known.main.as_ref());
        if let Some(known) = known.filter(|known| known.is_settled) {
            let stat = folder.stat(name).map_err(|error| problem(error.into()))?;
            if stat.key == known.key {
                return Ok(known.clone());
            }
        }
        let file = folder.file(name).map_err(problem)?;
        let key = file.stat.key;
        let bytes = read_whole(file, MOST_BYTES)
            .map_err(|error| unreadable(shown_path, &error))?
            .ok_or_else(|| {
                diagnostic(
                    DiagnosticKind::FileTooLarge,
                    shown_path,
                    format!("the file has {} bytes, {MOST_BYTES} are read", key.size),
                    TOO_LARGE_HINT,
                )
            })?;
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        let read = match known {
            Some(known) if known.digest == digest => known.read.clone(),
            _ => Main::read(&bytes, &place.name, &place.shown, self.room).map(Arc::new),
        };
        Ok(SeenMain {
            key,
            is_settled: self.is_settled(&key),
            digest,
            read,
        })
    }
}

impl Scanned {
    pub(super) fn place(&self) -> &Arc<Place> {
        &self.seen.place
    }

    pub(super) fn listing(&self) -> &Arc<Listing> {
        &self.seen.listing
    }

    /// The skill's folder and those below that were looked into, without links.
    #[cfg(feature = "watch")]
    pub(super) fn looked_into(&self) -> impl Iterator<Item = PathBuf> {
        let home = &self.seen.place.home.real;
        let below = self.seen.below.paths().map(|path| home.join(path));
        std::iter::once(home.clone()).chain(below)
    }

    /// The main file, if it is a link.
    #[cfg(feature = "watch")]
    pub(super) fn main_link(&self) -> Option<PathBuf> {
        let place = &self.seen.place;
        let name = Path::new(&place.shown).file_name()?;
        self.seen.is_main_link.then(|| place.home.real.join(name))
    }

    /// What reading the main file came to, with all that was found about the folder but for its files.
    pub(super) fn read(&self) -> (Option<&Arc<Main>>, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let place = &self.seen.place;
        if !place.shown.ends_with(MAIN) {
            diagnostics.push(other_case(&place.shown));
        }
        diagnostics.extend(self.unread.clone());
        let main = match self.seen.main.as_ref().map(|main| &main.read) {
            Some(Ok(main)) => {
                diagnostics.extend_from_slice(&main.diagnostics);
                Some(main)
            }
            Some(Err(found)) => {
                diagnostics.extend_from_slice(found);
                None
            }
            None => None,
        };
        (main, diagnostics)
    }

    /// What the next scan should know of it.
    pub(super) fn into_known(self, skill: Option<Arc<FolderSkill>>) -> (PathBuf, KnownFolder) {
        let path = self.seen.place.path.clone();
        let seen = self.seen;
        (path, KnownFolder { seen, skill })
    }
}

/// Opens the folder that holds the file a main file is a link to.
fn follow_main(
    found: &Found<'_>,
    shown_path: &Path,
    main: &mut (PathBuf, OsString),
) -> Result<Folder, Result<Diagnostic, OpenError>> {
    let link = found.spot.real.join(&found.main.name);
    let real = fs::canonicalize(link).map_err(|error| Err(error.into()))?;
    let project = found.spot.project.as_deref();
    if project.is_some_and(|project| !real.starts_with(project)) {
        return Err(Ok(diagnostic(
            DiagnosticKind::SymlinkEscape,
            shown_path,
            "the file is a link that leads out of the project, and is not read",
            "put a copy of what it leads to in its place",
        )));
    }
    let (Some(folder), Some(name)) = (real.parent(), real.file_name()) else {
        return Err(Err(OpenError::Is(EntryKind::Folder)));
    };
    *main = (folder.to_owned(), name.to_owned());
    let opened = match project {
        Some(project) => open_below(project, folder),
        None => Folder::open(folder),
    };
    opened.map_err(Err)
}
