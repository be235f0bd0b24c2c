//! The same with roles, allow-lists, limits, a switch, gates and a policy in force: the limits of the plain figures hold.

use std::cell::RefCell;

use divan::Bencher;
use futures_util::FutureExt as _;
use skills_engine::engine::{ToolCall, Turn};
use skills_engine::session::{Decision, MemberFacts, SkillFacts, TurnStanding, decide};
use skills_engine::skill::{Expose, TurnRequest};
use skills_engine::{Level, Session};

use super::fixture::{self, SKILLS, World, skill_id};
use super::{Wanderer, look, open};

/// Left out by the session's list, and switched off.
const DENIED: [usize; 2] = [17, SKILLS - 3];

/// A session of a governed world, with many skills open, and a turn of it.
fn governed(opened: usize) -> (World, Session, Turn) {
    let world = World::governed();
    let session = world.session("measured");
    for skill in (0..opened).filter(|skill| !DENIED.contains(skill)) {
        open(&world, &session, skill);
    }
    for skill in [1, 5, 9] {
        let id = skill_id(skill);
        world
            .block_on(session.limit(&id, Level::Context))
            .expect("limited");
    }
    let listed = (0..SKILLS)
        .filter(|skill| *skill != DENIED[0])
        .map(skill_id);
    let unmatched = session.allow(listed).expect("a list");
    assert!(unmatched.is_empty());
    let turn = world
        .block_on(session.turn(TurnRequest::empty().attribute("tenant", "acme")))
        .expect("a turn");
    (world, session, turn)
}

/// At most 150 ns.
#[divan::bench]
fn unchanged_view(bencher: Bencher<'_, '_>) {
    let (_world, _session, mut turn) = governed(SKILLS);
    look(&mut turn);
    bencher.bench_local(|| look(&mut turn));
}

/// At most 1 µs.
#[divan::bench]
fn view_seen_before(bencher: Bencher<'_, '_>) {
    let (world, session, turn) = governed(15);
    let turn = RefCell::new(turn);
    let is_open = std::cell::Cell::new(false);
    let id = skill_id(15);
    bencher
        .with_inputs(|| {
            if is_open.replace(!is_open.get()) {
                world.block_on(session.clear(&id)).expect("cleared");
            } else {
                open(&world, &session, 15);
            }
        })
        .bench_local_values(|()| look(&mut turn.borrow_mut()));
}

/// At most 40 µs.
#[divan::bench]
fn view_never_seen(bencher: Bencher<'_, '_>) {
    let (world, session, turn) = governed(SKILLS);
    let mut wanderer = Wanderer::going_on(session, turn);
    wanderer.avoids = &DENIED;
    for _ in 0..32 {
        wanderer.change(&world);
        look(&mut wanderer.turn);
    }
    let wanderer = RefCell::new(wanderer);
    bencher
        .with_inputs(|| wanderer.borrow_mut().change(&world))
        .bench_local_values(|()| look(&mut wanderer.borrow_mut().turn));
}

/// At most 1 µs over `call_floor`.
#[divan::bench]
fn call(bencher: Bencher<'_, '_>) {
    let (world, _session, turn) = governed(SKILLS);
    let turn = RefCell::new(turn);
    look(&mut turn.borrow_mut());
    bencher
        .with_inputs(|| {
            world.settle();
            let name = format!("{}__tool_0", skill_id(3));
            ToolCall::new("call_abc123", name, fixture::ARGUMENTS)
        })
        .bench_local_values(|call| {
            let mut turn = turn.borrow_mut();
            let results = turn.calls([call]).now_or_never().expect("it is ready");
            assert!(results.iter().all(|result| result.outcome.is_ok()));
            results
        });
}

/// At most 30 ns.
#[divan::bench]
fn decide_one(bencher: Bencher<'_, '_>) {
    let (world, session, _turn) = governed(16);
    let state = session.state();
    let standing = state.standing(&skill_id(5));
    let skill = SkillFacts::new(Level::Metadata)
        .role_ceiling(Some(Level::Complete))
        .parent_ceiling(Some(Level::Context))
        .host_only(true);
    let member = MemberFacts::new(Level::Context, Expose::Psl).ceiling(Some(Level::Context));
    let now = world.now();
    bencher.bench_local(|| {
        let standing = divan::black_box(&standing);
        let turn = divan::black_box(TurnStanding::by_model(Level::Context));
        let decision = decide(Some(&skill), Some(&member), standing, turn, now);
        assert_eq!(decision, Decision::Visible);
    });
}
