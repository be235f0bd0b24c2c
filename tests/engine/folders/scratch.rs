//! Folders of one test, and what is asked of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use skills_engine::skill::{Skill as _, SkillContent};
use skills_engine::source::{Diagnostic, FolderReport, FolderSkill, SkillFolders};

/// An empty folder that goes with the value.
#[derive(Debug)]
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("skills-engine-folders-{}-{count}", std::process::id());
        // Where the temporary folder is reached by a link, paths in reports would have two forms.
        let parent = fs::canonicalize(std::env::temp_dir()).unwrap();
        let path = parent.join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.0.join(path)
    }

    /// Writes a file, and the folders it lies in.
    pub(crate) fn put(&self, path: &str, bytes: impl AsRef<[u8]>) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }

    /// Writes the main file of a skill into `folder`.
    pub(crate) fn skill(&self, folder: &str, name: &str, description: &str) {
        let text = main_file(name, description, &format!("Body of {name}."));
        self.put(&format!("{folder}/SKILL.md"), text);
    }

    /// Makes a link, and the folders it lies in.
    #[cfg(unix)]
    pub(crate) fn link(&self, target: impl AsRef<Path>, path: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(target, path).unwrap();
    }

    pub(crate) fn remove(&self, path: &str) {
        let path = self.at(path);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }

    pub(crate) fn user(&self, root: &str) -> SkillFolders {
        SkillFolders::new().user(self.at(root))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The text of a main file.
pub(super) fn main_file(name: &str, description: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\n---\n{body}\n")
}

/// Diagnostics as the contract writes them: `warning: bom`.
pub(super) fn kinds(diagnostics: &[Diagnostic]) -> BTreeSet<String> {
    diagnostics
        .iter()
        .map(|found| found.kind.to_string())
        .collect()
}

pub(super) fn names(report: &FolderReport) -> Vec<&str> {
    report
        .skills
        .iter()
        .map(|skill| &*skill.definition().id)
        .collect()
}

pub(super) fn content(skill: &Arc<FolderSkill>) -> &dyn SkillContent {
    skill.content().unwrap()
}

pub(super) fn resources(skill: &Arc<FolderSkill>) -> Vec<&str> {
    content(skill)
        .resources()
        .iter()
        .map(|resource| &*resource.path)
        .collect()
}

/// The only skill of a report.
#[track_caller]
pub(super) fn only(report: &FolderReport) -> &Arc<FolderSkill> {
    let [skill] = &report.skills[..] else {
        panic!("{report:?}");
    };
    skill
}
