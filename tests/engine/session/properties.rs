//! Long random sequences: what must hold whatever is done.

use std::sync::Arc;

use proptest::prelude::*;

use skills_engine::session::{Change, SkillFacts, TurnGrants, TurnStanding, TurnWish, effective};
use skills_engine::skill::{Actor, Level};

use super::exhaustive::Pair;
use super::history::{Skill, Step};
use super::{Session, User};

fn level() -> impl Strategy<Value = Level> {
    proptest::sample::select(Level::ALL.to_vec())
}

fn actor() -> impl Strategy<Value = Actor> {
    proptest::sample::select(Actor::ALL.to_vec())
}

fn skill() -> impl Strategy<Value = Skill> {
    proptest::sample::select(vec!["a", "b"])
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        5 => (skill(), level(), actor()).prop_map(|(skill, level, actor)| Step::Floor(skill, level, actor)),
        5 => (skill(), level(), actor(), 1_u64..6)
            .prop_map(|(skill, level, actor, seconds)| Step::Ttl(skill, level, actor, seconds)),
        2 => (skill(), proptest::option::of(level())).prop_map(|(skill, level)| Step::Limit(skill, level)),
        1 => (skill(), actor()).prop_map(|(skill, actor)| Step::Clear(skill, actor)),
        1 => actor().prop_map(Step::ClearAll),
        3 => (0_u64..4).prop_map(Step::Wait),
    ]
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(step(), 0..40)
}

fn played(base: Level, steps: &[Step]) -> Session {
    let mut session = Session::at(base);
    for step in steps {
        play(&mut session, *step);
    }
    session
}

fn play(session: &mut Session, step: Step) {
    if let Step::Wait(seconds) = step {
        session.advance(seconds);
    }
    let change = step.change(session.now);
    drop(session.apply(&change));
}

/// Who makes a change; the engine settles expiry, the host limits.
fn actor_of(step: Step) -> Option<Actor> {
    match step {
        Step::Floor(_, _, actor)
        | Step::Ttl(_, _, actor, _)
        | Step::Clear(_, actor)
        | Step::ClearAll(actor) => Some(actor),
        Step::Limit(..) | Step::Wait(_) => None,
    }
}

