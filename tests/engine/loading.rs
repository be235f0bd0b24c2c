//! Skills with a body and files: what is offered, what a model gets, once and in one place, and who may begin what.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;
use skills_engine::engine::{BinaryFiles, BodyDelivery, CallResult, EngineBuilder, ToolCall};
use skills_engine::prompt::Profile;
use skills_engine::session::PslControl;
use skills_engine::skill::{
    Actor, BoxFuture, Code, Fault, Resource, ResourcePart, SkillBuilder, SkillContent, TurnRequest,
};
use skills_engine::{Engine, Level, Principal, Session, Turn};
use tests::{answer, bare, call, open, session, tools, turn, until};

use crate::made::{Held, tool};

const BODY: &str = "1. Ask first.\n2. Deploy $ARGUMENTS.\n";

fn deploy() -> SkillBuilder {
    let content = Held::new(BODY)
        .file("references/steps.md", "Step by step, with é.")
        .file("scripts/run.sh", "#!/bin/sh\n")
        .file("assets/logo.png", [0x89, b'P', b'N', b'G', 0, 255]);
    SkillBuilder::new("deploy")
        .description("Deploys services.")
        .content(content)
}

fn notes() -> SkillBuilder {
    SkillBuilder::new("notes")
        .description("Takes notes.")
        .content(Held::new("Write it down."))
}

