use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::{Duration, SystemTime};

use sha2::{Digest as _, Sha256};

use super::discover::{Cancelled, Found, MAIN, Walk, diagnostic, open_below, unreadable};
use super::document::{MOST_BYTES, TOO_LARGE_HINT};
use super::handle::{EntryKind, FileKey, Folder, OpenError};
use super::read::{Home, read_whole};
use super::resources::{self, Listing};
use super::root::SkillRoot;
use super::skill::{FolderSkill, Main, Place};
use super::{Diagnostic, DiagnosticKind, parse};

/// How long a file must have been left alone before its times say that it was not changed: they are no finer than the
/// system's clock, and some file systems round them to seconds.
const SETTLES: Duration = Duration::from_secs(2);
/// Bytes and files that are read before they are parsed together.
const BATCH_BYTES: usize = 16 << 20;
const BATCH_FILES: usize = 2_048;

/// What a scan remembers for the next one, by the folder's path.
pub(super) type Known = HashMap<PathBuf, KnownFolder>;

/// A folder as it was read last.
#[derive(Clone, Debug)]
pub(super) struct KnownFolder {
    main: Option<KnownMain>,
    /// The last skill that was made of it.
    pub(super) skill: Option<Arc<FolderSkill>>,
}

/// A main file as it was read last.
#[derive(Clone, Debug)]
struct KnownMain {
    key: FileKey,
    /// The folder's name, which its reading depends on.
    name: String,
    /// Whether the file would have another key now if it had been changed since.
    is_settled: bool,
    /// Of the file's bytes.
    digest: [u8; 32],
    read: Result<Arc<Main>, Vec<Diagnostic>>,
}

/// A folder with a main file, as this scan found it.
pub(super) struct Scanned {
    pub(super) place: Place,
    pub(super) listing: Arc<Listing>,
    /// What was found before the main file was read.
    before: Vec<Diagnostic>,
    main: State,
}

enum State {
    Known(KnownMain),
    ToParse {
        key: FileKey,
        is_settled: bool,
        bytes: Vec<u8>,
    },
    /// The main file was not read, for the reason that stands before.
    Unread,
}

/// All that a scan found.
pub(super) struct Scan {
    pub(super) folders: Vec<Scanned>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) unknown: Vec<PathBuf>,
}

/// Searches the roots, in this order, and reads what changed since it was known.
pub(super) fn scan<'r>(
    roots: impl Iterator<Item = &'r SkillRoot>,
    known: &Known,
    room: &Arc<AtomicUsize>,
    cancelled: &AtomicBool,
) -> Result<Scan, Cancelled> {
    let mut scanner = Scanner {
        known,
        room,
        now: nanoseconds_now(),
        folders: Vec::new(),
        waiting: Vec::new(),
        waiting_bytes: 0,
    };
    let mut walk = Walk::new(cancelled);
    for root in roots {
        walk.root(root, &mut |found| scanner.visit(found))?;
    }
    scanner.parse();
    Ok(Scan {
        folders: scanner.folders,
        diagnostics: walk.diagnostics,
        unknown: walk.unknown,
    })
}

struct Scanner<'a> {
    known: &'a Known,
    room: &'a Arc<AtomicUsize>,
    /// When the scan began, in nanoseconds since 1970.
    now: i64,
    folders: Vec<Scanned>,
    /// Positions of folders whose main files wait to be parsed.
    waiting: Vec<usize>,
    waiting_bytes: usize,
}

