use std::sync::Arc;

use super::epoch::Epoch;
use super::layout::{Shown, Step, unmoved};
use super::rights::Rights;
use crate::registry::SkillIndex;
use crate::session::{SessionState, Standing, TurnGrants, effective, is_opened};
use crate::skill::{Level, Timestamp};

/// The steps that a session and its turn have taken, in opening order: what determines a view, live values aside.
pub(crate) fn steps(
    epoch: &Epoch,
    rights: &Rights,
    state: &SessionState,
    turn: &TurnGrants,
    now: Timestamp,
) -> Vec<Step> {
    let mut sight = Sight {
        epoch,
        rights,
        state,
        turn,
        now,
        positions: Vec::new(),
        deviations: Vec::new(),
    };
    // Sessions list skills by id, as registries do, so positions come in order but for what the turn adds.
    for (skill, standing) in state.skills() {
        sight.look_at(skill, standing);
    }
    for grant in turn.live(state) {
        sight.look_at(grant.skill(), state.standing(grant.skill()));
    }
    let Sight {
        mut positions,
        mut deviations,
        ..
    } = sight;
    deviations.sort_unstable_by_key(|shown| shown.skill);
    let mut steps = Vec::with_capacity(deviations.len() + positions.len());
    steps.extend(deviations.into_iter().map(Step::deviation));
    let mut add = |skill: &Arc<str>, level: Level| {
        if let Some(index) = epoch.registry.find_shared(skill) {
            open(&mut positions, index, level, &mut steps);
        }
    };
    let mut admissions = state.admissions().iter().peekable();
    for grant in turn.live(state) {
        while let Some(earlier) =
            admissions.next_if(|admission| admission.version <= grant.opened_at())
        {
            add(earlier.skill, earlier.level);
        }
        add(grant.skill(), grant.level());
    }
    for admission in admissions {
        add(admission.skill, admission.level);
    }
    // What no admission tells of comes last; it is still open.
    for position in &positions {
        if position.reached < position.level {
            steps.push(Step::opening(
                position.skill,
                position.reached,
                position.level,
            ));
        }
    }
    steps
}

struct Sight<'a> {
    epoch: &'a Epoch,
    rights: &'a Rights,
    state: &'a SessionState,
    turn: &'a TurnGrants,
    now: Timestamp,
    positions: Vec<Position>,
    deviations: Vec<Shown>,
}

/// How far the replay of the openings has come for a skill, and how far it may go.
struct Position {
    skill: SkillIndex,
    reached: Level,
    level: Level,
}

impl Sight<'_> {
    fn look_at(&mut self, skill: &Arc<str>, standing: Standing<'_>) {
        let Some(index) = self.epoch.registry.find_shared(skill) else {
            return;
        };
        if self.rights.is_denied(index) {
            return;
        }
        let Err(at) = find(&self.positions, index) else {
            return;
        };
        let facts = self.rights.skill(&self.epoch.registry, index);
        let turn = self.turn.standing(skill, self.state);
        let level = effective(&facts, &standing, turn, self.now);
        let unmoved = unmoved(self.epoch, self.rights, index);
        let shown = Shown {
            skill: index,
            level: level.min(unmoved.level),
            ceiling: standing.ceiling(),
            is_opened: facts.host_only && is_opened(facts, standing, turn, self.now),
        };
        if shown != unmoved {
            self.deviations.push(shown);
        }
        self.positions.insert(
            at,
            Position {
                skill: index,
                reached: shown.level,
                level,
            },
        );
    }
}

fn find(positions: &[Position], skill: SkillIndex) -> Result<usize, usize> {
    match positions.last() {
        Some(last) if last.skill >= skill => {
            positions.binary_search_by_key(&skill, |position| position.skill)
        }
        _ => Err(positions.len()),
    }
}

fn open(positions: &mut [Position], skill: SkillIndex, level: Level, steps: &mut Vec<Step>) {
    let Ok(at) = find(positions, skill) else {
        return;
    };
    let position = &mut positions[at];
    let to = level.min(position.level);
    if to > position.reached {
        steps.push(Step::opening(skill, position.reached, to));
        position.reached = to;
    }
}
