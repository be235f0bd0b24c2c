//! Settings of how skills are listed and loaded.

use skills_engine::engine::settings::{ProfileSetting, SettingOrigin, Settings};
use skills_engine::engine::{AllowedToolsMode, BinaryFiles, BodyDelivery, EngineBuilder};
use skills_engine::prompt::{Profile, ProfileTool, TokenBudget};
use tests::{answer, bare, session, tools, turn};

use super::{Row, assert_row, from_file, from_variables, problems};
use crate::folders::scratch::Scratch;
use crate::made::{skill, tool};

pub(super) fn rows() -> Vec<Row> {
    vec![
        Row {
            key: "loading.allowed_tools",
            read: |settings| match settings.loading.allowed_tools {
                AllowedToolsMode::Preapprove => "preapprove".to_owned(),
                AllowedToolsMode::Restrict => "restrict".to_owned(),
                other => format!("{other:?}"),
            },
            default: "ignore",
            file: ("loading.allowed_tools = 'restrict'", "restrict"),
            variable: (
                "SKILLS_ENGINE_LOADING__ALLOWED_TOOLS",
                "preapprove",
                "preapprove",
            ),
            builder: (
                |builder| builder.allowed_tools(AllowedToolsMode::Ignore),
                "ignore",
            ),
        },
        Row {
            key: "loading.binary_files",
            read: |settings| match settings.loading.binary_files {
                BinaryFiles::Base64 => "base64".to_owned(),
                BinaryFiles::Refuse => "refuse".to_owned(),
                other => format!("{other:?}"),
            },
            default: "base64",
            file: ("loading.binary_files = 'refuse'", "refuse"),
            variable: ("SKILLS_ENGINE_LOADING__BINARY_FILES", "base64", "base64"),
            builder: (
                |builder| builder.binary_files(BinaryFiles::Refuse),
                "refuse",
            ),
        },
        Row {
            key: "loading.body_delivery",
            read: |settings| match settings.loading.body_delivery {
                BodyDelivery::ToolResult => "tool_result".to_owned(),
                BodyDelivery::Prompt => "prompt".to_owned(),
                other => format!("{other:?}"),
            },
            default: "tool_result",
            file: ("loading.body_delivery = 'prompt'", "prompt"),
            variable: (
                "SKILLS_ENGINE_LOADING__BODY_DELIVERY",
                "tool_result",
                "tool_result",
            ),
            builder: (
                |builder| builder.body_delivery(BodyDelivery::Prompt),
                "prompt",
            ),
        },
        Row {
            key: "profile",
            read: |settings| Profile::from(settings.profile).name().to_owned(),
            default: "psl",
            file: ("profile = 'claude'", "claude"),
            variable: ("SKILLS_ENGINE_PROFILE", "spring", "spring"),
            builder: (|builder| builder.profile(Profile::dawn()), "dawn"),
        },
        Row {
            key: "tokens",
            read: |settings| settings.tokens.to_string(),
            default: "20000",
            file: ("tokens = 1_101", "1101"),
            variable: ("SKILLS_ENGINE_TOKENS", "1202", "1202"),
            builder: (
                |builder| builder.catalogue_budget(TokenBudget::new(1_303)),
                "1303",
            ),
        },
    ]
}

/// Two skills, one of which has a body, a file that is no text, and a list of tools.
fn desk(settings: &str) -> (Scratch, EngineBuilder) {
    let scratch = Scratch::new();
    scratch.put(
        "skills/deploy/SKILL.md",
        "---\nname: deploy\ndescription: Deploys services.\nallowed-tools: notes__list\n---\n1. Ask first.\n",
    );
    scratch.put("skills/deploy/assets/logo.png", [0x89, b'P', b'N', b'G', 0]);
    let done = |name| tool(name, |_| async { "done" });
    let builder = bare()
        .source(scratch.user("skills"))
        .with_skill(skill("notes", [done("list"), done("add")]))
        .settings(from_file(settings).unwrap());
    (scratch, builder)
}

/// What the model is told and offered once it has loaded the skill that has a body.
struct Loaded {
    answer: String,
    contents: String,
    tools: Vec<String>,
    file: String,
}

async fn loaded(builder: EngineBuilder) -> Loaded {
    let session = session(&builder.build().await.unwrap()).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let loaded = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    let view = turn.view().await.unwrap();
    let offered = tools(&view).into_iter();
    let offered = offered.map(str::to_owned).collect();
    let read = r#"{"skill":"deploy","path":"assets/logo.png"}"#;
    Loaded {
        answer: loaded,
        contents: view.prompt().contents.to_owned(),
        tools: offered,
        file: answer(&mut turn, "read_skill_resource", read).await,
    }
}

