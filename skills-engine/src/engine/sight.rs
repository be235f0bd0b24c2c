use std::sync::Arc;

use super::epoch::Epoch;
use super::layout::Step;
use crate::registry::SkillIndex;
use crate::session::{SessionState, Standing, TurnGrants, effective};
use crate::skill::{Level, Timestamp};

/// The steps that a session and its turn have taken, in opening order: what determines a view, live values aside.
pub(crate) fn steps(
    epoch: &Epoch,
    state: &SessionState,
    turn: &TurnGrants,
    now: Timestamp,
) -> Vec<Step> {
    let mut sight = Sight {
        epoch,
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
    deviations.sort_unstable_by_key(|(skill, ..)| *skill);
    let mut steps = Vec::with_capacity(deviations.len() + positions.len());
    steps.extend(
        deviations
            .into_iter()
            .map(|(skill, shown, ceiling)| Step::deviation(skill, shown, ceiling)),
    );
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
    state: &'a SessionState,
    turn: &'a TurnGrants,
    now: Timestamp,
    positions: Vec<Position>,
    deviations: Vec<(SkillIndex, Level, Option<Level>)>,
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
        if self.epoch.is_off(index) {
            return;
        }
        let Err(at) = find(&self.positions, index) else {
            return;
        };
        let base = self.epoch.registry.skill(index).base();
        let level = effective(
            base,
            &standing,
            self.turn.level(skill, self.state),
            self.now,
        );
        let shown = level.min(base);
        if shown < base || standing.ceiling().is_some() {
            self.deviations.push((index, shown, standing.ceiling()));
        }
        self.positions.insert(
            at,
            Position {
                skill: index,
                reached: shown,
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
