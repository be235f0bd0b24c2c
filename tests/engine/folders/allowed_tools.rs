//! What the tools that a skill lists in `allowed-tools` are made of.

use skills_engine::engine::AllowedToolsMode;
use skills_engine::session::{Decision, Why};
use skills_engine::skill::{Actor, Code, SkillBuilder, ToolSelection, TurnRequest};
use skills_engine::{Engine, Level, Session, Turn};
use tests::{answer, bare, call, open, session, tools, turn};

use super::scratch::Scratch;
use crate::made::{skill, tool};

const EVERYTHING: [&str; 4] = [
    "deploy__plan",
    "deploy__status",
    "notes__list",
    "load_skill",
];

/// Skills of a folder, each with its list of tools.
async fn engine(mode: Option<AllowedToolsMode>, lists: &[(&str, &str)]) -> (Scratch, Engine) {
    let scratch = Scratch::new();
    for (name, allowed) in lists {
        let text =
            format!("---\nname: {name}\ndescription: Helps.\n{allowed}\n---\nBody of {name}.\n");
        scratch.put(&format!("skills/{name}/SKILL.md"), text);
    }
    let done = |name| tool(name, |_| async { "done" });
    let asks = done("status").requires_approval();
    let mut builder = bare()
        .with_skill(skill("deploy", [done("plan"), asks]))
        .with_skill(skill("notes", [done("list")]))
        .source(scratch.user("skills"));
    if let Some(mode) = mode {
        builder = builder.allowed_tools(mode);
    }
    let engine = builder.build().await.unwrap();
    (scratch, engine)
}

async fn restricted(lists: &[(&str, &str)]) -> (Scratch, Engine) {
    engine(Some(AllowedToolsMode::Restrict), lists).await
}

async fn shown(turn: &mut Turn) -> Vec<String> {
    let view = turn.view().await.unwrap();
    let tools = tools(&view).into_iter();
    tools.map(str::to_owned).collect()
}

