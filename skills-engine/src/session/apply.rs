use std::sync::Arc;

use crate::skill::{Actor, Fault, Level, Limits, StandingGrant, Timestamp};

use super::SessionState;
use super::change::{Applied, Change, ChangeOutcome};
use super::edit::Edit;
use super::grant::{Grant, Lowered, NEVER, above_ceiling, held_by, too_many_grants};
use super::standing::{SkillEntry, capped, uncapped};

impl SessionState {
    /// What the session would have opened after a change. Pure: store the state to make it so.
    ///
    /// `base` gives the base level of a skill. That the skills exist, and whether the actor may change them at
    /// all, was decided before.
    ///
    /// # Errors
    ///
    /// - `held_by` when a higher actor's grant keeps the skill above the level wanted,
    /// - `not_permitted` when an actor below the host wants more than the session's ceiling,
    /// - `limit_exceeded` when there is no room for another grant, or a time to live is out of range.
    pub fn apply(
        &self,
        change: &Change,
        base: &dyn Fn(&str) -> Level,
        now: Timestamp,
        limits: &Limits,
    ) -> Result<Applied, Fault> {
        let mut edit = Edit::new(self, base, now);
        let report = match change {
            Change::Set {
                skill,
                level,
                actor,
                span,
            } => {
                let wanted = Grant {
                    id: edit.version,
                    expires: span.end(now, limits)?,
                    level: *level,
                    actor: *actor,
                };
                edit.set(skill, wanted, limits)?
            }
            Change::Limit { skill, level } => edit.limit(skill, *level),
            Change::Clear {
                skill: Some(skill),
                actor,
            } => edit.clear(skill, *actor),
            Change::Clear { skill: None, actor } => edit.clear_all(*actor),
            Change::Expire => Report::default(),
            Change::Revoke {
                skill,
                grant,
                before,
            } => edit.revoke(skill, *grant, before),
        };
        let mut applied = edit.finish();
        report.fill(&mut applied.outcome);
        Ok(applied)
    }
}

/// What one change has to tell beside what every change does.
#[derive(Default)]
struct Report {
    levels: (Level, Level),
    already_open: bool,
    grant: Option<u64>,
    cleared: Vec<StandingGrant>,
    remaining: Vec<StandingGrant>,
}

impl Report {
    fn fill(self, outcome: &mut ChangeOutcome) {
        (outcome.old_level, outcome.new_level) = self.levels;
        outcome.already_open = self.already_open;
        outcome.grant = self.grant;
        outcome.cleared = self.cleared;
        outcome.remaining = self.remaining;
    }
}

