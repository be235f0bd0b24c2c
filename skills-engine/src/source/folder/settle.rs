use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex};

use super::discover::{Cancelled, diagnostic};
use super::folders::FolderReport;
use super::needs::Machine;
use super::root::SkillRoot;
use super::scan::{Known, Scan, Scanned, scan};
use super::skill::FolderSkill;
use super::{Diagnostic, DiagnosticKind, Severity};
use crate::skill::{BlockingPool, Skill as _, Timestamp, lock};
use crate::source::{FailedSkill, ShadowedSkill};

/// Threads that read files of one source: the scan has one of them.
const THREADS: usize = 4;
/// Skills of one source.
const MOST_SKILLS: usize = 20_000;
/// Bytes of a name, which stands in every request, grant and record about its skill.
const LONGEST_NAME: usize = 1_024;
/// Diagnostics of one scan; more are counted.
const MOST_TOLD: usize = 10_000;

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
    pub(super) fn run(self, cancelled: &AtomicBool) -> Result<FolderReport, Cancelled> {
        let room = Arc::clone(
            lock(&self.shared.room)
                .get_or_insert_with(|| Arc::new(AtomicUsize::new(self.kept_bodies))),
        );
        // Nobody else locks it: there is one scan at a time.
        let mut known = lock(&self.shared.known);
        let scan = scan(self.roots.iter(), self.now, &known, &room, cancelled)?;
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
        } = scan;
        let mut next = Known::with_capacity(folders.len());
        let mut machine = Machine::new();
        let mut intake = Intake {
            source: &self.source,
            report: FolderReport {
                diagnostics,
                ..FolderReport::default()
            },
            by_name: HashMap::with_capacity(folders.len()),
        };
        for folder in folders {
            let before = known
                .get(&folder.place().path)
                .and_then(|known| known.skill.as_ref());
            let outcome = self.skill(&folder, before, &mut machine);
            let place = folder.place().path.to_string_lossy().into_owned();
            let skill = match outcome.skill {
                Ok(skill) => Some(skill),
                Err(mut problems) => {
                    let last = before.cloned();
                    if last.is_some() {
                        problems.push("its last good version stays".to_owned());
                    }
                    let id = last.as_ref().map(id_of);
                    intake.fail(id, &place, problems);
                    last
                }
            };
            intake.report.diagnostics.extend(outcome.diagnostics);
            if let Some(skill) = &skill {
                intake.take(skill, &place);
            }
            let (path, folder) = folder.into_known(skill);
            next.insert(path, folder);
        }
        keep_unknown(&unknown, known, &mut next, &mut intake);
        bound(&mut intake.report.diagnostics);
        (intake.report, next)
    }

    fn skill(
        &self,
        folder: &Scanned,
        before: Option<&Arc<FolderSkill>>,
        machine: &mut Machine,
    ) -> Outcome {
        let (main, mut diagnostics) = folder.read();
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        let Some(main) = main else {
            let problems = diagnostics
                .iter()
                .filter(is_error)
                .map(ToString::to_string)
                .collect();
            return Outcome {
                skill: Err(problems),
                diagnostics,
            };
        };
        diagnostics.extend_from_slice(&folder.listing().diagnostics);
        if self.is_strict {
            let mut problems: Vec<_> = diagnostics
                .iter()
                .filter(|found| found.kind.is_strict_violation())
                .map(ToString::to_string)
                .collect();
            if problems.is_empty() && main.header.has_extension_fields {
                problems.push(
                    "the header has a key that the specification does not have. Take it out, or move it to `metadata`"
                        .to_owned(),
                );
            }
            if !problems.is_empty() {
                return Outcome {
                    skill: Err(problems),
                    diagnostics,
                };
            }
        }
        let unmet = machine.unmet(&main.header.requirements);
        if !unmet.is_empty() {
            diagnostics.push(diagnostic(
                DiagnosticKind::RequirementsUnmet,
                &folder.place().path,
                format!("the skill needs {}, and is not offered", unmet.join(", ")),
                "see to what is missing, then refresh the skills",
            ));
        }
        let same =
            before.filter(|before| before.is_of(main, folder.listing(), folder.place(), &unmet));
        let skill = match same {
            Some(same) => Arc::clone(same),
            None => Arc::new(FolderSkill::new(
                Arc::clone(main),
                Arc::clone(folder.listing()),
                Arc::clone(folder.place()),
                unmet,
                self.shared.files.clone(),
            )),
        };
        Outcome {
            skill: Ok(skill),
            diagnostics,
        }
    }
}

/// What could not be looked at is not gone.
fn keep_unknown(unknown: &[PathBuf], known: &Known, next: &mut Known, intake: &mut Intake<'_>) {
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
        intake.fail(Some(id_of(skill)), &place, problems);
        intake.take(skill, &place);
        next.insert(path.clone(), folder.clone());
    }
}

/// Counts the diagnostics that are too many.
fn bound(diagnostics: &mut Vec<Diagnostic>) {
    let Some(left_out) = diagnostics
        .len()
        .checked_sub(MOST_TOLD)
        .filter(|count| *count > 0)
    else {
        return;
    };
    diagnostics.truncate(MOST_TOLD);
    let path = diagnostics.last().map(|last| last.path.clone());
    diagnostics.push(Diagnostic::new(
        DiagnosticKind::ScanLimit,
        path.unwrap_or_default(),
        format!("{left_out} more diagnostics are left out"),
        "see to those before this one, then scan again",
    ));
}

/// What became of one folder.
struct Outcome {
    skill: Result<Arc<FolderSkill>, Vec<String>>,
    diagnostics: Vec<Diagnostic>,
}

/// Takes skills in, the first of each name.
struct Intake<'a> {
    source: &'a str,
    report: FolderReport,
    by_name: HashMap<String, String>,
}

impl Intake<'_> {
    fn fail(&mut self, skill: Option<String>, place: &str, problems: Vec<String>) {
        let failed = FailedSkill::new(self.source, skill, problems).at(place);
        self.report.failed.push(failed);
    }

    fn take(&mut self, skill: &Arc<FolderSkill>, place: &str) {
        let id = id_of(skill);
        if let Some(first) = self.by_name.get(&id) {
            self.report.diagnostics.push(diagnostic(
                DiagnosticKind::NameCollision,
                skill.path(),
                format!("a skill of the same name goes first: `{first}`"),
                "rename one of the two",
            ));
            self.report
                .shadowed
                .push(ShadowedSkill::new(self.source, id, first).at(place));
            return;
        }
        if id.len() > LONGEST_NAME {
            let problem = format!(
                "the name has {} bytes, more than {LONGEST_NAME}. Give the skill a shorter one",
                id.len()
            );
            self.fail(None, place, vec![problem]);
            return;
        }
        if self.report.skills.len() >= MOST_SKILLS {
            let problem = format!(
                "the source has {MOST_SKILLS} skills already. Make another source of some of its roots"
            );
            self.fail(Some(id), place, vec![problem]);
            return;
        }
        self.by_name.insert(id, place.to_owned());
        self.report.skills.push(Arc::clone(skill));
    }
}

fn id_of(skill: &Arc<FolderSkill>) -> String {
    skill.definition().id.clone().into_owned()
}
