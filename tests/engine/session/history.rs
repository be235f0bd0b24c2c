//! The grant rule told another way: no state, only what was done. Every question replays the whole history.

use std::time::Duration;

use skills_engine::session::{Change, GrantSpan};
use skills_engine::skill::{Actor, Code, Level, Timestamp};

use super::{Complete, Host, Metadata, Model, START, clear, clear_all, limit, set};

pub(super) type Skill = &'static str;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Floor(Skill, Level, Actor),
    /// A grant that ends after so many seconds.
    Ttl(Skill, Level, Actor, u64),
    Limit(Skill, Option<Level>),
    Clear(Skill, Actor),
    ClearAll(Actor),
    /// Seconds pass, and expiry is settled.
    Wait(u64),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Refused(Code),
    AlreadyOpen,
    Done {
        old: Level,
        new: Level,
        raised: bool,
    },
}

/// A grant with the moment it ends, in seconds since the start.
#[derive(Clone, Copy)]
struct Given {
    level: Level,
    actor: Actor,
    end: Option<u64>,
}

impl Given {
    fn covers(self, other: Self) -> bool {
        let lasts = self.end.unwrap_or(u64::MAX) >= other.end.unwrap_or(u64::MAX);
        lasts && self.level >= other.level && self.actor >= other.actor
    }
}

#[derive(Clone, Debug)]
pub(super) struct History {
    base: Level,
    now: u64,
    /// What was accepted, and when.
    done: Vec<(u64, Step)>,
}

fn after(start: Timestamp, seconds: u64) -> Timestamp {
    let later = start.checked_add(Duration::from_secs(seconds));
    later.expect("tests end before time does")
}

impl Step {
    pub(super) fn change(self, now: Timestamp) -> Change {
        match self {
            Self::Floor(skill, level, actor) => set(skill, level, actor),
            Self::Ttl(skill, level, actor, seconds) => Change::Set {
                skill: skill.into(),
                level,
                actor,
                span: GrantSpan::Ttl(after(now, seconds)),
            },
            Self::Limit(skill, level) => limit(skill, level),
            Self::Clear(skill, actor) => clear(skill, actor),
            Self::ClearAll(actor) => clear_all(actor),
            Self::Wait(_) => Change::Expire,
        }
    }

    pub(super) fn skill(self) -> Option<Skill> {
        match self {
            Self::Floor(skill, ..)
            | Self::Ttl(skill, ..)
            | Self::Limit(skill, _)
            | Self::Clear(skill, _) => Some(skill),
            Self::ClearAll(_) | Self::Wait(_) => None,
        }
    }

    /// Whether a grant of a skill does not survive this step.
    fn removes(self, skill: Skill, given: Given) -> bool {
        match self {
            Self::Floor(of, level, actor) if of == skill && given.actor <= actor => {
                given.end.is_none() || given.level > level
            }
            Self::Clear(of, actor) => of == skill && given.actor <= actor,
            Self::ClearAll(actor) => given.actor <= actor,
            Self::Floor(..) | Self::Ttl(..) | Self::Limit(..) | Self::Wait(_) => false,
        }
    }
}

impl History {
    pub(super) fn new(base: Level) -> Self {
        Self {
            base,
            now: 0,
            done: Vec::new(),
        }
    }

    pub(super) fn now(&self) -> Timestamp {
        after(START, self.now)
    }

    /// The skills that were mentioned.
    fn skills(&self) -> impl Iterator<Item = Skill> {
        let is_mentioned = |skill: &Skill| {
            let mut steps = self.done.iter();
            steps.any(|(_, step)| step.skill() == Some(skill))
        };
        ["a", "b"].into_iter().filter(is_mentioned)
    }

    fn given(&self, skill: Skill, at: u64) -> Vec<Given> {
        let mut given = Vec::new();
        for (index, (made, step)) in self.done.iter().enumerate() {
            let grant = match *step {
                Step::Floor(of, level, actor) if of == skill => Given {
                    level,
                    actor,
                    end: None,
                },
                Step::Ttl(of, level, actor, seconds) if of == skill => Given {
                    level,
                    actor,
                    end: Some(made + seconds),
                },
                _ => continue,
            };
            let later = &self.done[index + 1..];
            let is_removed = later.iter().any(|(_, step)| step.removes(skill, grant));
            if !is_removed && grant.end.is_none_or(|end| at < end) {
                given.push(grant);
            }
        }
        given
    }

    fn ceiling(&self, skill: Skill) -> Level {
        let limits = self.done.iter().rev().find_map(|(_, step)| match step {
            Step::Limit(of, level) if *of == skill => Some(*level),
            _ => None,
        });
        limits.flatten().unwrap_or(Complete)
    }