impl Edit<'_> {
    fn set(&mut self, skill: &Arc<str>, wanted: Grant, limits: &Limits) -> Result<Report, Fault> {
        let entry = self.entry(skill);
        let base = self.base_of(skill);
        if let Some(ceiling) = entry.ceiling
            && ceiling < wanted.level
            && wanted.actor < Actor::Host
        {
            return Err(above_ceiling(skill, ceiling, wanted.level, wanted.actor));
        }
        let lowers =
            wanted.is_floor() && wanted.level < uncapped(&entry.grants, base, None, self.now);
        let grants = if wanted.is_floor() {
            with_floor(&entry.grants, wanted, base, lowers)
        } else {
            with_ttl(&entry.grants, wanted, base)
        };
        let level = capped(entry.ceiling, uncapped(&grants, base, None, self.now));
        if wanted.is_floor() && level > wanted.level {
            return Err(holder_fault(skill, &grants, wanted));
        }
        let is_changed = *grants != *entry.grants;
        let is_new = grants.iter().any(|grant| grant.id == wanted.id);
        let others = self.grant_count() - entry.grants.len();
        if grants.len() > entry.grants.len() && !lowers && others + grants.len() > limits.grants {
            return Err(too_many_grants(limits));
        }
        // A turn may have opened more than this state knows of, so a floor ends what is above it there too. A
        // model that finds its wish granted changes nothing for its other turns.
        let mut lowered = entry.lowered.to_vec();
        let is_noted = wanted.is_floor()
            && wanted.level < Level::Complete
            && (is_changed || wanted.actor > Actor::Model);
        if is_noted {
            self.lowered(wanted.level, wanted.actor).note(&mut lowered);
        }
        let mut report = Report {
            already_open: !is_changed,
            grant: is_new.then_some(wanted.id),
            levels: (level, level),
            ..Report::default()
        };
        if is_changed || is_noted {
            report.levels = self.put(SkillEntry {
                grants: grants.into(),
                lowered: lowered.into(),
                ..SkillEntry::clone(&entry)
            });
        }
        Ok(report)
    }

    fn limit(&mut self, skill: &Arc<str>, level: Option<Level>) -> Report {
        let ceiling = level.filter(|level| *level < Level::Complete);
        let entry = self.entry(skill);
        let is_changed = ceiling != entry.ceiling;
        let level = entry.level_at(self.base_of(skill), self.now);
        let mut report = Report {
            already_open: !is_changed,
            levels: (level, level),
            ..Report::default()
        };
        if is_changed {
            report.levels = self.put(SkillEntry {
                ceiling,
                limited: self.version,
                ..SkillEntry::clone(&entry)
            });
        }
        report
    }

    fn clear(&mut self, skill: &Arc<str>, actor: Actor) -> Report {
        let entry = self.entry(skill);
        let mut lowered = entry.lowered.to_vec();
        self.lowered(Level::Metadata, actor).note(&mut lowered);
        let mut report = Report::default();
        report.levels = self.take(&entry, actor, lowered, &mut report);
        report
    }

    fn clear_all(&mut self, actor: Actor) -> Report {
        let mut report = Report::default();
        for skill in self.skill_ids() {
            let entry = self.entry(&skill);
            // The note on all skills stands for these.
            let mut lowered = entry.lowered.to_vec();
            lowered.retain(|note| note.actor > actor);
            let (old_level, new_level) = self.take(&entry, actor, lowered, &mut report);
            self.note_move(&skill, old_level, new_level);
        }
        self.note_clear_all(self.lowered(Level::Metadata, actor));
        report
    }

    /// Takes the grants of an actor and of lower ones out of an entry.
    fn take(
        &mut self,
        entry: &SkillEntry,
        actor: Actor,
        lowered: Vec<Lowered>,
        report: &mut Report,
    ) -> (Level, Level) {
        let (cleared, remaining): (Vec<Grant>, Vec<Grant>) =
            entry.grants.iter().partition(|grant| grant.actor <= actor);
        let shown = |grant: &Grant| grant.to_standing(&entry.skill);
        report.cleared.extend(cleared.iter().map(shown));
        report.remaining.extend(remaining.iter().map(shown));
        if cleared.is_empty() && *lowered == *entry.lowered {
            let level = entry.level_at(self.base_of(&entry.skill), self.now);
            return (level, level);
        }
        self.put(SkillEntry {
            grants: remaining.into(),
            lowered: lowered.into(),
            ..entry.clone()
        })
    }

    fn revoke(&mut self, skill: &Arc<str>, grant: u64, before: &SessionState) -> Report {
        let base = self.base_of(skill);
        let entry = self.entry(skill);
        let replaced = before.entry(skill).map(AsRef::as_ref);
        // An entry that says nothing is not kept, so a missing one may be what the change left.
        let is_missing = !self.has_entry(skill);
        let is_last = is_missing || entry.touched == grant;
        let restored = is_last.then(|| self.restored(&entry, replaced, base));
        let next = match restored.flatten() {
            Some(next) => next,
            None => without(&entry, grant, is_last, replaced, base),
        };
        if is_missing && next == *entry {
            let level = entry.level_at(base, self.now);
            return Report {
                levels: (level, level),
                already_open: true,
                ..Report::default()
            };
        }
        Report {
            levels: self.put(next),
            ..Report::default()
        }
    }

    /// The entry as it was before its last change, if that is nowhere more than what stands now.
    fn restored(
        &self,
        entry: &SkillEntry,
        replaced: Option<&SkillEntry>,
        base: Level,
    ) -> Option<SkillEntry> {
        let grants = replaced.map_or(&[][..], |replaced| &replaced.grants);
        let live = grants.iter().filter(|grant| grant.is_live(self.now));
        let next = SkillEntry {
            grants: live.copied().collect(),
            ceiling: replaced.and_then(|replaced| replaced.ceiling),
            ..entry.clone()
        };
        let lifts =
            next.ceiling.unwrap_or(Level::Complete) > entry.ceiling.unwrap_or(Level::Complete);
        let is_more = lifts || next.exceeds_uncapped(entry, base, self.now);
        (!is_more).then_some(next)
    }

    fn lowered(&self, level: Level, actor: Actor) -> Lowered {
        Lowered {
            version: self.version,
            level,
            actor,
        }
    }
}

