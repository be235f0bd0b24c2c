use std::path::{Path, PathBuf};

/// A folder that is searched for skills.
///
/// # Examples
///
/// ```
/// use skills_engine::source::SkillRoot;
///
/// let is_trusted = false; // the user was asked
/// let root = SkillRoot::project(".claude/skills", ".").trusted(is_trusted);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub struct SkillRoot {
    path: PathBuf,
    scope: Scope,
}

/// Whose skills a root holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    User,
    /// Of a project, outside of which none of its main files may lie.
    Project {
        root: PathBuf,
        is_trusted: bool,
    },
}

impl SkillRoot {
    /// A root with skills of the user's own. Their links are followed wherever they lead.
    pub fn user(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            scope: Scope::User,
        }
    }

    /// A root with the skills of a project. A `SKILL.md` whose real path lies outside of `project_root` is refused.
    pub fn project(path: impl Into<PathBuf>, project_root: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            scope: Scope::Project {
                root: project_root.into(),
                is_trusted: true,
            },
        }
    }

    /// Says whether the user trusts the project, as they do unless told otherwise: nothing below the root of one they
    /// do not trust is read. A user's own root is always trusted.
    pub fn trusted(mut self, trusted: bool) -> Self {
        if let Scope::Project { is_trusted, .. } = &mut self.scope {
            *is_trusted = trusted;
        }
        self
    }

    /// The path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Whether anything below it is read.
    #[cfg(feature = "watch")]
    pub(super) fn is_read(&self) -> bool {
        !matches!(
            self.scope,
            Scope::Project {
                is_trusted: false,
                ..
            }
        )
    }

    pub(super) fn project_root(&self) -> Option<&Path> {
        match &self.scope {
            Scope::User => None,
            Scope::Project { root, .. } => Some(root),
        }
    }

    pub(super) fn is_of_project(&self) -> bool {
        matches!(self.scope, Scope::Project { .. })
    }
}

/// Which skill of two with one name is taken. Between two roots of one scope it is the root added first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScopePrecedence {
    /// That of the project.
    #[default]
    ProjectFirst,
    /// That of the user.
    UserFirst,
}
