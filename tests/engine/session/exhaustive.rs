//! Every short sequence of changes, against the rule told another way.

use skills_engine::session::SessionState;
use skills_engine::skill::{Actor, Level};

use super::history::{History, Skill, Step, Verdict};
use super::{Complete, Context, Host, Metadata, Model, Session, User};

/// One session and its history, kept in step.
#[derive(Clone)]
pub(super) struct Pair {
    session: Session,
    history: History,
    steps: Vec<Step>,
}

impl Pair {
    pub(super) fn new(base: Level) -> Self {
        Self {
            session: Session::at(base),
            history: History::new(base),
            steps: Vec::new(),
        }
    }

    pub(super) fn step(&mut self, step: Step) {
        self.steps.push(step);
        let steps = &self.steps;
        let base = self.session.base;
        let expected = self.history.step(step);
        self.session.now = self.history.now();
        let before = self.session.state.version();
        let actual = match self.session.apply(&step.change(self.session.now)) {
            Err(fault) => Verdict::Refused(fault.code),
            Ok(applied) if applied.outcome.already_open => Verdict::AlreadyOpen,
            Ok(applied) => Verdict::Done {
                old: applied.outcome.old_level,
                new: applied.outcome.new_level,
                raised: applied.outcome.raised,
            },
        };
        assert_eq!(actual, expected, "base {base}, {steps:?}");
        let state = &self.session.state;
        assert!(state.version() <= before + 1, "base {base}, {steps:?}");
        for skill in ["a", "b"] {
            let (actual, expected) = (self.session.level(skill), self.history.level(skill));
            assert_eq!(actual, expected, "`{skill}`, base {base}, {steps:?}");
        }
        assert_eq!(
            self.session.log(),
            self.history.log(),
            "base {base}, {steps:?}"
        );
        is_tidy(state);
    }
}

/// At most one floor for each actor, higher ones for lower actors only, and no grant that another one covers.
fn is_tidy(state: &SessionState) {
    for (skill, standing) in state.skills() {
        let floors: Vec<Level> = Actor::ALL
            .into_iter()
            .filter_map(|actor| standing.floor(actor))
            .collect();
        let count = standing
            .grants()
            .iter()
            .filter(|grant| grant.is_floor())
            .count();
        assert_eq!(floors.len(), count, "`{skill}` has two floors of one actor");
        assert!(
            floors.is_sorted_by(|low, high| low > high),
            "`{skill}` has floors {floors:?}"
        );
        let ends: Vec<_> = standing
            .grants()
            .iter()
            .filter(|grant| !grant.is_floor())
            .collect();
        let mut kinds: Vec<_> = ends
            .iter()
            .map(|grant| (grant.level(), grant.actor()))
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(
            kinds.len(),
            ends.len(),
            "`{skill}` has two grants of one level and actor"
        );
    }
}

fn walk(pair: &Pair, alphabet: &[Step], depth: usize) {
    if depth == 0 {
        return;
    }
    for step in alphabet {
        let mut next = pair.clone();
        next.step(*step);
        walk(&next, alphabet, depth - 1);
    }
}

fn alphabet(skills: &[Skill], actors: &[Actor], levels: &[Level], ends: &[u64]) -> Vec<Step> {
    let mut steps = vec![Step::Wait(1)];
    for actor in actors.iter().copied() {
        steps.push(Step::ClearAll(actor));
        for skill in skills.iter().copied() {
            steps.push(Step::Clear(skill, actor));
            for level in levels.iter().copied() {
                steps.push(Step::Floor(skill, level, actor));
                let ttl = |seconds: &u64| Step::Ttl(skill, level, actor, *seconds);
                steps.extend(ends.iter().map(ttl));
            }
        }
    }
    for skill in skills.iter().copied() {
        steps.push(Step::Limit(skill, None));
        let limits = levels.iter().filter(|level| **level < Complete);
        steps.extend(limits.map(|level| Step::Limit(skill, Some(*level))));
    }
    steps
}

#[test]
fn all_actors_and_levels_three_steps_deep() {
    let steps = alphabet(&["a"], &Actor::ALL, &Level::ALL, &[1, 2]);
    for base in Level::ALL {
        walk(&Pair::new(base), &steps, 3);
    }
}

#[test]
fn two_actors_four_steps_deep() {
    let steps = alphabet(&["a"], &[Model, Host], &Level::ALL, &[2]);
    for base in [Metadata, Context] {
        walk(&Pair::new(base), &steps, 4);
    }
}

#[test]
fn two_skills_three_steps_deep() {
    let steps = alphabet(&["a", "b"], &[Model, User], &[Metadata, Complete], &[1]);
    walk(&Pair::new(Metadata), &steps, 3);
}
