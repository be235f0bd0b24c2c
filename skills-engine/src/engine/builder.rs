use std::borrow::Cow;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use dashmap::DashMap;

use super::Engine;
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::reaper::reap;
use super::report::BuildReport;
use super::search::{SkillSearch, TermSearch};
use crate::audit::{AuditEvent, AuditKey, AuditKind, AuditLog, AuditSink, MemoryRing};
use crate::prompt::{PromptComposer, StandardComposer};
use crate::registry::{BuildError, Registry};
use crate::session::VisibilityStore;
use crate::skill::{
    Actor, Clock, Limits, Make, Resources, Skill, SkillEntry, SkillType, SystemClock,
    check_skill_id, nearest,
};
use crate::snapshot::{BlockingPool, bound_constants};
use crate::source::{Linked, Provided, blocks_by_type, construct, linked_entries, typed_skill};
use crate::store::MemoryStore;
use crate::tools::PslSkill;

/// Puts an [`Engine`] together.
#[must_use]
pub struct EngineBuilder {
    linked: Linked,
    resources: Resources,
    provided: Vec<Provided>,
    skills: Vec<Arc<dyn Skill>>,
    without: BTreeSet<String>,
    disabled: BTreeSet<String>,
    expected: Vec<&'static str>,
    is_enabled: bool,
    limits: Limits,
    clock: Arc<dyn Clock>,
    store: Arc<dyn VisibilityStore>,
    sinks: Vec<Arc<dyn AuditSink>>,
    audit_key: Option<AuditKey>,
    composer: Arc<dyn PromptComposer>,
    search: Arc<dyn SkillSearch>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            linked: Linked::All,
            resources: Resources::default(),
            provided: Vec::new(),
            skills: Vec::new(),
            without: BTreeSet::new(),
            disabled: BTreeSet::new(),
            expected: Vec::new(),
            is_enabled: true,
            limits: Limits::default(),
            clock: Arc::new(SystemClock::default()),
            store: Arc::new(MemoryStore::default()),
            sinks: Vec::new(),
            audit_key: None,
            composer: Arc::new(StandardComposer::default()),
            search: Arc::new(TermSearch::default()),
        }
    }
}

impl EngineBuilder {
    /// Chooses which linked skills to take. The default is all of them.
    pub fn linked(mut self, linked: Linked) -> Self {
        self.linked = linked;
        self
    }

