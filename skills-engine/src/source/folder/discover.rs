use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::escape::root_escape;
use super::findings::{diagnostic, left_out, symlink_escape, symlink_loop, unreadable};
use super::handle::{Entry, EntryKind, FileKey, Folder, FolderId, OpenError, Stat};
use super::parallel::in_parallel;
use super::root::{Scope, SkillRoot};
use super::{DEPTH, Diagnostic, DiagnosticKind, MAIN};

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
    pub(super) project: Option<Arc<Path>>,
}

impl Spot {
    /// Whether it is of a project and lies outside of it.
    fn escapes(&self) -> bool {
        (self.project.as_ref()).is_some_and(|project| !self.real.starts_with(project))
    }
}

/// A folder with a main file, held open.
#[derive(Debug)]
pub(super) struct Found<'a> {
    pub(super) spot: &'a Spot,
    pub(super) folder: &'a Folder,
    pub(super) id: FolderId,
    /// The folder itself.
    pub(super) key: FileKey,
    /// All that lies in it, in byte order.
    pub(super) entries: Vec<Entry>,
    /// The main file among them.
    pub(super) main: Entry,
}

/// Makes something of folders with a main file, on several threads at once.
pub(super) trait Visit: Sync {
    type Made: Send;

    /// Makes it of a folder.
    fn visit(&self, found: &Found<'_>) -> Self::Made;

    /// Makes it without looking at what lies in the folder, where that is known to be as it was.
    fn visit_known(&self, spot: &Spot, folder: &Folder, stat: &Stat) -> Option<Self::Made>;
}

/// A search through the folders of roots.
#[derive(Debug)]
pub(super) struct Walk<'a> {
    cancelled: &'a AtomicBool,
    seen: HashSet<FolderId>,
    /// Folders that were looked into, by their paths without links. Any number of links may lead to one.
    looked_into: HashMap<PathBuf, FolderId>,
    folders: usize,
    pub(super) diagnostics: Vec<Diagnostic>,
    /// Folders that could not be looked into, so that nobody knows what is below them.
    pub(super) unknown: Vec<PathBuf>,
    pub(super) trace: Trace,
}

/// What a search came by, beside folders with a main file. Paths are without links, but for the last name.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Folders that were looked into.
    pub(super) groups: Vec<PathBuf>,
    /// Links that may lead to folders, now or later.
    pub(super) links: Vec<PathBuf>,
}

/// The search was given up.
#[derive(Debug)]
pub(super) struct Cancelled;

/// A folder to be looked into.
struct Step {
    spot: Spot,
    depth: usize,
    /// The folders that led to it, the nearest first.
    above: Option<Arc<Above>>,
    is_link: bool,
}

struct Above {
    id: FolderId,
    above: Option<Arc<Above>>,
}

impl Above {
    fn contains(mut above: Option<&Arc<Self>>, id: &FolderId) -> bool {
        while let Some(here) = above {
            if here.id == *id {
                return true;
            }
            above = here.above.as_ref();
        }
        false
    }
}

/// What a folder turned out to be.
enum Look<T> {
    Skill(FolderId, T),
    /// A folder that is no skill, and what lies in it.
    Group(FolderId, Vec<Entry>),
    Failed(OpenError),
    TooWide,
}

impl<'a> Walk<'a> {
    pub(super) fn new(cancelled: &'a AtomicBool) -> Self {
        Self {
            cancelled,
            seen: HashSet::new(),
            looked_into: HashMap::new(),
            folders: 0,
            diagnostics: Vec::new(),
            unknown: Vec::new(),
            trace: Trace::default(),
        }
    }

