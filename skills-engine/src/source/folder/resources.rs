use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use super::discover::Found;
use super::findings::{diagnostic, symlink_loop};
use super::handle::{Entry, EntryKind, FileKey, Folder, OpenError, Stat};
use super::{Diagnostic, DiagnosticKind, MAIN};
use crate::skill::{Resource, ResourceKind};

/// Files that a skill lists.
pub(super) const MOST_LISTED: usize = 200;
/// Files and folders of one skill that are looked at.
const MOST_FILES: usize = 10_000;
/// The deepest folders below a skill's own that are looked into.
const DEPTH: usize = 16;
/// Whether a folder's times tell that a name in it came or went.
const TELLING: bool = cfg!(unix);

/// The files of a skill.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Listing {
    /// By path in byte order.
    pub(super) resources: Vec<Resource>,
    /// Where the files that are links lie really, by the position of the file.
    pub(super) links: BTreeMap<usize, String>,
    /// How many there are, with those that are too many to be listed.
    pub(super) total: usize,
    /// What should be known about them.
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl Listing {
    /// The path by which a listed file is opened, if it is listed.
    pub(super) fn real_path<'a>(&'a self, path: &'a str) -> Option<&'a str> {
        let at = self
            .resources
            .binary_search_by(|resource| (*resource.path).cmp(path))
            .ok()?;
        Some(self.links.get(&at).map_or(path, String::as_str))
    }
}

/// The folders below a skill's own that were looked into.
#[derive(Clone, Debug)]
pub(super) struct Below {
    /// By path, each behind the one it lies in.
    folders: Arc<[(String, FileKey)]>,
    /// Whether their times say that the files of the skill are those that were listed.
    is_proof: bool,
}

impl Below {
    #[cfg(feature = "watch")]
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        self.folders.iter().map(|(path, _)| &**path)
    }

    /// Whether a folder whose own names did not change is known to hold what it held.
    pub(super) fn holds(&self, folder: &Folder, listing: &Listing) -> bool {
        let is_same = |(path, key): &(String, FileKey)| {
            let now = folder.stat(OsStr::new(path));
            now.is_ok_and(|now| now.kind == EntryKind::Folder && now.key == *key)
        };
        let is_listed = |resource: &Resource| {
            let now = folder.stat(OsStr::new(&*resource.path));
            now.is_ok_and(|now| {
                now.kind == EntryKind::File
                    && now.key.size == resource.size
                    && now.is_executable == resource.is_executable
            })
        };
        self.is_proof && self.folders.iter().all(is_same) && listing.resources.iter().all(is_listed)
    }
}

/// Lists the files of a skill. `is_settled` says whether what has a key would have another one if it had been changed.
pub(super) fn list(found: &Found<'_>, is_settled: impl Fn(&FileKey) -> bool) -> (Listing, Below) {
    let mut lister = Lister {
        top: &found.spot.path,
        real: &found.spot.real,
        main: &found.main.name,
        files: Vec::new(),
        folders: Vec::new(),
        seen: 0,
        is_cut: false,
        diagnostics: Vec::new(),
    };
    lister.add(found.folder, &found.entries, "", 0);
    let folders = std::mem::take(&mut lister.folders);
    let listing = lister.finish();
    let is_plain = listing.links.is_empty() && listing.diagnostics.is_empty();
    let are_settled = folders.iter().all(|(_, key)| is_settled(key));
    let below = Below {
        folders: folders.into(),
        is_proof: TELLING && is_plain && are_settled,
    };
    (listing, below)
}

/// Lists the files of a skill that has nothing else, from their paths below its folder, their sizes, and whether they are
/// executable. `is_cut` says that there are more.
pub(super) fn list_given<'a>(
    top: &Path,
    files: impl Iterator<Item = (&'a str, u64, bool)>,
    is_cut: bool,
) -> Listing {
    let mut diagnostics = Vec::new();
    let mut given = Vec::new();
    for (path, size, is_executable) in files {
        if path.rsplit('/').next() == Some(MAIN) {
            diagnostics.push(nested_skill(&top.join(path)));
        }
        given.push(File {
            resource: Resource::new(path, size).executable(is_executable),
            real: None,
        });
    }
    listing(top, given, is_cut, diagnostics)
}

