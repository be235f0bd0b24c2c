use std::borrow::Cow;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use super::epoch::Epoch;
use super::follow::follow;
use super::governance::Governance;
use super::inner::EngineInner;
use super::intake::shadow;
use super::reaper::reap;
use super::refresh::{Answered, Skills, Sources, add_loader, leave_out, load};
use super::report::BuildReport;
use super::sessions::Sessions;
use super::settled::Settled;
use super::telling::Telling;
use super::{Engine, EngineBuilder};
use crate::audit::{
    AuditContents, AuditDetail, AuditEvent, AuditKind, AuditLog, AuditSink, MemoryContents,
    MemoryRing,
};
use crate::registry::{BuildError, Registry};
use crate::skill::{
    Actor, BlockingPool, Clock, Make, Skill, SkillEntry, SkillType, check_skill_id, nearest,
};
use crate::snapshot::bound_constants;
use crate::source::{
    Diagnostic, FailedSkill, Provided, ShadowedSkill, blocks_by_type, construct, linked_entries,
    linked_folder_ids, linked_packages, linked_sources, typed_skill,
};
use crate::tools::{LOADER, PslSkill, loader};

/// What all sources gave.
#[derive(Default)]
struct LoadedSources {
    /// By source.
    skills: Vec<Skills>,
    answers: Vec<Answered>,
    failed: Vec<FailedSkill>,
    shadowed: Vec<ShadowedSkill>,
    diagnostics: Vec<Diagnostic>,
}

impl EngineBuilder {
    /// Makes every skill, checks the whole, and starts the engine's background tasks.
    ///
    /// # Errors
    ///
    /// Lists every problem there is: skills that cannot be made or need each other in a circle, ids and names used
    /// twice, tools that would have one name on the wire, crates that were expected and did not arrive.
    ///
    /// Fails outside of a tokio runtime, and on one without timers.
    pub async fn build(mut self) -> Result<Engine, BuildError> {
        self.provide_control();
        check_runtime(&*self.clock).map_err(|problem| BuildError::new(vec![problem.to_owned()]))?;
        let mut settled = self.settle();
        let mut loaded = self.load_sources(&mut settled).await;
        let loads =
            loader(&self.telling.profile).map_err(|fault| BuildError::new(vec![fault.message]))?;
        let (mut registry, fixed, shadowed) =
            self.registry(&settled, &mut loaded.skills, &loads)?;
        loaded.shadowed.extend(shadowed);
        let Settled {
            settings,
            roles,
            switched_off,
            audit_key,
            report: settings_report,
            ..
        } = settled;
        let limits = settings.limits;
        bound_constants(&mut registry, &limits, self.telling.redactor.is_some())?;
        let mut report = BuildReport::new(&registry, &roles, |name| {
            settings.linked.names(name) || self.expected.contains(&name)
        });
        report.failed = loaded.failed;
        report.shadowed = loaded.shadowed;
        report.diagnostics = loaded.diagnostics;
        let Self {
            clock,
            store,
            mut sinks,
            audit_detail,
            contents,
            telling,
            search,
            told,
            approvals,
            policy,
            sources,
            without,
            ..
        } = self;
        let sources = Sources::new(
            sources,
            fixed,
            loads,
            loaded.skills,
            loaded.answers,
            telling.clone(),
            told,
        )
        .without(without);
        let ring = sinks.is_empty().then(|| Arc::new(MemoryRing::default()));
        sinks.extend(ring.clone().map(|ring| ring as Arc<dyn AuditSink>));
        let audit = AuditLog::start(sinks, Arc::clone(&clock), &limits, audit_key);
        let epoch = |registry, telling| {
            Epoch::new(registry, telling, audit.secret_digest(), &limits).map(Arc::new)
        };
        let off = if settings.enabled {
            None
        } else {
            Some(epoch(Registry::build(Vec::new())?, Telling::standard())?)
        };
        let epoch = epoch(registry, telling)?;
        tell(&audit, &*clock, &epoch.registry, &report);
        let every =
            (limits.session_idle / 16).clamp(Duration::from_secs(1), Duration::from_secs(60));
        let inner = Arc::new(EngineInner {
            epoch: RwLock::new(epoch),
            off,
            sessions: Sessions::default(),
            store,
            audit,
            contents: match audit_detail {
                AuditDetail::Digest => None,
                AuditDetail::Content => {
                    let kept = || Arc::new(MemoryContents::new(limits.contents_kept)) as _;
                    let contents = contents.unwrap_or_else(kept);
                    Some(AuditContents::start(contents, Arc::clone(&clock), &limits))
                }
            },
            clock: Arc::clone(&clock),
            pool: BlockingPool::new(limits.blocking_threads),
            limits,
            search,
            loading: settings.loading,
            governance: Governance::new(roles, settings.psl_control, policy, switched_off),
            sources,
            approvals,
            incarnations: AtomicU64::new(1),
            quiet: tokio::sync::Notify::new(),
        });
        follow(&inner);
        tokio::spawn(reap(Arc::downgrade(&inner), clock, every));
        Ok(Engine {
            inner,
            ring,
            report: Arc::new(report),
            settings: Arc::new(settings_report),
        })
    }

