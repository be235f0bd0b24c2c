use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use notify::{ErrorKind, Watcher};

use super::super::findings::diagnostic;
use super::super::{Diagnostic, DiagnosticKind};
use super::interest::Want;
use super::signal::Moved;

/// The folders that the system watches.
#[derive(Default)]
pub(super) struct Watched {
    /// Dropped, it tells of nothing any more.
    watcher: Option<Box<dyn Watcher + Send>>,
    folders: BTreeMap<PathBuf, Want>,
}

/// What came of having folders watched.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Covered {
    /// Whether something is watched that was not before, or went in the meantime: what happened there until now was not
    /// told.
    pub(super) is_new: bool,
    /// What is not watched, and why.
    pub(super) problem: Option<Diagnostic>,
}

impl Watched {
    /// Watches what is wanted, and nothing else. `left_out` counts what would be wanted, too.
    pub(super) fn cover<W: Watcher + Send + 'static>(
        &mut self,
        wants: BTreeMap<PathBuf, Want>,
        left_out: usize,
        moved: &Moved,
        start: impl FnOnce() -> notify::Result<W>,
    ) -> Covered {
        // All that is given up comes first. The system knows folders by what they are: one that was renamed would be
        // given up under its new name, too, and together they may be more than it allows.
        self.forget(moved);
        self.give_up(|folder, how| wants.get(folder) != Some(how));
        let mut missed = Missed {
            count: left_out,
            ..Missed::default()
        };
        let mut is_new = false;
        let watcher = match &mut self.watcher {
            Some(watcher) => watcher,
            None => match start() {
                Ok(watcher) => self.watcher.insert(Box::new(watcher)),
                Err(error) => {
                    for folder in wants.keys() {
                        missed.add(folder);
                    }
                    missed.reason = Some(error.to_string());
                    return missed.covered(false);
                }
            },
        };
        let mut is_full = false;
        for (folder, want) in wants {
            if self.folders.contains_key(&folder) {
                continue;
            }
            if is_full {
                missed.add(&folder);
                continue;
            }
            match watcher.watch(&folder, want.mode) {
                Ok(()) => {
                    is_new = true;
                    self.folders.insert(folder, want);
                }
                Err(error) if is_missing(&error) => is_new = true,
                Err(error) => {
                    is_full = matches!(error.kind, ErrorKind::MaxFilesWatch);
                    // What is above a root may be none of the user's.
                    if is_full || want.is_searched {
                        missed.add(&folder);
                        missed.reason.get_or_insert_with(|| error.to_string());
                    }
                }
            }
        }
        missed.covered(is_new)
    }

    /// Gives up what may stand for something else now.
    fn forget(&mut self, moved: &Moved) {
        match moved {
            Moved::All => {
                // Ended alone, the old watcher may still hold what the new one asks for.
                self.give_up(|_, _| true);
                *self = Self::default();
            }
            Moved::Names(names) => {
                for name in names {
                    let below: Vec<_> = self
                        .folders
                        .range(name.clone()..)
                        .map(|(folder, _)| folder)
                        .take_while(|folder| folder.starts_with(name))
                        .cloned()
                        .collect();
                    for folder in below {
                        self.unwatch(&folder);
                    }
                }
            }
        }
    }

    fn give_up(&mut self, is_gone: impl Fn(&Path, &Want) -> bool) {
        let gone = self.folders.iter();
        let gone: Vec<_> = gone
            .filter(|(folder, how)| is_gone(folder, how))
            .map(|(folder, _)| folder.clone())
            .collect();
        for folder in gone {
            self.unwatch(&folder);
        }
    }

    fn unwatch(&mut self, folder: &Path) {
        self.folders.remove(folder);
        if let Some(watcher) = &mut self.watcher {
            // That of a folder that was removed is gone already.
            let _ = watcher.unwatch(folder);
        }
    }
}

/// Folders that cannot be watched.
#[derive(Default)]
struct Missed {
    count: usize,
    first: Option<PathBuf>,
    reason: Option<String>,
}

impl Missed {
    fn add(&mut self, folder: &Path) {
        self.count += 1;
        self.first.get_or_insert_with(|| folder.to_owned());
    }

    fn covered(self, is_new: bool) -> Covered {
        let problem = (self.count > 0).then(|| {
            let reason = self.reason.as_deref();
            diagnostic(
                DiagnosticKind::NotWatched,
                &self.first.unwrap_or_default(),
                format!(
                    "changes in {} folders, this one among them, are not seen by themselves: {}",
                    self.count,
                    reason.unwrap_or("they are too many")
                ),
                "refresh the engine after a change, have the system allow more watches, or choose roots that hold less",
            )
        });
        Covered { is_new, problem }
    }
}

