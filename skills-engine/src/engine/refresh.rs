use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use tokio::sync::Notify;

use super::Engine;
use super::epoch::Epoch;
use super::follow::Follower;
use super::inner::EngineInner;
use super::intake::{Intake, own_ids, shadow};
use super::telling::Telling;
use crate::audit::{AuditEvent, AuditKind};
use crate::registry::Registry;
use crate::skill::{Actor, Clock, Code, Fault, Limits, Principal, Skill, lock, within};
use crate::snapshot::bound_constants;
use crate::source::{Diagnostic, FailedSkill, Loaded, ShadowedSkill, SkillSource};

pub(super) type Skills = Vec<Arc<dyn Skill>>;

/// What a refresh did.
#[must_use = "what failed stands in it"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RefreshReport {
    /// Ids of skills that came.
    pub added: Vec<String>,
    /// Ids of skills that changed in something a model could be shown.
    pub changed: Vec<String>,
    /// Ids of skills that went.
    pub removed: Vec<String>,
    /// What could not be taken in; where there was an earlier version of it, that one stays.
    pub failed: Vec<FailedSkill>,
    /// Skills left out because another one has their id and goes first.
    pub shadowed: Vec<ShadowedSkill>,
    /// Whatever else sources had to tell, and the reasons of the former in full.
    pub diagnostics: Vec<Diagnostic>,
}

/// The sources of an engine, and what they gave last.
pub(super) struct Sources {
    pub(super) all: Vec<Arc<dyn SkillSource>>,
    /// The ids of skills that are left out, whatever gives them.
    without: BTreeSet<String>,
    /// Skills that no source gave: they stay as they are.
    fixed: Skills,
    /// Stands in registries in which a skill has content.
    loads: Arc<dyn Skill>,
    loaded: Mutex<Vec<Skills>>,
    is_refreshing: AtomicBool,
    /// What each source answered last, and its revision when it was asked.
    answers: Mutex<Vec<Answered>>,
    /// The sum of these revisions.
    revision: AtomicU64,
    /// Told when a refresh has ended.
    refreshed: Notify,
    telling: Telling,
    told: Option<Told>,
    pub(super) follower: Follower,
}

/// What a source answered.
#[derive(Clone, Debug)]
pub(super) struct Answered {
    pub(super) loaded: Loaded,
    pub(super) revision: u64,
}

/// Which sources a refresh asks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Asks {
    All,
    /// Those that say themselves that something changed. The answers of the others stand, so that one that hangs does
    /// not hold up what another one tells.
    Changed,
}

/// Who is told what each refresh did.
pub(super) type Told = Arc<dyn Fn(&RefreshReport) + Send + Sync>;

impl Sources {
    pub(super) fn new(
        sources: Vec<Arc<dyn SkillSource>>,
        fixed: Skills,
        loads: Arc<dyn Skill>,
        loaded: Vec<Skills>,
        answers: Vec<Answered>,
        telling: Telling,
        told: Option<Told>,
    ) -> Self {
        Self {
            all: sources,
            without: BTreeSet::new(),
            fixed,
            loads,
            loaded: Mutex::new(loaded),
            is_refreshing: AtomicBool::new(false),
            revision: AtomicU64::new(sum(answers.iter().map(|answer| answer.revision))),
            answers: Mutex::new(answers),
            refreshed: Notify::new(),
            telling,
            told,
            follower: Follower::default(),
        }
    }
}

impl Sources {
    /// Leaves skills with these ids out, whatever gives them.
    pub(super) fn without(self, without: BTreeSet<String>) -> Self {
        Self { without, ..self }
    }
}

/// Asks a source, for as long as it may take.
pub(super) async fn load(
    source: &dyn SkillSource,
    clock: &dyn Clock,
    limits: &Limits,
) -> Result<Loaded, String> {
    // The call itself may panic, too, not only its future.
    let loading = AssertUnwindSafe(async { source.load_and_tell().await }).catch_unwind();
    match within(clock, limits.source_timeout, loading).await {
        Some(Ok(result)) => result.map_err(|fault| fault.message),
        Some(Err(_)) => Err("it panicked; see to the source".to_owned()),
        None => Err(format!(
            "it gave no answer within {} seconds; raise `source_timeout`, or see to the source",
            limits.source_timeout.as_secs_f64()
        )),
    }
}

