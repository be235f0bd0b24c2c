//! What the engine costs beside a model call. Run with `cargo bench -p skills-engine --bench engine`.
//!
//! The engine has 1,000 tools in 250 skills; half of them are at CONTEXT. Audit goes to the ring in memory, and nothing
//! subscribes to spans. Everything runs on one thread, the audit log's writer included.

mod catalogue;
mod fixture;
#[cfg(feature = "folders")]
mod folders;
mod governed;
#[cfg(feature = "folders")]
mod header;
mod linked;
mod search;

use std::sync::atomic::{AtomicU64, Ordering};

use divan::Bencher;
use divan::counter::ItemsCount;
use futures_util::FutureExt as _;
use skills_engine::engine::{ToolCall, Turn};
use skills_engine::registry::Registry;
use skills_engine::session::{Decision, MemberFacts, SkillFacts, TurnStanding, decide};
use skills_engine::skill::{Expose, Limits, TurnRequest};
use skills_engine::tools::Dialect;
use skills_engine::{Level, Session, Span};

use self::fixture::{SKILLS, World, skill_id};

fn main() {
    divan::main();
}

fn open(world: &World, session: &Session, skill: usize) {
    let id = skill_id(skill);
    let opened = session.open(&id, Level::Context, Span::UntilCleared, "");
    world.block_on(opened).expect("the skill can be opened");
}

fn turn_with(world: &World, opened: usize) -> (Session, Turn) {
    let session = world.session("measured");
    for skill in 0..opened {
        open(world, &session, skill);
    }
    let turn = world
        .block_on(session.turn(TurnRequest::empty()))
        .expect("a turn");
    (session, turn)
}

fn look(turn: &mut Turn) -> usize {
    let view = turn
        .view()
        .now_or_never()
        .expect("nothing is lazy")
        .expect("a view");
    view.tools_json(Dialect::Anthropic).len() + view.system_prompt().len()
}

/// At most 150 ns.
#[divan::bench(args = [1, 1_000, 100_000])]
fn unchanged_view(bencher: Bencher<'_, '_>, sessions: usize) {
    let world = World::new(0);
    world.others(sessions - 1);
    let (_session, mut turn) = turn_with(&world, SKILLS);
    look(&mut turn);
    bencher.bench_local(|| look(&mut turn));
}

/// At most 1 µs.
#[divan::bench]
fn unchanged_view_with_10_live_attributes(bencher: Bencher<'_, '_>) {
    let world = World::new(10);
    let (_session, mut turn) = turn_with(&world, SKILLS);
    look(&mut turn);
    bencher.bench_local(|| look(&mut turn));
}

/// Each thread looks at a session of its own: twice as many views a second as one thread makes, at best.
#[divan::bench(threads = [1, 2])]
fn unchanged_view_on_threads(bencher: Bencher<'_, '_>) {
    let world = World::new(0);
    for skill in 0..SKILLS {
        open(&world, &world.session("t0"), skill);
        open(&world, &world.session("t1"), skill);
    }
    let next = AtomicU64::new(0);
    bencher
        .counter(ItemsCount::new(1_000_usize))
        .with_inputs(|| {
            let session = world.session(&format!("t{}", next.fetch_add(1, Ordering::Relaxed) % 2));
            let mut turn = world
                .block_on(session.turn(TurnRequest::empty()))
                .expect("a turn");
            look(&mut turn);
            turn
        })
        .bench_refs(|turn| {
            for _ in 0..1_000 {
                divan::black_box(look(turn));
            }
        });
}

/// One grant and one clearing, a view after each, 16 skills open. The records and the store take most of it.
#[divan::bench(args = [1, 1_000, 100_000])]
fn two_changes_seen_before(bencher: Bencher<'_, '_>, sessions: usize) {
    let world = World::new(0);
    world.others(sessions - 1);
    let (session, mut turn) = turn_with(&world, 15);
    let id = skill_id(15);
    bencher.bench_local(|| {
        world.block_on(async {
            session
                .open(&id, Level::Context, Span::UntilCleared, "")
                .await
                .expect("opened");
            let opened = turn
                .view()
                .await
                .expect("a view")
                .tools_json(Dialect::Anthropic)
                .len();
            session.clear(&id).await.expect("cleared");
            opened
                + turn
                    .view()
                    .await
                    .expect("a view")
                    .tools_json(Dialect::Anthropic)
                    .len()
        })
    });
}

