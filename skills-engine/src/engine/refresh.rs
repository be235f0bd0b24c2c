use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use sha2::{Digest as _, Sha256};

use super::Engine;
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::telling::Telling;
use crate::audit::{AuditEvent, AuditKind};
use crate::registry::Registry;
use crate::skill::{Actor, Clock, Code, Fault, Limits, Principal, Skill, lock, within};
use crate::snapshot::bound_constants;
use crate::source::SkillSource;
use crate::tools::{ExportOptions, name_on_wire};

type Skills = Vec<Arc<dyn Skill>>;

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
}

/// A skill, or a whole source, that could not be taken in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedSkill {
    /// The source's name.
    pub source: String,
    /// The skill's id; `None` when the source itself gave no answer.
    pub skill: Option<String>,
    /// What is wrong, and what to do about it.
    pub problems: Vec<String>,
}

impl fmt::Display for FailedSkill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.skill {
            Some(skill) => write!(formatter, "skill `{skill}` of `{}`: ", self.source)?,
            None => write!(formatter, "`{}`: ", self.source)?,
        }
        formatter.write_str(&self.problems.join("; "))
    }
}

/// The sources of an engine, and what they gave last.
pub(super) struct Sources {
    all: Vec<Arc<dyn SkillSource>>,
    /// Skills that no source gave: they stay as they are.
    fixed: Skills,
    /// Stands in registries in which a skill has content.
    loads: Arc<dyn Skill>,
    loaded: Mutex<Vec<Skills>>,
    is_refreshing: AtomicBool,
    telling: Telling,
}

impl Sources {
    pub(super) fn new(
        sources: Vec<Arc<dyn SkillSource>>,
        fixed: Skills,
        loads: Arc<dyn Skill>,
        loaded: Vec<Skills>,
        telling: Telling,
    ) -> Self {
        Self {
            all: sources,
            fixed,
            loads,
            loaded: Mutex::new(loaded),
            is_refreshing: AtomicBool::new(false),
            telling,
        }
    }
}

/// Asks a source, for as long as it may take.
pub(super) async fn load(
    source: &dyn SkillSource,
    clock: &dyn Clock,
    limits: &Limits,
) -> Result<Skills, String> {
    // The call itself may panic, too, not only its future.
    let loading = AssertUnwindSafe(async { source.load().await }).catch_unwind();
    match within(clock, limits.source_timeout, loading).await {
        Some(Ok(result)) => result.map_err(|fault| fault.message),
        Some(Err(_)) => Err("it panicked; see to the source".to_owned()),
        None => Err(format!(
            "it gave no answer within {} seconds; raise `source_timeout`, or see to the source",
            limits.source_timeout.as_secs_f64()
        )),
    }
}

impl Engine {
    /// Asks all sources anew and replaces the registry. Turns that run go on with what they began with; the next
    /// ones see what came of it.
    ///
    /// # Errors
    ///
    /// `conflict` while another refresh runs. What is wrong with single skills or sources stands in the report.
    pub async fn refresh(&self) -> Result<RefreshReport, Fault> {
        self.inner.refresh(Actor::Host, None).await
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
        self.inner.refresh(Actor::User, by).await
    }
}

