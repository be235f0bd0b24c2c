use std::sync::Arc;

use crate::skill::{Level, StandingGrant, Timestamp};

use super::admission::{Opening, admit, shift_down, shift_up};
use super::change::{Applied, ChangeOutcome, Moved};
use super::grant::{Grant, Lowered, NEVER};
use super::standing::SkillEntry;
use super::state::{SessionState, position};

/// Skills of which only notes are kept; when there are more, the oldest are forgotten.
const MAX_NOTES: usize = 64;

/// A state being replaced: keeps entries sorted, the admission log in step, and an account of what moved.
pub(super) struct Edit<'a> {
    base: &'a dyn Fn(&str) -> Level,
    pub(super) now: Timestamp,
    /// The version the state gets if anything changes.
    pub(super) version: u64,
    next_expiry: Timestamp,
    forgotten: u64,
    entries: Vec<Arc<SkillEntry>>,
    log: Vec<Opening>,
    cleared: Vec<Lowered>,
    is_changed: bool,
    raised: bool,
    moved: Vec<Moved>,
    expired: Vec<StandingGrant>,
}

impl<'a> Edit<'a> {
    /// Starts from a state; what ended by `now` is settled first.
    pub(super) fn new(
        state: &SessionState,
        base: &'a dyn Fn(&str) -> Level,
        now: Timestamp,
    ) -> Self {
        let mut edit = Self {
            base,
            now,
            version: state.version + 1,
            next_expiry: state.next_expiry,
            forgotten: state.forgotten,
            entries: state.entries.to_vec(),
            log: state.log.to_vec(),
            cleared: state.cleared.to_vec(),
            is_changed: false,
            raised: false,
            moved: Vec::new(),
            expired: Vec::new(),
        };
        if state.next_expiry <= now {
            edit.settle();
        }
        edit
    }

    fn settle(&mut self) {
        for index in (0..self.entries.len()).rev() {
            let entry = Arc::clone(&self.entries[index]);
            let base = self.base_of(&entry.skill);
            let (live, ended): (Vec<Grant>, Vec<Grant>) = entry
                .grants
                .iter()
                .partition(|grant| grant.is_live(self.now));
            if ended.is_empty() {
                continue;
            }
            let ended = ended.iter().map(|grant| grant.to_standing(&entry.skill));
            self.expired.extend(ended);
            // The level that expiry ended is the one that stood a moment before it.
            let first_end = entry.grants.iter().map(|grant| grant.expires).min();
            let before = Timestamp(first_end.unwrap_or(NEVER).0.saturating_sub(1));
            let old_level = entry.level_at(base, before);
            let next = SkillEntry {
                grants: live.into(),
                ..SkillEntry::clone(&entry)
            };
            let (_, new_level) = self.put(next);
            self.note_move(&entry.skill, old_level, new_level);
        }
    }

    pub(super) fn base_of(&self, skill: &str) -> Level {
        (self.base)(skill)
    }

    /// The entry of a skill, an empty one if there is none.
    pub(super) fn entry(&self, skill: &Arc<str>) -> Arc<SkillEntry> {
        if let Ok(index) = position(&self.entries, skill) {
            return Arc::clone(&self.entries[index]);
        }
        let base = self.base_of(skill);
        Arc::new(SkillEntry::empty(Arc::clone(skill), base))
    }

    pub(super) fn has_entry(&self, skill: &str) -> bool {
        position(&self.entries, skill).is_ok()
    }

    pub(super) fn skill_ids(&self) -> Vec<Arc<str>> {
        let entries = self.entries.iter();
        entries.map(|entry| Arc::clone(&entry.skill)).collect()
    }

    pub(super) fn grant_count(&self) -> usize {
        self.entries.iter().map(|entry| entry.grants.len()).sum()
    }

