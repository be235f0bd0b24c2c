//! Whatever happens to a session, the tools that load and read are called exactly where they are listed, and a body
//! reaches the model once.

use proptest::prelude::*;
use skills_engine::engine::{CallResult, ToolCall};
use skills_engine::session::PslControl;
use skills_engine::skill::{Actor, Code, SkillBuilder, TurnRequest};
use skills_engine::{Engine, Level, Session, Span, Turn};
use tests::{ada, bare, tools};

use crate::made::Held;

const SKILLS: [&str; 4] = ["bare", "files", "hidden", "plain"];
const TOOLS: [&str; 3] = ["load_skill", "read_skill_resource", "list_skills"];

#[derive(Clone, Debug)]
enum Act {
    Open(usize, Level),
    OpenForTurn(usize, Level),
    Load(usize),
    Set(usize, Level),
    Clear(usize),
    Limit(usize, Level),
    Allow(usize),
    Control(bool),
    Switch(usize, bool),
    Invoke(usize),
    Compacted,
    NextTurn,
    Child,
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![
        Just(Level::Metadata),
        Just(Level::Context),
        Just(Level::Complete)
    ]
}

fn act() -> impl Strategy<Value = Act> {
    let skill = || 0..SKILLS.len();
    prop_oneof![
        3 => (skill(), level()).prop_map(|(skill, level)| Act::Open(skill, level)),
        1 => (skill(), level()).prop_map(|(skill, level)| Act::OpenForTurn(skill, level)),
        4 => skill().prop_map(Act::Load),
        2 => (skill(), level()).prop_map(|(skill, level)| Act::Set(skill, level)),
        2 => skill().prop_map(Act::Clear),
        1 => (skill(), level()).prop_map(|(skill, level)| Act::Limit(skill, level)),
        1 => skill().prop_map(Act::Allow),
        1 => any::<bool>().prop_map(Act::Control),
        1 => (skill(), any::<bool>()).prop_map(|(skill, on)| Act::Switch(skill, on)),
        2 => skill().prop_map(Act::Invoke),
        1 => Just(Act::Compacted),
        2 => Just(Act::NextTurn),
        1 => Just(Act::Child),
    ]
}

async fn engine() -> Engine {
    let files = Held::new("Body of files.").file("notes.md", "Notes.");
    let hidden = Held::new("Body of hidden.").file("notes.md", "Notes.");
    bare()
        .with_skill(
            SkillBuilder::new("bare")
                .content(Held::new("Body of bare."))
                .build()
                .unwrap(),
        )
        .with_skill(SkillBuilder::new("files").content(files).build().unwrap())
        .with_skill(
            SkillBuilder::new("hidden")
                .content(hidden)
                .model_invocable(false)
                .build()
                .unwrap(),
        )
        .with_skill(
            SkillBuilder::new("plain")
                .instructions("Be plain.")
                .build()
                .unwrap(),
        )
        .build()
        .await
        .unwrap()
}

async fn call(turn: &mut Turn, name: &str, arguments: &str) -> CallResult {
    let results = turn.calls([ToolCall::new("c", name, arguments)]).await;
    results.into_iter().next().unwrap()
}

/// Whether a call was let through to its tool.
fn ran(result: &CallResult) -> bool {
    match &result.outcome {
        Ok(_) => true,
        Err(fault) => {
            let is_refused = fault.code == Code::UnknownTool
                || fault.code == Code::Hidden
                    && (fault.message.starts_with("no skill with files")
                        || fault.message.contains("is there now"));
            !is_refused
        }
    }
}

