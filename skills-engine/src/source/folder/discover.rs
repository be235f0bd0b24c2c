use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::handle::{Entry, EntryKind, Folder, FolderId, OpenError};
use super::root::{Scope, SkillRoot};
use super::{Diagnostic, DiagnosticKind};

/// The name of a main file.
pub(super) const MAIN: &str = "SKILL.md";
/// The deepest folders below a root that are entered.
const DEPTH: usize = 6;
/// Folders that one scan enters.
const MOST_FOLDERS: usize = 100_000;
/// Names of one folder that are looked at.
pub(super) const MOST_ENTRIES: usize = 100_000;

/// Where a folder lies.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    /// The path that led to it, by way of links.
    pub(super) path: PathBuf,
    /// The path without links.
    pub(super) real: PathBuf,
    /// What must hold its main file, without links; `None` when it may lie anywhere.
    pub(super) project: Option<PathBuf>,
}

/// A folder with a main file, held open.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) spot: &'a Spot,
    pub(super) folder: &'a Folder,
    pub(super) id: FolderId,
    /// All that lies in it, in byte order.
    pub(super) entries: Vec<Entry>,
    /// The main file among them.
    pub(super) main: Entry,
}

/// A search through the folders of roots.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    cancelled: &'a AtomicBool,
    seen: HashSet<FolderId>,
    /// The folders above, from the root on.
    above: Vec<FolderId>,
    folders: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Folders that could not be looked into, so that nobody knows what is below them.
    pub(super) unknown: Vec<PathBuf>,
}

/// The search was given up.
#[derive(Debug)]
pub(super) struct Cancelled;

type Visit<'v> = dyn FnMut(&Found<'_>) + 'v;

impl<'a> Walk<'a> {
    pub(super) fn new(cancelled: &'a AtomicBool) -> Self {
        Self {
            cancelled,
            seen: HashSet::new(),
            above: Vec::new(),
            folders: 0,
            diagnostics: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Visits the folders of a root that hold a main file.
    pub(super) fn root(
        &mut self,
        root: &SkillRoot,
        visit: &mut Visit<'_>,
    ) -> Result<(), Cancelled> {
        let path = std::path::absolute(root.path()).unwrap_or_else(|_| root.path().to_owned());
        let project = match root.scope() {
            Scope::User => None,
            Scope::Project {
                is_trusted: false, ..
            } => {
                self.report(
                    DiagnosticKind::ProjectUntrusted,
                    &path,
                    "the user does not trust the project, so its skills are not read",
                    "ask the user, and trust the root if they do",
                );
                return Ok(());
            }
            Scope::Project { root: project, .. } => match fs::canonicalize(project) {
                Ok(real) => Some(real),
                Err(error) => {
                    self.root_problem(project, &error.into());
                    return Ok(());
                }
            },
        };
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            Err(error) => {
                self.root_problem(&path, &error.into());
                return Ok(());
            }
        };
        let spot = Spot {
            path,
            real,
            project,
        };
        if self.escapes(&spot) {
            return Ok(());
        }
        match open(&spot) {
            Ok(folder) => self.enter(&spot, folder, 0, visit),
            Err(error) => {
                self.root_problem(&spot.path, &error);
                Ok(())
            }
        }
    }

    fn enter(
        &mut self,
        spot: &Spot,
        mut folder: Folder,
        depth: usize,
        visit: &mut Visit<'_>,
    ) -> Result<(), Cancelled> {
        if self.cancelled.load(Ordering::Relaxed) {
            return Err(Cancelled);
        }
        let id = match folder.id() {
            Ok(id) => id,
            Err(error) => {
                self.unreadable(&spot.path, &error);
                return Ok(());
            }
        };
        if !self.seen.insert(id.clone()) {
            return Ok(());
        }
        if self.folders >= MOST_FOLDERS {
            if self.folders == MOST_FOLDERS {
                self.report(
                    DiagnosticKind::ScanLimit,
                    &spot.path,
                    format!(
                        "{MOST_FOLDERS} folders were searched; this one and the rest are left out"
                    ),
                    "choose a root that holds skills and little else",
                );
                self.folders += 1;
            }
            self.unknown.push(spot.path.clone());
            return Ok(());
        }
        self.folders += 1;
        let mut entries = Vec::new();
        let listed = folder.entries(|entry| {
            entries.push(entry);
            entries.len() <= MOST_ENTRIES
        });
        if let Err(error) = listed {
            self.unreadable(&spot.path, &error);
            return Ok(());
        }
        if entries.len() > MOST_ENTRIES {
            self.report(
                DiagnosticKind::ScanLimit,
                &spot.path,
                format!("the folder holds more than {MOST_ENTRIES} names and is left out"),
                "move what belongs to no skill elsewhere",
            );
            self.unknown.push(spot.path.clone());
            return Ok(());
        }
        entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        if let Some(main) = main_of(&entries) {
            let found = Found {
                spot,
                folder: &folder,
                id,
                main,
                entries,
            };
            visit(&found);
            return Ok(());
        }
        self.above.push(id);
        let result = self.below(spot, &folder, &entries, depth, visit);
        self.above.pop();
        result
    }

    /// The folders in a folder that is no skill.
    fn below(
        &mut self,
        spot: &Spot,
        folder: &Folder,
        entries: &[Entry],
        depth: usize,
        visit: &mut Visit<'_>,
    ) -> Result<(), Cancelled> {
        let mut too_deep = 0_usize;
        for entry in entries {
            let may_be_folder = matches!(entry.kind, EntryKind::Folder | EntryKind::Link);
            if !may_be_folder || is_skipped(&entry.name) {
                continue;
            }
            let path = spot.path.join(&entry.name);
            if depth == DEPTH {
                too_deep += usize::from(entry.kind == EntryKind::Folder || path.is_dir());
                continue;
            }
            if entry.kind == EntryKind::Link {
                self.follow(spot, path, depth, visit)?;
                continue;
            }
            match folder.enter(&entry.name) {
                Ok(folder) => {
                    let spot = Spot {
                        path,
                        real: spot.real.join(&entry.name),
                        project: spot.project.clone(),
                    };
                    self.enter(&spot, folder, depth + 1, visit)?;
                }
                // It went, or became something else, in the meantime.
                Err(OpenError::Missing | OpenError::Is(_)) => {}
                Err(OpenError::Io(error)) => self.unreadable(&path, &error),
            }
        }
        if too_deep > 0 {
            self.report(
                DiagnosticKind::ScanDepthLimit,
                &spot.path,
                format!(
                    "{too_deep} folders are deeper than {DEPTH} below the root and were left out"
                ),
                "move skills up, or add a root nearer to them",
            );
        }
        Ok(())
    }

    /// Enters the folder that a link leads to, if it leads to one.
    fn follow(
        &mut self,
        spot: &Spot,
        path: PathBuf,
        depth: usize,
        visit: &mut Visit<'_>,
    ) -> Result<(), Cancelled> {
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            Err(error) => {
                self.report(
                    DiagnosticKind::LinkBroken,
                    &path,
                    format!("the link cannot be followed: {error}"),
                    "remove it, or bring back what it leads to",
                );
                return Ok(());
            }
        };
        let target = Spot {
            path,
            real,
            project: spot.project.clone(),
        };
        if spot.real.starts_with(&target.real) {
            self.symlink_loop(&target.path);
            return Ok(());
        }
        if !target.real.is_dir() || self.escapes(&target) {
            return Ok(());
        }
        let folder = match open(&target) {
            Ok(folder) => folder,
            Err(OpenError::Missing | OpenError::Is(_)) => return Ok(()),
            Err(OpenError::Io(error)) => {
                self.unreadable(&target.path, &error);
                return Ok(());
            }
        };
        // By way of another link it may lead back, too.
        if folder.id().is_ok_and(|id| self.above.contains(&id)) {
            self.symlink_loop(&target.path);
            return Ok(());
        }
        self.enter(&target, folder, depth + 1, visit)
    }