impl EngineInner {
    async fn refresh(&self, actor: Actor, by: Option<Arc<str>>) -> Result<RefreshReport, Fault> {
        if self.sources.is_refreshing.swap(true, Ordering::AcqRel) {
            return Err(Fault::new(
                Code::Conflict,
                "another refresh is running. Wait for its report, or try again",
            ));
        }
        let _running = Running(&self.sources.is_refreshing);
        let before = lock(&self.sources.loaded).clone();
        let mut intake = Intake::new(&self.sources.fixed, &before, &self.limits);
        intake.reserve(&self.sources.loads);
        let mut offered = Vec::new();
        for (source, earlier) in self.sources.all.iter().zip(&before) {
            match load(&**source, &*self.clock, &self.limits).await {
                Ok(skills) => offered.push(skills),
                Err(problem) => {
                    intake.fail(source.name(), None, vec![problem]);
                    offered.push(earlier.clone());
                }
            }
        }
        let taken = intake.take(&self.sources.all, &before, &offered);
        let report = intake.report(&taken);
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
        for failed in &report.failed {
            tracing::warn!(
                source = failed.source,
                skill = failed.skill,
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
struct Running<'a>(&'a AtomicBool);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// Takes skills in, one by one, as far as each goes with those before it.
struct Intake<'a> {
    limits: &'a Limits,
    /// The digests of what sources gave before, by id.
    before: BTreeMap<String, [u8; 32]>,
    now: BTreeMap<String, [u8; 32]>,
    ids: HashSet<String>,
    /// Who has a name on the wire.
    names: HashMap<String, String>,
    failed: Vec<FailedSkill>,
}

impl<'a> Intake<'a> {
    fn new(fixed: &Skills, before: &[Skills], limits: &'a Limits) -> Self {
        let mut intake = Self {
            limits,
            before: BTreeMap::new(),
            now: BTreeMap::new(),
            ids: HashSet::new(),
            names: HashMap::new(),
            failed: Vec::new(),
        };
        for skill in before.iter().flatten() {
            if let Ok(digest) = intake.checked(skill) {
                intake.before.insert(id_of(skill), digest);
            }
        }
        for skill in fixed {
            intake.reserve(skill);
        }
        intake
    }

    fn fail(&mut self, source: &str, skill: Option<String>, problems: Vec<String>) {
        self.failed.push(FailedSkill {
            source: source.to_owned(),
            skill,
            problems,
        });
    }

    /// What there was before comes first, so that a newcomer is refused where the two cannot stand together.
    fn take(
        &mut self,
        sources: &[Arc<dyn SkillSource>],
        before: &[Skills],
        offered: &[Skills],
    ) -> Vec<Skills> {
        let mut taken: Vec<Skills> = vec![Vec::new(); offered.len()];
        for are_known in [true, false] {
            for (((source, earlier), skills), taken) in
                sources.iter().zip(before).zip(offered).zip(&mut taken)
            {
                for (at, skill) in skills.iter().enumerate() {
                    let id = id_of(skill);
                    if skills[..at].iter().any(|other| id_of(other) == id) {
                        continue;
                    }
                    let is_twice = skills[at + 1..].iter().any(|other| id_of(other) == id);
                    let known = earlier.iter().find(|earlier| id_of(earlier) == id);
                    if known.is_some() == are_known {
                        self.take_one(source.name(), skill, known, is_twice, taken);
                    }
                }
            }
        }
        taken
    }

    fn take_one(
        &mut self,
        source: &str,
        skill: &Arc<dyn Skill>,
        earlier: Option<&Arc<dyn Skill>>,
        is_twice: bool,
        taken: &mut Skills,
    ) {
        let admitted = if is_twice {
            let id = id_of(skill);
            Err(vec![format!(
                "the source has two skills with the id `{id}`; rename one"
            )])
        } else {
            self.admitted(skill)
        };
        let mut problems = match admitted {
            Ok(()) => {
                taken.push(Arc::clone(skill));
                return;
            }
            Err(problems) => problems,
        };
        // A broken version must not take the last good one away.
        if let Some(earlier) = earlier
            && self.admitted(earlier).is_ok()
        {
            taken.push(Arc::clone(earlier));
            problems.push("its last good version stays".to_owned());
        }
        self.fail(source, Some(id_of(skill)), problems);
    }

    fn admitted(&mut self, skill: &Arc<dyn Skill>) -> Result<(), Vec<String>> {
        let digest = self.checked(skill)?;
        let id = id_of(skill);
        if self.ids.contains(&id) {
            return Err(vec![format!(
                "another skill has the id `{id}`; give one another id"
            )]);
        }
        let taken = skill.tools().iter().filter_map(|tool| {
            let name = name_on_wire(skill.definition(), &tool.definition.name);
            self.names.get(&name).map(|other| {
                format!(
                    "tool `{}` would be called `{name}`, as one of skill `{other}` is; rename it",
                    tool.definition.name
                )
            })
        });
        let problems: Vec<_> = taken.collect();
        if !problems.is_empty() {
            return Err(problems);
        }
        self.reserve(skill);
        self.now.insert(id, digest);
        Ok(())
    }

    /// Everything that can be said of a skill alone; its digest when it is good.
    fn checked(&self, skill: &Arc<dyn Skill>) -> Result<[u8; 32], Vec<String>> {
        let mut registry =
            Registry::build(vec![Arc::clone(skill)]).map_err(|error| error.problems().to_vec())?;
        bound_constants(&mut registry, self.limits, false)
            .map_err(|error| error.problems().to_vec())?;
        crate::tools::Catalogue::new(&registry, ExportOptions::default())?;
        // It is compared and never shown, so it may cover what the digest of a registry does not.
        let whole = Sha256::new_with_prefix(registry.digest);
        Ok(whole
            .chain_update(registry.sensitive_constants())
            .finalize()
            .into())
    }

    fn reserve(&mut self, skill: &Arc<dyn Skill>) {
        let id = id_of(skill);
        for tool in skill.tools() {
            let name = name_on_wire(skill.definition(), &tool.definition.name);
            self.names.insert(name, id.clone());
        }
        self.ids.insert(id);
    }

    fn report(&mut self, taken: &[Skills]) -> RefreshReport {
        let mut report = RefreshReport {
            failed: std::mem::take(&mut self.failed),
            ..RefreshReport::default()
        };
        for id in taken.iter().flatten().map(id_of) {
            match (self.before.get(&id), self.now.get(&id)) {
                (None, _) => report.added.push(id),
                (Some(before), Some(now)) if before != now => report.changed.push(id),
                (Some(_), _) => {}
            }
        }
        let gone = self.before.keys().filter(|id| !self.now.contains_key(*id));
        report.removed = gone.cloned().collect();
        report.added.sort_unstable();
        report.changed.sort_unstable();
        report
    }
}

/// Adds what loads skills, if any of them has something to load.
pub(super) fn add_loader(skills: &mut Skills, loader: &Arc<dyn Skill>) {
    if skills.iter().any(|skill| skill.content().is_some()) {
        skills.push(Arc::clone(loader));
    }
}

fn id_of(skill: &Arc<dyn Skill>) -> String {
    skill.definition().id.clone().into_owned()
}
