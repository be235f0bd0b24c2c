//! Views, snapshots, prompts and calls agree with the rule on every member, whatever was opened, capped and cleared.

use std::time::Duration;

use serde_json::Value;
use skills_engine::engine::{EngineBuilder, View};
use skills_engine::skill::{
    Attribute, BuiltSkill, Code, Expose, SkillBuilder, SkillVisibility, Span,
};
use skills_engine::tools::Dialect;
use skills_engine::{Level, Session, Turn};

use super::stage::{Stage, outcome, tool, turn};

const IDS: [&str; 3] = ["m", "c", "x"];
const EXPOSED: [(&str, Expose); 3] = [
    ("p", Expose::Psl),
    ("a", Expose::Always),
    ("d", Expose::Disabled),
];

/// A skill with a tool and an attribute of each level and exposure, named `p0` to `d2`.
fn skill(id: &'static str, base: Level) -> BuiltSkill {
    let names = [["p0", "a0", "d0"], ["p1", "a1", "d1"], ["p2", "a2", "d2"]];
    let mut builder = SkillBuilder::new(id)
        .description("Any.")
        .base_level(base)
        .instructions("Do.");
    for (level, names) in Level::ALL.into_iter().zip(names) {
        for (name, (_, expose)) in names.into_iter().zip(EXPOSED) {
            let answer = tool(name, |_, _| async { "done" });
            let number = Attribute::live(name, "A number.", move |_| level as u8);
            builder = builder
                .tool(answer.level(level).expose(expose))
                .attribute(number.level(level).expose(expose));
        }
    }
    builder.build().unwrap()
}

struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % most).unwrap()
    }
}

async fn change(random: &mut Random, session: &Session, turn: &Turn) {
    let (id, level) = (IDS[random.below(3)], Level::ALL[random.below(3)]);
    let for_a_time = Span::Ttl(Duration::from_secs(5));
    // What the rule refuses changes nothing, which is as good a step.
    let _ = match random.below(6) {
        0 => session
            .open(id, level, Span::UntilCleared, "")
            .await
            .map(drop),
        1 => session.open(id, level, for_a_time, "").await.map(drop),
        2 => session.limit(id, level).await,
        3 => session.lift_limit(id).await,
        4 => session.clear(id).await.map(drop),
        _ => turn.open(id, level, "").await.map(drop),
    };
}

/// How often a view shows a member in each of its parts, which must all be the same.
fn shown(view: &View, id: &str, name: &str) -> [usize; 6] {
    let wire = format!("{id}__{name}");
    let snapshot: Value = serde_json::from_str(&view.snapshot(id).unwrap()).unwrap();
    let count = |text: &str, part: String| text.matches(&part).count();
    [
        view.tools().filter(|tool| tool.name() == wire).count(),
        count(
            view.tools_json(Dialect::Mcp),
            format!("\"name\":\"{wire}\""),
        ),
        count(view.system_prompt(), format!("- tool {wire}\n")),
        count(view.prompt().live, format!("- {id}.{name} = ")),
        usize::from(snapshot["attributes"].get(name).is_some()),
        count(&snapshot["tools"].to_string(), format!("\"{wire}\"")),
    ]
}

async fn check(view: &View, standing: &SkillVisibility, turn: &mut Turn) {
    let id = &*standing.skill;
    assert_eq!(view.level(id), Some(standing.level));
    for (number, level) in Level::ALL.into_iter().enumerate() {
        for (prefix, expose) in EXPOSED {
            let (is_visible, hidden) = match expose {
                Expose::Psl => (standing.level >= level, Code::Hidden),
                Expose::Always => (
                    standing.ceiling.is_none_or(|ceiling| ceiling >= level),
                    Code::Hidden,
                ),
                Expose::Disabled => (false, Code::UnknownTool),
            };
            let name = format!("{prefix}{number}");
            assert_eq!(
                shown(view, id, &name),
                [usize::from(is_visible); 6],
                "{name} of {standing:?}"
            );
            let expected = if is_visible { Ok(()) } else { Err(hidden) };
            assert_eq!(
                outcome(turn, &format!("{id}__{name}"), "{}").await,
                expected
            );
        }
    }
}

#[tokio::test]
async fn views_show_exactly_what_the_rule_lets_through() {
    let stage = Stage::with(0, |builder| {
        let skills = IDS.into_iter().zip(Level::ALL);
        let skills = skills.map(|(id, base)| skill(id, base));
        skills.fold(builder, EngineBuilder::with_skill)
    })
    .await;
    let mut random = Random(1);
    for round in 0..12 {
        let session = stage.session(&format!("s{round}")).await;
        let mut turn = turn(&session).await;
        for _ in 0..12 {
            change(&mut random, &session, &turn).await;
            if random.below(4) == 0 {
                stage.clock.advance(Duration::from_secs(3));
            }
            let view = turn.view().await.unwrap();
            for standing in turn.visibility() {
                if IDS.contains(&&*standing.skill) {
                    check(&view, &standing, &mut turn).await;
                }
            }
        }
    }
}