    /// Takes the skill in through which the model opens others.
    fn provide_control(&mut self) {
        if !self.without.contains(PslSkill::entry().id) {
            self.provided.push(Provided {
                id: Cow::Borrowed(PslSkill::entry().id),
                entry: PslSkill::entry(),
                instance: Arc::new(PslSkill),
            });
        }
    }

    /// Everything that can be checked before tools are named on the wire, and all that is wrong with it.
    fn registry(
        &self,
        settled: &Settled,
        loaded: &mut [Skills],
        loads: &Arc<dyn Skill>,
    ) -> Result<(Registry, Skills, Vec<ShadowedSkill>), BuildError> {
        let mut linked = linked_entries(|package| settled.settings.linked.takes(package));
        for made in &self.made {
            if !linked.iter().any(|entry| std::ptr::eq(*entry, *made)) {
                linked.push(made);
            }
        }
        let mut problems = settled.problems.clone();
        problems.extend(self.missing_crates(settled));
        let fixed = self.gather(&linked, &mut problems);
        let shadowed = shadow(&fixed, &self.sources, loaded);
        let mut skills = fixed.clone();
        skills.extend(loaded.iter().flatten().cloned());
        if settled.places.contains_key("linked") {
            // What settings leave out is a skill of the program all the same.
            linked.extend(linked_entries(|_| true));
        }
        problems.extend(self.unknown_ids(settled, &skills, &linked));
        add_loader(&mut skills, loads);
        match Registry::build(skills) {
            Ok(registry) if problems.is_empty() => Ok((registry, fixed, shadowed)),
            Ok(_) => Err(BuildError::new(problems)),
            Err(found) => {
                problems.extend_from_slice(found.problems());
                Err(BuildError::new(problems))
            }
        }
    }

    /// What the sources have, the folders of the settings and those in linked crates as the last of them. One that gives no answer is a problem of
    /// the build.
    async fn load_sources(&mut self, settled: &mut Settled) -> LoadedSources {
        #[cfg(feature = "folders")]
        for source in settled.settings.folder_sources() {
            self.sources.push(Arc::new(source));
        }
        let linked = &settled.settings.linked;
        self.sources
            .extend(linked_sources(|name| linked.takes(name)));
        let mut all = LoadedSources::default();
        for source in &self.sources {
            let revision = source.revision();
            match load(&**source, &*self.clock, &settled.settings.limits).await {
                Ok(mut loaded) => {
                    let left_out = leave_out(&mut loaded, &self.without);
                    settled.left_out.extend(left_out);
                    all.answers.push(Answered {
                        loaded: loaded.clone(),
                        revision,
                    });
                    all.skills.push(loaded.skills);
                    all.failed.extend(loaded.failed);
                    all.shadowed.extend(loaded.shadowed);
                    all.diagnostics.extend(loaded.diagnostics);
                }
                Err(problem) => {
                    all.skills.push(Vec::new());
                    let problem = format!("source `{}`: {problem}", source.name());
                    settled.problems.push(problem);
                }
            }
        }
        all
    }