    /// Whether a folder of a project lies outside of it.
    fn escapes(&mut self, spot: &Spot) -> bool {
        let escapes =
            (spot.project.as_ref()).is_some_and(|project| !spot.real.starts_with(project));
        if escapes {
            self.report(
                DiagnosticKind::SymlinkEscape,
                &spot.path,
                "it leads out of the project, so nothing there is read",
                "copy what it leads to into the project, or add it as a root of the user",
            );
        }
        escapes
    }

    fn symlink_loop(&mut self, path: &Path) {
        self.diagnostics.push(symlink_loop(path));
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.diagnostics.push(unreadable(path, error));
        self.unknown.push(path.to_owned());
    }

    fn root_problem(&mut self, path: &Path, error: &OpenError) {
        match error {
            OpenError::Missing => self.report(
                DiagnosticKind::RootMissing,
                path,
                "the folder does not exist",
                "make it, or take it off the roots",
            ),
            OpenError::Is(_) => self.report(
                DiagnosticKind::RootNotDirectory,
                path,
                "it is not a folder",
                "name the folder that holds the skills",
            ),
            OpenError::Io(error) if error.kind() == io::ErrorKind::NotADirectory => self.report(
                DiagnosticKind::RootMissing,
                path,
                "a part of its path is not a folder",
                "name the folder that holds the skills",
            ),
            OpenError::Io(error) => self.unreadable(path, error),
        }
    }

    fn report(
        &mut self,
        kind: DiagnosticKind,
        path: &Path,
        message: impl Into<String>,
        hint: &str,
    ) {
        self.diagnostics.push(diagnostic(kind, path, message, hint));
    }
}

/// A diagnostic about a file or folder.
pub(super) fn diagnostic(
    kind: DiagnosticKind,
    path: &Path,
    message: impl Into<String>,
    hint: &str,
) -> Diagnostic {
    Diagnostic::new(kind, path.to_string_lossy(), message, hint)
}

pub(super) fn symlink_loop(path: &Path) -> Diagnostic {
    diagnostic(
        DiagnosticKind::SymlinkLoop,
        path,
        "the link leads to a folder that it lies in, and is not followed",
        "remove it",
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

/// Opens a folder by its real path, beginning at what it may not leave.
fn open(spot: &Spot) -> Result<Folder, OpenError> {
    match &spot.project {
        Some(project) => open_below(project, &spot.real),
        None => Folder::open(&spot.real),
    }
}

/// Opens the folder with the path `real`, which begins with `base`; below that, no link is followed.
pub(super) fn open_below(base: &Path, real: &Path) -> Result<Folder, OpenError> {
    let mut folder = Folder::open(base)?;
    for part in real.strip_prefix(base).unwrap_or(real) {
        folder = folder.enter(part)?;
    }
    Ok(folder)
}

/// The main file of a folder: `SKILL.md`, or else what differs from it in case alone.
fn main_of(entries: &[Entry]) -> Option<Entry> {
    let exact = entries.iter().find(|entry| entry.name == MAIN);
    let main = exact.or_else(|| {
        entries
            .iter()
            .find(|entry| entry.name.eq_ignore_ascii_case(MAIN) && entry.kind != EntryKind::Folder)
    });
    main.cloned()
}

fn is_skipped(name: &OsStr) -> bool {
    name == "node_modules" || name.as_encoded_bytes().starts_with(b".")
}