impl Scanner<'_> {
    fn visit(&mut self, found: &Found<'_>) {
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
        let mut before = Vec::new();
        if found.main.name != MAIN {
            before.push(diagnostic(
                DiagnosticKind::FilenameCase,
                &shown_path,
                format!("the file is not spelled `{MAIN}`"),
                "rename it: other clients do not find it",
            ));
        }
        let main = match self.main(found, &mut place, &shown_path) {
            Ok(state) => state,
            Err(diagnostic) => {
                before.push(diagnostic);
                State::Unread
            }
        };
        let listing = resources::list(found);
        if let State::ToParse { bytes, .. } = &main {
            self.waiting_bytes += bytes.len();
            self.waiting.push(self.folders.len());
        }
        self.folders.push(Scanned {
            place,
            listing: Arc::new(listing),
            before,
            main,
        });
        if self.waiting_bytes >= BATCH_BYTES || self.waiting.len() >= BATCH_FILES {
            self.parse();
        }
    }

    /// Reads the main file, unless it is known.
    fn main(
        &self,
        found: &Found<'_>,
        place: &mut Place,
        shown_path: &Path,
    ) -> Result<State, Diagnostic> {
        let not_file = || {
            diagnostic(
                DiagnosticKind::SkillMdNotFile,
                shown_path,
                "it is not a file",
                "write the skill's header and text into a file of this name",
            )
        };
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
        let stat = folder.stat(name).map_err(|error| problem(error.into()))?;
        let known = self
            .known
            .get(&place.path)
            .and_then(|known| known.main.as_ref());
        if let Some(known) = known
            && known.is_settled
            && known.key == stat.key
            && known.name == place.name
        {
            return Ok(State::Known(known.clone()));
        }
        let too_large = |size: u64| {
            diagnostic(
                DiagnosticKind::FileTooLarge,
                shown_path,
                format!("the file has {size} bytes, {MOST_BYTES} are read"),
                TOO_LARGE_HINT,
            )
        };
        let file = folder.file(name).map_err(problem)?;
        let key = file.stat.key;
        let bytes = read_whole(file, MOST_BYTES)
            .map_err(|error| unreadable(shown_path, &error))?
            .ok_or_else(|| too_large(key.size))?;
        let is_settled = {
            let changed = key.modified.max(key.changed);
            let settles = i64::try_from(SETTLES.as_nanos()).unwrap_or(i64::MAX);
            changed < self.now.saturating_sub(settles)
        };
        Ok(State::ToParse {
            key,
            is_settled,
            bytes,
        })
    }

    /// Parses what waits, on all processors when it is much.
    fn parse(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        self.waiting_bytes = 0;
        let jobs: Vec<_> = waiting
            .iter()
            .filter_map(|&at| {
                let Scanned { place, main, .. } = self.folders.get_mut(at)?;
                match std::mem::replace(main, State::Unread) {
                    State::ToParse {
                        key,
                        is_settled,
                        bytes,
                    } => Some((at, key, is_settled, bytes, place.clone())),
                    other => {
                        *main = other;
                        None
                    }
                }
            })
            .collect();
        let (known, room) = (self.known, self.room);
        let parsed = parse::in_parallel(&jobs, |(_, key, is_settled, bytes, place)| {
            let digest: [u8; 32] = Sha256::digest(bytes).into();
            let known = known.get(&place.path).and_then(|known| known.main.as_ref());
            let same = known.filter(|known| {
                // Diagnostics name the file by its path, which is the same too.
                known.digest == digest && known.name == place.name
            });
            let read = match same {
                Some(same) => same.read.clone(),
                None => Main::read(bytes, &place.name, &place.shown, room).map(Arc::new),
            };
            KnownMain {
                key: *key,
                name: place.name.clone(),
                is_settled: *is_settled,
                digest,
                read,
            }
        });
        for ((at, ..), main) in jobs.iter().zip(parsed) {
            self.folders[*at].main = State::Known(main);
        }
    }
}

impl Scanned {
    /// What reading the main file came to, with all that was found about the folder but for its files.
    pub(super) fn read(&self) -> (Option<&Arc<Main>>, Vec<Diagnostic>) {
        let mut diagnostics = self.before.clone();
        let main = match &self.main {
            State::Known(known) => match &known.read {
                Ok(main) => {
                    diagnostics.extend_from_slice(&main.diagnostics);
                    Some(main)
                }
                Err(found) => {
                    diagnostics.extend_from_slice(found);
                    None
                }
            },
            State::ToParse { .. } | State::Unread => None,
        };
        (main, diagnostics)
    }

    /// What the next scan should know of it.
    pub(super) fn into_known(self, skill: Option<Arc<FolderSkill>>) -> (PathBuf, KnownFolder) {
        let main = match self.main {
            State::Known(main) => Some(main),
            State::ToParse { .. } | State::Unread => None,
        };
        (self.place.path, KnownFolder { main, skill })
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
    let project = found.spot.project.as_ref();
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

fn nanoseconds_now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_nanos()).unwrap_or(i64::MAX)
    })
}
