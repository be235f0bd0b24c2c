use std::sync::Arc;

use super::epoch::Epoch;
use super::layout::{Shown, Step, StepKind, unmoved};
use super::rights::Rights;
use crate::registry::{Registry, SkillIndex};
use crate::session::{SessionState, Standing, TurnGrants, TurnStanding, effective, is_opened};
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
        positions: Vec::with_capacity(state.entries().len()),
        deviations: Vec::new(),
    };
    // Sessions list skills by id, as registries do, so positions come in order but for what the turn adds.
    // Where the position of each is, so that admissions find it without a search.
    let mut places = Vec::with_capacity(state.entries().len());
    for (skill, standing) in state.entries() {
        let place = (!standing.is_empty()).then(|| sight.look_at(skill, standing));
        places.push(place.flatten());
    }
    for grant in turn.live(state) {
        let standing = state.standing(grant.skill());
        if let Some(added) = sight.look_at(grant.skill(), standing) {
            let moved = places.iter_mut().flatten();
            moved
                .filter(|place| **place >= added)
                .for_each(|place| *place += 1);
        }
    }
    let files = sight.files();
    let Sight {
        mut positions,
        mut deviations,
        ..
    } = sight;
    if let Some(Files::Shown(shown)) = files {
        deviations.push(shown);
    }
    deviations.sort_unstable_by_key(|shown| shown.skill);
    let mut steps = Vec::with_capacity(deviations.len() + positions.len());
    steps.extend(deviations.into_iter().map(Step::deviation));
    let mut admissions = state.admissions().iter().peekable();
    for grant in turn.live(state) {
        while let Some(earlier) =
            admissions.next_if(|admission| admission.version <= grant.opened_at())
        {
            if let Some(place) = places[earlier.entry] {
                positions[place].open(earlier.level, &mut steps);
            }
        }
        let index = epoch.registry.find_shared(grant.skill());
        if let Some(Ok(place)) = index.map(|index| find(&positions, index)) {
            positions[place].open(grant.level(), &mut steps);
        }
    }
    for admission in admissions {
        if let Some(place) = places[admission.entry] {
            positions[place].open(admission.level, &mut steps);
        }
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
    if let Some(Files::Opened(loader)) = files {
        open_reading(&epoch.registry, rights, loader, &mut steps);
    }
    steps
}

/// What is open of the tools that read files: what is open of the skills that have some.
pub(super) fn reading(
    epoch: &Epoch,
    rights: &Rights,
    state: &SessionState,
    turn: &TurnGrants,
    now: Timestamp,
) -> TurnStanding {
    let registry = &epoch.registry;
    let is_open = |index: SkillIndex| {
        let registered = registry.skill(index);
        let id = &registered.id;
        let of_turn = turn.standing(id, state);
        let facts = rights.skill(registry, index);
        !rights.is_denied(index)
            && rights.has_instructions(index)
            && registered.has_files()
            && effective(&facts, &state.standing(id), of_turn, now) >= Level::Context
    };
    let of_session = state.entries().filter(|(_, standing)| !standing.is_empty());
    let of_session = of_session.filter_map(|(skill, _)| registry.find_shared(skill));
    let of_turn = turn
        .live(state)
        .filter_map(|grant| registry.find_shared(grant.skill()));
    let mut known = of_session
        .chain(of_turn)
        .chain(registry.open_with_content.iter().copied());
    if known.any(is_open) {
        TurnStanding::by_model(Level::Context)
    } else {
        TurnStanding::default()
    }
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

impl Position {
    fn open(&mut self, level: Level, steps: &mut Vec<Step>) {
        let to = level.min(self.level);
        if to > self.reached {
            steps.push(Step::opening(self.skill, self.reached, to));
            self.reached = to;
        }
    }
}

/// How the tools that read files come to be open.
#[derive(Clone, Copy)]
enum Files {
    /// In the catalogue: a skill with files is open from the beginning.
    Shown(Shown),
    /// With the first opening of a skill with files.
    Opened(SkillIndex),
}

/// Opens the tools that read files right after the first skill that has some.
fn open_reading(registry: &Registry, rights: &Rights, loader: SkillIndex, steps: &mut Vec<Step>) {
    let opens_files = |step: &Step| match step.kind() {
        StepKind::Opening(opening) => {
            opening.to >= Level::Context
                && rights.has_instructions(opening.skill)
                && registry.skill(opening.skill).has_files()
        }
        StepKind::Deviation(_) => false,
    };
    if let Some(at) = steps.iter().position(opens_files) {
        let step = Step::opening(loader, Level::Metadata, Level::Context);
        steps.insert(at + 1, step);
    }
}

impl Sight<'_> {
    /// How the tools that read files are open, if they are.
    fn files(&self) -> Option<Files> {
        let Self { epoch, rights, .. } = self;
        let registry = &epoch.registry;
        let loader = registry.loader?;
        if rights.is_denied(loader) {
            return None;
        }
        let has_files =
            |index: SkillIndex| rights.has_instructions(index) && registry.skill(index).has_files();
        let is_unmoved = |index: &SkillIndex| find(&self.positions, *index).is_err();
        let mut from_the_beginning = registry.open_with_content.iter().filter(|index| {
            let shown = unmoved(epoch, rights, **index);
            is_unmoved(index)
                && !rights.is_denied(**index)
                && shown.level >= Level::Context
                && has_files(**index)
        });
        let is_open = |position: &&Position| position.level >= Level::Context;
        let mut open = self.positions.iter().filter(is_open);
        if from_the_beginning.next().is_some()
            || open
                .clone()
                .any(|position| position.reached >= Level::Context && has_files(position.skill))
        {
            let mut shown = unmoved(epoch, rights, loader);
            shown.level = Level::Context;
            return Some(Files::Shown(shown));
        }
        open.any(|position| has_files(position.skill))
            .then_some(Files::Opened(loader))
    }

    /// The place that is new for the skill, unless it has one already or is none that a model may see.
    fn look_at(&mut self, skill: &Arc<str>, standing: Standing<'_>) -> Option<usize> {
        let index = self.epoch.registry.find_shared(skill)?;
        if self.rights.is_denied(index) || self.epoch.registry.loader == Some(index) {
            return None;
        }
        let place = find(&self.positions, index).err()?;
        let facts = self.rights.skill(&self.epoch.registry, index);
        let turn = self.turn.standing(skill, self.state);
        let level = effective(&facts, &standing, turn, self.now);
        let unmoved = Shown::unmoved(index, facts);
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
            place,
            Position {
                skill: index,
                reached: shown.level,
                level,
            },
        );
        Some(place)
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
