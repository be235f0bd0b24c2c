use std::sync::Arc;

use crate::skill::{Actor, Level, StandingGrant, Timestamp};

use super::grant::{Grant, Lowered, NEVER};

/// What a session knows of one skill. Shared between the versions of a state that did not touch it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SkillEntry {
    pub(super) skill: Arc<str>,
    /// The version that changed this entry last.
    pub(super) touched: u64,
    /// The version that changed the ceiling last.
    pub(super) limited: u64,
    pub(super) grants: Box<[Grant]>,
    pub(super) lowered: Box<[Lowered]>,
    pub(super) ceiling: Option<Level>,
    /// The skill's base level when the entry was changed last.
    pub(super) base: Level,
}

impl SkillEntry {
    pub(super) fn empty(skill: Arc<str>, base: Level) -> Self {
        Self {
            skill,
            touched: 0,
            limited: 0,
            grants: Box::default(),
            lowered: Box::default(),
            ceiling: None,
            base,
        }
    }

    /// Whether it says nothing but what was lowered.
    pub(super) fn is_note(&self) -> bool {
        self.grants.is_empty() && self.ceiling.is_none()
    }

    /// The effective level at a moment, this turn's grants left out.
    pub(super) fn level_at(&self, base: Level, now: Timestamp) -> Level {
        capped(self.ceiling, uncapped(&self.grants, base, None, now))
    }

    /// Whether this entry ever gives a higher level than `other`, from `now` on and if nothing changes.
    pub(super) fn exceeds(&self, other: &Self, base: Level, now: Timestamp) -> bool {
        // Levels only fall as time passes, so it is enough to look where the other one falls.
        let higher_at = |at: Timestamp| self.level_at(base, at) > other.level_at(base, at);
        higher_at(now)
            || other
                .grants
                .iter()
                .any(|grant| !grant.is_floor() && grant.is_live(now) && higher_at(grant.expires))
    }

    /// Like [`exceeds`](Self::exceeds), as if both had no ceiling.
    pub(super) fn exceeds_uncapped(&self, other: &Self, base: Level, now: Timestamp) -> bool {
        let without_ceiling = |entry: &Self| Self {
            ceiling: None,
            ..entry.clone()
        };
        without_ceiling(self).exceeds(&without_ceiling(other), base, now)
    }
}

pub(super) fn capped(ceiling: Option<Level>, level: Level) -> Level {
    ceiling.map_or(level, |ceiling| ceiling.min(level))
}

/// The level that grants give: the highest floor or else the base level, raised by what is live.
pub(super) fn uncapped(
    grants: &[Grant],
    base: Level,
    turn: Option<Level>,
    now: Timestamp,
) -> Level {
    let mut floor = None;
    let mut raised = turn.unwrap_or(Level::Metadata);
    for grant in grants {
        if grant.expires == NEVER {
            floor = floor.max(Some(grant.level));
        } else if now < grant.expires {
            raised = raised.max(grant.level);
        }
    }
    floor.unwrap_or(base).max(raised)
}

/// How one skill stands in a session: a cheap, borrowed view.
#[derive(Clone, Copy, Debug, Default)]
pub struct Standing<'a> {
    pub(super) entry: Option<&'a SkillEntry>,
}

impl<'a> Standing<'a> {
    /// All grants, ended ones included that no change has settled yet.
    #[must_use]
    pub fn grants(&self) -> &'a [Grant] {
        self.entry.map_or(&[], |entry| &entry.grants)
    }

    /// The floor of an actor.
    #[must_use]
    pub fn floor(&self, actor: Actor) -> Option<Level> {
        self.grants()
            .iter()
            .find(|grant| grant.is_floor() && grant.actor == actor)
            .map(|grant| grant.level)
    }

    /// The highest floor, which stands in for the base level.
    #[must_use]
    pub fn highest_floor(&self) -> Option<Level> {
        let floors = self.grants().iter().filter(|grant| grant.is_floor());
        floors.map(|grant| grant.level).max()
    }

    /// The highest level among grants with an end that are live at `now`.
    #[must_use]
    pub fn highest_ttl(&self, now: Timestamp) -> Option<Level> {
        let grants = self.grants().iter();
        grants
            .filter(|grant| !grant.is_floor() && grant.is_live(now))
            .map(|grant| grant.level)
            .max()
    }

    /// Whether someone other than the model opened the skill above METADATA, live at `now`.
    #[must_use]
    pub fn is_opened_by_other(&self, now: Timestamp) -> bool {
        let opens = |grant: &Grant| {
            grant.actor > Actor::Model && grant.level > Level::Metadata && grant.is_live(now)
        };
        self.grants().iter().any(opens)
    }

    /// Whether there is neither a grant nor a ceiling.
    pub(crate) fn is_empty(self) -> bool {
        self.entry.is_none_or(SkillEntry::is_note)
    }

    /// What caps the skill in this session.
    #[must_use]
    pub fn ceiling(&self) -> Option<Level> {
        self.entry.and_then(|entry| entry.ceiling)
    }

    /// The grants that are live at `now`, as they are shown to whoever asks.
    #[must_use]
    pub fn list(&self, now: Timestamp) -> Vec<StandingGrant> {
        let Some(entry) = self.entry else {
            return Vec::new();
        };
        let live = entry.grants.iter().filter(|grant| grant.is_live(now));
        live.map(|grant| grant.to_standing(&entry.skill)).collect()
    }
}
