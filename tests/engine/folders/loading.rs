//! Skills of folders in sessions: loaded, read, invoked and found, and what a refresh means for a turn that runs.

use skills_engine::engine::EngineBuilder;
use skills_engine::skill::Actor;
use skills_engine::source::SkillFolders;
use skills_engine::{Engine, Level, Session, Turn};
use tests::{answer, bare, open, session, tools, turn};

use super::scratch::{Scratch, main_file};

async fn engine(scratch: &Scratch) -> Engine {
    let folders: SkillFolders = scratch.user("skills");
    let builder: EngineBuilder = bare().source(folders);
    builder.build().await.unwrap()
}

async fn looked(session: &Session) -> Turn {
    let mut turn = turn(session).await;
    turn.view().await.unwrap();
    turn
}

fn deploy(scratch: &Scratch) {
    let text = main_file(
        "deploy",
        "Deploys a service.",
        "1. Deploy $0 to $1.\nIt costs $5.",
    );
    scratch.put("skills/deploy/SKILL.md", text);
    scratch.put("skills/deploy/references/steps.md", "Step by step.");
    scratch.put("skills/deploy/scripts/run.sh", "#!/bin/sh\nexit 0\n");
}

fn read(path: &str) -> String {
    serde_json::json!({"skill": "deploy", "path": path}).to_string()
}

#[tokio::test]
async fn se4_a_folder_is_loaded_read_and_its_scripts_after_that() {
    let scratch = Scratch::new();
    deploy(&scratch);
    let engine = engine(&scratch).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let view = turn.view().await.unwrap();
    assert!(view.system_prompt().contains("Deploys a service."));
    assert_eq!(tools(&view), ["load_skill"]);
    let load = r#"{"name":"deploy","args":"\"the shop\" staging"}"#;
    let loaded = answer(&mut turn, "load_skill", load).await;
    assert!(
        loaded.contains("1. Deploy the shop to staging."),
        "{loaded}"
    );
    assert!(loaded.contains("It costs $5."), "{loaded}");
    assert!(
        loaded.contains("- references/steps.md\n- scripts/run.sh"),
        "{loaded}"
    );
    assert!(loaded.contains("skills/deploy"), "{loaded}");
    let early = answer(
        &mut turn,
        "read_skill_resource",
        &read("references/steps.md"),
    )
    .await;
    assert_eq!(
        early,
        "hidden: `read_skill_resource` is there now, but you have not seen it yet. Call it in the next step"
    );
    turn.view().await.unwrap();
    let steps = answer(
        &mut turn,
        "read_skill_resource",
        &read("references/steps.md"),
    )
    .await;
    assert_eq!(steps, "Step by step.");
    let script = answer(&mut turn, "read_skill_resource", &read("scripts/run.sh")).await;
    assert!(script.starts_with("hidden: "), "{script}");
    open(&session, "deploy", Level::Complete).await;
    let script = answer(&mut turn, "read_skill_resource", &read("scripts/run.sh")).await;
    assert_eq!(script, "#!/bin/sh\nexit 0\n");
}

#[tokio::test]
async fn se4_no_path_leads_out_of_a_folder() {
    let scratch = Scratch::new();
    deploy(&scratch);
    scratch.put("skills/secret.txt", "hunter2");
    scratch.link("../secret.txt", "skills/deploy/link.txt");
    let engine = engine(&scratch).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    turn.view().await.unwrap();
    let mut reasons = Vec::new();
    for path in [
        "../secret.txt",
        "../../etc/passwd",
        "/etc/passwd",
        "references/../../secret.txt",
        "references\\steps.md",
        "C:\\secret.txt",
        "references/%2e%2e/%2e%2e/secret.txt",
        "references/steps.md\0",
        "references",
        "missing.md",
        "link.txt",
    ] {
        let refused = answer(&mut turn, "read_skill_resource", &read(path)).await;
        assert!(
            refused.starts_with("invalid_arguments: "),
            "{path}: {refused}"
        );
        assert!(!refused.contains("hunter2"), "{path}: {refused}");
        reasons.push(refused);
    }
    let of_a_kind: std::collections::BTreeSet<_> = reasons
        .iter()
        .map(|reason| reason.rsplit("` ").next().unwrap_or_default().to_owned())
        .collect();
    assert!(of_a_kind.len() >= 6, "{reasons:#?}");
    for name in [
        "../deploy",
        "deploy/../deploy",
        "/deploy",
        "DEPLOY",
        "deploy\0",
    ] {
        let load = serde_json::json!({"name": name}).to_string();
        let unknown = answer(&mut turn, "load_skill", &load).await;
        assert!(unknown.starts_with("unknown_skill: "), "{name}: {unknown}");
    }
}

