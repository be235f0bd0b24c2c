use std::fs;
use std::path::{Component, Path, PathBuf, absolute};

use super::discover::Spot;
use super::findings::{diagnostic, symlink_escape};
use super::root::SkillRoot;
use super::{Diagnostic, DiagnosticKind};

/// Says that a root lies outside of its project, be it by way of a link or not.
pub(super) fn root_escape(spot: &Spot, root: &SkillRoot) -> Diagnostic {
    let Some(project) = root.project_root().filter(|_| !is_by_link(spot)) else {
        return symlink_escape(&spot.path);
    };
    let project = absolute(project).unwrap_or_else(|_| project.to_owned());
    diagnostic(
        DiagnosticKind::SymlinkEscape,
        &spot.path,
        format!(
            "the root lies outside of its project root `{}`, so nothing there is read",
            project.display()
        ),
        "the two may be swapped: the path of the skills goes first, then the project root that it lies in; or add it as a root of the user",
    )
}

/// Whether the path leads through the project, which only a link in it then leads out of.
fn is_by_link(spot: &Spot) -> bool {
    let Some(project) = &spot.project else {
        return false;
    };
    let is_in_project =
        |path: &Path| fs::canonicalize(path).is_ok_and(|real| real.starts_with(project));
    // What `..` takes back was not gone through.
    let mut path = PathBuf::new();
    for part in spot.path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            _ => path.push(part),
        }
    }
    path.ancestors().any(is_in_project)
}
