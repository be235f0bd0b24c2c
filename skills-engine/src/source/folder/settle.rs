use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

use super::Diagnostic;
use super::discover::Cancelled;
use super::folders::FolderReport;
use super::intake::{Intake, Judged, id_of, judge};
use super::needs::Machine;
use super::root::SkillRoot;
use super::scan::{Known, Scan, Scanned, scan};
use super::skill::FolderSkill;
use crate::skill::{BlockingPool, Timestamp, lock};

/// Threads that read files of one source: the scan has one of them.
const THREADS: usize = 4;

/// What scans have in common.
#[derive(Debug)]
pub(super) struct Shared {
    known: Mutex<Known>,
    /// Bytes that bodies in memory may still take; `None` before the first scan.
    room: Mutex<Option<Arc<AtomicUsize>>>,
    pub(super) files: BlockingPool,
}

impl Shared {
    pub(super) fn new() -> Self {
        Self {
            known: Mutex::default(),
            room: Mutex::default(),
            files: BlockingPool::new(THREADS),
        }
    }
}

/// One scan.
pub(super) struct Job {
    pub(super) source: String,
    pub(super) roots: Vec<SkillRoot>,
    pub(super) kept_bodies: usize,
    pub(super) is_strict: bool,
    pub(super) now: Timestamp,
    pub(super) shared: Arc<Shared>,
}

impl Job {
    /// Scans, and shows what was found before it is made something of.
    pub(super) fn run(
        &self,
        cancelled: &AtomicBool,
        show: impl FnOnce(&Scan),
    ) -> Result<FolderReport, Cancelled> {
        let room = Arc::clone(
            lock(&self.shared.room)
                .get_or_insert_with(|| Arc::new(AtomicUsize::new(self.kept_bodies))),
        );
        // Nobody else locks it: there is one scan at a time.
        let mut known = lock(&self.shared.known);
        let scan = scan(self.roots.iter(), self.now, &known, &room, cancelled)?;
        show(&scan);
        let (report, next) = self.settle(scan, &known);
        *known = next;
        Ok(report)
    }

    /// Makes skills of what was found.
    fn settle(&self, scan: Scan, known: &Known) -> (FolderReport, Known) {
        let Scan {
            folders,
            diagnostics,
            unknown,
            trace: _,
        } = scan;
        let mut next = Known::with_capacity(folders.len());
        let mut machine = Machine::new();
        let mut intake = Intake::new(&self.source, folders.len(), diagnostics);
        for folder in folders {
            let before = known
                .get(&folder.place().path)
                .and_then(|known| known.skill.as_ref());
            let (skill, diagnostics) = self.skill(&folder, before, &mut machine);
            let place = folder.place().path.to_string_lossy().into_owned();
            let skill = match skill {
                Ok(skill) => Some(skill),
                Err(mut problems) => {
                    let last = before.cloned();
                    if last.is_some() {
                        problems.push("its last good version stays".to_owned());
                    }
                    let id = last.as_ref().map(|last| id_of(&**last));
                    intake.fail(id, &place, problems);
                    last
                }
            };
            intake.diagnostics.extend(diagnostics);
            if let Some(skill) = &skill {
                intake.take(skill, &place);
            }
            let (path, folder) = folder.into_known(skill);
            next.insert(path, folder);
        }
        keep_unknown(&unknown, known, &mut next, &mut intake);
        let taken = intake.finish();
        let report = FolderReport {
            skills: taken.skills,
            failed: taken.failed,
            shadowed: taken.shadowed,
            diagnostics: taken.diagnostics,
        };
        (report, next)
    }

    /// The skill that a folder is, or why it is none, and all that is told of it.
    fn skill(
        &self,
        folder: &Scanned,
        before: Option<&Arc<FolderSkill>>,
        machine: &mut Machine,
    ) -> (Result<Arc<FolderSkill>, Vec<String>>, Vec<Diagnostic>) {
        let (main, found) = folder.read();
        let (listing, place) = (folder.listing(), folder.place());
        let Judged {
            verdict,
            diagnostics,
        } = judge(
            main.map(Arc::as_ref),
            listing,
            &place.path,
            found,
            self.is_strict,
            machine,
        );
        let skill = match (main, verdict) {
            (Some(main), Ok(unmet)) => {
                let same = before.filter(|before| before.is_of(main, listing, place, &unmet));
                Ok(same.cloned().unwrap_or_else(|| {
                    Arc::new(FolderSkill::new(
                        Arc::clone(main),
                        Arc::clone(listing),
                        Arc::clone(place),
                        unmet,
                        self.shared.files.clone(),
                    ))
                }))
            }
            (_, verdict) => Err(verdict.err().unwrap_or_default()),
        };
        (skill, diagnostics)
    }
}

/// What could not be looked at is not gone.
fn keep_unknown(
    unknown: &[PathBuf],
    known: &Known,
    next: &mut Known,
    intake: &mut Intake<'_, FolderSkill>,
) {
    if unknown.is_empty() {
        return;
    }
    let mut kept: Vec<_> = known
        .iter()
        .filter(|(path, _)| !next.contains_key(*path))
        .filter(|(path, _)| unknown.iter().any(|unknown| path.starts_with(unknown)))
        .collect();
    kept.sort_unstable_by_key(|(path, _)| *path);
    for (path, folder) in kept {
        let Some(skill) = &folder.skill else { continue };
        let place = path.to_string_lossy();
        let problems = vec![
            "its folder cannot be looked into. See to what is reported of the folders above"
                .to_owned(),
            "its last good version stays".to_owned(),
        ];
        intake.fail(Some(id_of(&**skill)), &place, problems);
        intake.take(skill, &place);
        next.insert(path.clone(), folder.clone());
    }
}
