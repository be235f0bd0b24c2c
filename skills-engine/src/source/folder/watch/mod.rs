//! Has the system tell of changes in the folders that scans look into, and on the ways that lead to them.

mod interest;
mod signal;
mod watched;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use self::interest::Interest;
use self::signal::Signal;
use self::watched::{Covered, Watched};
use super::Diagnostic;
use super::discover::Cancelled;
use super::folders::FolderReport;
use super::root::SkillRoot;
use super::scan::Scan;
use super::settle::Job;
use crate::skill::{BoxFuture, lock};

/// How often one scan is done again, for what comes while it runs.
const MOST_ROUNDS: usize = 4;

/// Tells when something changed that a scan would find.
#[derive(Default)]
pub(super) struct Watch {
    signal: Arc<Signal>,
    /// There is one scan at a time, so nobody waits for it.
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    watched: Watched,
    /// What was last logged.
    problem: Option<Diagnostic>,
}

impl Watch {
    /// Does a scan, and has watched what it looked into from then on.
    pub(super) fn scan(
        &self,
        job: &Job,
        cancelled: &AtomicBool,
    ) -> Result<FolderReport, Cancelled> {
        self.signal.begin();
        let mut round = 1;
        loop {
            let mut covered = Covered::default();
            let mut report = job.run(cancelled, |scan| covered = self.cover(&job.roots, scan))?;
            // What changed before it was watched was told by nobody.
            if covered.is_new && round < MOST_ROUNDS {
                round += 1;
                self.signal.begin_round();
                continue;
            }
            if covered.is_new {
                self.signal.tell();
            }
            report.diagnostics.extend(covered.problem);
            return Ok(report);
        }
    }

    /// Watches what decides what a scan found.
    fn cover(&self, roots: &[SkillRoot], scan: &Scan) -> Covered {
        let interest = Interest::new(roots, scan);
        let (wants, left_out) = interest.wants();
        // Before they are watched: what is told of them must be known to be of interest.
        let moved = self.signal.set(interest);
        let mut state = lock(&self.state);
        let covered = state.watched.cover(wants, left_out, &moved, || {
            let signal = Arc::clone(&self.signal);
            notify::recommended_watcher(move |event| signal.take(event))
        });
        if state.problem != covered.problem {
            if let Some(problem) = &covered.problem {
                tracing::warn!(%problem, "folders of skills are not watched");
            }
            state.problem.clone_from(&covered.problem);
        }
        covered
    }

    /// Completes once something changed after the last scan began, unless somebody was told of it.
    pub(super) fn changed(&self) -> BoxFuture<'static, ()> {
        let signal = Arc::clone(&self.signal);
        Box::pin(async move { signal.changed().await })
    }
}
