use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Bounds, EmbeddedFolder, EmbeddedRoot};

/// The folder of a crate, which goes with the value.
struct Crate(PathBuf);

impl Crate {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("skills-engine-macros-{}-{count}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn with(files: &[&str]) -> Self {
        let made = Self::new();
        for file in files {
            made.put(file, "text");
        }
        made
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, path: &str) -> Result<EmbeddedRoot, Vec<String>> {
        EmbeddedRoot::read(&self.0, path, Bounds::default())
    }

    #[track_caller]
    fn root(&self) -> EmbeddedRoot {
        self.read("skills").unwrap()
    }

    /// What is said of the only mistake.
    #[track_caller]
    fn problem(&self, path: &str) -> String {
        let mut problems = self.read(path).unwrap_err();
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems.remove(0)
    }
}

impl Drop for Crate {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn paths(root: &EmbeddedRoot) -> Vec<&str> {
    let paths = root.folders.iter().map(|folder| &*folder.path);
    paths.collect()
}

fn files(folder: &EmbeddedFolder) -> Vec<&str> {
    folder.files.iter().map(|file| &*file.path).collect()
}

#[test]
fn skills_are_found_in_the_order_of_their_paths() {
    let made = Crate::with(&[
        "skills/a-b/SKILL.md",
        "skills/a/b/SKILL.md",
        "skills/z/skill.md",
        "skills/README.md",
        "skills/notes/plain.txt",
    ]);
    let root = made.root();
    assert_eq!(root.path, "skills");
    assert_eq!(paths(&root), ["a/b", "a-b", "z"]);
    assert_eq!(root.folders[2].main_name, "skill.md");
    assert!(root.too_deep.is_empty());
}

#[test]
fn a_skill_has_all_its_files_but_those_that_nobody_reads() {
    let made = Crate::with(&[
        "skills/a/SKILL.md",
        "skills/a/skill.md",
        "skills/a/references/x.md",
        "skills/a/inner/SKILL.md",
        "skills/a/.hidden/x",
        "skills/a/.git/config",
        "skills/a/node_modules/x.js",
        "skills/a/scripts/__pycache__/x.pyc",
        "skills/a/scripts/run.py",
        "skills/a/.DS_Store",
        "skills/.cache/b/SKILL.md",
        "skills/node_modules/c/SKILL.md",
    ]);
    let root = made.root();
    assert_eq!(paths(&root), ["a"]);
    assert_eq!(
        files(&root.folders[0]),
        [
            ".hidden/x",
            "inner/SKILL.md",
            "references/x.md",
            "scripts/run.py",
            "skill.md"
        ]
    );
}

#[test]
fn the_root_may_be_a_skill_and_hidden() {
    let made = Crate::with(&[".agents/skills/SKILL.md", ".agents/skills/x.md"]);
    let root = made.read("./.agents/skills/").unwrap();
    assert_eq!(root.path, ".agents/skills");
    assert_eq!(paths(&root), [""]);
    assert_eq!(files(&root.folders[0]), ["x.md"]);
}

#[test]
fn folders_are_searched_six_deep() {
    let made = Crate::with(&[
        "skills/1/2/3/4/5/6/SKILL.md",
        "skills/a/2/3/4/5/6/7/SKILL.md",
        "skills/a/2/3/4/5/6/8/x",
    ]);
    let root = made.root();
    assert_eq!(paths(&root), ["1/2/3/4/5/6"]);
    assert_eq!(root.too_deep, [("a/2/3/4/5/6".to_owned(), 2)]);
}

#[test]
fn files_lie_sixteen_deep_at_most() {
    let deep = format!("skills/a/{}x", "d/".repeat(16));
    let deeper = format!("skills/a/{}y", "d/".repeat(17));
    let root = Crate::with(&["skills/a/SKILL.md", &deep, &deeper]).root();
    assert_eq!(files(&root.folders[0]), [&deep["skills/a/".len()..]]);
    assert!(root.folders[0].is_cut);
}

#[test]
fn a_folder_may_have_the_name_of_a_main_file() {
    let made = Crate::with(&["skills/a/SKILL.md/x", "skills/a/y"]);
    let root = made.root();
    assert!(!root.folders[0].has_main);
    assert_eq!(files(&root.folders[0]), ["y"]);
}

#[cfg(unix)]
#[test]
fn who_may_execute_a_file_is_kept() {
    use std::os::unix::fs::PermissionsExt as _;

    let made = Crate::with(&["skills/a/SKILL.md", "skills/a/run", "skills/a/text"]);
    let run = made.0.join("skills/a/run");
    fs::set_permissions(run, fs::Permissions::from_mode(0o755)).unwrap();
    let root = made.root();
    let executable = root.folders[0].files.iter().map(|file| file.is_executable);
    assert_eq!(executable.collect::<Vec<_>>(), [true, false]);
}

#[cfg(unix)]
#[test]
fn links_are_refused_all_at_once() {
    use std::os::unix::fs::symlink;

    let made = Crate::with(&["skills/a/SKILL.md", "other/SKILL.md"]);
    symlink(made.0.join("other"), made.0.join("skills/b")).unwrap();
    symlink("SKILL.md", made.0.join("skills/a/c.md")).unwrap();
    symlink("skills", made.0.join("linked")).unwrap();
    let is_link = |path: &str| {
        format!(
            "`{path}` is a symbolic link, which is not embedded; put a copy of what it leads to in its place"
        )
    };
    assert_eq!(
        made.read("skills").unwrap_err(),
        [is_link("skills/b"), is_link("skills/a/c.md")]
    );
    assert_eq!(made.problem("linked"), is_link("linked"));
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_are_not_utf_8_are_refused() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let made = Crate::with(&["skills/a/SKILL.md"]);
    let name = OsStr::from_bytes(b"x\xe9.md");
    fs::write(made.0.join("skills/a").join(name), "text").unwrap();
    assert_eq!(
        made.problem("skills"),
        "`skills/a` holds a file whose name is not UTF-8, so nobody could ask for it; rename it"
    );
}

#[test]
fn paths_out_of_the_crate_are_refused() {
    let made = Crate::with(&["skills/a/SKILL.md", "file", "empty/x"]);
    let cases = [
        ("", "the path is empty; name a folder below"),
        (".", "the path is empty; name a folder below"),
        ("../skills", "`../skills` leads out of the crate"),
        ("skills/../..", "`skills/../..` leads out of the crate"),
        ("/etc", "`/etc` is an absolute path; give"),
        ("file", "`file` is not a folder; name"),
        (
            "none/skills",
            "there is no `none` in the folder of the crate; make it",
        ),
        (
            "empty",
            "`empty` holds no skill; write one into a folder of its own, as `empty/my-skill/SKILL.md`",
        ),
    ];
    for (path, expected) in cases {
        let problem = made.problem(path);
        assert!(problem.starts_with(expected), "{path}: {problem}");
    }
}

#[test]
fn what_is_embedded_is_bounded() {
    let bounds = |files, bytes_of_file, bytes| Bounds {
        files,
        bytes_of_file,
        bytes,
    };
    // Three files of four bytes.
    let made = Crate::with(&["skills/a/SKILL.md", "skills/a/x", "skills/b/SKILL.md"]);
    let read = |bounds| EmbeddedRoot::read(&made.0, "skills", bounds);
    assert_eq!(read(bounds(3, 4, 12)).unwrap().folders.len(), 2);
    let cases = [
        (
            bounds(2, 4, 12),
            "`skills` holds more than the 2 files that one macro embeds",
        ),
        (
            bounds(3, 4, 11),
            "`skills` holds more than the 11 bytes that one macro embeds",
        ),
        (
            bounds(3, 3, 12),
            "`skills/a/SKILL.md` has 4 bytes, and a file of at most 3 is embedded",
        ),
    ];
    for (bounds, expected) in cases {
        let problems = read(bounds).unwrap_err();
        assert!(problems[0].starts_with(expected), "{problems:?}");
    }
}
