use std::collections::{BTreeMap, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Component, Path, PathBuf};

use notify::RecursiveMode;
use notify::event::{EventKind, ModifyKind};

use super::super::MAIN;
use super::super::discover::is_skipped;
use super::super::root::SkillRoot;
use super::super::scan::{Scan, Scanned};

/// Folders that one source has watched.
const MOST_WATCHED: usize = 100_000;
/// Links of one source that are followed to what they lead to.
const MOST_FOLLOWED: usize = 10_000;
/// Links that one path may lead through, as with the system.
const MOST_IN_ONE: usize = 40;
/// Whether the system watches all that is below a folder as easily as the folder.
const IS_RECURSIVE: bool = cfg!(any(target_os = "macos", target_os = "windows"));

/// What decides what a scan finds, and so has to be watched: the folders that it looked into, and each name on the way to
/// them. Paths are without links, but for the last name.
#[derive(Default)]
pub(super) struct Interest {
    folders: HashMap<PathBuf, Kind>,
    /// The names that lead to roots, and from links to what they stand for.
    names: HashMap<PathBuf, Name>,
    /// The names at which these ways end.
    ends: HashSet<PathBuf>,
    /// Links that were too many to be followed.
    left_out: usize,
}

/// What was looked at in a folder.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Folders, and whether there is a main file.
    Group,
    /// All that is in it.
    Skill,
}

/// What a name stands for.
enum Name {
    Folder,
    Link(PathBuf),
    /// A file, or nothing.
    Other,
}

/// How a folder is to be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Want {
    pub(super) mode: RecursiveMode,
    /// Whether it was looked into, and does not just hold a name on the way.
    pub(super) is_searched: bool,
}

impl Interest {
    pub(super) fn new(roots: &[SkillRoot], scan: &Scan) -> Self {
        let mut interest = Self::default();
        for root in roots.iter().filter(|root| root.is_read()) {
            for path in [Some(root.path()), root.project_root()] {
                if let Some(path) = path.and_then(|path| std::path::absolute(path).ok()) {
                    interest.follow(&path);
                }
            }
        }
        let groups = scan.trace.groups.iter().cloned();
        interest
            .folders
            .extend(groups.map(|path| (path, Kind::Group)));
        let skills = scan.folders.iter().flat_map(Scanned::looked_into);
        interest
            .folders
            .extend(skills.map(|path| (path, Kind::Skill)));
        let mains = scan.folders.iter().filter_map(Scanned::main_link);
        let links = scan.trace.links.iter().cloned().chain(mains);
        for (count, link) in links.enumerate() {
            if count < MOST_FOLLOWED {
                interest.follow(&link);
            } else {
                interest.left_out += 1;
            }
        }
        interest
    }

    /// Notes the names on the way to what a path stands for, as the system goes by them.
    fn follow(&mut self, path: &Path) {
        let mut links = 0;
        let mut folder = PathBuf::new();
        let mut rest = names(path);
        let mut end = None;
        while let Some(name) = rest.pop() {
            match Path::new(&name).components().next() {
                Some(Component::Normal(_)) => {}
                Some(Component::ParentDir) => {
                    folder.pop();
                    continue;
                }
                Some(Component::CurDir) | None => continue,
                // An absolute path takes the place of what was there.
                Some(Component::RootDir | Component::Prefix(_)) => {
                    folder.push(name);
                    continue;
                }
            }
            let path = folder.join(name);
            let name = (self.names.entry(path.clone())).or_insert_with(|| Name::of(&path));
            end = Some(path.clone());
            match name {
                Name::Folder => folder = path,
                Name::Link(target) if links < MOST_IN_ONE => {
                    links += 1;
                    rest.extend(names(target));
                }
                Name::Link(_) | Name::Other => break,
            }
        }
        self.ends.extend(end);
    }

    /// The folders to watch, and how many more there would be.
    pub(super) fn wants(&self) -> (BTreeMap<PathBuf, Want>, usize) {
        let mut wants = BTreeMap::new();
        let holders = self.names.iter().filter(|(path, name)| {
            !IS_RECURSIVE || !matches!(name, Name::Folder) || self.ends.contains(*path)
        });
        for (path, _) in holders {
            if let Some(folder) = path.parent() {
                let want = Want {
                    mode: RecursiveMode::NonRecursive,
                    is_searched: false,
                };
                wants.insert(folder.to_owned(), want);
            }
        }
        let mut searched: Vec<_> = self.folders.keys().collect();
        searched.sort_unstable();
        let mut last: Option<&PathBuf> = None;
        for folder in searched {
            // All that is below a folder comes behind it.
            if IS_RECURSIVE && last.is_some_and(|last| folder.starts_with(last)) {
                continue;
            }
            last = Some(folder);
            let mode = if IS_RECURSIVE {
                RecursiveMode::Recursive
            } else {
                RecursiveMode::NonRecursive
            };
            let want = Want {
                mode,
                is_searched: true,
            };
            wants.insert(folder.clone(), want);
        }
        let mut left_out = self.left_out;
        while wants.len() > MOST_WATCHED {
            left_out += 1;
            wants.pop_last();
        }
        (wants, left_out)
    }