    /// Replaces the entry of a skill; gives its effective levels before and now.
    pub(super) fn put(&mut self, mut next: SkillEntry) -> (Level, Level) {
        self.is_changed = true;
        next.base = self.base_of(&next.skill);
        next.touched = self.version;
        let place = position(&self.entries, &next.skill);
        let (old_level, new_level) = match place {
            Ok(index) => self.levels(&self.entries[index], &next),
            Err(_) => self.levels(
                &SkillEntry::empty(Arc::clone(&next.skill), next.base),
                &next,
            ),
        };
        self.raised |= new_level > old_level
            || place.is_ok_and(|index| next.exceeds(&self.entries[index], next.base, self.now));
        let base = next.base;
        let is_empty = next.is_note() && next.lowered.is_empty();
        let index = match place {
            Ok(index) if is_empty => {
                self.remove(index);
                return (old_level, new_level);
            }
            Err(_) if is_empty => return (old_level, new_level),
            Ok(index) => {
                self.entries[index] = Arc::new(next);
                index
            }
            Err(index) => {
                self.entries.reserve_exact(1);
                self.entries.insert(index, Arc::new(next));
                shift_up(&mut self.log, in_log(index));
                index
            }
        };
        let now = Opening {
            entry: in_log(index),
            level: new_level,
            version: self.version,
        };
        admit(&mut self.log, now, base);
        (old_level, new_level)
    }

    fn remove(&mut self, index: usize) -> Arc<SkillEntry> {
        shift_down(&mut self.log, in_log(index));
        self.entries.remove(index)
    }

    fn levels(&self, old: &SkillEntry, next: &SkillEntry) -> (Level, Level) {
        let level = |entry: &SkillEntry| entry.level_at(next.base, self.now);
        (level(old), level(next))
    }

    pub(super) fn note_move(&mut self, skill: &Arc<str>, old_level: Level, new_level: Level) {
        if old_level != new_level {
            self.moved.push(Moved {
                skill: Arc::clone(skill),
                old_level,
                new_level,
            });
        }
    }

    /// Notes that all skills were cleared.
    pub(super) fn note_clear_all(&mut self, note: Lowered) {
        self.is_changed = true;
        note.note(&mut self.cleared);
    }

    /// The new state, and the account so far.
    pub(super) fn finish(mut self) -> Applied {
        if self.is_changed {
            self.forget_notes();
            let grants = self.entries.iter().flat_map(|entry| &entry.grants);
            self.next_expiry = grants.map(|grant| grant.expires).min().unwrap_or(NEVER);
        }
        let version = if self.is_changed {
            self.version
        } else {
            self.version - 1
        };
        // Settling goes from the last skill to the first.
        self.expired.reverse();
        let outcome = ChangeOutcome {
            version,
            changed: self.is_changed,
            old_level: Level::Metadata,
            new_level: Level::Metadata,
            moved: self.moved,
            already_open: false,
            raised: self.raised,
            grant: None,
            cleared: Vec::new(),
            remaining: Vec::new(),
            expired: self.expired,
        };
        let state = SessionState {
            version,
            next_expiry: self.next_expiry,
            forgotten: self.forgotten,
            entries: self.entries.into(),
            log: self.log.into(),
            cleared: self.cleared.into(),
        };
        Applied { state, outcome }
    }

    fn forget_notes(&mut self) {
        let notes = |entry: &Arc<SkillEntry>| entry.is_note();
        while self.entries.iter().filter(|entry| notes(entry)).count() > MAX_NOTES {
            let oldest = self
                .entries
                .iter()
                .enumerate()
                .filter(|(_, entry)| notes(entry))
                .min_by_key(|(_, entry)| entry.touched);
            let Some((index, _)) = oldest else {
                return;
            };
            let forgotten = self.remove(index);
            let versions = forgotten.lowered.iter().map(|note| note.version);
            self.forgotten = versions.fold(self.forgotten, u64::max);
        }
    }
}

/// A place among the entries, as the log writes it; more than four billion skills do not fit into memory.
fn in_log(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