fn is_missing(error: &notify::Error) -> bool {
    match &error.kind {
        ErrorKind::PathNotFound => true,
        ErrorKind::Io(error) => matches!(
            error.kind(),
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
        ),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use notify::{Config, EventHandler, RecursiveMode, Result, WatcherKind};

    use super::*;
    use crate::skill::lock;

    /// A system that watches so many folders.
    #[derive(Clone, Default)]
    struct System {
        most: usize,
        folders: Arc<Mutex<Vec<PathBuf>>>,
        /// What was asked of it.
        asked: Arc<Mutex<Vec<String>>>,
    }

    impl Watcher for System {
        fn new<F: EventHandler>(_handler: F, _config: Config) -> Result<Self> {
            Ok(Self::default())
        }

        fn watch(&mut self, path: &Path, _mode: RecursiveMode) -> Result<()> {
            let mut folders = lock(&self.folders);
            lock(&self.asked).push(format!("+{}", path.display()));
            if path.ends_with("missing") {
                return Err(notify::Error::path_not_found());
            }
            if path.ends_with("secret") {
                let error = std::io::ErrorKind::PermissionDenied;
                return Err(notify::Error::io(error.into()));
            }
            if folders.len() == self.most {
                return Err(notify::Error::new(ErrorKind::MaxFilesWatch));
            }
            folders.push(path.to_owned());
            Ok(())
        }

        fn unwatch(&mut self, path: &Path) -> Result<()> {
            lock(&self.folders).retain(|folder| folder != path);
            lock(&self.asked).push(format!("-{}", path.display()));
            Ok(())
        }

        fn kind() -> WatcherKind {
            WatcherKind::NullWatcher
        }
    }

    impl System {
        fn new(most: usize) -> Self {
            Self {
                most,
                ..Self::default()
            }
        }

        fn cover(&self, watched: &mut Watched, wants: &[&str], moved: &[&str]) -> Covered {
            let moved = moved.iter().map(PathBuf::from).collect();
            self.cover_moved(watched, wants, &Moved::Names(moved))
        }

        fn cover_moved(&self, watched: &mut Watched, wants: &[&str], moved: &Moved) -> Covered {
            let want = |path: &&str| {
                let want = Want {
                    mode: RecursiveMode::NonRecursive,
                    is_searched: path.starts_with("/home/skills"),
                };
                (path.into(), want)
            };
            let start = || {
                lock(&self.asked).push("start".to_owned());
                Ok(self.clone())
            };
            watched.cover(wants.iter().map(want).collect(), 0, moved, start)
        }

        fn asked(&self) -> Vec<String> {
            std::mem::take(&mut *lock(&self.asked))
        }
    }

    #[test]
    fn only_what_is_new_or_moved_is_watched_anew() {
        let system = System::new(10);
        let mut watched = Watched::default();
        let wants = ["/home", "/home/skills", "/home/skills/a", "/home/skills/b"];
        assert!(system.cover(&mut watched, &wants, &[]).is_new);
        assert_eq!(system.asked().len(), 5);
        let same = system.cover(&mut watched, &wants, &["/home/skills/c", "/home/skill"]);
        assert_eq!(same, Covered::default());
        assert!(system.asked().is_empty());

        // All is given up before anything is watched.
        let moved = system.cover(&mut watched, &wants, &["/home/skills"]);
        assert!(moved.is_new);
        let (skills, a, b) = ("/home/skills", "/home/skills/a", "/home/skills/b");
        let expected = [
            ("-", skills),
            ("-", a),
            ("-", b),
            ("+", skills),
            ("+", a),
            ("+", b),
        ];
        let expected = expected.map(|(sign, path)| format!("{sign}{path}"));
        assert_eq!(system.asked(), expected);

        assert!(!system.cover(&mut watched, &wants[..2], &[]).is_new);
        assert_eq!(system.asked(), [format!("-{a}"), format!("-{b}")]);

        // Events were lost.
        assert!(
            system
                .cover_moved(&mut watched, &wants[..2], &Moved::All)
                .is_new
        );
        let expected = [
            "-/home",
            "-/home/skills",
            "start",
            "+/home",
            "+/home/skills",
        ];
        assert_eq!(system.asked(), expected);
    }

    #[test]
    fn se4_folders_beyond_the_limit_of_the_system_are_told_and_tried_again() {
        let system = System::new(2);
        let mut watched = Watched::default();
        let wants = ["/home", "/home/skills", "/home/skills/a", "/home/skills/b"];
        let covered = system.cover(&mut watched, &wants, &[]);
        assert!(covered.is_new);
        let problem = covered.problem.expect("two are not watched");
        assert_eq!(problem.to_string().lines().count(), 1);
        assert_eq!(problem.kind, DiagnosticKind::NotWatched);
        assert_eq!(problem.path, "/home/skills/a");
        assert!(
            problem.message.contains("changes in 2 folders"),
            "{problem}"
        );
        // One attempt is enough to see that there is no room.
        assert_eq!(system.asked().len(), 4);
        let again = system.cover(&mut watched, &wants, &[]);
        assert_eq!((again.is_new, again.problem), (false, Some(problem)));
        assert_eq!(system.asked(), ["+/home/skills/a"]);
        let fewer = system.cover(&mut watched, &["/home", "/home/skills/b"], &[]);
        assert_eq!(
            fewer,
            Covered {
                is_new: true,
                problem: None
            }
        );
    }

    #[test]
    fn what_is_above_may_be_none_of_the_user_s_and_what_went_is_looked_at_again() {
        let system = System::new(10);
        let mut watched = Watched::default();
        let covered = system.cover(&mut watched, &["/secret", "/home/skills/a"], &[]);
        assert_eq!(
            covered,
            Covered {
                is_new: true,
                problem: None
            }
        );
        let covered = system.cover(&mut watched, &["/home/skills/secret"], &[]);
        assert!(!covered.is_new);
        assert!(covered.problem.is_some());
        let covered = system.cover(&mut watched, &["/home/skills/missing"], &[]);
        assert_eq!(
            covered,
            Covered {
                is_new: true,
                problem: None
            }
        );
    }

    #[test]
    fn a_system_that_cannot_watch_at_all_is_told() {
        let mut watched = Watched::default();
        let want = Want {
            mode: RecursiveMode::NonRecursive,
            is_searched: true,
        };
        let wants = BTreeMap::from([(PathBuf::from("/skills"), want)]);
        let start = || Err::<System, _>(notify::Error::generic("too many open files"));
        let covered = watched.cover(wants, 0, &Moved::default(), start);
        let problem = covered.problem.expect("nothing is watched");
        assert!(
            problem.message.ends_with("too many open files"),
            "{problem}"
        );
        assert!(!covered.is_new);
    }
}