    fn level_at(&self, skill: Skill, at: u64) -> Level {
        let given = self.given(skill, at);
        let floors = given.iter().filter(|grant| grant.end.is_none());
        let floor = floors.map(|grant| grant.level).max();
        let others = given.iter().filter(|grant| grant.end.is_some());
        let raised = others.map(|grant| grant.level).max();
        let open = floor.unwrap_or(self.base).max(raised.unwrap_or(Metadata));
        open.min(self.ceiling(skill))
    }

    pub(super) fn level(&self, skill: Skill) -> Level {
        self.level_at(skill, self.now)
    }

    fn is_open_already(&self, step: Step) -> bool {
        match step {
            Step::Floor(skill, level, actor) => {
                let given = self.given(skill, self.now);
                // What a higher actor's grant covers makes no difference.
                let is_above = |grant: &&Given| grant.actor <= actor && grant.level > level;
                let takes = given.iter().filter(is_above).any(|low| {
                    !given
                        .iter()
                        .any(|high| high.actor > actor && high.covers(*low))
                });
                let has_floor = given.iter().any(|grant| grant.end.is_none());
                let wanted = Given {
                    level,
                    actor,
                    end: None,
                };
                let is_held = given.iter().any(|grant| grant.covers(wanted));
                let is_base = level == self.base && actor == Model && !has_floor;
                let is_bottom = level == Metadata && self.base == Metadata;
                !takes && (is_held || is_base || is_bottom)
            }
            Step::Ttl(skill, level, actor, seconds) => {
                let given = self.given(skill, self.now);
                let has_floor = given.iter().any(|grant| grant.end.is_none());
                let wanted = Given {
                    level,
                    actor,
                    end: Some(self.now + seconds),
                };
                let is_held = given.iter().any(|grant| grant.covers(wanted));
                let is_base = level <= self.base && actor == Model && !has_floor;
                is_held || is_base || level == Metadata
            }
            Step::Limit(skill, level) => level.unwrap_or(Complete) == self.ceiling(skill),
            Step::Clear(..) | Step::ClearAll(_) | Step::Wait(_) => false,
        }
    }

    /// Does a step, unless the rule refuses it.
    pub(super) fn step(&mut self, step: Step) -> Verdict {
        if let Step::Wait(seconds) = step {
            self.now += seconds;
        }
        if let Step::Floor(skill, level, actor) | Step::Ttl(skill, level, actor, _) = step
            && level > self.ceiling(skill)
            && actor < Host
        {
            return Verdict::Refused(Code::NotPermitted);
        }
        let mut after = self.clone();
        after.done.push((self.now, step));
        if let Step::Floor(skill, level, _) = step
            && after.level(skill) > level
        {
            return Verdict::Refused(Code::HeldBy);
        }
        if self.is_open_already(step) {
            // Expiry is settled all the same.
            self.done.push((self.now, Step::Wait(0)));
            return Verdict::AlreadyOpen;
        }
        let old = step.skill().map_or(Metadata, |skill| self.level(skill));
        let new = step.skill().map_or(Metadata, |skill| after.level(skill));
        // No test grants anything for longer.
        let times = self.now..self.now + 6;
        let raised = after.skills().any(|skill| {
            let higher = |at| after.level_at(skill, at) > self.level_at(skill, at);
            times.clone().any(higher)
        });
        *self = after;
        Verdict::Done { old, new, raised }
    }

    /// What each opening added, in opening order.
    pub(super) fn log(&self) -> Vec<(Skill, Level)> {
        let mut segments: Vec<(Skill, Level, Level)> = Vec::new();
        let mut follow = |skill: Skill, level: Level| {
            segments.retain(|(of, from, _)| *of != skill || *from < level);
            for (of, _, to) in &mut segments {
                if *of == skill {
                    *to = level.min(*to);
                }
            }
            let of_skill = segments.iter().filter(|(of, ..)| *of == skill);
            let reached = of_skill.map(|(.., to)| *to).max().unwrap_or(self.base);
            if reached < level {
                segments.push((skill, reached, level));
            }
        };
        for count in 0..self.done.len() {
            let so_far = |count: usize| Self {
                done: self.done[..count].to_vec(),
                ..*self
            };
            let at = self.done[count].0;
            for skill in self.skills() {
                follow(skill, so_far(count).level_at(skill, at));
            }
            for skill in self.skills() {
                follow(skill, so_far(count + 1).level_at(skill, at));
            }
        }
        segments
            .into_iter()
            .map(|(skill, _, to)| (skill, to))
            .collect()
    }
}