    /// All skills but those of sources, each made once, as far as they can be made.
    fn gather(
        &self,
        linked: &[&'static SkillEntry],
        problems: &mut Vec<String>,
    ) -> Vec<Arc<dyn Skill>> {
        // An instance under another id stands beside the type's own; only where the engine cannot make one, it is enough.
        let is_provided = |entry: &SkillEntry| {
            self.provided.iter().any(|provided| {
                (provided.entry.type_id)() == (entry.type_id)()
                    && (provided.id == entry.id || matches!(entry.make, Make::Manual))
            })
        };
        let to_make: Vec<_> = linked
            .iter()
            .copied()
            .filter(|entry| !self.without.contains(entry.id) && !is_provided(entry))
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

    fn missing_crates(&self, settled: &Settled) -> Vec<String> {
        let arrived = linked_packages();
        let missing = |place: Option<&String>, package: &str| {
            let near = did_you_mean(package, arrived.iter().copied());
            let place = place.map_or_else(String::new, |place| format!("{place}: "));
            format!(
                "{place}no skill of crate `{package}` arrived{near}: either nothing uses the crate, so that it is not linked (write \
                 `skills_engine::link!({});`), or the build holds two versions of `skills-engine` (see `cargo tree -d`)",
                package.replace('-', "_"),
            )
        };
        let has_not_arrived = |package: &str| !arrived.contains(package);
        let expected = self
            .expected
            .iter()
            .filter(|package| has_not_arrived(package))
            .map(|package| missing(None, package));
        let place = settled.places.get("linked");
        let listed = settled
            .settings
            .linked
            .listed()
            .iter()
            .filter(|package| place.is_some() && has_not_arrived(package))
            .map(|package| missing(place, package));
        expected.chain(listed).collect()
    }

    /// Ids that name no skill are mistakes, and would otherwise leave on what was to be off.
    fn unknown_ids(
        &self,
        settled: &Settled,
        skills: &[Arc<dyn Skill>],
        linked: &[&'static SkillEntry],
    ) -> Vec<String> {
        // As above, and what `without` leaves out of sources is in no list.
        let mut folders = if settled.places.contains_key("linked") {
            linked_folder_ids(|_| true)
        } else {
            Vec::new()
        };
        folders.extend_from_slice(&settled.left_out);
        let is_known = |id: &str| {
            id == PslSkill::entry().id
                || id == LOADER
                || skills.iter().any(|skill| skill.definition().id == id)
                || linked.iter().any(|entry| entry.id == id)
                || folders.iter().any(|folder| folder == id)
        };
        let problem = |place: &str, id: &str| {
            let known = skills.iter().map(|skill| &*skill.definition().id);
            let known = known.chain(linked.iter().map(|entry| entry.id));
            let near = did_you_mean(id, known.chain(folders.iter().map(String::as_str)));
            format!("{place} names no skill{near}; check the id")
        };
        let unknown = |method: &str, ids: &BTreeSet<String>| -> Vec<String> {
            ids.iter()
                .filter(|id| !is_known(id))
                .map(|id| problem(&format!("`builder.{method}(\"{id}\")`"), id))
                .collect()
        };
        let mut problems = unknown("disable", &self.disabled);
        problems.extend(unknown("without", &self.without));
        for id in settled.settings.skills.keys() {
            if !is_known(id) && !self.disabled.contains(id) {
                problems.push(problem(&settled.skill_place(id), id));
            }
        }
        problems
    }
}

/// Says what an engine was built of.
fn tell(audit: &AuditLog, clock: &dyn Clock, registry: &Registry, report: &BuildReport) {
    for linked in report.unnamed() {
        tracing::info!(
            package = linked.name,
            version = linked.version,
            "skills of a crate that nobody named"
        );
    }
    for failed in &report.failed {
        tracing::warn!(%failed, "a skill could not be taken in");
    }
    for shadowed in &report.shadowed {
        tracing::info!(%shadowed, "a skill is left out");
    }
    for pattern in &report.unmatched_patterns {
        tracing::warn!(pattern, "a role names nothing there is");
    }
    audit.record(AuditEvent::new(
        clock.now(),
        Actor::System,
        AuditKind::RegistryBuilt {
            digest: registry.digest,
            skills: registry.len() as u64,
            crates: report
                .crates
                .iter()
                .map(|linked| format!("{} {}", linked.name, linked.version).into())
                .collect(),
        },
    ));
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