/// Takes skills with these ids out of what a source gave, and says which. Those with an id of the engine's own are
/// refused, and told as such.
pub(super) fn leave_out(loaded: &mut Loaded, ids: &BTreeSet<String>) -> Vec<String> {
    if ids.is_empty() {
        return Vec::new();
    }
    let is_left_out = |skill: &mut Arc<dyn Skill>| {
        let id = &*skill.definition().id;
        ids.contains(id) && !own_ids().contains(&id)
    };
    let left_out = loaded.skills.extract_if(.., is_left_out);
    left_out
        .map(|skill| skill.definition().id.clone().into_owned())
        .collect()
}

/// What tells of changes that sources know of.
fn sum(revisions: impl Iterator<Item = u64>) -> u64 {
    revisions.fold(0, u64::wrapping_add)
}

impl Engine {
    /// Asks all sources anew and replaces the registry. Turns that run go on with what they began with; the next
    /// ones see what came of it.
    ///
    /// # Errors
    ///
    /// `conflict` while another refresh runs. What is wrong with single skills or sources stands in the report.
    pub async fn refresh(&self) -> Result<RefreshReport, Fault> {
        self.inner.refresh(Asks::All, Actor::Host, None).await
    }

    /// The same, for a principal that has the role `operator`.
    ///
    /// # Errors
    ///
    /// As [`refresh`](Self::refresh), and `not_permitted` without the role.
    pub async fn refresh_by(&self, operator: &Principal) -> Result<RefreshReport, Fault> {
        operator.check()?;
        super::foreign::check_operator(operator)?;
        let by = Some(operator.id().into());
        self.inner.refresh(Asks::All, Actor::User, by).await
    }
}

impl EngineInner {
    /// Asks the sources anew where they say themselves that something changed.
    pub(super) async fn refresh_if_changed(&self) {
        let sources = &self.sources;
        let revisions = sources.all.iter().map(|source| source.revision());
        if sum(revisions) != sources.revision.load(Ordering::Acquire) {
            self.refresh_in_turn(Asks::Changed).await;
        }
    }

    /// Asks sources anew, after a refresh that runs already.
    pub(super) async fn refresh_in_turn(&self, asks: Asks) {
        loop {
            let mut finished = pin!(self.sources.refreshed.notified());
            finished.as_mut().enable();
            match self.refresh(asks, Actor::System, None).await {
                Err(fault) if fault.code == Code::Conflict => finished.await,
                Ok(_) => return,
                Err(fault) => {
                    tracing::warn!(%fault, "what sources have now cannot be taken in");
                    return;
                }
            }
        }
    }

    async fn refresh(
        &self,
        asks: Asks,
        actor: Actor,
        by: Option<Arc<str>>,
    ) -> Result<RefreshReport, Fault> {
        if self.sources.is_refreshing.swap(true, Ordering::AcqRel) {
            return Err(Fault::new(
                Code::Conflict,
                "another refresh is running. Wait for its report, or try again",
            ));
        }
        let _running = Running(&self.sources);
        let answers = self.ask(asks).await;
        let revisions = sum(answers.iter().map(|answer| answer.revision));
        let refreshed = self.take_in(&answers, actor, by);
        // Not when it was dropped: then the next turn asks again.
        *lock(&self.sources.answers) = answers;
        self.sources.revision.store(revisions, Ordering::Release);
        if let (Ok(report), Some(told)) = (&refreshed, &self.sources.told) {
            // What the host does with it must not fail the refresh.
            let _ = catch_unwind(AssertUnwindSafe(|| told(report)));
        }
        refreshed
    }

