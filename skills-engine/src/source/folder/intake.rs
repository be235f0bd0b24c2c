use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::findings::diagnostic;
use super::needs::Machine;
use super::resources::Listing;
use super::skill::Main;
use super::{Diagnostic, DiagnosticKind, Severity};
use crate::skill::{Skill, printable};
use crate::source::{FailedSkill, ShadowedSkill};

/// Skills of one source.
const MOST_SKILLS: usize = 20_000;
/// Bytes of a name, which stands in every request, grant and record about its skill.
const LONGEST_NAME: usize = 1_024;
/// Diagnostics of one load; more are counted.
const MOST_TOLD: usize = 10_000;

/// What became of one folder.
pub(super) struct Judged {
    /// What the machine lacks of what the skill needs; or why there is no skill.
    pub(super) verdict: Result<Vec<String>, Vec<String>>,
    /// All that is told of the folder.
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Says whether a folder at `path` is a skill. `main` is what its main file says, `None` when that cannot be used;
/// `diagnostics` what was found so far.
pub(super) fn judge(
    main: Option<&Main>,
    listing: &Listing,
    path: &Path,
    mut diagnostics: Vec<Diagnostic>,
    is_strict: bool,
    machine: &mut Machine,
) -> Judged {
    let Some(main) = main else {
        let errors = diagnostics
            .iter()
            .filter(|found| found.severity == Severity::Error);
        return Judged {
            verdict: Err(errors.map(ToString::to_string).collect()),
            diagnostics,
        };
    };
    if is_strict {
        diagnostics.extend_from_slice(&main.strict_diagnostics);
    }
    diagnostics.extend_from_slice(&listing.diagnostics);
    if is_strict {
        let refused = diagnostics
            .iter()
            .filter(|found| found.kind.is_strict_violation());
        let problems: Vec<_> = refused.map(ToString::to_string).collect();
        if !problems.is_empty() {
            return Judged {
                verdict: Err(problems),
                diagnostics,
            };
        }
    }
    let unmet = machine.unmet(&main.header.requirements);
    if !unmet.is_empty() {
        diagnostics.push(diagnostic(
            DiagnosticKind::RequirementsUnmet,
            path,
            format!("the skill needs {}, and is not offered", unmet.join(", ")),
            "see to what is missing, then refresh the skills",
        ));
    }
    Judged {
        verdict: Ok(unmet),
        diagnostics,
    }
}

/// Takes skills of one source in, the first of each name.
pub(super) struct Intake<'a, S> {
    source: &'a str,
    by_name: HashMap<String, String>,
    pub(super) skills: Vec<Arc<S>>,
    pub(super) failed: Vec<FailedSkill>,
    pub(super) shadowed: Vec<ShadowedSkill>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

impl<'a, S: Skill> Intake<'a, S> {
    pub(super) fn new(source: &'a str, folders: usize, diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            source,
            by_name: HashMap::with_capacity(folders),
            skills: Vec::with_capacity(folders),
            failed: Vec::new(),
            shadowed: Vec::new(),
            diagnostics,
        }
    }

    pub(super) fn fail(&mut self, skill: Option<String>, place: &str, problems: Vec<String>) {
        let failed = FailedSkill::new(self.source, skill, problems).at(place);
        self.failed.push(failed);
    }

    /// Takes a skill in whose folder is at `place`.
    pub(super) fn take(&mut self, skill: &Arc<S>, place: &str) {
        let id = id_of(&**skill);
        if let Some(first) = self.by_name.get(&id) {
            self.diagnostics.push(Diagnostic::new(
                DiagnosticKind::NameCollision,
                place,
                format!(
                    "a skill of the same name goes first: `{}`",
                    printable(first)
                ),
                "rename one of the two",
            ));
            self.shadowed
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
        if self.skills.len() >= MOST_SKILLS {
            let problem = format!(
                "the source has {MOST_SKILLS} skills already. Make another source of some of its roots"
            );
            self.fail(Some(id), place, vec![problem]);
            return;
        }
        self.by_name.insert(id, place.to_owned());
        self.skills.push(Arc::clone(skill));
    }

    /// Ends it: the diagnostics that are too many are counted.
    pub(super) fn finish(mut self) -> Self {
        bound(&mut self.diagnostics);
        self
    }
}

pub(super) fn id_of(skill: &dyn Skill) -> String {
    skill.definition().id.clone().into_owned()
}

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
