use std::ffi::OsStr;
use std::fs::{self, DirEntry, Metadata};
use std::path::Path;

use super::embedded::{Bounds, EmbeddedFile, EmbeddedFolder, EmbeddedRoot, MAIN};

/// The deepest folders below the root that are searched for skills, as on a disk.
const DEPTH: usize = 6;
/// The deepest folders below a skill's own whose files are its files, as on a disk.
const DEPTH_OF_FILES: usize = 16;
/// Mistakes that are told.
const MOST_PROBLEMS: usize = 20;

/// Reads what lies below a root.
pub(super) struct Reader<'a> {
    crate_folder: &'a Path,
    root: EmbeddedRoot,
    bounds: Bounds,
    files: usize,
    bytes: u64,
    problems: Vec<String>,
}

/// A name in a folder.
struct Entry {
    name: String,
    metadata: Metadata,
}

impl<'a> Reader<'a> {
    pub(super) fn new(crate_folder: &'a Path, path: String, bounds: Bounds) -> Self {
        Self {
            crate_folder,
            root: EmbeddedRoot {
                path,
                ..EmbeddedRoot::default()
            },
            bounds,
            files: 0,
            bytes: 0,
            problems: Vec::new(),
        }
    }

    /// Gives the root, whose folders are in no order, and what is wrong with it.
    pub(super) fn read(mut self) -> (EmbeddedRoot, Vec<String>) {
        self.group("", 0);
        (self.root, self.problems)
    }

    /// Searches the folder with a path below the root.
    fn group(&mut self, path: &str, depth: usize) {
        let is_skipped =
            |name: &OsStr| name == "node_modules" || name.as_encoded_bytes().starts_with(b".");
        let Some(main) = self.main_of(path) else {
            let mut too_deep = 0;
            for entry in self.entries(path, is_skipped) {
                if entry.metadata.is_dir() {
                    if depth == DEPTH {
                        too_deep += 1;
                    } else {
                        self.group(&joined(path, &entry.name), depth + 1);
                    }
                }
            }
            if too_deep > 0 {
                self.root.too_deep.push((path.to_owned(), too_deep));
            }
            return;
        };
        let mut folder = EmbeddedFolder {
            path: path.to_owned(),
            has_main: main.metadata.is_file(),
            main_name: main.name,
            files: Vec::new(),
            is_cut: false,
        };
        self.files(&mut folder, "", 0);
        self.root.folders.push(folder);
    }

    /// The main file of a folder: `SKILL.md`, or else what differs from it in case alone.
    fn main_of(&mut self, path: &str) -> Option<Entry> {
        let is_other = |name: &OsStr| !name.eq_ignore_ascii_case(MAIN);
        let mut entries = self.entries(path, is_other);
        let exact = entries.iter().position(|entry| entry.name == MAIN);
        let at = exact.or_else(|| entries.iter().position(|entry| entry.metadata.is_file()))?;
        Some(entries.swap_remove(at))
    }

    /// Adds the files of a skill that lie at `below` its folder.
    fn files(&mut self, folder: &mut EmbeddedFolder, below: &str, depth: usize) {
        let path = joined(&folder.path, below);
        let is_skipped = |name: &OsStr| {
            [".git", "node_modules", "__pycache__", ".DS_Store"].contains(&&*name.to_string_lossy())
        };
        for entry in self.entries(&path, is_skipped) {
            let below = joined(below, &entry.name);
            let is_main = depth == 0 && entry.name == folder.main_name;
            if entry.metadata.is_dir() {
                if depth == DEPTH_OF_FILES {
                    folder.is_cut = true;
                } else if !is_main {
                    self.files(folder, &below, depth + 1);
                }
                continue;
            }
            self.count(&joined(&path, &entry.name), entry.metadata.len());
            if !is_main {
                folder.files.push(EmbeddedFile {
                    path: below,
                    is_executable: is_executable(&entry.metadata),
                });
            }
        }
    }

    fn count(&mut self, path: &str, size: u64) {
        let Bounds {
            files,
            bytes_of_file,
            bytes,
        } = self.bounds;
        let root = self.root.path.clone();
        if size > bytes_of_file {
            self.problem(format!(
                "`{root}/{path}` has {size} bytes, and a file of at most {bytes_of_file} is embedded; keep it outside of the skill"
            ));
        }
        if self.files == files {
            self.problem(format!(
                "`{root}` holds more than the {files} files that one macro embeds; move what is no skill's elsewhere, or make folders of it with a macro each"
            ));
        }

        if self.bytes <= bytes && size > bytes - self.bytes {
            self.problem(format!(
                "`{root}` holds more than the {bytes} bytes that one macro embeds; keep large files outside of the skills"
            ));
        }
        self.files += 1;
        self.bytes = self.bytes.saturating_add(size);
    }

    /// What lies in a folder, by name, but for what is skipped.
    fn entries(&mut self, path: &str, is_skipped: impl Fn(&OsStr) -> bool) -> Vec<Entry> {
        let shown = joined(&self.root.path, path);
        let found = fs::read_dir(self.crate_folder.join(&shown));
        let found = found.and_then(Iterator::collect::<Result<Vec<_>, _>>);
        let mut found = found.unwrap_or_else(|error| {
            self.problem(unreadable(&shown, &error));
            Vec::new()
        });
        // Mistakes are told in this order, too.
        found.sort_unstable_by_key(DirEntry::file_name);
        let mut entries = Vec::with_capacity(found.len());
        for found in found.iter().filter(|found| !is_skipped(&found.file_name())) {
            match entry(&shown, found) {
                Ok(entry) => entries.push(entry),
                Err(problem) => self.problem(problem),
            }
        }
        entries
    }

    fn problem(&mut self, problem: String) {
        if self.problems.len() < MOST_PROBLEMS && !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }
}

/// What a name stands for.
fn entry(folder: &str, entry: &DirEntry) -> Result<Entry, String> {
    let name = entry.file_name();
    let Ok(name) = name.into_string() else {
        return Err(format!(
            "`{folder}` holds a file whose name is not UTF-8, so nobody could ask for it; rename it"
        ));
    };
    let shown = format!("{folder}/{name}");
    let metadata = entry
        .metadata()
        .map_err(|error| unreadable(&shown, &error))?;
    if metadata.is_symlink() {
        return Err(is_link(&shown));
    }
    if !metadata.is_dir() && !metadata.is_file() {
        return Err(format!(
            "`{shown}` is a pipe, a socket or a device; remove it"
        ));
    }
    Ok(Entry { name, metadata })
}

pub(super) fn is_link(shown: &str) -> String {
    format!(
        "`{shown}` is a symbolic link, which is not embedded; put a copy of what it leads to in its place"
    )
}

pub(super) fn unreadable(shown: &str, error: &std::io::Error) -> String {
    format!("`{shown}` cannot be read: {error}; see to its permissions")
}

fn joined(path: &str, name: &str) -> String {
    match (path, name) {
        ("", _) => name.to_owned(),
        (_, "") => path.to_owned(),
        _ => format!("{path}/{name}"),
    }
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_metadata: &Metadata) -> bool {
    false
}
