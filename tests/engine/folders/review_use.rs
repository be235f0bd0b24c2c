//! What the first users of skills in folders came upon.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use skills_engine::Level;
use skills_engine::session::{Decision, Why};
use skills_engine::skill::{Actor, BoxFuture, Code, Fault, Skill, SkillBuilder};
use skills_engine::source::{Instances, Precedence, ShadowedSkill, SkillSource};
use tests::{answer, bare, open, session, turn};

use super::scratch::{Scratch, main_file};
use crate::made::{Held, skill, tool};

#[tokio::test]
async fn se4_arguments_outlive_the_message_that_a_skill_was_begun_with() {
    let scratch = Scratch::new();
    let text = main_file("deploy", "Deploys.", "Deploy $0 to $1.");
    scratch.put("skills/deploy/SKILL.md", text);
    let engine = bare().source(scratch.user("skills")).build().await;
    let session = session(&engine.unwrap()).await;
    let contents = async || {
        let mut turn = turn(&session).await;
        let view = turn.view().await.unwrap();
        view.prompt().contents.to_owned()
    };
    let invoke = async |arguments| {
        let begun = session.invoke(Actor::User, "deploy", arguments).await;
        begun.unwrap().message
    };
    assert!(
        invoke("shop staging")
            .await
            .contains("Deploy shop to staging.")
    );
    assert_eq!(contents().await, "");
    session.compacted();
    assert!(contents().await.contains("Deploy shop to staging."));
    assert!(invoke("desk prod").await.contains("Deploy desk to prod."));
    session.compacted();
    assert!(contents().await.contains("Deploy desk to prod."));
    // What was closed is begun anew.
    session.clear("deploy").await.unwrap();
    assert_eq!(contents().await, "");
    open(&session, "deploy", Level::Context).await;
    let told = contents().await;
    assert!(told.contains("Deploy $0 to $1."), "{told}");
}

#[tokio::test]
async fn se4_skills_of_sources_are_left_out_by_their_ids_too() {
    let scratch = Scratch::new();
    scratch.skill("skills/alpha", "alpha", "Any.");
    scratch.skill("skills/beta", "beta", "Any.");
    let instances = Instances::new();
    let engine = bare()
        .source(scratch.user("skills"))
        .source(instances.clone())
        .without("alpha")
        .build()
        .await
        .unwrap();
    let ids = || {
        let registry = engine.registry();
        let ids = registry
            .list()
            .map(|skill| skill.definition().id.to_string());
        ids.collect::<Vec<_>>()
    };
    assert_eq!(ids(), ["beta", "psl-skill"]);
    instances.insert(SkillBuilder::new("alpha").build().unwrap());
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.added, [""; 0]);
    assert_eq!(ids(), ["beta", "psl-skill"]);
}

#[tokio::test]
async fn se4_bodies_and_files_are_explained() {
    let deploy = SkillBuilder::new("deploy")
        .content(
            Held::new("Body.")
                .file("guide.md", "G")
                .file("scripts/run.sh", "S"),
        )
        .tool(tool("act", |_| async { "done" }).level(Level::Context));
    let engine = bare().with_skill(deploy.build().unwrap());
    let engine = engine.build().await.unwrap();
    let session = session(&engine).await;
    let hidden = |need| Decision::Hidden {
        have: Level::Metadata,
        need,
    };
    let decision = |member| session.explain("deploy", member).decision;
    assert_eq!(decision("SKILL.md"), hidden(Level::Context));
    assert_eq!(decision("guide.md"), hidden(Level::Context));
    assert_eq!(decision("scripts/run.sh"), hidden(Level::Complete));
    let unknown = session.explain("deploy", "");
    assert_eq!(unknown.decision, Decision::Unknown);
    let reasons = unknown.reasons.join("\n");
    assert!(
        reasons.contains("`SKILL.md` is the body of `deploy`"),
        "{reasons}"
    );
    open(&session, "deploy", Level::Context).await;
    assert_eq!(decision("SKILL.md"), Decision::Visible);
    session.allow(["deploy/act"]).unwrap();
    assert_eq!(decision("guide.md"), Decision::Denied(Why::NotListed));
    assert_eq!(decision("act"), Decision::Visible);
    engine.set_enabled("deploy", false).unwrap();
    assert_eq!(decision("SKILL.md"), Decision::Denied(Why::SwitchedOff));
}

