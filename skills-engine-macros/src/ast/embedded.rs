#[cfg(test)]
mod tests;

use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path};

use super::embed_reader::{Reader, is_link, unreadable};

/// The name of a main file.
pub(super) const MAIN: &str = "SKILL.md";

/// What may be embedded at once: the compiler holds all of it in memory, and so does the program.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    pub(super) files: usize,
    pub(super) bytes_of_file: u64,
    pub(super) bytes: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            files: 2_000,
            bytes_of_file: 16 << 20,
            bytes: 64 << 20,
        }
    }
}

/// A folder to be embedded.
#[derive(Debug, Default)]
pub(crate) struct EmbeddedRoot {
    /// Its path below the crate's folder, with `/`.
    pub(crate) path: String,
    /// The folders in it that hold a main file, in the order of their paths.
    pub(crate) folders: Vec<EmbeddedFolder>,
    /// Folders that hold folders too deep to be searched, and how many of those.
    pub(crate) too_deep: Vec<(String, usize)>,
}

/// A folder with a main file.
#[derive(Debug)]
pub(crate) struct EmbeddedFolder {
    /// Its path below the root, with `/`; empty for the root itself.
    pub(crate) path: String,
    pub(crate) main_name: String,
    /// Whether the main file is a file, and no folder.
    pub(crate) has_main: bool,
    pub(crate) files: Vec<EmbeddedFile>,
    /// Whether there are files in folders too deep to be looked into.
    pub(crate) is_cut: bool,
}

/// A file beside a main file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EmbeddedFile {
    /// Its path below the skill's folder, with `/`.
    pub(crate) path: String,
    pub(crate) is_executable: bool,
}

impl EmbeddedRoot {
    /// Reads what lies in the folder `path` of a crate.
    pub(crate) fn read(
        crate_folder: &Path,
        path: &str,
        bounds: Bounds,
    ) -> Result<Self, Vec<String>> {
        let path = below_crate(crate_folder, path).map_err(|problem| vec![problem])?;
        let (mut root, mut problems) = Reader::new(crate_folder, path, bounds).read();
        if problems.is_empty() && root.folders.is_empty() {
            problems.push(format!(
                "`{path}` holds no skill; write one into a folder of its own, as `{path}/my-skill/{MAIN}`",
                path = root.path
            ));
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        // Not the order of texts: `a/b` stands before `a-b`.
        root.folders
            .sort_by(|left, right| Path::new(&left.path).cmp(Path::new(&right.path)));
        Ok(root)
    }
}

/// The path with `/`, if it is that of a folder below the crate's.
fn below_crate(crate_folder: &Path, path: &str) -> Result<String, String> {
    let mut parts = Vec::new();
    let mut reached = crate_folder.to_owned();
    for part in Path::new(path).components() {
        let name = match part {
            Component::Normal(name) => name,
            Component::CurDir => continue,
            Component::ParentDir => {
                return Err(format!(
                    "`{path}` leads out of the crate, whose package would lack it; move the folder into the crate"
                ));
            }
            Component::RootDir | Component::Prefix(_) => {
                return Err(format!(
                    "`{path}` is an absolute path; give the folder's path below that of the crate, such as `skills`"
                ));
            }
        };
        reached.push(name);
        parts.push(name.to_string_lossy());
        let shown = parts.join("/");
        match fs::symlink_metadata(&reached) {
            Ok(metadata) if metadata.is_symlink() => return Err(is_link(&shown)),
            Ok(metadata) if metadata.is_dir() => {}
            Ok(_) => {
                return Err(format!(
                    "`{shown}` is not a folder; name the folder that holds the skills"
                ));
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Err(format!(
                    "there is no `{shown}` in the folder of the crate; make it, or correct the path"
                ));
            }
            Err(error) => return Err(unreadable(&shown, &error)),
        }
    }
    if parts.is_empty() {
        return Err(
            "the path is empty; name a folder below that of the crate, such as `skills`".to_owned(),
        );
    }
    Ok(parts.join("/"))
}