    /// What each source has to give, by asking it or as it answered last.
    async fn ask(&self, asks: Asks) -> Vec<Answered> {
        let last = lock(&self.sources.answers).clone();
        let mut answers = Vec::with_capacity(last.len());
        for (source, last) in self.sources.all.iter().zip(last) {
            let revision = source.revision();
            if asks == Asks::Changed && revision == last.revision {
                answers.push(last);
                continue;
            }
            let loaded = match load(&**source, &*self.clock, &self.limits).await {
                Ok(mut loaded) => {
                    leave_out(&mut loaded, &self.sources.without);
                    loaded
                }
                Err(problem) => Loaded {
                    failed: vec![FailedSkill::new(source.name(), None, vec![problem])],
                    ..Loaded::from(last.loaded.skills)
                },
            };
            answers.push(Answered { loaded, revision });
        }
        answers
    }

    fn take_in(
        &self,
        answers: &[Answered],
        actor: Actor,
        by: Option<Arc<str>>,
    ) -> Result<RefreshReport, Fault> {
        let before = lock(&self.sources.loaded).clone();
        let mut intake = Intake::new(&self.sources.fixed, &before, &self.limits);
        intake.reserve(&self.sources.loads);
        let mut offered = Vec::new();
        let mut diagnostics = Vec::new();
        let mut shadowed = Vec::new();
        for Answered { loaded, .. } in answers {
            offered.push(loaded.skills.clone());
            intake.failed.extend_from_slice(&loaded.failed);
            shadowed.extend_from_slice(&loaded.shadowed);
            diagnostics.extend_from_slice(&loaded.diagnostics);
        }
        shadowed.extend(shadow(&self.sources.fixed, &self.sources.all, &mut offered));
        let taken = intake.take(&self.sources.all, &before, &offered);
        let report = RefreshReport {
            shadowed,
            diagnostics,
            ..intake.report(&taken)
        };
        let is_same = |left: &Skills, right: &Skills| {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| Arc::ptr_eq(left, right))
        };
        let is_unchanged = taken
            .iter()
            .zip(&before)
            .all(|(left, right)| is_same(left, right));
        if !is_unchanged {
            self.replace(&taken)?;
            *lock(&self.sources.loaded) = taken;
        }
        let epoch = self.epoch();
        let kind = AuditKind::RegistryRefreshed {
            digest: epoch.registry.digest,
            skills: epoch.registry.len() as u64,
        };
        self.audit
            .record(AuditEvent::new(self.clock.now(), actor, kind).by(by));
        for shadowed in &report.shadowed {
            tracing::info!(%shadowed, "a skill is left out");
        }
        for failed in &report.failed {
            tracing::warn!(
                source = failed.source,
                skill = failed.skill,
                path = failed.path,
                problems = ?failed.problems,
                "a skill could not be taken in"
            );
        }
        Ok(report)
    }

    /// Builds a registry of what was taken in, and lets turns that begin from now on go by it.
    fn replace(&self, taken: &[Skills]) -> Result<(), Fault> {
        let skills = self.sources.fixed.iter().chain(taken.iter().flatten());
        let mut skills: Skills = skills.cloned().collect();
        add_loader(&mut skills, &self.sources.loads);
        let current = self.epoch();
        let generation = current.registry.generation + 1;
        let refused = |problem: &dyn fmt::Display| {
            // Each part was checked, so only all of them together can be too much.
            Fault::new(
                Code::LimitExceeded,
                format!("the skills cannot stand in one registry: {problem}"),
            )
        };
        let mut registry =
            Registry::build_generation(generation, skills).map_err(|error| refused(&error))?;
        let telling = self.sources.telling.clone();
        bound_constants(&mut registry, &self.limits, telling.redactor.is_some())
            .map_err(|error| refused(&error))?;
        let secrets = self.audit.secret_digest();
        let epoch = Epoch::new(registry, telling, secrets, &self.limits)
            .map_err(|error| refused(&error))?;
        *self.epoch.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(epoch);
        Ok(())
    }
}

/// Lets the next refresh begin, also when this one is dropped.
struct Running<'a>(&'a Sources);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.is_refreshing.store(false, Ordering::Release);
        self.0.refreshed.notify_waiters();
    }
}

/// Adds what loads skills, if any of them has something to load.
pub(super) fn add_loader(skills: &mut Skills, loader: &Arc<dyn Skill>) {
    if skills.iter().any(|skill| skill.content().is_some()) {
        skills.push(Arc::clone(loader));
    }
}