#[tokio::test]
async fn se4_bodies_files_and_lists_of_tools_are_given_as_settings_say() {
    let (_plain, builder) = desk("");
    let plain = loaded(builder).await;
    assert!(plain.answer.contains("1. Ask first."), "{}", plain.answer);
    assert!(!plain.contents.contains("1. Ask first."));
    assert!(plain.tools.contains(&"notes__add".to_owned()));
    assert!(plain.file.starts_with("[base64]"), "{}", plain.file);

    let text = "loading = { body_delivery = 'prompt', binary_files = 'refuse', allowed_tools = 'restrict' }";
    let (_set, builder) = desk(text);
    let set = loaded(builder).await;
    assert!(!set.answer.contains("1. Ask first."), "{}", set.answer);
    assert!(set.contents.contains("1. Ask first."), "{}", set.contents);
    assert!(set.tools.contains(&"notes__list".to_owned()));
    assert!(!set.tools.contains(&"notes__add".to_owned()));
    assert!(set.file.starts_with("invalid_arguments: "), "{}", set.file);

    let (_told, builder) = desk(text);
    let builder = builder
        .body_delivery(BodyDelivery::ToolResult)
        .binary_files(BinaryFiles::Base64)
        .allowed_tools(AllowedToolsMode::Ignore);
    let told = loaded(builder).await;
    assert!(told.answer.contains("1. Ask first."), "{}", told.answer);
    assert_eq!(told.tools, plain.tools);
    assert_eq!(told.file, plain.file);
}

#[tokio::test]
async fn se4_the_list_of_skills_has_the_profile_and_the_budget_of_settings() {
    let list = async |builder: EngineBuilder| {
        let session = session(&builder.build().await.unwrap()).await;
        let view = turn(&session).await.view().await.unwrap();
        let names: Vec<_> = tools(&view).into_iter().map(str::to_owned).collect();
        (names, view.catalogue_cut().is_empty())
    };
    let has = |names: &[String], name: &str| names.iter().any(|it| it == name);
    for (setting, load) in [
        ("psl", "load_skill"),
        ("spring", "Skill"),
        ("solon", "skillread"),
        ("dawn", "loadSkillTool"),
        ("claude", "Skill"),
    ] {
        let (_scratch, builder) = desk(&format!("profile = '{setting}'"));
        let (names, is_whole) = list(builder).await;
        assert!(has(&names, load) && is_whole, "{setting}: {names:?}");
    }
    let (_scratch, builder) = desk("tokens = 1");
    let (_, is_whole) = list(builder).await;
    assert!(!is_whole);
    let (_scratch, builder) = desk("tokens = 1\nprofile = 'dawn'");
    let builder = builder
        .profile(Profile::solon())
        .catalogue_budget(TokenBudget::unlimited());
    let (names, is_whole) = list(builder).await;
    assert!(has(&names, "skillread") && is_whole, "{names:?}");
}

#[tokio::test]
async fn a_profile_of_the_program_s_own_is_in_the_report_by_its_name() {
    let profile = Profile::claude().with_tool(ProfileTool::Load, "fetch");
    let (_scratch, builder) = desk("profile = 'dawn'");
    let engine = builder.profile(profile.unwrap()).build().await.unwrap();
    assert_row(&engine, "profile", "claude", &SettingOrigin::Builder);
    let mut settings = Settings::default();
    settings.profile = ProfileSetting::Solon;
    let engine = bare().settings(settings).build().await.unwrap();
    assert_row(&engine, "profile", "solon", &SettingOrigin::Builder);
}

#[test]
fn a_choice_that_is_not_there_says_which_there_are() {
    for (text, message) in [
        (
            "profile = 'claud'",
            "`profile` cannot be `claud`; write `psl`, `spring`, `solon`, `dawn` or `claude` (did you mean `claude`?)",
        ),
        (
            "profile = 'x'",
            "`profile` cannot be `x`; write `psl`, `spring`, `solon`, `dawn` or `claude`",
        ),
        (
            "profile = 1",
            "`profile` cannot be `1`; write `psl`, `spring`, `solon`, `dawn` or `claude`",
        ),
        (
            "loading.body_delivery = 'ToolResult'",
            "`loading.body_delivery` cannot be `ToolResult`; write `tool_result` or `prompt` (did you mean `tool_result`?)",
        ),
        (
            "loading.binary_files = 'refused'",
            "`loading.binary_files` cannot be `refused`; write `base64` or `refuse` (did you mean `refuse`?)",
        ),
        (
            "loading.allowed_tools = ['a']",
            "`loading.allowed_tools` cannot be a list; write `ignore`, `preapprove` or `restrict`",
        ),
        (
            "tokens = 'many'",
            "`tokens` cannot be `many`; write a whole number, such as `65536`",
        ),
        (
            "allowed_tools = 'ignore'",
            "`allowed_tools` is not a setting; write `loading.allowed_tools`, or remove it",
        ),
        (
            "loading.profile = 'psl'",
            "`loading.profile` is not a setting; write `profile`, or remove it",
        ),
        (
            "loadin.profile = 'psl'", // misspelled on purpose
            "`loadin` is not a setting; write `loading`, or remove it", // misspelled on purpose
        ),
        (
            "loading = 'prompt'",
            "`loading` cannot be `prompt`; write a table",
        ),
    ] {
        let found = problems(from_file(text));
        let messages: Vec<_> = found.iter().map(|(_, message)| &**message).collect();
        assert_eq!(messages, [message], "{text}");
    }
    let err = from_variables([("SKILLS_ENGINE_PROFILE", "Solon")]).unwrap_err();
    assert_eq!(
        err.to_string(),
        "SKILLS_ENGINE_PROFILE: `profile` cannot be `Solon`; write `psl`, `spring`, `solon`, `dawn` or `claude` \
         (did you mean `solon`?)"
    );
}