async fn load(turn: &mut Turn, name: &str) {
    let loaded = answer(turn, "load_skill", &format!(r#"{{"name":"{name}"}}"#)).await;
    assert!(loaded.contains(&format!("Body of {name}.")), "{loaded}");
}

fn why(session: &Session, skill: &str, member: &str) -> String {
    session.explain(skill, member).reasons.join("\n")
}

#[tokio::test]
async fn se4_open_skills_restrict_the_model_to_the_tools_that_any_of_them_lists() {
    let (_scratch, engine) = restricted(&[
        ("release", "allowed-tools: deploy__plan Bash(git:*)"),
        ("writing", "allowed-tools: notes/list"),
        ("plain", ""),
    ])
    .await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    assert_eq!(shown(&mut turn).await, EVERYTHING);
    // A skill without a list changes nothing.
    load(&mut turn, "plain").await;
    assert_eq!(shown(&mut turn).await, EVERYTHING);

    load(&mut turn, "release").await;
    // Before the next view, too.
    let refused = call(&mut turn, "notes__list", "{}").await;
    assert_eq!(
        refused.outcome.as_ref().unwrap_err().code,
        Code::UnknownTool
    );
    assert_eq!(shown(&mut turn).await, ["deploy__plan", "load_skill"]);
    assert_eq!(answer(&mut turn, "deploy__plan", "{}").await, "done");
    let refused = call(&mut turn, "deploy__status", "{}").await;
    assert_eq!(
        refused.outcome.as_ref().unwrap_err().code,
        Code::UnknownTool
    );
    for explanation in [
        session.explain("notes", "list"),
        turn.explain("notes", "list"),
    ] {
        assert_eq!(explanation.decision, Decision::Denied(Why::NotAllowed));
        let reasons = explanation.reasons.join("\n");
        assert!(reasons.contains("that of `release` begins `deploy__plan Bash(git:*)`"));
        assert!(reasons.contains("close them"), "{reasons}");
    }
    let explanation = turn.explain("deploy", "plan");
    assert_eq!(explanation.decision, Decision::Visible);

    load(&mut turn, "writing").await;
    assert_eq!(
        shown(&mut turn).await,
        ["deploy__plan", "notes__list", "load_skill"]
    );
    // What the engine has for opening and closing is there all the while.
    let arguments = r#"{"skill_id":"release"}"#;
    answer(&mut turn, "psl-skill__clear_visibility", arguments).await;
    assert_eq!(shown(&mut turn).await, ["notes__list", "load_skill"]);
    session.clear("writing").await.unwrap();
    assert_eq!(shown(&mut turn).await, EVERYTHING);
}

#[tokio::test]
async fn se4_names_of_tools_are_matched_exactly_and_what_is_in_parentheses_names_none() {
    for (list, expected) in [
        ("allowed-tools: plan", &["deploy__plan"][..]),
        (
            "allowed-tools: deploy/plan, list",
            &["deploy__plan", "notes__list"],
        ),
        ("allowed-tools: [deploy__plan, Read]", &["deploy__plan"]),
        ("allowed-tools: Plan PLAN deploy deploy/* * deploy__", &[]),
        ("allowed-tools: plan(*) deploy__plan(x:*)", &[]),
        ("allowed-tools: notes/plan", &[]),
        // Nobody can tell what was meant.
        ("allowed-tools: plan list Bash(git", &[]),
        ("allowed-tools: {plan: true}", &[]),
    ] {
        let (_scratch, engine) = restricted(&[("release", list)]).await;
        let session = session(&engine).await;
        let mut turn = turn(&session).await;
        load(&mut turn, "release").await;
        let mut expected = expected.to_vec();
        expected.push("load_skill");
        assert_eq!(shown(&mut turn).await, expected, "{list}");
        if expected.len() == 1 {
            assert!(
                why(&session, "deploy", "plan").contains("`release`"),
                "{list}"
            );
        }
    }
}

#[tokio::test]
async fn se4_a_list_holds_while_its_skill_is_open_whoever_opened_it() {
    let (_scratch, engine) = restricted(&[("release", "allowed-tools: plan")]).await;
    let session = session(&engine).await;
    let mut running = turn(&session).await;
    assert_eq!(shown(&mut running).await, EVERYTHING);
    session.invoke(Actor::User, "release", "").await.unwrap();
    for turn in [&mut running, &mut turn(&session).await] {
        assert_eq!(shown(turn).await, ["deploy__plan", "load_skill"]);
    }
    let child = session.child().await.unwrap();
    let mut work = turn(&child).await;
    assert!(!shown(&mut work).await.contains(&"notes__list".to_owned()));
    session.clear("release").await.unwrap();
    assert_eq!(shown(&mut running).await, EVERYTHING);
    assert_eq!(shown(&mut work).await, EVERYTHING[..3]);
    // A ceiling below CONTEXT closes it, too.
    open(&session, "release", Level::Context).await;
    assert_eq!(shown(&mut running).await, ["deploy__plan", "load_skill"]);
    session.limit("release", Level::Metadata).await.unwrap();
    assert!(
        shown(&mut running)
            .await
            .contains(&"notes__list".to_owned())
    );
    // Another session has nothing to do with it.
    let other = engine.new_session(tests::ada()).await.unwrap();
    assert_eq!(shown(&mut turn(&other).await).await, EVERYTHING);
}

#[tokio::test]
async fn se4_a_list_opens_nothing_and_goes_over_no_approval_in_any_mode() {
    let hidden = SkillBuilder::new("vault")
        .tool(tool("open", |_| async { "opened" }).level(Level::Complete));
    let hidden = hidden.build().unwrap();
    let mut hidden = Some(hidden);
    for mode in [
        None,
        Some(AllowedToolsMode::Ignore),
        Some(AllowedToolsMode::Preapprove),
        Some(AllowedToolsMode::Restrict),
    ] {
        let list = "allowed-tools: status vault__open";
        let (scratch, engine) = engine(mode, &[("release", list)]).await;
        let session = session(&engine).await;
        let mut turn = turn(&session).await;
        load(&mut turn, "release").await;
        let expected: &[&str] = match mode {
            Some(AllowedToolsMode::Restrict) => &["deploy__status", "load_skill"],
            _ => &EVERYTHING,
        };
        assert_eq!(shown(&mut turn).await, expected, "{mode:?}");
        // Nobody can be asked here.
        let refused = call(&mut turn, "deploy__status", "{}").await;
        let code = refused.outcome.as_ref().unwrap_err().code;
        assert_eq!(code, Code::ApprovalRequired, "{mode:?}");
        let Some(hidden) = hidden.take() else {
            continue;
        };
        let builder = bare().with_skill(hidden).source(scratch.user("skills"));
        let engine = builder.build().await.unwrap();
        let session = tests::session(&engine).await;
        open(&session, "release", Level::Complete).await;
        let explanation = session.explain("vault", "open");
        assert!(matches!(explanation.decision, Decision::Hidden { .. }));
    }
}

#[tokio::test]
async fn se4_tools_that_a_turn_alone_has_are_restricted_like_any_others() {
    let scratch = Scratch::new();
    let list = "---\nname: release\ndescription: Helps.\nallowed-tools: shop/quote\n---\nBody of release.\n";
    scratch.put("skills/release/SKILL.md", list);
    let shop = SkillBuilder::new("shop").dynamic_tools(|_: &TurnRequest| {
        let done = |name| tool(name, |_| async { "done" });
        ToolSelection::replace([done("quote"), done("order")])
    });
    let builder = bare()
        .with_skill(shop.build().unwrap())
        .source(scratch.user("skills"))
        .allowed_tools(AllowedToolsMode::Restrict);
    let engine = builder.build().await.unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    assert!(shown(&mut turn).await.contains(&"shop__order".to_owned()));
    load(&mut turn, "release").await;
    let refused = call(&mut turn, "shop__order", "{}").await;
    let code = refused.outcome.as_ref().unwrap_err().code;
    assert_eq!(code, Code::UnknownTool);
    let shown = shown(&mut turn).await;
    assert!(!shown.contains(&"shop__order".to_owned()), "{shown:?}");
    assert_eq!(answer(&mut turn, "shop__quote", "{}").await, "done");
    let explanation = turn.explain("shop", "order");
    assert_eq!(explanation.decision, Decision::Denied(Why::NotAllowed));
}

#[tokio::test]
async fn se4_a_child_is_restricted_by_what_its_parent_opened_for_a_turn_on_an_older_registry() {
    let (scratch, engine) = restricted(&[("release", "allowed-tools: deploy__plan")]).await;
    let parent = session(&engine).await;
    let mut of_parent = turn(&parent).await;
    of_parent.view().await.unwrap();
    let arguments = r#"{"skill_id":"release","level":"CONTEXT","ephemeral":true}"#;
    answer(&mut of_parent, "psl-skill__set_skill_visibility", arguments).await;
    assert_eq!(shown(&mut of_parent).await, ["deploy__plan", "load_skill"]);

    scratch.skill("skills/another", "another", "Arrives later.");
    assert_eq!(engine.refresh().await.unwrap().added, ["another"]);
    assert_eq!(shown(&mut of_parent).await, ["deploy__plan", "load_skill"]);
    let child = of_parent.child().await.unwrap();
    let mut of_child = turn(&child).await;
    let seen = shown(&mut of_child).await;
    assert!(!seen.contains(&"notes__list".to_owned()), "{seen:?}");
    let refused = call(&mut of_child, "notes__list", "{}").await;
    let code = refused.outcome.as_ref().unwrap_err().code;
    assert_eq!(code, Code::UnknownTool);

    drop(of_parent);
    let seen = shown(&mut of_child).await;
    assert!(seen.contains(&"notes__list".to_owned()), "{seen:?}");
}
