use std::path::{Path, PathBuf, is_separator};

use crate::source::{ScopePrecedence, SkillFolders, SkillRoot};

/// A source of skills that are folders with a `SKILL.md`. One without roots is none.
///
/// Where settings are read, `~` at the beginning of a path is the home folder, and a relative path of a file is relative
/// to the folder of that file. Paths that the program puts here are taken as they are.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a key of its own, and none depends on another"
)]
pub struct FolderSettings {
    /// Key `folders.user`: roots with skills of the user's own.
    pub user: Vec<PathBuf>,
    /// Key `folders.project`: roots with the skills of a project.
    pub project: Vec<PathBuf>,
    /// Key `folders.project_root`: the folder outside of which no `SKILL.md` of the project may lie. In files it is, unless
    /// told otherwise, the folder of the file that names `folders.project`.
    pub project_root: PathBuf,
    /// Key `folders.trusted`: whether the user trusts the project. Nothing of one they do not trust is read.
    pub trusted: bool,
    /// Key `folders.precedence`: whose skill of two with one name is taken, `project_first` or `user_first`.
    pub precedence: ScopePrecedence,
    /// Key `folders.required`: whether an engine fails to be built where a root is missing.
    pub required: bool,
    /// Key `folders.strict`: whether skills are left out that do not follow the specification to the letter.
    pub strict: bool,
    /// Key `folders.watch`: whether an engine refreshes by itself when the folders change.
    #[cfg(feature = "watch")]
    pub watch: bool,
}

impl Default for FolderSettings {
    fn default() -> Self {
        Self {
            user: Vec::new(),
            project: Vec::new(),
            project_root: PathBuf::from("."),
            trusted: true,
            precedence: ScopePrecedence::default(),
            required: false,
            strict: false,
            #[cfg(feature = "watch")]
            watch: false,
        }
    }
}

impl FolderSettings {
    /// The source, if there is a root.
    pub(in crate::engine) fn source(&self) -> Option<SkillFolders> {
        let Self {
            user,
            project,
            project_root,
            trusted,
            precedence,
            required,
            strict,
            #[cfg(feature = "watch")]
            watch,
        } = self;
        if user.is_empty() && project.is_empty() {
            return None;
        }
        let mut folders = SkillFolders::new().precedence_of_scopes(*precedence);
        for path in user {
            folders = folders.user(path);
        }
        for path in project {
            folders = folders.root(SkillRoot::project(path, project_root).trusted(*trusted));
        }
        if *required {
            folders = folders.required();
        }
        if *strict {
            folders = folders.strict();
        }
        #[cfg(feature = "watch")]
        if *watch {
            folders = folders.watch();
        }
        Some(folders)
    }

    /// A path that cannot be written out as text.
    pub(super) fn unwritable(&self) -> Option<&Path> {
        let paths = self.user.iter().chain(&self.project);
        paths
            .chain([&self.project_root])
            .map(PathBuf::as_path)
            .find(|path| path.to_str().is_none())
    }
}

/// The path that a text stands for; the error says what to write.
pub(super) fn resolved(text: &str, base: &Path) -> Result<PathBuf, String> {
    let Some(rest) = text.strip_prefix('~') else {
        return Ok(plain(&base.join(text)));
    };
    if !(rest.is_empty() || rest.starts_with(is_separator)) {
        return Err("write the path of that home folder, or `./~` and the rest for a folder whose name begins so".to_owned());
    }
    let home = std::env::home_dir().filter(|home| !home.as_os_str().is_empty());
    let home = home.ok_or("write the whole path: this process has no home folder")?;
    Ok(plain(&home.join(rest.trim_start_matches(is_separator))))
}

/// A path without the parts that lead nowhere, such as `./`.
fn plain(path: &Path) -> PathBuf {
    path.components().collect()
}