async fn engine(adapt: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Engine {
    let builder = bare().with_skill(deploy().build().unwrap());
    adapt(builder).build().await.unwrap()
}

/// A turn that has seen its view.
async fn looked(session: &Session) -> Turn {
    let mut turn = turn(session).await;
    turn.view().await.unwrap();
    turn
}

async fn offered(turn: &mut Turn) -> Vec<String> {
    let view = turn.view().await.unwrap();
    let own = tools(&view).into_iter();
    own.map(str::to_owned).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[tokio::test]
async fn without_content_nothing_is_offered_and_nothing_is_told() {
    let plain =
        SkillBuilder::new("desk").tool(tool("ask", |_| async { "ok" }).level(Level::Context));
    let engine = bare().with_skill(plain.build().unwrap()).build().await;
    let engine = engine.unwrap();
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    assert!(offered(&mut turn).await.is_empty());
    assert!(
        engine
            .skills()
            .iter()
            .all(|skill| skill.definition().id != "skill-loader")
    );
}

#[tokio::test]
async fn a_body_is_given_once_and_in_one_place_until_the_conversation_is_compacted() {
    let engine = engine(|builder| builder).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    assert_eq!(offered(&mut turn).await, ["load_skill"]);
    let view = turn.view().await.unwrap();
    assert!(view.system_prompt().contains("Deploys services."));
    assert!(!view.system_prompt().contains("Ask first"));
    assert!(!view.system_prompt().contains("skill-loader"));

    let loaded = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(loaded.contains("1. Ask first."), "{loaded}");
    assert!(loaded.contains("/skills/deploy"), "{loaded}");
    assert!(loaded.contains("- references/steps.md"), "{loaded}");
    assert!(loaded.contains("total=\"3\""), "{loaded}");
    let again = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(again.contains("Already loaded"), "{again}");
    assert!(!again.contains("Ask first"));

    let view = turn.view().await.unwrap();
    assert_eq!(view.level("deploy"), Some(Level::Context));
    assert_eq!(tools(&view), ["load_skill", "read_skill_resource"]);
    assert!(!view.system_prompt().contains("Ask first"));

    session.compacted();
    let mut next = looked(&session).await;
    let anew = answer(&mut next, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(anew.contains("1. Ask first."), "{anew}");
}

#[tokio::test]
async fn arguments_go_into_the_body_and_other_ones_give_it_again() {
    let engine = engine(|builder| builder).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let load = |arguments: &str| format!(r#"{{"name":"deploy","args":"{arguments}"}}"#);
    let first = answer(&mut turn, "load_skill", &load("payments")).await;
    assert!(first.contains("2. Deploy payments."), "{first}");
    let second = answer(&mut turn, "load_skill", &load("billing $ARGUMENTS")).await;
    assert!(second.contains("2. Deploy billing $ARGUMENTS."), "{second}");
    let same = answer(&mut turn, "load_skill", &load("billing $ARGUMENTS")).await;
    assert!(same.contains("Already loaded"), "{same}");
}

#[tokio::test]
async fn what_the_host_opened_has_its_body_in_the_prompt_and_nowhere_else() {
    let engine = engine(|builder| builder.with_skill(notes().build().unwrap())).await;
    let session = session(&engine).await;
    open(&session, "deploy", Level::Context).await;
    let mut turn = looked(&session).await;
    let view = turn.view().await.unwrap();
    assert!(view.prompt().contents.contains("1. Ask first."));
    assert!(view.is_unchanged());
    assert!(view.system_prompt().contains(view.prompt().contents));
    let loaded = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(loaded.contains("Already loaded"), "{loaded}");

    answer(&mut turn, "load_skill", r#"{"name":"notes"}"#).await;
    let view = turn.view().await.unwrap();
    assert!(view.prompt().contents.contains("1. Ask first."));
    assert!(!view.prompt().contents.contains("Write it down"));
}

#[tokio::test]
async fn set_skill_visibility_gives_a_body_as_load_skill_does() {
    let engine = engine(|builder| builder).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let set = r#"{"skill_id":"deploy","level":"CONTEXT"}"#;
    let changed = answer(&mut turn, "psl-skill__set_skill_visibility", set).await;
    let told = json(&changed)["instructions"].as_str().unwrap().to_owned();
    assert!(told.contains("1. Ask first."), "{told}");
    let again = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(again.contains("Already loaded"), "{again}");
}

#[tokio::test]
async fn with_delivery_by_prompt_a_result_has_no_body() {
    let engine = engine(|builder| builder.body_delivery(BodyDelivery::Prompt)).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let loaded = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(!loaded.contains("Ask first"), "{loaded}");
    let view = turn.view().await.unwrap();
    assert!(view.prompt().contents.contains("1. Ask first."));
}

#[tokio::test]
async fn files_are_read_in_order_of_the_levels() {
    let engine = engine(|builder| builder).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let read = |path: &str| format!(r#"{{"skill":"deploy","path":"{path}"}}"#);
    let early = answer(
        &mut turn,
        "read_skill_resource",
        &read("references/steps.md"),
    )
    .await;
    assert!(early.starts_with("hidden: "), "{early}");
    answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    let text = answer(
        &mut turn,
        "read_skill_resource",
        &read("references/steps.md"),
    )
    .await;
    assert_eq!(text, "Step by step, with é.");
    let script = answer(&mut turn, "read_skill_resource", &read("scripts/run.sh")).await;
    assert!(
        script.starts_with("hidden: `deploy` is at CONTEXT, and `scripts/run.sh` is a script"),
        "{script}"
    );
    let other = answer(&mut turn, "read_skill_resource", &read("../../etc/passwd")).await;
    assert!(other.starts_with("invalid_arguments: "), "{other}");
    open(&session, "deploy", Level::Complete).await;
    let script = answer(&mut turn, "read_skill_resource", &read("scripts/run.sh")).await;
    assert_eq!(script, "#!/bin/sh\n");
}

#[tokio::test]
async fn a_file_is_read_in_parts_that_end_at_a_character() {
    let engine = engine(|builder| builder).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    let part = |offset: u64, limit: u64| {
        format!(
            r#"{{"skill":"deploy","path":"references/steps.md","offset":{offset},"limit":{limit}}}"#
        )
    };
    let rows = [
        (0, 4, "Step\n[bytes 0 to 4 of 22; go on with offset 4]"),
        (14, 6, "with \n[bytes 14 to 19 of 22; go on with offset 19]"),
        (
            13,
            7,
            " with \n[bytes 13 to 19 of 22; go on with offset 19]",
        ),
        (19, 1_000, "é.\n[bytes 19 to 22 of 22]"),
        (99, 5, "[nothing there: the file has 22 bytes]"),
    ];
    for (offset, limit, told) in rows {
        let text = answer(&mut turn, "read_skill_resource", &part(offset, limit)).await;
        assert_eq!(text, told, "{offset} {limit}");
    }
}

#[tokio::test]
async fn a_file_that_is_no_text_comes_as_base64_or_is_refused() {
    let read = r#"{"skill":"deploy","path":"assets/logo.png"}"#;
    for (binary, told) in [
        (BinaryFiles::Base64, "[base64]\niVBORwD/"),
        (
            BinaryFiles::Refuse,
            "invalid_arguments: `assets/logo.png` is no text, so it cannot be read here",
        ),
    ] {
        let engine = engine(|builder| builder.binary_files(binary)).await;
        let session = session(&engine).await;
        let mut turn = turn(&session).await;
        answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
        let text = answer(&mut turn, "read_skill_resource", read).await;
        assert_eq!(text, told);
    }
}

#[tokio::test]
async fn a_skill_the_model_may_not_begin_is_the_users_alone() {
    let engine = bare()
        .with_skill(
            deploy()
                .model_invocable(false)
                .argument_hint("[service]")
                .build()
                .unwrap(),
        )
        .with_skill(notes().build().unwrap())
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let view = turn.view().await.unwrap();
    assert!(!view.system_prompt().contains("deploy"));
    assert_eq!(view.level("deploy"), None);
    assert!(!view.snapshots().contains("deploy"));
    let refused = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(
        refused.contains("only the user starts `deploy`"),
        "{refused}"
    );
    let unknown = answer(&mut turn, "load_skill", r#"{"name":"other"}"#).await;
    assert!(
        unknown.contains("`notes`") && !unknown.contains("deploy"),
        "{unknown}"
    );
    let listed = answer(&mut turn, "psl-skill__get_visibility", "{}").await;
    assert!(!listed.contains("deploy"), "{listed}");
    let found = answer(
        &mut turn,
        "psl-skill__search_skills",
        r#"{"query":"deploy"}"#,
    )
    .await;
    assert!(!found.contains("deploy"), "{found}");

    let begun = session
        .invoke(Actor::User, "deploy", "payments")
        .await
        .unwrap();
    assert!(begun.message.contains("2. Deploy payments."));
    let view = turn.view().await.unwrap();
    assert!(view.system_prompt().contains("Deploys services."));
    assert!(!view.system_prompt().contains("Ask first"));
    assert!(tools(&view).contains(&"read_skill_resource"));
    let listed = session.invocable(Actor::User).await.unwrap();
    assert_eq!(listed[0].argument_hint.as_deref(), Some("[service]"));
}

#[tokio::test]
async fn a_skill_the_user_may_not_begin_is_the_models_alone() {
    let engine = bare()
        .with_skill(deploy().user_invocable(false).build().unwrap())
        .with_skill(notes().build().unwrap())
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    let refused = session.invoke(Actor::User, "deploy", "").await.unwrap_err();
    assert_eq!(refused.code, Code::NotPermitted);
    let ids = session.invocable(Actor::User).await.unwrap();
    let ids: Vec<_> = ids.iter().map(|skill| &*skill.skill).collect();
    assert_eq!(ids, ["notes"]);
    let unknown = session.invoke(Actor::User, "other", "").await.unwrap_err();
    assert!(unknown.message.contains("`notes`") && !unknown.message.contains("deploy"));
    let mut turn = looked(&session).await;
    let loaded = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(loaded.contains("Ask first"), "{loaded}");
}

#[tokio::test]
async fn loading_goes_by_the_rule_as_any_opening() {
    let engine = engine(|builder| builder.psl_control(PslControl::HostOnly)).await;
    let mine = session(&engine).await;
    let mut turn = looked(&mine).await;
    assert!(offered(&mut turn).await.is_empty());
    let refused = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(refused.starts_with("unknown_tool: "), "{refused}");

    let roles = bare()
        .with_skill(deploy().build().unwrap())
        .with_skill(notes().build().unwrap())
        .role("writer", |role: skills_engine::session::Role| {
            role.allow("notes", Level::Context)
                .allow("psl-skill", Level::Complete)
        })
        .build()
        .await
        .unwrap();
    let writer = roles
        .session(Principal::new("w", ["writer"]), "s")
        .await
        .unwrap();
    let mut turn = writer.turn(TurnRequest::empty()).await.unwrap();
    let refused = call(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert_eq!(refused.outcome.unwrap_err().code, Code::UnknownSkill);
    let loaded = answer(&mut turn, "load_skill", r#"{"name":"notes"}"#).await;
    assert!(loaded.contains("Write it down"), "{loaded}");
    let explained = turn.explain("skill-loader", "read_skill_resource");
    assert!(
        explained
            .reasons
            .iter()
            .any(|reason| reason.contains("sees no skill")),
        "{explained:?}"
    );

    let limited = engine.session(tests::ada(), "s2").await.unwrap();
    limited.limit("deploy", Level::Metadata).await.unwrap();
    let refused = limited.invoke(Actor::User, "deploy", "").await.unwrap_err();
    assert_eq!(refused.code, Code::NotPermitted, "{refused}");
}

#[tokio::test]
async fn a_skill_without_a_body_answers_its_instructions_and_tools() {
    let desk = SkillBuilder::new("desk")
        .description("Help desk.")
        .instructions("Be kind.")
        .tool(tool("ask", |_| async { "ok" }).level(Level::Context));
    let engine = engine(|builder| builder.with_skill(desk.build().unwrap())).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let loaded = answer(&mut turn, "load_skill", r#"{"name":"desk"}"#).await;
    assert!(loaded.contains("Be kind."), "{loaded}");
    assert!(loaded.contains("desk__ask (new)"), "{loaded}");
}

#[tokio::test]
async fn a_profile_names_tools_and_parameters() {
    let engine = engine(|builder| builder.profile(Profile::dawn())).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    assert_eq!(offered(&mut turn).await, ["loadSkillTool"]);
    let loaded = answer(&mut turn, "loadSkillTool", r#"{"name":"deploy"}"#).await;
    let loaded = json(&loaded);
    assert_eq!(loaded["name"], "deploy");
    assert_eq!(loaded["availableResources"][0], "assets/logo.png");
    let wrong = answer(&mut turn, "loadSkillTool", r#"{"names":"deploy"}"#).await;
    assert!(wrong.contains("did you mean `name`?"), "{wrong}");
    assert_eq!(
        offered(&mut turn).await,
        ["loadSkillTool", "readSkillResourceTool"]
    );
}

#[tokio::test]
async fn what_was_given_and_read_stands_in_the_audit_trail() {
    let engine = engine(|builder| builder).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    let read = r#"{"skill":"deploy","path":"references/steps.md"}"#;
    answer(&mut turn, "read_skill_resource", read).await;
    engine.audit().flush().await;
    let records = engine.audit_ring().unwrap().records();
    let of_kind = |kind: &str| {
        let lines = records
            .iter()
            .map(|record| serde_json::from_slice::<Value>(record.bytes()).unwrap());
        lines
            .filter(|record| record["kind"] == kind)
            .collect::<Vec<_>>()
    };
    let loaded = of_kind("skill_loaded");
    assert_eq!(loaded.len(), 1);
    assert_eq!(loaded[0]["fields"]["skill"], "deploy");
    let read = of_kind("resource_read");
    assert_eq!(read[0]["fields"]["path"], "references/steps.md");
    assert_eq!(read[0]["fields"]["bytes"], 22);
}

#[tokio::test]
async fn the_host_reads_what_is_listed_and_nothing_else() {
    let engine = engine(|builder| builder.with_skill(notes().build().unwrap())).await;
    let registry = engine.registry();
    let ids: Vec<_> = registry
        .list()
        .map(|skill| &*skill.definition().id)
        .collect();
    assert_eq!(ids, ["deploy", "notes", "psl-skill"]);
    assert!(registry.get("skill-loader").is_none());
    let paths: Vec<_> = registry
        .resources("deploy")
        .iter()
        .map(|file| &*file.path)
        .collect();
    assert_eq!(
        paths,
        ["assets/logo.png", "references/steps.md", "scripts/run.sh"]
    );
    let part = registry
        .read_resource("deploy", "scripts/run.sh", 2, 4)
        .await
        .unwrap();
    assert_eq!((&*part.bytes, part.total), (&b"/bin"[..], 10));
    for (skill, path, code) in [
        ("deploy", "../../etc/passwd", Code::InvalidArguments),
        ("notes", "readme.md", Code::InvalidArguments),
        ("other", "readme.md", Code::UnknownSkill),
    ] {
        let refused = registry.read_resource(skill, path, 0, 9).await.unwrap_err();
        assert_eq!(refused.code, code, "{refused}");
    }
}

#[tokio::test]
async fn a_body_in_results_that_nobody_got_is_given_again() {
    let has_begun = Arc::new(AtomicBool::new(false));
    let begun = Arc::clone(&has_begun);
    let wait = tool("wait", move |_| {
        begun.store(true, Ordering::Relaxed);
        std::future::pending::<&str>()
    });
    let desk = SkillBuilder::new("desk").tool(wait).build().unwrap();
    let engine = engine(|builder| builder.with_skill(desk)).await;
    let session = session(&engine).await;
    let mut turn = looked(&session).await;
    let load = || ToolCall::new("c", "load_skill", r#"{"name":"deploy"}"#);
    let reply = [load(), load(), ToolCall::new("w", "desk__wait", "{}")];
    tokio::select! {
        _ = turn.calls(reply) => panic!("the last call never ends"),
        () = until(|| has_begun.load(Ordering::Relaxed)) => {}
    }
    let results = turn.calls([load(), load()]).await;
    let texts: Vec<_> = results.iter().map(CallResult::text).collect();
    assert!(texts[0].contains("1. Ask first."), "{texts:?}");
    assert!(texts[1].contains("Already loaded"), "{texts:?}");
}

/// Content that fails inside, or never answers.
struct Broken {
    hangs: bool,
    resources: Vec<Resource>,
}

impl SkillContent for Broken {
    fn digest(&self) -> [u8; 32] {
        [7; 32]
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        if self.hangs {
            return Box::pin(std::future::pending());
        }
        Box::pin(async { panic!("the body is broken") })
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
    }

    fn read<'a>(
        &'a self,
        path: &'a str,
        offset: u64,
        _limit: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>> {
        Box::pin(async move { Ok(ResourcePart::new(path.into(), offset, 1)) })
    }
}

#[tokio::test(start_paused = true)]
async fn content_that_fails_or_hangs_fails_alone_and_its_files_need_no_order() {
    let broken = |id: &'static str, hangs| {
        let resources = ["z.md", "a.md", "m.md"].map(|path| Resource::new(path, 4));
        SkillBuilder::new(id)
            .content(Broken {
                hangs,
                resources: resources.to_vec(),
            })
            .build()
            .unwrap()
    };
    let engine = engine(|builder| {
        let builder = builder.with_skill(broken("panics", false));
        builder.with_skill(broken("hangs", true))
    });
    let engine = engine.await;
    let session = session(&engine).await;
    for (skill, told) in [("panics", "failed inside"), ("hangs", "took too long")] {
        open(&session, skill, Level::Context).await;
        let mut turn = looked(&session).await;
        let view = turn.view().await.unwrap();
        assert!(
            view.prompt().contents.contains(told),
            "{}",
            view.prompt().contents
        );
        let begun = session.invoke(Actor::User, skill, "").await.unwrap_err();
        assert!(matches!(begun.code, Code::Panic | Code::Timeout), "{begun}");
        let read = format!(r#"{{"skill":"{skill}","path":"m.md"}}"#);
        let read = answer(&mut turn, "read_skill_resource", &read).await;
        assert!(read.starts_with("m.md"), "{read}");
    }
    let loaded = session.invoke(Actor::User, "deploy", "").await.unwrap();
    assert!(loaded.message.contains("Ask first"));
}