/// A file that will be listed.
struct File {
    resource: Resource,
    /// Where it lies really, when the path is that of a link.
    real: Option<String>,
}

struct Lister<'a> {
    /// The skill's folder, as it was reached.
    top: &'a Path,
    /// The same without links.
    real: &'a Path,
    main: &'a OsStr,
    files: Vec<File>,
    folders: Vec<(String, FileKey)>,
    seen: usize,
    /// Whether files were left out without being counted.
    is_cut: bool,
    diagnostics: Vec<Diagnostic>,
}

impl Lister<'_> {
    /// Adds what lies in one folder, whose path below the skill's own is empty or ends in `/`.
    fn add(&mut self, folder: &Folder, entries: &[Entry], below: &str, depth: usize) {
        for entry in entries {
            if (depth == 0 && entry.name == self.main) || is_left_out(entry) {
                continue;
            }
            self.seen += 1;
            if self.seen > MOST_FILES {
                self.is_cut = true;
                return;
            }
            let Some(name) = entry.name.to_str() else {
                let path = self.top.join(below).join(&entry.name);
                self.unusable(&path, "its name is not UTF-8, so nobody could ask for it");
                continue;
            };
            let path = format!("{below}{name}");
            match entry.kind {
                EntryKind::Folder => self.enter(folder, &entry.name, &path, depth),
                EntryKind::File => match folder.stat(&entry.name) {
                    Ok(stat) => self.file(path, None, name, stat),
                    // It went in the meantime.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    Err(error) => self.unreadable(&path, &error),
                },
                EntryKind::Link => self.link(path, below, name),
                EntryKind::Special => self.unusable(
                    &self.top.join(&path),
                    "it is a pipe, a socket or a device, not a file",
                ),
            }
        }
    }

    fn enter(&mut self, folder: &Folder, name: &OsStr, path: &str, depth: usize) {
        if depth == DEPTH {
            self.is_cut = true;
            return;
        }
        let mut inner = match folder.enter(name) {
            Ok(inner) => inner,
            Err(OpenError::Missing | OpenError::Is(_)) => return,
            Err(OpenError::Io(error)) => {
                self.unreadable(path, &error);
                return;
            }
        };
        match inner.stat_self() {
            Ok((_, stat)) => self.folders.push((path.to_owned(), stat.key)),
            Err(error) => {
                self.unreadable(path, &error);
                return;
            }
        }
        let mut entries = Vec::new();
        let room = MOST_FILES.saturating_sub(self.seen);
        let listed = inner.entries(|entry| {
            entries.push(entry);
            entries.len() <= room
        });
        if let Err(error) = listed {
            self.unreadable(path, &error);
        }
        entries.sort_unstable_by(|left, right| left.name.cmp(&right.name));
        self.add(&inner, &entries, &format!("{path}/"), depth + 1);
    }

    fn file(&mut self, path: String, real: Option<String>, name: &str, stat: Stat) {
        if name == MAIN && real.is_none() {
            self.diagnostics.push(nested_skill(&self.top.join(&path)));
        }
        let mut resource = Resource::new(path, stat.key.size).executable(stat.is_executable);
        // A script stays one under whatever name a link gives it.
        if real.as_deref().map(ResourceKind::of) == Some(ResourceKind::Script) {
            resource.kind = ResourceKind::Script;
        }
        self.files.push(File { resource, real });
    }

    /// Lists the file that a link leads to. Folders are not entered by way of links: those of the skill itself are
    /// reached without, and others are none of its business.
    fn link(&mut self, path: String, below: &str, name: &str) {
        let shown = self.top.join(&path);
        let parent = self.real.join(below);
        let target = match fs::canonicalize(parent.join(name)) {
            Ok(target) => target,
            Err(error) => {
                self.diagnostics.push(diagnostic(
                    DiagnosticKind::LinkBroken,
                    &shown,
                    format!("the link cannot be followed: {error}"),
                    "remove it, or bring back what it leads to",
                ));
                return;
            }
        };
        if parent.starts_with(&target) {
            self.diagnostics.push(symlink_loop(&shown));
            return;
        }
        let Ok(real) = target.strip_prefix(self.real) else {
            self.diagnostics.push(diagnostic(
                DiagnosticKind::ResourceEscape,
                &shown,
                "the link leads out of the skill's folder and is not listed",
                "put a copy of what it leads to in its place",
            ));
            return;
        };
        let parts = real.components().map(Component::as_os_str);
        if parts.clone().any(is_skipped_folder) || real.file_name() == Some(OsStr::new(".DS_Store"))
        {
            return;
        }
        let parts: Option<Vec<&str>> = parts.map(OsStr::to_str).collect();
        let Some(parts) = parts else {
            self.unusable(&shown, "the name of what it leads to is not UTF-8");
            return;
        };
        let real = parts.join("/");
        match stat_below(self.real, &parts) {
            Ok(stat) if stat.kind == EntryKind::File => self.file(path, Some(real), name, stat),
            Ok(stat) if stat.kind == EntryKind::Folder => {}
            Ok(_) | Err(OpenError::Is(_)) => {
                self.unusable(&shown, "what it leads to is not a file");
            }
            Err(OpenError::Missing) => {}
            Err(OpenError::Io(error)) => {
                self.unusable(&shown, &format!("it cannot be read: {error}"));
            }
        }
    }

    fn unreadable(&mut self, path: &str, error: &io::Error) {
        self.unusable(&self.top.join(path), &format!("it cannot be read: {error}"));
    }

    fn unusable(&mut self, path: &Path, reason: &str) {
        self.diagnostics.push(diagnostic(
            DiagnosticKind::ResourceUnreadable,
            path,
            format!("{reason}; it is not listed"),
            "put what can be read in its place, or remove it",
        ));
    }

    fn finish(self) -> Listing {
        listing(self.top, self.files, self.is_cut, self.diagnostics)
    }
}