/// Whether the base level answers a wish when no floor stands in for it: it counts as the lowest actor's, and
/// nobody can go below METADATA.
fn base_covers(base: Level, wanted: Grant) -> bool {
    let is_held_by_nobody_lower = wanted.actor == Actor::Model || wanted.level == Level::Metadata;
    wanted.level <= base && is_held_by_nobody_lower
}

/// The grants with a new floor, which takes away what is higher and what it makes superfluous.
fn with_floor(grants: &[Grant], wanted: Grant, base: Level, lowers: bool) -> Vec<Grant> {
    let mut next: Vec<Grant> = Vec::with_capacity(grants.len() + 1);
    let stays =
        |grant: &&Grant| !lowers || grant.actor > wanted.actor || grant.level <= wanted.level;
    next.extend(grants.iter().filter(stays));
    if next.iter().any(|grant| grant.covers(&wanted)) {
        return next;
    }
    next.retain(|grant| {
        let is_replaced = grant.is_floor() && grant.actor <= wanted.actor;
        !is_replaced && !wanted.covers(grant)
    });
    let has_floor = next.iter().any(Grant::is_floor);
    let is_base = base == wanted.level && base_covers(base, wanted);
    if has_floor || !is_base {
        next.push(wanted);
    }
    next
}

/// The grants with a new one that ends, unless it would add nothing.
fn with_ttl(grants: &[Grant], wanted: Grant, base: Level) -> Vec<Grant> {
    let has_floor = grants.iter().any(Grant::is_floor);
    let is_covered = wanted.level == Level::Metadata
        || grants.iter().any(|grant| grant.covers(&wanted))
        || (!has_floor && base_covers(base, wanted));
    if is_covered {
        return grants.to_vec();
    }
    let mut next: Vec<Grant> = Vec::with_capacity(grants.len() + 1);
    next.extend(grants.iter().filter(|grant| !wanted.covers(grant)));
    next.push(wanted);
    next
}

/// The entry without what one change did, for when it cannot become what it was.
fn without(
    entry: &SkillEntry,
    grant: u64,
    is_last: bool,
    replaced: Option<&SkillEntry>,
    base: Level,
) -> SkillEntry {
    let (removed, mut rest): (Vec<Grant>, Vec<Grant>) =
        entry.grants.iter().partition(|other| other.id == grant);
    let lost_floor = is_last || removed.iter().any(Grant::is_floor);
    if lost_floor && !rest.iter().any(Grant::is_floor) {
        // The base level would stand, which is more than a floor below it.
        let old_floors = replaced.map_or(&[][..], |replaced| &replaced.grants);
        let old_floors = old_floors.iter().filter(|grant| grant.is_floor());
        let now = removed.iter().find(|grant| grant.is_floor());
        let most = now.map_or(base, |floor| floor.level);
        let mut floors: Vec<Grant> = old_floors
            .map(|floor| Grant {
                level: floor.level.min(most),
                ..*floor
            })
            .collect();
        if floors.is_empty() {
            floors.extend(now);
        }
        if floors.iter().all(|floor| floor.level < base) {
            rest.append(&mut floors);
        }
    }
    let old_ceiling = replaced.and_then(|replaced| replaced.ceiling);
    let ceiling = match old_ceiling {
        Some(old) if entry.limited <= grant => Some(capped(entry.ceiling, old)),
        Some(_) | None => entry.ceiling,
    };
    SkillEntry {
        grants: rest.into(),
        ceiling,
        ..entry.clone()
    }
}

fn holder_fault(skill: &str, grants: &[Grant], wanted: Grant) -> Fault {
    let above = grants.iter().filter(|grant| grant.level > wanted.level);
    let holder = above.max_by_key(|grant| (grant.level, grant.expires, grant.actor));
    let holder = holder.copied().unwrap_or(Grant {
        actor: Actor::System,
        expires: NEVER,
        ..wanted
    });
    held_by(
        skill,
        &holder.to_standing(skill),
        wanted.level,
        wanted.actor,
    )
}
