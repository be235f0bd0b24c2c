use std::collections::{BTreeMap, HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::refresh::{RefreshReport, Skills};
use crate::registry::{Registry, whence};
use crate::skill::{Limits, Skill, SkillType as _};
use crate::snapshot::bound_constants;
use crate::source::{FailedSkill, Precedence, ShadowedSkill, SkillSource};
use crate::tools::{ExportOptions, LOADER, PslSkill, name_on_wire};

/// The ids of the skills of the engine's own.
pub(super) fn own_ids() -> [&'static str; 2] {
    [PslSkill::entry().id, LOADER]
}

/// Takes skills in, one by one, as far as each goes with those before it.
pub(super) struct Intake<'a> {
    limits: &'a Limits,
    /// What sources gave before, by id.
    before: BTreeMap<String, Arc<dyn Skill>>,
    now: BTreeMap<String, Arc<dyn Skill>>,
    ids: HashSet<String>,
    /// Who has a name on the wire.
    names: HashMap<String, String>,
    pub(super) failed: Vec<FailedSkill>,
}

impl<'a> Intake<'a> {
    pub(super) fn new(fixed: &Skills, before: &[Skills], limits: &'a Limits) -> Self {
        let before = before.iter().flatten();
        let mut intake = Self {
            limits,
            before: before
                .map(|skill| (id_of(skill), Arc::clone(skill)))
                .collect(),
            now: BTreeMap::new(),
            ids: HashSet::new(),
            names: HashMap::new(),
            failed: Vec::new(),
        };
        for skill in fixed {
            intake.reserve(skill);
        }
        intake
    }

    pub(super) fn fail(&mut self, source: &str, skill: Option<String>, problems: Vec<String>) {
        self.failed.push(FailedSkill::new(source, skill, problems));
    }

    /// What there was before comes first, so that a newcomer is refused where the two cannot stand together. The skills
    /// of each source are in the order it gave them in.
    pub(super) fn take(
        &mut self,
        sources: &[Arc<dyn SkillSource>],
        before: &[Skills],
        offered: &[Skills],
    ) -> Vec<Skills> {
        let by_id = |skills: &[Arc<dyn Skill>]| -> HashMap<String, Arc<dyn Skill>> {
            let pairs = skills.iter().map(|skill| (id_of(skill), Arc::clone(skill)));
            pairs.collect()
        };
        let earlier: Vec<_> = before.iter().map(|skills| by_id(skills)).collect();
        let mut taken: Vec<Vec<(usize, Arc<dyn Skill>)>> = vec![Vec::new(); offered.len()];
        for are_known in [true, false] {
            for (((source, earlier), skills), taken) in
                sources.iter().zip(&earlier).zip(offered).zip(&mut taken)
            {
                let mut counts: HashMap<&str, usize> = HashMap::with_capacity(skills.len());
                for skill in skills {
                    *counts.entry(&skill.definition().id).or_default() += 1;
                }
                for (at, skill) in skills.iter().enumerate() {
                    let id = &*skill.definition().id;
                    let known = earlier.get(id);
                    if known.is_some() != are_known {
                        continue;
                    }
                    // The first of several speaks for all.
                    let Some(count) = counts.remove(id) else {
                        continue;
                    };
                    let skill = self.take_one(source.name(), skill, known, count > 1);
                    taken.extend(skill.map(|skill| (at, skill)));
                }
            }
        }
        let in_order = |mut taken: Vec<(usize, Arc<dyn Skill>)>| {
            taken.sort_by_key(|(at, _)| *at);
            taken.into_iter().map(|(_, skill)| skill).collect()
        };
        taken.into_iter().map(in_order).collect()
    }

    fn take_one(
        &mut self,
        source: &str,
        skill: &Arc<dyn Skill>,
        earlier: Option<&Arc<dyn Skill>>,
        is_twice: bool,
    ) -> Option<Arc<dyn Skill>> {
        let admitted = if is_twice {
            let id = id_of(skill);
            Err(vec![format!(
                "the source has two skills with the id `{id}`; rename one"
            )])
        } else {
            self.admitted(skill)
        };
        let mut problems = match admitted {
            Ok(()) => return Some(Arc::clone(skill)),
            Err(problems) => problems,
        };
        // A broken version must not take the last good one away.
        let stays = earlier.filter(|earlier| self.admitted(earlier).is_ok());
        if stays.is_some() {
            problems.push("its last good version stays".to_owned());
        }
        self.fail(source, Some(id_of(skill)), problems);
        stays.cloned()
    }

