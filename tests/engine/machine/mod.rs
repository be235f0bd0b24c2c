//! A state machine against a model: whatever hosts, users, models, turns and children do in whatever order, the engine
//! says, shows and runs what the rule says.
//!
//! `RULE_STEPS` sets how many steps are taken (100,000 unless told), `RULE_SEED` where the random sequence begins; see
//! `scripts/soak-rule`. What fails is shrunk to the fewest steps that still fail, and printed.

mod check;
mod model;
mod universe;
mod words;
mod world;

use std::fmt::Write as _;
use std::sync::Mutex;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, RngSeed, TestError, TestRunner};

use self::universe::{Step, Universe, step, universe};
use self::world::{Counts, World};

/// Steps of the longest sequence. Many short ones find more than one long one, and tell it in fewer words.
const MOST_STEPS: usize = 79;

/// Answers that must come up, by the kind of question: what never does is not tested.
const ANSWERS: [(&str, &[&str]); 4] = [
    (
        "explain",
        &[
            "visible",
            "hidden",
            "disabled",
            "unknown",
            "switched_off",
            "code_only",
            "no_role",
            "not_listed",
            "no_control",
            "parent",
        ],
    ),
    (
        "step",
        &[
            "ok",
            "held_by",
            "not_permitted",
            "unknown_skill",
            "unknown_tool",
            "hidden",
            "limit_exceeded",
        ],
    ),
    (
        "call",
        &["runs", "hidden", "unknown_tool", "invalid_arguments"],
    ),
    ("view", &["taken"]),
];

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("it is a number"))
}

async fn play(universe: &Universe, steps: &[Step]) -> Result<Counts, TestCaseError> {
    let mut world = World::new(universe).await;
    world.check(None).await?;
    for step in steps {
        let about = world.session_of(step);
        world.step(step).await?;
        world.check(about).await?;
    }
    world.finish()
}

fn run(universe: &Universe, steps: &[Step]) -> Result<Counts, TestCaseError> {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.unwrap().block_on(play(universe, steps))
}

/// Leaves out every step without which it still fails: what shrinking made of the others may have made them needless.
fn shortest(universe: &Universe, mut steps: Vec<Step>, mut reason: String) -> String {
    let mut place = steps.len();
    while place > 0 {
        place -= 1;
        let mut fewer = steps.clone();
        fewer.remove(place);
        if let Err(err) = run(universe, &fewer) {
            (steps, reason) = (fewer, err.to_string());
            place = steps.len();
        }
    }
    let mut text = format!("{reason}\n\n{universe}");
    for (number, step) in steps.iter().enumerate() {
        writeln!(text, "{:3}. {step:?}", number + 1).unwrap();
    }
    text
}

#[test]
fn se29_se31_engine_and_model_agree_whatever_is_done() {
    let steps = number("RULE_STEPS").unwrap_or(100_000);
    // A sequence is half of the longest on average; a few more, so that there are never too few.
    let cases = steps / 39 + 20;
    let config = Config {
        cases: u32::try_from(cases).unwrap(),
        max_shrink_iters: 20_000,
        failure_persistence: None,
        // The default one takes as long as the engine, when it is built without optimizing.
        rng_algorithm: RngAlgorithm::XorShift,
        rng_seed: RngSeed::Fixed(number("RULE_SEED").unwrap_or(3)),
        ..Config::default()
    };
    let counts = Mutex::new(Counts::new());
    let taken = Mutex::new(0);
    let sequences = prop::collection::vec(step(), 1..=MOST_STEPS);
    let result = TestRunner::new(config).run(&(universe(), sequences), |(universe, steps)| {
        let seen = run(&universe, &steps)?;
        let mut counts = counts.lock().unwrap();
        for (what, count) in seen {
            *counts.entry(what).or_default() += count;
        }
        *taken.lock().unwrap() += steps.len() as u64;
        Ok(())
    });
    match result {
        Ok(()) => {}
        Err(TestError::Fail(reason, (universe, steps))) => {
            panic!("{}", shortest(&universe, steps, reason.to_string()));
        }
        Err(aborted) => panic!("{aborted}"),
    }
    let (counts, taken) = (counts.into_inner().unwrap(), taken.into_inner().unwrap());
    assert!(taken >= steps, "{taken} steps");
    for (kind, answers) in ANSWERS {
        for answer in answers {
            let count = counts.get(&(kind, *answer)).copied().unwrap_or(0);
            let expected = steps / 20_000;
            assert!(count >= expected, "{kind}: {answer} came up {count} times");
        }
    }
}