/// The list of files, cut where they are too many. `is_cut` says that more were left out without being counted.
fn listing(
    top: &Path,
    mut files: Vec<File>,
    is_cut: bool,
    mut diagnostics: Vec<Diagnostic>,
) -> Listing {
    let key = |file: &File| Arc::clone(&file.resource.path);
    files.sort_unstable_by(|left, right| left.resource.path.cmp(&right.resource.path));
    files.dedup_by_key(|file| key(file));
    let total = files.len();
    if total > MOST_LISTED || is_cut {
        files.truncate(MOST_LISTED);
        let count = if is_cut {
            format!("more than {total} files")
        } else {
            format!("{total} files")
        };
        diagnostics.push(diagnostic(
            DiagnosticKind::ResourcesTruncated,
            top,
            format!("the skill has {count}, of which {} are listed", files.len()),
            "keep beside the skill what it is used with, or pack it into fewer files",
        ));
    }
    let mut listing = Listing {
        total,
        diagnostics,
        ..Listing::default()
    };
    for (at, file) in files.into_iter().enumerate() {
        listing.resources.push(file.resource);
        listing.links.extend(file.real.map(|real| (at, real)));
    }
    listing
}

fn nested_skill(path: &Path) -> Diagnostic {
    diagnostic(
        DiagnosticKind::NestedSkillIgnored,
        path,
        "a skill inside a skill is a file of the outer one",
        "move its folder out of this one if it is a skill of its own",
    )
}

/// What a path below a folder stands for, without following a link.
fn stat_below(real: &Path, parts: &[&str]) -> Result<Stat, OpenError> {
    let Some((name, parents)) = parts.split_last() else {
        return Err(OpenError::Is(EntryKind::Folder));
    };
    let mut folder = Folder::open(real)?;
    for parent in parents {
        folder = folder.enter(OsStr::new(parent))?;
    }
    Ok(folder.stat(OsStr::new(name))?)
}

fn is_left_out(entry: &Entry) -> bool {
    entry.name == ".DS_Store" || (entry.kind == EntryKind::Folder && is_skipped_folder(&entry.name))
}

fn is_skipped_folder(name: &OsStr) -> bool {
    [".git", "node_modules", "__pycache__"]
        .iter()
        .any(|skipped| name == *skipped)
}