/// The view alone, after a change that led to a sequence seen before: at most 1 µs.
#[divan::bench]
fn view_seen_before(bencher: Bencher<'_, '_>) {
    let world = World::new(0);
    let (session, turn) = turn_with(&world, 15);
    let turn = std::cell::RefCell::new(turn);
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

/// A session with 250 skills open, 263 kB of prompt and tool list, that goes on to sequences never seen.
struct Wanderer {
    session: Session,
    turn: Turn,
    seed: u64,
    avoids: &'static [usize],
}

impl Wanderer {
    fn new(world: &World) -> Self {
        let (session, turn) = turn_with(world, SKILLS);
        Self::going_on(session, turn)
    }

    fn going_on(session: Session, turn: Turn) -> Self {
        Self {
            session,
            turn,
            seed: 7,
            avoids: &[],
        }
    }

    /// Moves one of the openings to the end.
    fn change(&mut self, world: &World) {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut skill = usize::try_from(self.seed >> 33).unwrap_or(0) % SKILLS;
        if self.avoids.contains(&skill) {
            skill = 0;
        }
        world
            .block_on(self.session.clear(&skill_id(skill)))
            .expect("cleared");
        open(world, &self.session, skill);
    }
}

/// The view alone, of a sequence never seen, 263 kB: at most 40 µs.
///
/// `new`: in an engine that has made only a few dozen such views, each of which took the place of an older one.
/// `full`: the cache of views, of the default size, is full of others that were used again and stay.
#[divan::bench(args = ["new", "full"])]
fn view_never_seen(bencher: Bencher<'_, '_>, cache: &str) {
    let world = World::new(0);
    let mut wanderer = Wanderer::new(&world);
    if cache == "full" {
        let mut other = world
            .block_on(wanderer.session.turn(TurnRequest::empty()))
            .expect("a turn");
        for _ in 0..2 * Limits::default().view_cache / 263_000 {
            wanderer.change(&world);
            look(&mut wanderer.turn);
            look(&mut other);
        }
    }
    for _ in 0..32 {
        wanderer.change(&world);
        look(&mut wanderer.turn);
    }
    let wanderer = std::cell::RefCell::new(wanderer);
    bencher
        .with_inputs(|| wanderer.borrow_mut().change(&world))
        .bench_local_values(|()| look(&mut wanderer.borrow_mut().turn));
}

/// The same for the first twelve such views of a process, while their memory comes fresh from the system. Only true when
/// this benchmark runs alone.
#[divan::bench(sample_count = 12, sample_size = 1)]
fn view_never_seen_at_first(bencher: Bencher<'_, '_>) {
    let world = World::new(0);
    let wanderer = std::cell::RefCell::new(Wanderer::new(&world));
    bencher
        .with_inputs(|| wanderer.borrow_mut().change(&world))
        .bench_local_values(|()| look(&mut wanderer.borrow_mut().turn));
}

/// JSON bytes in and out, through an async tool with two arguments: at most 1 µs over [`call_floor`].
#[divan::bench(args = [1, 1_000, 100_000])]
fn call(bencher: Bencher<'_, '_>, sessions: usize) {
    let world = World::new(0);
    world.others(sessions - 1);
    let (_session, turn) = turn_with(&world, SKILLS);
    let turn = std::cell::RefCell::new(turn);
    look(&mut turn.borrow_mut());
    bencher
        .with_inputs(|| {
            world.settle();
            ToolCall::new(
                "call_abc123",
                format!("{}__tool_0", skill_id(3)),
                fixture::ARGUMENTS,
            )
        })
        .bench_local_values(|call| {
            let results = turn
                .borrow_mut()
                .calls([call])
                .now_or_never()
                .expect("the tool is ready at once");
            assert!(results.iter().all(|result| result.outcome.is_ok()));
            results
        });
}

/// The same after so many grants were made and taken back, and so many unknown names were called: no slower.
#[divan::bench(args = [0, 10_000])]
fn call_after_much(bencher: Bencher<'_, '_>, before: usize) {
    let world = World::new(0);
    let (session, mut turn) = turn_with(&world, 16);
    for index in 0..before {
        open(&world, &session, 16);
        world
            .block_on(session.clear(&skill_id(16)))
            .expect("cleared");
        let unknown = ToolCall::new("call_abc123", format!("unknown_{index}"), "{}");
        world.block_on(turn.calls([unknown]));
    }
    look(&mut turn);
    let turn = std::cell::RefCell::new(turn);
    bencher
        .with_inputs(|| {
            world.settle();
            let name = format!("{}__tool_0", skill_id(3));
            ToolCall::new("call_abc123", name, fixture::ARGUMENTS)
        })
        .bench_local_values(|call| turn.borrow_mut().calls([call]).now_or_never());
}

/// Decoding, handler and serializing alone.
#[divan::bench]
fn call_floor(bencher: Bencher<'_, '_>) {
    bencher.bench_local(|| fixture::floor(divan::black_box(fixture::ARGUMENTS)));
}

/// At most 20 ns.
#[divan::bench]
fn decide_one(bencher: Bencher<'_, '_>) {
    let world = World::new(0);
    let (session, _turn) = turn_with(&world, 16);
    let state = session.state();
    let standing = state.standing(&skill_id(7));
    let skill = SkillFacts::new(Level::Metadata);
    let member = MemberFacts::new(Level::Context, Expose::Psl);
    let now = world.now();
    bencher.bench_local(|| {
        let standing = divan::black_box(&standing);
        assert_eq!(
            decide(
                Some(&skill),
                Some(&member),
                standing,
                TurnStanding::default(),
                now,
            ),
            Decision::Visible
        );
    });
}

/// What a session says of one skill, 16 of them open.
#[divan::bench]
fn look_up_one_skill(bencher: Bencher<'_, '_>) {
    let world = World::new(0);
    let (session, _turn) = turn_with(&world, 16);
    let (state, id) = (session.state(), skill_id(7));
    bencher.bench_local(|| state.standing(divan::black_box(&id)).ceiling());
}

/// 1,000 annotated tools in 250 skills: at most 8 ms.
#[divan::bench]
fn registry_of_1000_linked_tools(bencher: Bencher<'_, '_>) {
    let world = World::new(0);
    bencher.bench_local(|| world.block_on(linked::engine()));
}

/// 10,000 tools of builders that share 20 argument types: at most 100 ms.
#[divan::bench]
fn registry_of_10000_built_tools(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(fixture::many_skills)
        .bench_local_values(|skills| Registry::build(skills).expect("a registry"));
}