    /// Visits the folders of a root that hold a main file, and gives what was made of them.
    pub(super) fn root<V: Visit>(
        &mut self,
        root: &SkillRoot,
        visit: &V,
    ) -> Result<Vec<V::Made>, Cancelled> {
        let mut made = Vec::new();
        let mut steps: Vec<Step> = self.first_step(root).into_iter().collect();
        while !steps.is_empty() {
            self.bound(&mut steps);
            let again = self.split_repeated(&mut steps);
            let looks = in_parallel(&steps, |step| {
                let is_cancelled = self.cancelled.load(Ordering::Relaxed);
                (!is_cancelled).then(|| look(&step.spot, visit))
            });
            let mut next = Vec::new();
            for (step, look) in steps.iter().zip(looks) {
                let skill = self.take(step, look.ok_or(Cancelled)?, &mut next);
                made.extend(skill);
            }
            for step in again {
                // What lies there is known; a link that leads back is to be told.
                if let Some(id) = self.looked_into.get(&step.spot.real) {
                    let id = id.clone();
                    self.is_new(&step, id);
                }
            }
            steps = next;
        }
        Ok(made)
    }

    /// The root itself, if it may be looked into.
    fn first_step(&mut self, root: &SkillRoot) -> Option<Step> {
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
                return None;
            }
            Scope::Project { root: project, .. } => match fs::canonicalize(project) {
                Ok(real) => Some(real.into()),
                Err(error) => {
                    self.root_problem(project, &error.into());
                    return None;
                }
            },
        };
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            Err(error) => {
                self.root_problem(&path, &error.into());
                return None;
            }
        };
        let spot = Spot {
            path,
            real,
            project,
        };
        if spot.escapes() {
            self.diagnostics.push(root_escape(&spot, root));
            return None;
        }
        Some(Step {
            spot,
            depth: 0,
            above: None,
            is_link: false,
        })
    }

    /// Leaves out the folders that are too many.
    fn bound(&mut self, steps: &mut Vec<Step>) {
        let room = MOST_FOLDERS - self.folders;
        if let Some(first) = steps.get(room) {
            self.diagnostics.push(diagnostic(
                DiagnosticKind::ScanLimit,
                &first.spot.path,
                format!("{MOST_FOLDERS} folders were searched; this one and the rest are left out"),
                "choose a root that holds skills and little else",
            ));
            let left_out = steps.drain(room..).map(|step| step.spot.path);
            self.unknown.extend(left_out);
        }
        self.folders += steps.len();
    }

    /// Takes away the steps to folders that are looked into anyway, or were before.
    fn split_repeated(&self, steps: &mut Vec<Step>) -> Vec<Step> {
        let mut now = HashSet::new();
        let is_repeated: Vec<_> = steps
            .iter()
            .map(|step| {
                let real = &step.spot.real;
                !now.insert(real) || self.looked_into.contains_key(real)
            })
            .collect();
        let mut is_repeated = is_repeated.into_iter();
        steps
            .extract_if(.., |_| is_repeated.next() == Some(true))
            .collect()
    }

    /// Goes on from what a folder turned out to be.
    fn take<T>(&mut self, step: &Step, look: Look<T>, next: &mut Vec<Step>) -> Option<T> {
        let path = &step.spot.path;
        match look {
            Look::Skill(id, made) => {
                self.looked_into.insert(step.spot.real.clone(), id.clone());
                self.is_new(step, id).then_some(made)
            }
            Look::Group(id, entries) => {
                self.looked_into.insert(step.spot.real.clone(), id.clone());
                if self.is_new(step, id.clone()) {
                    self.trace.groups.push(step.spot.real.clone());
                    let above = step.above.clone();
                    let above = Arc::new(Above { id, above });
                    self.below(step, &entries, &above, next);
                }
                None
            }
            Look::TooWide => {
                self.report(
                    DiagnosticKind::ScanLimit,
                    path,
                    format!("the folder holds more than {MOST_ENTRIES} names and is left out"),
                    "move what belongs to no skill elsewhere",
                );
                self.unknown.push(path.clone());
                self.trace.groups.push(step.spot.real.clone());
                None
            }
            Look::Failed(error) if step.depth == 0 => {
                self.root_problem(path, &error);
                None
            }
            // It went, or became something else, in the meantime.
            Look::Failed(OpenError::Missing | OpenError::Is(_)) => None,
            Look::Failed(OpenError::Io(error)) => {
                self.unreadable(path, &error);
                None
            }
        }
    }

    /// Whether a folder is reached for the first time, and not in a circle.
    fn is_new(&mut self, step: &Step, id: FolderId) -> bool {
        // By way of several links it may lead back.
        if step.is_link && Above::contains(step.above.as_ref(), &id) {
            self.diagnostics.push(symlink_loop(&step.spot.path));
            return false;
        }
        self.seen.insert(id)
    }

    /// The folders in a folder that is no skill.
    fn below(&mut self, step: &Step, entries: &[Entry], above: &Arc<Above>, next: &mut Vec<Step>) {
        let spot = &step.spot;
        let mut too_deep = 0_usize;
        for entry in entries {
            let may_be_folder = matches!(entry.kind, EntryKind::Folder | EntryKind::Link);
            if !may_be_folder || is_skipped(&entry.name) {
                continue;
            }
            let path = spot.path.join(&entry.name);
            let is_link = entry.kind == EntryKind::Link;
            if step.depth == DEPTH {
                too_deep += usize::from(!is_link || path.is_dir());
                continue;
            }
            let target = if is_link {
                self.trace.links.push(spot.real.join(&entry.name));
                self.target(spot, path)
            } else {
                Some(Spot {
                    path,
                    real: spot.real.join(&entry.name),
                    project: spot.project.clone(),
                })
            };
            next.extend(target.map(|spot| Step {
                spot,
                depth: step.depth + 1,
                above: Some(Arc::clone(above)),
                is_link,
            }));
        }
        if too_deep > 0 {
            self.diagnostics.push(left_out(&spot.path, too_deep));
        }
    }

    /// The folder that a link leads to, if it leads to one that may be looked into.
    fn target(&mut self, spot: &Spot, path: PathBuf) -> Option<Spot> {
        let real = match fs::canonicalize(&path) {
            Ok(real) => real,
            Err(error) => {
                self.report(
                    DiagnosticKind::LinkBroken,
                    &path,
                    format!("the link cannot be followed: {error}"),
                    "remove it, or bring back what it leads to",
                );
                return None;
            }
        };
        let target = Spot {
            path,
            real,
            project: spot.project.clone(),
        };
        if spot.real.starts_with(&target.real) {
            self.diagnostics.push(symlink_loop(&target.path));
            return None;
        }
        if !target.real.is_dir() {
            return None;
        }
        if target.escapes() {
            self.diagnostics.push(symlink_escape(&target.path));
            return None;
        }
        Some(target)
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

/// Looks into a folder.
fn look<V: Visit>(spot: &Spot, visit: &V) -> Look<V::Made> {
    let opened = open(spot).and_then(|folder| Ok((folder.stat_self()?, folder)));
    let ((id, stat), mut folder) = match opened {
        Ok(opened) => opened,
        Err(error) => return Look::Failed(error),
    };
    if let Some(made) = visit.visit_known(spot, &folder, &stat) {
        return Look::Skill(id, made);
    }
    let mut entries = Vec::new();
    let listed = folder.entries(|entry| {
        entries.push(entry);
        entries.len() <= MOST_ENTRIES
    });
    if let Err(error) = listed {
        return Look::Failed(error.into());
    }
    if entries.len() > MOST_ENTRIES {
        return Look::TooWide;
    }
    entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
    let Some(main) = main_of(&entries) else {
        return Look::Group(id, entries);
    };
    let made = visit.visit(&Found {
        spot,
        folder: &folder,
        id: id.clone(),
        key: stat.key,
        entries,
        main,
    });
    Look::Skill(id, made)
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

pub(super) fn is_skipped(name: &OsStr) -> bool {
    name == "node_modules" || name.as_encoded_bytes().starts_with(b".")
}