#[tokio::test]
async fn se4_a_turn_keeps_what_it_shows_and_the_next_one_sees_the_refresh() {
    let scratch = Scratch::new();
    deploy(&scratch);
    let engine = engine(&scratch).await;
    let session = session(&engine).await;
    open(&session, "deploy", Level::Context).await;
    let mut running = looked(&session).await;
    let before = running.view().await.unwrap();
    assert!(before.prompt().contents.contains("1. Deploy"));
    let text = main_file("deploy", "Deploys much.", "2. Ask first.");
    scratch.put("skills/deploy/SKILL.md", text);
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.changed, ["deploy"]);
    let same = running.view().await.unwrap();
    assert!(same.is_unchanged());
    assert!(same.system_prompt().contains("Deploys a service."));

    let mut next = looked(&session).await;
    let after = next.view().await.unwrap();
    assert!(after.prompt().contents.contains("2. Ask first."));
    assert!(after.system_prompt().contains("Deploys much."));

    scratch.put("skills/deploy/SKILL.md", "---\nname: [broken\n---\n");
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.failed.len(), 1);
    let mut last = looked(&session).await;
    let kept = last.view().await.unwrap();
    assert!(kept.prompt().contents.contains("2. Ask first."));
}

#[tokio::test]
async fn se4_a_changed_body_is_given_anew() {
    let scratch = Scratch::new();
    deploy(&scratch);
    let engine = engine(&scratch).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let load = r#"{"name":"deploy"}"#;
    answer(&mut turn, "load_skill", load).await;
    assert!(engine.refresh().await.unwrap().changed.is_empty());
    let mut same = looked(&session).await;
    let again = answer(&mut same, "load_skill", load).await;
    assert!(again.contains("Already loaded"), "{again}");
    let text = main_file("deploy", "Deploys a service.", "2. Ask first.");
    scratch.put("skills/deploy/SKILL.md", text);
    assert_eq!(engine.refresh().await.unwrap().changed, ["deploy"]);
    let mut next = looked(&session).await;
    let anew = answer(&mut next, "load_skill", load).await;
    assert!(anew.contains("2. Ask first."), "{anew}");
}

#[tokio::test]
async fn se4_what_a_header_says_of_invocation_holds() {
    let scratch = Scratch::new();
    deploy(&scratch);
    let header = "---\nname: release\ndescription: Releases.\ndisable-model-invocation: true\n\
                  argument-hint: \"[version]\"\n---\nRelease $ARGUMENTS.\n";
    scratch.put("skills/release/SKILL.md", header);
    let header = "---\nname: tidy\ndescription: Tidies up.\nuser-invocable: false\n---\nTidy.\n";
    scratch.put("skills/tidy/SKILL.md", header);
    let engine = engine(&scratch).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let view = turn.view().await.unwrap();
    assert!(!view.system_prompt().contains("Releases."));
    let unknown = answer(&mut turn, "load_skill", r#"{"name":"other"}"#).await;
    assert!(
        unknown.contains("`tidy`") && !unknown.contains("release"),
        "{unknown}"
    );
    let of_user = session.invocable(Actor::User).await.unwrap();
    let of_user: Vec<_> = of_user
        .iter()
        .map(|skill| (&*skill.skill, skill.argument_hint.as_deref()))
        .collect();
    assert_eq!(of_user, [("deploy", None), ("release", Some("[version]"))]);
    let begun = session
        .invoke(Actor::User, "release", "1.2 `!id` ${SKILL_DIR}")
        .await;
    let message = begun.unwrap().message;
    assert!(
        message.contains("Release 1.2 `!id` ${SKILL_DIR}."),
        "{message}"
    );
    assert!(session.invoke(Actor::User, "tidy", "").await.is_err());
}

#[tokio::test]
async fn se4_queries_in_any_script_find_skills_of_folders() {
    let scratch = Scratch::new();
    deploy(&scratch);
    scratch.put(
        "skills/otchet/SKILL.md",
        main_file("otchet", "Готовит ежемесячный отчёт.", "x"),
    );
    scratch.put(
        "skills/fanyi/SKILL.md",
        main_file("fanyi", "把文件翻译成中文。", "x"),
    );
    let engine = engine(&scratch).await;
    let session = session(&engine).await;
    for (query, found) in [
        ("отчёт", "otchet"),
        ("ОТЧЁТ", "otchet"),
        ("翻译", "fanyi"),
        ("service", "deploy"),
    ] {
        let matches = session.search(query).await.unwrap();
        assert_eq!(matches[0].skill, found, "{query}");
    }
}
