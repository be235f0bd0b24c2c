//! The list of skills: in the form of a profile, within a budget, and what is offered where it is cut.

use serde_json::Value;
use skills_engine::engine::EngineBuilder;
use skills_engine::prompt::{CataloguePlace, Profile, ProfileTool, TokenBudget};
use skills_engine::skill::SkillBuilder;
use skills_engine::tools::Dialect;
use skills_engine::{Engine, Level};
use tests::{answer, bare, open, session, tools, turn};

use crate::made::Held;

fn skill(number: usize) -> SkillBuilder {
    SkillBuilder::new(format!("skill-{number:02}"))
        .description(format!(
            "Does one thing of many, which is number {number}, as well as it can be done."
        ))
        .content(Held::new("Do it."))
}

async fn engine(count: usize, adapt: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Engine {
    let skills = (0..count).map(|number| skill(number).build().unwrap());
    let builder = skills.fold(bare(), EngineBuilder::with_skill);
    adapt(builder).build().await.unwrap()
}

/// The names that a tool takes for a parameter.
fn names(list: &str, tool: &str, parameter: &str) -> Option<Vec<String>> {
    let list: Value = serde_json::from_str(list).unwrap();
    let tools = list.as_array().unwrap().iter();
    let tool = tools.clone().find(|it| it["name"] == tool).unwrap();
    let names = tool["input_schema"]["properties"][parameter]["enum"].as_array()?;
    Some(
        names
            .iter()
            .map(|name| name.as_str().unwrap().to_owned())
            .collect(),
    )
}

#[tokio::test]
async fn the_tool_that_loads_skills_names_those_that_the_session_sees() {
    let engine = engine(3, |builder| builder).await;
    let session = session(&engine).await;
    let view = turn(&session).await.view().await.unwrap();
    let named = names(view.tools_json(Dialect::Anthropic), "load_skill", "name").unwrap();
    assert_eq!(named, ["skill-00", "skill-01", "skill-02"]);
    let load = view
        .tools()
        .find(|tool| tool.name() == "load_skill")
        .unwrap();
    assert!(load.input_schema().contains("skill-02"));

    session.allow(["skill-01"]).unwrap();
    let view = turn(&session).await.view().await.unwrap();
    let named = names(view.tools_json(Dialect::Anthropic), "load_skill", "name").unwrap();
    assert_eq!(named, ["skill-01"]);
    for dialect in [Dialect::OpenAiChat, Dialect::Gemini, Dialect::Mcp] {
        let list: Value = serde_json::from_str(view.tools_json(dialect)).unwrap();
        assert!(
            list.to_string().contains("\"enum\":[\"skill-01\"]"),
            "{list}"
        );
    }
}

#[tokio::test]
async fn within_the_budget_nothing_is_cut_and_the_composer_writes() {
    let engine = engine(5, |builder| builder).await;
    let session = session(&engine).await;
    let view = turn(&session).await.view().await.unwrap();
    assert!(view.catalogue_cut().is_empty());
    assert!(view.system_prompt().contains("<skill id=\"skill-04\""));
    assert!(!tools(&view).contains(&"list_skills"));
}

#[tokio::test]
async fn a_small_budget_shortens_then_names_then_leaves_out_and_says_so() {
    for (tokens, shows_names, offers_list) in
        [(650, true, false), (400, true, true), (30, false, true)]
    {
        let engine = engine(20, |builder| {
            builder.catalogue_budget(TokenBudget::new(tokens))
        })
        .await;
        let session = session(&engine).await;
        let mut turn = turn(&session).await;
        let view = turn.view().await.unwrap();
        let cut = view.catalogue_cut();
        assert!(!cut.is_empty(), "{tokens}");
        assert_eq!(cut.left_out == 0, shows_names, "{tokens}: {cut:?}");
        assert_eq!(
            tools(&view).contains(&"list_skills"),
            offers_list,
            "{tokens}: {cut:?}"
        );
        let prompt = view.system_prompt();
        assert_eq!(
            prompt.contains("skill-19"),
            shows_names,
            "{tokens}: {prompt}"
        );
        assert!(
            prompt.contains("psl-skill__set_skill_visibility"),
            "{tokens}"
        );
        let named = names(view.tools_json(Dialect::Anthropic), "load_skill", "name");
        assert_eq!(named.is_some(), shows_names, "{tokens}");
        if offers_list {
            let listed = answer(&mut turn, "list_skills", "{}").await;
            assert!(listed.contains("- skill-19: Does one thing"), "{listed}");
            assert!(listed.ends_with("[skills 1 to 20 of 20]"), "{listed}");
        } else {
            let refused = answer(&mut turn, "list_skills", "{}").await;
            assert!(refused.starts_with("unknown_tool"), "{refused}");
        }
        engine.audit().flush().await;
        let records = engine.audit_ring().unwrap().records();
        let mut records = records
            .iter()
            .map(|it| serde_json::from_slice::<Value>(it.bytes()).unwrap());
        let view = records.rfind(|it| it["kind"] == "view").unwrap();
        let left_out = u64::try_from(cut.left_out).unwrap();
        assert_eq!(view["fields"]["left_out"].as_u64().unwrap_or(0), left_out);
    }
}

#[tokio::test]
async fn a_session_that_sees_few_is_not_cut_because_others_see_many() {
    let engine = engine(40, |builder| {
        builder.catalogue_budget(TokenBudget::new(300))
    })
    .await;
    let session = session(&engine).await;
    session.allow(["skill-01", "skill-02"]).unwrap();
    let view = turn(&session).await.view().await.unwrap();
    assert!(view.catalogue_cut().is_empty());
    assert!(view.system_prompt().contains("number 2, as well"));
    assert!(!view.system_prompt().contains("skill-03"));
}

#[tokio::test]
async fn a_profile_says_where_and_how_skills_are_listed() {
    let spring = engine(2, |builder| builder.profile(Profile::spring())).await;
    let view = turn(&session(&spring).await).await.view().await.unwrap();
    assert!(!view.system_prompt().contains("skill-01"));
    let load = view.tools().find(|tool| tool.name() == "Skill").unwrap();
    assert!(load.definition().description.contains("<available_skills>"));
    assert!(load.definition().description.contains("skill-01"));
    let named = names(view.tools_json(Dialect::Anthropic), "Skill", "command").unwrap();
    assert_eq!(named, ["skill-00", "skill-01"]);
    assert!(
        view.tools_json(Dialect::Anthropic)
            .contains("<available_skills>")
    );

    let solon = engine(2, |builder| builder.profile(Profile::solon())).await;
    let view = turn(&session(&solon).await).await.view().await.unwrap();
    assert!(view.system_prompt().contains("<skill_list>"));
    assert!(view.system_prompt().contains("`skillread`"));
    assert!(!view.system_prompt().contains("psl-skill"));

    let dawn = engine(2, |builder| builder.profile(Profile::dawn())).await;
    let view = turn(&session(&dawn).await).await.view().await.unwrap();
    assert!(
        view.system_prompt()
            .contains("- **skill-01**: Does one thing")
    );

    let claude = engine(2, |builder| builder.profile(Profile::claude())).await;
    let view = turn(&session(&claude).await).await.view().await.unwrap();
    assert!(!view.system_prompt().contains("skill-01"));
    assert!(view.reminder().contains("- skill-01: Does one thing"));
}

#[tokio::test]
async fn what_the_host_writes_around_the_list_is_literal() {
    let profile = Profile::psl()
        .with_place(CataloguePlace::SystemPrompt)
        .with_tool(ProfileTool::Load, "use_skill")
        .unwrap()
        .with_catalogue_text("100% of {what} there is:\n{skills}\n%s {}")
        .unwrap();
    let engine = engine(2, |builder| builder.profile(profile)).await;
    let session = session(&engine).await;
    open(&session, "skill-01", Level::Context).await;
    let view = turn(&session).await.view().await.unwrap();
    let prompt = view.prompt().stable;
    assert!(
        prompt.starts_with("100% of {what} there is:\n<skills>"),
        "{prompt}"
    );
    assert!(prompt.contains("%s {}"), "{prompt}");
    assert!(tools(&view).contains(&"use_skill"));
    assert!(view.prompt().contents.contains("Do it."));
}