    fn admitted(&mut self, skill: &Arc<dyn Skill>) -> Result<(), Vec<String>> {
        let id = id_of(skill);
        if own_ids().contains(&&*id) {
            // The rule knows them by their ids, even where an engine has been built without them.
            return Err(vec![format!(
                "the id `{id}` is the engine's own; give the skill another one"
            )]);
        }
        let before = self.before.get(&id);
        // What stands in the registry already need not be checked again.
        if !before.is_some_and(|before| Arc::ptr_eq(before, skill)) {
            self.checked(skill)?;
        }
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
        self.now.insert(id, Arc::clone(skill));
        Ok(())
    }

    /// Everything that can be said of a skill alone; its digest when it is good.
    fn checked(&self, skill: &Arc<dyn Skill>) -> Result<[u8; 32], Vec<String>> {
        // One skill that panics must not keep all others from being taken in.
        catch_unwind(AssertUnwindSafe(|| self.checked_alone(skill)))
            .unwrap_or_else(|_| Err(vec!["it panicked; see to the skill".to_owned()]))
    }

    fn checked_alone(&self, skill: &Arc<dyn Skill>) -> Result<[u8; 32], Vec<String>> {
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

    pub(super) fn reserve(&mut self, skill: &Arc<dyn Skill>) {
        let id = id_of(skill);
        for tool in skill.tools() {
            let name = name_on_wire(skill.definition(), &tool.definition.name);
            self.names.insert(name, id.clone());
        }
        self.ids.insert(id);
    }

    pub(super) fn report(&mut self, taken: &[Skills]) -> RefreshReport {
        let mut report = RefreshReport {
            failed: std::mem::take(&mut self.failed),
            ..RefreshReport::default()
        };
        for skill in taken.iter().flatten() {
            let id = id_of(skill);
            match self.before.get(&id) {
                None => report.added.push(id),
                Some(before) if self.differ(before, skill) => report.changed.push(id),
                Some(_) => {}
            }
        }
        let gone = self.before.keys().filter(|id| !self.now.contains_key(*id));
        report.removed = gone.cloned().collect();
        report.added.sort_unstable();
        report.changed.sort_unstable();
        report
    }

    /// Whether two versions of a skill differ in something that matters to anybody.
    fn differ(&self, before: &Arc<dyn Skill>, now: &Arc<dyn Skill>) -> bool {
        !Arc::ptr_eq(before, now) && self.checked(before).ok() != self.checked(now).ok()
    }
}

/// Leaves out what another skill goes before, and tells of it. What sources give as equals is not looked at here: two of
/// those with one id are a mistake.
pub(super) fn shadow(
    fixed: &[Arc<dyn Skill>],
    sources: &[Arc<dyn SkillSource>],
    offered: &mut [Skills],
) -> Vec<ShadowedSkill> {
    // The engine's own skills are known by their ids, even where there are none.
    let own = own_ids().map(|id| (id.to_owned(), "the engine".to_owned()));
    let mut first: HashMap<String, String> = HashMap::from(own);
    for skill in fixed {
        first.insert(id_of(skill), whence(&**skill));
    }
    let mut order: Vec<usize> = (0..offered.len().min(sources.len())).collect();
    order.sort_by_key(|at| sources[*at].precedence());
    let mut shadowed = Vec::new();
    for at in order {
        let source = &*sources[at];
        if source.precedence() != Precedence::Equal {
            offered[at].retain(|skill| {
                let Some(by) = first.get(&*skill.definition().id) else {
                    return true;
                };
                let left_out = ShadowedSkill::new(source.name(), id_of(skill), by);
                let path = skill.content().and_then(|content| content.base_dir());
                shadowed.push(match path {
                    Some(path) => left_out.at(path),
                    None => left_out,
                });
                false
            });
        }
        for skill in &offered[at] {
            let path = skill.content().and_then(|content| content.base_dir());
            let by = path.map_or_else(|| format!("the source `{}`", source.name()), str::to_owned);
            first.entry(id_of(skill)).or_insert(by);
        }
    }
    shadowed
}

fn id_of(skill: &Arc<dyn Skill>) -> String {
    skill.definition().id.clone().into_owned()
}
