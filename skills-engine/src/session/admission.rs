use std::sync::Arc;

use crate::skill::Level;

use super::standing::SkillEntry;

/// One opening: what a session was given, in the order it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Admission<'a> {
    /// The skill's id.
    pub skill: &'a Arc<str>,
    /// The level it was raised to.
    pub level: Level,
    /// The session version that did it.
    pub version: u64,
    /// The place of the skill among [`SessionState::entries`](super::SessionState::entries).
    pub(crate) entry: usize,
}

/// The openings of a session that stand, in opening order. Borrowed and cheap to copy.
#[derive(Clone, Copy, Debug)]
pub struct Admissions<'a> {
    pub(super) entries: &'a [Arc<SkillEntry>],
    pub(super) log: &'a [Opening],
}

impl<'a> Admissions<'a> {
    /// How many openings stand.
    #[must_use]
    pub fn len(&self) -> usize {
        self.log.len()
    }

    /// Whether nothing is above its base level.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.log.is_empty()
    }

    /// The openings.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Admission<'a>> + use<'a> {
        let entries = self.entries;
        self.log.iter().map(move |opening| Admission {
            skill: &entries[opening.index()].skill,
            level: opening.level,
            version: opening.version,
            entry: opening.index(),
        })
    }
}

/// An opening in the log. It names its skill by place: copying a log must not count references.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Opening {
    pub(super) entry: u32,
    pub(super) level: Level,
    pub(super) version: u64,
}

impl Opening {
    pub(super) fn index(self) -> usize {
        self.entry as usize
    }
}

/// Brings the log in step with the level a skill has now.
pub(super) fn admit(log: &mut Vec<Opening>, now: Opening, base: Level) {
    let mut reached = base;
    log.retain_mut(|opening| {
        if opening.entry != now.entry {
            return true;
        }
        opening.level = opening.level.min(now.level);
        let adds = opening.level > reached;
        reached = reached.max(opening.level);
        adds
    });
    if now.level > reached {
        log.reserve_exact(1);
        log.push(now);
    }
}

/// Makes room in the log for a skill that comes at a place.
pub(super) fn shift_up(log: &mut [Opening], entry: u32) {
    for opening in log.iter_mut().filter(|opening| opening.entry >= entry) {
        opening.entry += 1;
    }
}

/// Takes a skill that goes from a place out of the log.
pub(super) fn shift_down(log: &mut Vec<Opening>, entry: u32) {
    log.retain(|opening| opening.entry != entry);
    for opening in log.iter_mut().filter(|opening| opening.entry > entry) {
        opening.entry -= 1;
    }
}
