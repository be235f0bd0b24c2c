use super::epoch::Epoch;
use super::layout::Step;
use crate::registry::SkillIndex;
use crate::session::{SessionState, TurnGrants, effective};
use crate::skill::{Level, Timestamp};

/// The steps that a session and its turn have taken, in opening order: what determines a view, live values aside.
pub(crate) fn steps(
    epoch: &Epoch,
    state: &SessionState,
    turn: &TurnGrants,
    now: Timestamp,
) -> Vec<Step> {
    let mut positions = Vec::new();
    let mut deviations = Vec::new();
    let mut openings = Vec::new();
    let touched = state
        .skills()
        .map(|(skill, _)| &**skill)
        .chain(turn.live(state).map(|grant| &**grant.skill()));
    for skill in touched {
        let Some((index, registered)) = epoch.registry.find(skill) else {
            continue;
        };
        if epoch.is_off(index) {
            continue;
        }
        // Sessions list skills by id, as registries do, so this appends but for what the turn adds.
        let Err(at) = positions.binary_search_by_key(&index, |position: &Position| position.skill)
        else {
            continue;
        };
        let standing = state.standing(skill);
        let base = registered.base();
        let level = effective(base, &standing, turn.level(skill, state), now);
        let shown = level.min(base);
        if shown < base || standing.ceiling().is_some() {
            deviations.push((index, shown, standing.ceiling()));
        }
        positions.insert(
            at,
            Position {
                skill: index,
                reached: shown,
                level,
            },
        );
    }
    deviations.sort_unstable_by_key(|(skill, ..)| *skill);
    let mut steps: Vec<_> = deviations
        .into_iter()
        .map(|(skill, shown, ceiling)| Step::deviation(skill, shown, ceiling))
        .collect();

    let admissions = state
        .admissions()
        .iter()
        .map(|admission| (&*admission.skill, admission.level));
    for (skill, level) in admissions.chain(
        turn.live(state)
            .map(|grant| (&**grant.skill(), grant.level())),
    ) {
        if let Some((index, _)) = epoch.registry.find(skill) {
            open(&mut positions, index, level, &mut openings);
        }
    }
    // What no admission tells of comes last; it is still open.
    for position in &mut positions {
        if position.reached < position.level {
            openings.push(Step::opening(
                position.skill,
                position.reached,
                position.level,
            ));
        }
    }
    steps.append(&mut openings);
    steps
}

struct Position {
    skill: SkillIndex,
    reached: Level,
    level: Level,
}

fn open(positions: &mut [Position], skill: SkillIndex, level: Level, openings: &mut Vec<Step>) {
    let Ok(at) = positions.binary_search_by_key(&skill, |position| position.skill) else {
        return;
    };
    let position = &mut positions[at];
    let to = level.min(position.level);
    if to > position.reached {
        openings.push(Step::opening(skill, position.reached, to));
        position.reached = to;
    }
}