/// Makes sure that each tool runs exactly where it is listed. Gives how often the model has the body of a skill before
/// it in its prompt.
async fn check(turn: &mut Turn, acts: &[Act]) {
    let view = turn.view().await.unwrap();
    let listed: Vec<String> = tools(&view).iter().map(|name| (*name).to_owned()).collect();
    for name in TOOLS {
        // What reads nothing and opens nothing.
        let arguments = match name {
            "load_skill" => r#"{"name":"no such skill"}"#,
            "read_skill_resource" => r#"{"skill":"no such skill","path":"x"}"#,
            _ => "{}",
        };
        let is_listed = listed.iter().any(|it| it == name);
        let result = call(turn, name, arguments).await;
        assert_eq!(
            ran(&result),
            is_listed,
            "{name}: {} after {acts:?}",
            result.text()
        );
        let decided = turn.explain("skill-loader", name).decision;
        let is_visible = decided == skills_engine::session::Decision::Visible;
        assert_eq!(is_visible, is_listed, "{name}: {decided:?} after {acts:?}");
    }
}

async fn begin(session: &Session) -> Turn {
    session.turn(TurnRequest::empty()).await.unwrap()
}

async fn run(acts: Vec<Act>) {
    let engine = engine().await;
    let mut session = engine.session(ada(), "s").await.unwrap();
    let mut turn = begin(&session).await;
    // Bodies that results of calls gave since the conversation was compacted last.
    let mut given: Vec<&str> = Vec::new();
    for (at, act) in acts.iter().enumerate() {
        turn.view().await.unwrap();
        let mut results = Vec::new();
        match act {
            Act::Open(skill, level) => {
                let _ = session
                    .open(SKILLS[*skill], *level, Span::UntilCleared, "")
                    .await;
            }
            Act::OpenForTurn(skill, level) => {
                let _ = turn.open(SKILLS[*skill], *level, "").await;
            }
            Act::Load(skill) => {
                let arguments = format!(r#"{{"name":"{}"}}"#, SKILLS[*skill]);
                results.push(call(&mut turn, "load_skill", &arguments).await.text());
            }
            Act::Set(skill, level) => {
                let arguments = format!(r#"{{"skill_id":"{}","level":"{level}"}}"#, SKILLS[*skill]);
                let set = "psl-skill__set_skill_visibility";
                results.push(call(&mut turn, set, &arguments).await.text());
            }
            Act::Clear(skill) => {
                let _ = session.clear(SKILLS[*skill]).await;
            }
            Act::Limit(skill, level) => {
                let _ = session.limit(SKILLS[*skill], *level).await;
            }
            Act::Allow(skill) => {
                let others = SKILLS
                    .iter()
                    .enumerate()
                    .filter(|(index, _)| index != skill);
                let others = others.map(|(_, id)| *id).chain(["hidden"]);
                let _ = session.allow(others);
            }
            Act::Control(model) => session.psl_control(if *model {
                PslControl::Model
            } else {
                PslControl::HostOnly
            }),
            Act::Switch(skill, on) => {
                let _ = engine.set_enabled(SKILLS[*skill], *on);
            }
            Act::Invoke(skill) => {
                let begun = session.invoke(Actor::User, SKILLS[*skill], "").await;
                // A person may begin a skill again, whatever the model has.
                if let Ok(begun) = begun {
                    let id = SKILLS[*skill];
                    given.retain(|other| *other != id);
                    results.push(begun.message);
                }
            }
            Act::Compacted => {
                session.compacted();
                given.clear();
            }
            Act::NextTurn => turn = begin(&session).await,
            Act::Child => {
                if let Ok(child) = session.child().await {
                    session = child;
                    turn = begin(&session).await;
                    given.clear();
                }
            }
        }
        check(&mut turn, &acts[..=at]).await;
        let view = turn.view().await.unwrap();
        for id in ["bare", "files", "hidden"] {
            let body = format!("Body of {id}.");
            if results.iter().any(|text| text.contains(&body)) {
                assert!(!given.contains(&id), "{id} twice after {:?}", &acts[..=at]);
                given.push(id);
            }
            let in_prompt = view.system_prompt().matches(&body).count();
            let has_it = usize::from(given.contains(&id));
            assert!(
                in_prompt + has_it <= 1,
                "{id} in two places after {:?}",
                &acts[..=at]
            );
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn se4_what_is_listed_is_what_runs_and_a_body_stands_in_one_place(
        acts in prop::collection::vec(act(), 1..24),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(run(acts));
    }
}