#[tokio::test]
async fn se4_an_unknown_name_is_answered_with_those_that_the_tool_takes() {
    let shop = skill("shop", [tool("buy", |_| async { "done" })]);
    let with_file = SkillBuilder::new("deploy").content(Held::new("B").file("a.md", "A"));
    let without = SkillBuilder::new("notes").content(Held::new("B"));
    let engine = bare()
        .with_skill(shop)
        .with_skill(with_file.build().unwrap())
        .with_skill(without.build().unwrap());
    let session = session(&engine.build().await.unwrap()).await;
    open(&session, "deploy", Level::Context).await;
    open(&session, "notes", Level::Context).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let told = answer(&mut turn, "load_skill", r#"{"name":"gone"}"#).await;
    assert!(
        told.ends_with("Use one of `deploy`, `notes`, `shop`"),
        "{told}"
    );
    let arguments = r#"{"skill":"gone","path":"a.md"}"#;
    let told = answer(&mut turn, "read_skill_resource", arguments).await;
    assert!(told.ends_with("Use one of `deploy`"), "{told}");
}

#[tokio::test]
async fn se4_all_that_is_wrong_with_arguments_is_told_at_once() {
    let made = SkillBuilder::new("deploy").content(Held::new("B").file("a.md", "A"));
    let engine = bare().with_skill(made.build().unwrap());
    let session = session(&engine.build().await.unwrap()).await;
    open(&session, "deploy", Level::Context).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let told = answer(&mut turn, "load_skill", r#"{"skill":"deploy","args":1}"#).await;
    assert_eq!(
        told,
        "invalid_arguments: `skill` is not a parameter; `name` is missing; `args` must be a string. There are the \
         parameters `name`, `args`; correct the arguments and call again"
    );
    let arguments = r#"{"skil":"deploy","offset":-1,"limit":"all"}"#;
    let told = answer(&mut turn, "read_skill_resource", arguments).await;
    for problem in [
        "`skil` is not a parameter (did you mean `skill`?)",
        "`skill` is missing",
        "`path` is missing",
        "`offset` must be a whole number from 0 on",
        "`limit` must be a whole number from 1 on",
    ] {
        assert!(told.contains(problem), "{told}");
    }
}

#[tokio::test]
async fn se4_a_skill_without_a_body_says_how_it_is_opened() {
    let engine = bare().with_skill(skill("shop", [tool("buy", |_| async { "done" })]));
    let session = session(&engine.build().await.unwrap()).await;
    let fault = session.invoke(Actor::User, "shop", "").await.unwrap_err();
    assert!(
        fault.message.contains("Open it with `Session::open`"),
        "{fault}"
    );
}

#[test]
fn se4_a_skill_that_goes_first_is_named_with_one_pair_of_marks() {
    for (by, told) in [
        ("/skills/a", "that of `/skills/a`"),
        (
            "`Greeter` of crate `host` (a.rs:1)",
            "that of `Greeter` of crate `host` (a.rs:1)",
        ),
    ] {
        let shadowed = ShadowedSkill::new("folders", "greeter", by).to_string();
        assert!(shadowed.ends_with(told), "{shadowed}");
    }
}

#[tokio::test]
async fn se4_a_skill_that_takes_no_part_is_not_found_out_by_how_its_name_is_written() {
    let scratch = Scratch::new();
    scratch.skill("skills/hidden", "R&D", "Any.");
    scratch.skill("skills/notes", "notes", "Any.");
    let engine = bare().source(scratch.user("skills")).build().await;
    let session = session(&engine.unwrap()).await;
    session.allow(["notes"]).unwrap();
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    for name in ["R&D", "R&amp;D", "S&amp;D"] {
        let arguments = serde_json::json!({ "name": name }).to_string();
        let told = answer(&mut turn, "load_skill", &arguments).await;
        let unknown = format!("unknown_skill: there is no skill `{name}`. Use one of `notes`");
        assert_eq!(told, unknown);
    }
}

/// A source below others, which may fail.
struct Below(Arc<AtomicBool>);

impl SkillSource for Below {
    fn name(&self) -> &'static str {
        "below"
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        let fails = self.0.load(Ordering::SeqCst);
        Box::pin(async move {
            if fails {
                return Err(Fault::new(
                    Code::ToolError,
                    "the shelf is away. Bring it back",
                ));
            }
            let made = SkillBuilder::new("both").description("From below.");
            Ok(vec![Arc::new(made.build()?) as Arc<dyn Skill>])
        })
    }

    fn precedence(&self) -> Precedence {
        Precedence::External
    }
}

#[tokio::test]
async fn se4_a_source_that_fails_still_offers_what_another_one_goes_before() {
    let fails = Arc::new(AtomicBool::new(false));
    let instances = Instances::new();
    let first = SkillBuilder::new("both").description("Goes first.");
    instances.insert(first.build().unwrap());
    let engine = bare()
        .source(Below(Arc::clone(&fails)))
        .source(instances.clone());
    let engine = engine.build().await.unwrap();
    let described = || {
        let registry = engine.registry();
        let both = registry
            .get("both")
            .map(|skill| skill.definition().description.to_string());
        both.unwrap_or_default()
    };
    assert_eq!(described(), "Goes first.");
    fails.store(true, Ordering::SeqCst);
    assert_eq!(engine.refresh().await.unwrap().failed.len(), 1);
    instances.remove("both");
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.changed, ["both"]);
    assert_eq!(described(), "From below.");
}