    /// Whether a change of what a path stands for can change what a scan finds.
    pub(super) fn concerns(&self, path: &Path, kind: EventKind) -> bool {
        let is_inner = matches!(
            kind,
            EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any)
        );
        let name = self.names.get(path);
        if matches!(name, Some(Name::Folder)) || self.folders.contains_key(path) {
            // Some systems say of a folder that it was modified when something in it was, which they tell of, too.
            return !is_inner;
        }
        if name.is_some() {
            return true;
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return false;
        };
        match self.folders.get(parent) {
            Some(Kind::Skill) => true,
            // What is in a file there says nothing of skills.
            Some(Kind::Group) => name.eq_ignore_ascii_case(MAIN) || !(is_inner || is_skipped(name)),
            None => false,
        }
    }
}

impl Name {
    fn of(path: &Path) -> Self {
        let Ok(metadata) = fs::symlink_metadata(path) else {
            return Self::Other;
        };
        if metadata.is_dir() {
            return Self::Folder;
        }
        if !metadata.is_symlink() {
            return Self::Other;
        }
        fs::read_link(path).map_or(Self::Other, Self::Link)
    }
}

/// The names of a path, the first one last.
fn names(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev();
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

#[cfg(test)]
impl Interest {
    /// One in folders of skills and nothing else.
    pub(super) fn of_skills(folders: &[&str]) -> Self {
        let folders = folders.iter().map(|path| (path.into(), Kind::Skill));
        Self {
            folders: folders.collect(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{CreateKind, DataChange, MetadataKind, RenameMode};

    use super::*;

    #[test]
    fn what_cannot_change_what_a_scan_finds_is_of_no_concern() {
        let mut interest = Interest::of_skills(&["/home/ada/skills/notes"]);
        interest
            .folders
            .insert("/home/ada/skills".into(), Kind::Group);
        let names = [
            ("/home", Name::Folder),
            ("/home/ada", Name::Folder),
            ("/home/ada/skills", Name::Folder),
            ("/home/late", Name::Other),
            ("/home/link", Name::Link("late".into())),
        ];
        let names = names.into_iter().map(|(path, name)| (path.into(), name));
        interest.names.extend(names);

        let create = EventKind::Create(CreateKind::Any);
        let rename = EventKind::Modify(ModifyKind::Name(RenameMode::From));
        let write = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let permit = EventKind::Modify(ModifyKind::Metadata(MetadataKind::Any));
        let vague = EventKind::Modify(ModifyKind::Any);
        let rows = [
            // Much may go on where a root lies.
            ("/home/other", create, false),
            ("/home/other", write, false),
            ("/home/ada/other", rename, false),
            ("/home/ada/skills-2", create, false),
            ("/home", vague, false),
            ("/home/ada/skills/notes", vague, false),
            ("/home/ada/skills/log.txt", vague, false),
            ("/home", permit, true),
            ("/home", rename, true),
            ("/home/ada", create, true),
            ("/home/late", create, true),
            ("/home/link", rename, true),
            ("/home/ada/skills", rename, true),
            ("/home/ada/skills/new", create, true),
            ("/home/ada/skills/new", permit, true),
            ("/home/ada/skills/log.txt", write, false),
            ("/home/ada/skills/SKILL.md", write, true),
            ("/home/ada/skills/skill.MD", write, true),
            ("/home/ada/skills/.notes.swp", create, false),
            ("/home/ada/skills/.git", create, false),
            ("/home/ada/skills/node_modules", rename, false),
            ("/home/ada/skills/notes/SKILL.md", write, true),
            ("/home/ada/skills/notes/.env", write, true),
            ("/home/ada/skills/notes/deep/file", write, false),
        ];
        for (path, kind, concerns) in rows {
            let found = interest.concerns(Path::new(path), kind);
            assert_eq!(found, concerns, "{path} {kind:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_path_is_followed_as_the_system_does() {
        let base = fs::canonicalize(std::env::temp_dir()).expect("there is one");
        let base = base.join(format!("skills-engine-interest-{}", std::process::id()));
        let _ = fs::remove_dir_all(&base);
        fs::create_dir_all(base.join("real/inner")).expect("it can be made");
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, base.join(name)).expect("it can be made");
        };
        link("./real/../real/inner", "first");
        link("first", "second");
        link("loop", "loop");
        let mut interest = Interest::default();
        let paths = ["second/missing/below", "loop/below", "real/inner/../gone"];
        for path in paths {
            interest.follow(&base.join(path));
        }
        fs::remove_dir_all(&base).expect("it can be removed");

        let names = interest.names.keys();
        let mut below: Vec<_> = names
            .filter_map(|path| path.strip_prefix(&base).ok()?.to_str())
            .collect();
        below.sort_unstable();
        let expected = [
            "",
            "first",
            "loop",
            "real",
            "real/gone",
            "real/inner",
            "real/inner/missing",
            "second",
        ];
        assert_eq!(below, expected);
        let (wants, left_out) = interest.wants();
        assert_eq!(left_out, 0);
        let above = base.ancestors().skip(1).map(Path::to_owned);
        let mut folders: Vec<_> = above.collect();
        folders.extend(["", "real", "real/inner"].map(|path| base.join(path)));
        // A folder has one form.
        let mut folders: Vec<PathBuf> = folders
            .iter()
            .map(|path| path.components().collect())
            .collect();
        folders.sort_unstable();
        assert!(wants.into_keys().eq(folders));
    }
}