    /// Puts a value for the factories of skills.
    pub fn resource<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.resources.put(value);
        self
    }

    /// Puts a value for the factories of skills that the host keeps too.
    pub fn resource_arc<T: Send + Sync + 'static>(self, value: Arc<T>) -> Self {
        self.resources.put_shared(value);
        self
    }

    /// Takes an instance of an annotated type in, instead of the one the engine would make.
    pub fn skill<T: SkillType>(self, value: T) -> Self {
        self.skill_arc(T::entry().id, Arc::new(value))
    }

    /// Takes an instance in under an id of its own, so that one type can be several skills.
    pub fn skill_as<T: SkillType>(self, id: impl Into<Cow<'static, str>>, value: T) -> Self {
        self.skill_arc(id, Arc::new(value))
    }

    /// Takes an instance in that the host keeps too.
    pub fn skill_arc<T: SkillType>(
        mut self,
        id: impl Into<Cow<'static, str>>,
        value: Arc<T>,
    ) -> Self {
        self.provided.push(Provided {
            id: id.into(),
            entry: T::entry(),
            instance: value,
        });
        self
    }

    /// Takes a skill in that is not an annotated type, such as one of a `SkillBuilder`.
    pub fn with_skill(mut self, skill: impl Skill) -> Self {
        self.skills.push(Arc::new(skill));
        self
    }

    /// Leaves a linked skill out.
    pub fn without(mut self, id: impl Into<String>) -> Self {
        self.without.insert(id.into());
        self
    }

    /// Keeps a skill from every model; it stays reachable in code.
    pub fn disable(mut self, id: impl Into<String>) -> Self {
        self.disabled.insert(id.into());
        self
    }

    /// Switches the whole engine: while it is off, models see nothing, and skills stay reachable in code.
    pub fn enabled(mut self, is_enabled: bool) -> Self {
        self.is_enabled = is_enabled;
        self
    }

    /// Fails the build when no skill of a package arrived.
    pub fn expect_crate(mut self, package: &'static str) -> Self {
        self.expected.push(package);
        self
    }

    /// Sets the bounds on everything that input can drive.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets how long a session may be idle before it is ended.
    pub fn session_idle(mut self, idle: Duration) -> Self {
        self.limits.session_idle = idle;
        self
    }

    /// Sets where time comes from.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets where grants are kept. The default is this process's memory.
    pub fn store(mut self, store: Arc<dyn VisibilityStore>) -> Self {
        self.store = store;
        self
    }

    /// Adds a place where the audit trail is written. Without any it is a ring in memory.
    pub fn audit(mut self, sink: Arc<dyn AuditSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Sets the key that makes the audit chain proof against more than accidents.
    pub fn audit_key(mut self, key: AuditKey) -> Self {
        self.audit_key = Some(key);
        self
    }

    /// Sets who writes the prompt.
    pub fn prompt_composer(mut self, composer: Arc<dyn PromptComposer>) -> Self {
        self.composer = composer;
        self
    }

    /// Sets how skills are found.
    pub fn search(mut self, search: Arc<dyn SkillSearch>) -> Self {
        self.search = search;
        self
    }

    /// Makes every skill, checks the whole, and starts the engine's background tasks.
    ///
    /// # Errors
    ///
    /// Lists every problem there is: skills that cannot be made or need each other in a circle, ids and names used
    /// twice, tools that would have one name on the wire, crates that were expected and did not arrive.
    ///
    /// Fails outside of a tokio runtime, and on one without timers.
    #[expect(
        clippy::unused_async,
        reason = "it must run inside a runtime, and sources that load files will await"
    )]
    pub async fn build(mut self) -> Result<Engine, BuildError> {
        if !self.without.contains(PslSkill::entry().id) {
            self.provided.push(Provided {
                id: Cow::Borrowed(PslSkill::entry().id),
                entry: PslSkill::entry(),
                instance: Arc::new(PslSkill),
            });
        }
        check_runtime(&*self.clock).map_err(|problem| BuildError::new(vec![problem.to_owned()]))?;
        let mut registry = self.registry()?;
        bound_constants(&mut registry, &self.limits)?;
        let report = BuildReport::new(&registry, |name| self.names_crate(name));
        let Self {
            limits,
            clock,
            store,
            mut sinks,
            audit_key,
            composer,
            search,
            disabled,
            is_enabled,
            ..
        } = self;
        let is_off = |id: &str| disabled.contains(id);
        let epoch = Arc::new(Epoch::new(
            registry,
            is_off,
            Arc::clone(&composer),
            limits.view_cache,
        )?);
        let off = if is_enabled {
            None
        } else {
            Some(Arc::new(Epoch::new(
                Registry::build(Vec::new())?,
                |_| false,
                composer,
                0,
            )?))
        };
        let ring = sinks.is_empty().then(|| Arc::new(MemoryRing::default()));
        sinks.extend(ring.clone().map(|ring| ring as Arc<dyn AuditSink>));
        let audit = AuditLog::start(sinks, Arc::clone(&clock), &limits, audit_key);
        for linked in report.unnamed() {
            tracing::info!(
                package = linked.name,
                version = linked.version,
                "skills of a crate that nobody named"
            );
        }
        audit.record(AuditEvent::new(
            clock.now(),
            Actor::System,
            AuditKind::RegistryBuilt {
                digest: epoch.registry.digest,
                skills: epoch.registry.len() as u64,
                crates: report
                    .crates
                    .iter()
                    .map(|linked| format!("{} {}", linked.name, linked.version).into())
                    .collect(),
            },
        ));
        let every =
            (limits.session_idle / 16).clamp(Duration::from_secs(1), Duration::from_secs(60));
        let inner = Arc::new(EngineInner {
            epoch: RwLock::new(epoch),
            off,
            sessions: DashMap::new(),
            counts: DashMap::new(),
            store,
            audit,
            clock: Arc::clone(&clock),
            pool: BlockingPool::new(limits.blocking_threads),
            limits,
            search,
            incarnations: AtomicU64::new(1),
            quiet: tokio::sync::Notify::new(),
        });
        tokio::spawn(reap(Arc::downgrade(&inner), clock, every));
        Ok(Engine {
            inner,
            ring,
            report: Arc::new(report),
        })
    }

    /// Everything that can be checked before tools are named on the wire, and all that is wrong with it.
    fn registry(&self) -> Result<Registry, BuildError> {
        let mut problems = self.missing_crates();
        let skills = self.gather(&mut problems);
        problems.extend(self.unknown_ids(&skills));
        match Registry::build(skills) {
            Ok(registry) if problems.is_empty() => Ok(registry),
            Ok(_) => Err(BuildError::new(problems)),
            Err(found) => {
                problems.extend_from_slice(found.problems());
                Err(BuildError::new(problems))
            }
        }
    }

    /// All skills of all sources, each made once, as far as they can be made.
    fn gather(&self, problems: &mut Vec<String>) -> Vec<Arc<dyn Skill>> {
        // An instance under another id stands beside the type's own; only where the engine cannot make one, it is enough.
        let is_provided = |entry: &SkillEntry| {
            self.provided.iter().any(|provided| {
                (provided.entry.type_id)() == (entry.type_id)()
                    && (provided.id == entry.id || matches!(entry.make, Make::Manual))
            })
        };
        let linked: Vec<_> = linked_entries(self.linked)
            .into_iter()
            .filter(|entry| !self.without.contains(entry.id))
            .collect();
        let to_make: Vec<_> = linked
            .iter()
            .copied()
            .filter(|entry| !is_provided(entry))
            .collect();
        let blocks = blocks_by_type();
        let mut skills = self.skills.clone();
        let mut add = |id: Cow<'static, str>, entry: &'static SkillEntry, instance| {
            let blocks = blocks
                .get(&(entry.type_id)())
                .map_or(&[][..], Vec::as_slice);
            typed_skill(id, entry, blocks, instance).map(|skill| skills.push(skill))
        };
        let (made, found) = construct(&to_make, &self.provided, &self.resources);
        problems.extend(found);
        for made in made {
            if let Err(found) = add(Cow::Borrowed(made.entry.id), made.entry, made.instance) {
                problems.extend(found);
            }
        }
        for provided in &self.provided {
            if let Err(fault) = check_skill_id(&provided.id) {
                problems.push(fault.message);
            }
            if let Err(found) = add(
                provided.id.clone(),
                provided.entry,
                Arc::clone(&provided.instance),
            ) {
                problems.extend(found);
            }
        }
        skills
    }

    fn names_crate(&self, name: &str) -> bool {
        let is_listed = matches!(self.linked, Linked::Only(crates) if crates.contains(&name));
        is_listed || self.expected.contains(&name)
    }

    fn missing_crates(&self) -> Vec<String> {
        let arrived: BTreeSet<_> = linked_entries(Linked::All)
            .into_iter()
            .map(|entry| entry.origin.crate_name)
            .collect();
        self.expected
            .iter()
            .filter(|package| !arrived.contains(*package))
            .map(|package| {
                let near = did_you_mean(package, arrived.iter().copied());
                format!(
                    "no skill of crate `{package}` arrived{near}: either nothing uses the crate, so that it is not linked (write \
                     `skills_engine::link!({});`), or the build holds two versions of `skills-engine` (see `cargo tree -d`)",
                    package.replace('-', "_"),
                )
            })
            .collect()
    }

    /// Ids that name no skill are mistakes, and would otherwise leave on what was to be off.
    fn unknown_ids(&self, skills: &[Arc<dyn Skill>]) -> Vec<String> {
        let linked = linked_entries(self.linked);
        let is_known = |id: &str| {
            id == PslSkill::entry().id
                || skills.iter().any(|skill| skill.definition().id == id)
                || linked.iter().any(|entry| entry.id == id)
        };
        let unknown = |method: &str, ids: &BTreeSet<String>| -> Vec<String> {
            ids.iter()
                .filter(|id| !is_known(id))
                .map(|id| {
                    let known = skills.iter().map(|skill| &*skill.definition().id);
                    let near = did_you_mean(id, known.chain(linked.iter().map(|entry| entry.id)));
                    format!("`builder.{method}(\"{id}\")` names no skill{near}; check the id")
                })
                .collect()
        };
        let mut problems = unknown("disable", &self.disabled);
        problems.extend(unknown("without", &self.without));
        problems
    }
}

/// Background tasks and deadlines need a runtime that has timers.
fn check_runtime(clock: &dyn Clock) -> Result<(), &'static str> {
    if tokio::runtime::Handle::try_current().is_err() {
        return Err("an engine is built inside a tokio runtime; call `build` from one");
    }
    // Tokio tells of missing timers only by a panic.
    catch_unwind(AssertUnwindSafe(|| drop(clock.sleep(Duration::ZERO))))
        .map_err(|_| "the tokio runtime has no timers; build it with `enable_time` or `enable_all`")
}

/// Words that suggest a name that is there for one that is not; empty when none is near.
fn did_you_mean<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    nearest(name, names).map_or_else(String::new, |near| format!(" (did you mean `{near}`?)"))
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("EngineBuilder")
            .field("linked", &self.linked)
            .finish_non_exhaustive()
    }
}