proptest! {
    #[test]
    fn long_sequences_agree_with_the_history(base in level(), steps in steps()) {
        let mut pair = Pair::new(base);
        for step in steps {
            pair.step(step);
        }
    }

    #[test]
    fn the_same_changes_give_the_same_state(base in level(), steps in steps()) {
        prop_assert_eq!(played(base, &steps).state, played(base, &steps).state);
    }

    #[test]
    fn a_state_never_changes_after_it_was_made(base in level(), steps in steps(), step in step()) {
        let session = played(base, &steps);
        let copy = (*session.state).clone();
        let kept = Arc::clone(&session.state);
        play(&mut session.clone(), step);
        prop_assert_eq!(&*kept, &copy);
    }

    #[test]
    fn a_skill_is_untouched_by_changes_to_another(base in level(), steps in steps()) {
        let of_a = |step: &&Step| step.skill() != Some("b");
        let alone: Vec<Step> = steps.iter().filter(of_a).copied().collect();
        let (both, alone) = (played(base, &steps), played(base, &alone));
        prop_assert_eq!(both.level("a"), alone.level("a"));
    }

    #[test]
    fn lower_actors_never_lower_what_a_higher_one_granted(
        base in level(),
        before in steps(),
        wanted in level(),
        owner in actor(),
        after in steps(),
    ) {
        let mut session = played(base, &before);
        if session.apply(&super::set("a", wanted, owner)).is_err() {
            return Ok(());
        }
        for step in after.into_iter().filter(|step| actor_of(*step).is_some_and(|actor| actor < owner)) {
            play(&mut session, step);
            let ceiling = session.state.standing("a").ceiling().unwrap_or(Level::Complete);
            prop_assert!(session.level("a") >= wanted.min(ceiling), "{:?}", step);
        }
    }

    #[test]
    fn nobody_passes_a_ceiling(
        base in level(),
        before in steps(),
        ceiling in level(),
        after in steps(),
        turn in proptest::option::of(level()),
    ) {
        let mut session = played(base, &before);
        session.must(&super::limit("a", ceiling));
        let is_limit = |step: &Step| matches!(step, Step::Limit(..));
        for step in after.into_iter().filter(|step| !is_limit(step)) {
            play(&mut session, step);
            let standing = session.state.standing("a");
            let turn = turn.map_or_else(TurnStanding::default, TurnStanding::by_model);
            prop_assert!(
                effective(&SkillFacts::new(base), &standing, turn, session.now) <= ceiling
            );
        }
    }

    #[test]
    fn what_does_not_raise_is_never_higher_later(base in level(), steps in steps(), step in step()) {
        let mut session = played(base, &steps);
        let mut untouched = session.clone();
        let Ok(applied) = session.apply(&step.change(session.now)) else {
            return Ok(());
        };
        let mut is_higher = false;
        for _ in 0..8 {
            is_higher |= ["a", "b"].iter().any(|skill| session.level(skill) > untouched.level(skill));
            session.advance(1);
            untouched.advance(1);
        }
        prop_assert_eq!(is_higher, applied.outcome.raised);
    }

    #[test]
    fn revoking_takes_back_and_never_raises(
        base in level(),
        before in steps(),
        step in step(),
        between in steps(),
    ) {
        let mut session = played(base, &before);
        let from = Arc::clone(&session.state);
        let Ok(applied) = session.apply(&step.change(session.now)) else {
            return Ok(());
        };
        let Some(skill) = step.skill().filter(|_| applied.outcome.raised) else {
            return Ok(());
        };
        let revoke = Change::Revoke {
            skill: skill.into(),
            grant: applied.outcome.version,
            before: Arc::clone(&from),
        };
        let mut at_once = session.clone();
        let mut untouched = Session { state: from, ..session.clone() };
        let outcome = at_once.must(&revoke).outcome;
        prop_assert!(!outcome.raised);
        for _ in 0..8 {
            prop_assert!(at_once.level(skill) <= untouched.level(skill), "it is taken back");
            at_once.advance(1);
            untouched.advance(1);
        }
        for step in between {
            play(&mut session, step);
        }
        let outcome = session.must(&revoke).outcome;
        prop_assert!(!outcome.raised, "whatever happened since");
        let is_there = session.state.standing(skill).grants().iter().any(|grant| Some(grant.id()) == applied.outcome.grant);
        prop_assert!(!is_there, "the grant is gone");
    }

    #[test]
    fn expired_grants_are_reported_once(base in level(), steps in steps()) {
        let mut session = Session::at(base);
        let mut granted: Vec<(u64, Skill)> = Vec::new();
        let mut expired = 0;
        for step in steps {
            if let Step::Wait(seconds) = step {
                session.advance(seconds);
            }
            let Ok(applied) = session.apply(&step.change(session.now)) else {
                continue;
            };
            if let (Step::Ttl(skill, ..), Some(id)) = (step, applied.outcome.grant) {
                granted.push((id, skill));
            }
            expired += applied.outcome.expired.len();
            prop_assert!(session.state.next_expiry().is_none_or(|at| at > session.now));
        }
        prop_assert!(expired <= granted.len());
    }

    #[test]
    fn turn_grants_end_with_any_later_lowering_by_their_peers(
        base in level(),
        before in steps(),
        wanted in level(),
        owner in actor(),
        after in steps(),
    ) {
        let mut session = played(base, &before);
        let mut turn = TurnGrants::default();
        let wish = TurnWish { skill: "a".into(), level: wanted, actor: owner, base };
        if turn.set(&wish, &session.state, session.now, &session.limits).is_err() || turn.is_empty() {
            return Ok(());
        }
        let mut is_ended = false;
        for step in after {
            if let Step::Wait(seconds) = step {
                session.advance(seconds);
            }
            let Ok(applied) = session.apply(&step.change(session.now)) else {
                continue;
            };
            is_ended |= match step {
                Step::Clear("a", actor) | Step::ClearAll(actor) => actor >= owner,
                Step::Floor("a", level, actor) => {
                    let counts = !applied.outcome.already_open || actor >= User;
                    level < wanted && actor >= owner && counts
                }
                _ => false,
            };
            let expected = (!is_ended).then_some(wanted);
            prop_assert_eq!(turn.level("a", &session.state), expected);
        }
    }
}
