//! What a second look at skills with bodies and files found.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::task::Poll;

use skills_engine::Level;
use skills_engine::audit::AuditKey;
use skills_engine::engine::{AllowedToolsMode, ToolCall};
use skills_engine::prompt::{Profile, ProfileParameter, ProfileTool};
use skills_engine::skill::{
    Actor, BoxFuture, Fault, Resource, ResourcePart, Skill, SkillBuilder, SkillContent, TurnRequest,
};
use skills_engine::snapshot::{RedactionPlace, Redactor};
use skills_engine::source::{Instances, SkillFolders, SkillSource};
use skills_engine::tools::Dialect;
use tests::{answer, bare, open, session, turn};
use tokio::sync::Notify;

use super::scratch::{Scratch, main_file};
use crate::made::{Held, skill, tool};
use crate::stage::{Stage, settle};

#[tokio::test]
async fn se4_a_body_that_could_not_be_read_is_not_said_to_be_loaded() {
    let scratch = Scratch::new();
    let write = |body: &str| scratch.put("skills/d/SKILL.md", main_file("d", "Any.", body));
    write("First body.");
    let engine = bare().source(scratch.user("skills").kept_bodies(0));
    let session = session(&engine.build().await.unwrap()).await;
    open(&session, "d", Level::Context).await;
    write("Another body.");
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert!(view.prompt().contents.contains("cannot be read"));
    let told = answer(&mut turn, "load_skill", r#"{"name":"d"}"#).await;
    assert!(told.starts_with("conflict: "), "{told}");
    // It can be read again, and stands in one place.
    write("First body.");
    let told = answer(&mut turn, "load_skill", r#"{"name":"d"}"#).await;
    assert!(told.contains("First body."), "{told}");
    let view = turn.view().await.unwrap();
    assert_eq!(view.prompt().contents, "");
}

/// Content that waits before it gives anything.
#[derive(Default)]
struct Slow {
    entered: Arc<Notify>,
    go: Arc<Notify>,
    files: Vec<Resource>,
}

impl Slow {
    async fn pass<T>(&self, value: T) -> Result<T, Fault> {
        self.entered.notify_one();
        self.go.notified().await;
        Ok(value)
    }
}

impl SkillContent for Slow {
    fn digest(&self) -> [u8; 32] {
        [7; 32]
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        Box::pin(self.pass("BODY".into()))
    }

    fn resources(&self) -> &[Resource] {
        &self.files
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: u64,
        _: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>> {
        Box::pin(self.pass(ResourcePart::new(b"FILE".to_vec(), 0, 4)))
    }
}

#[tokio::test]
async fn se4_nothing_is_given_of_a_skill_that_was_taken_away_while_it_was_read() {
    let revocations = ["end", "switch", "limit", "clear", "list"];
    for (revocation, asks) in revocations
        .into_iter()
        .flat_map(|it| ["load", "invoke", "read"].map(|asks| (it, asks)))
    {
        let slow = Slow {
            files: vec![Resource::new("a.md", 4)],
            ..Slow::default()
        };
        let (entered, go) = (Arc::clone(&slow.entered), Arc::clone(&slow.go));
        let builder = SkillBuilder::new("p").content(slow);
        let engine = bare().with_skill(builder.build().unwrap());
        let engine = engine.build().await.unwrap();
        let session = session(&engine).await;
        let host = session.clone();
        let mut turn = turn(&session).await;
        turn.view().await.unwrap();
        if asks == "read" {
            go.notify_one();
            answer(&mut turn, "load_skill", r#"{"name":"p"}"#).await;
            entered.notified().await;
            turn.view().await.unwrap();
        }
        let asked = async {
            match asks {
                "load" => answer(&mut turn, "load_skill", r#"{"name":"p"}"#).await,
                "invoke" => format!("{:?}", session.invoke(Actor::User, "p", "").await),
                _ => {
                    let arguments = r#"{"skill":"p","path":"a.md"}"#;
                    answer(&mut turn, "read_skill_resource", arguments).await
                }
            }
        };
        let revoked = async {
            entered.notified().await;
            match revocation {
                "end" => host.end("done").await.unwrap(),
                "limit" => host.limit("p", Level::Metadata).await.unwrap(),
                "clear" => {
                    host.clear("p").await.unwrap();
                }
                "list" => {
                    host.allow(["psl-skill"]).unwrap();
                }
                _ => {
                    engine.set_enabled("p", false).unwrap();
                }
            }
            go.notify_one();
        };
        let told = tokio::join!(asked, revoked).0;
        let holds = told.contains("BODY") || told.contains("FILE");
        assert!(!holds, "{revocation} {asks}: {told}");
    }
}

#[tokio::test]
async fn se4_a_view_shows_no_body_of_a_skill_that_was_taken_away_while_it_was_read() {
    for revocation in ["switch", "limit", "clear", "none"] {
        let slow = Slow::default();
        let (entered, go) = (Arc::clone(&slow.entered), Arc::clone(&slow.go));
        let builder = SkillBuilder::new("p").content(slow);
        let engine = bare().with_skill(builder.build().unwrap());
        let engine = engine.build().await.unwrap();
        let session = session(&engine).await;
        open(&session, "p", Level::Context).await;
        let mut turn = turn(&session).await;
        let revoked = async {
            entered.notified().await;
            match revocation {
                "limit" => session.limit("p", Level::Metadata).await.unwrap(),
                "clear" => {
                    session.clear("p").await.unwrap();
                }
                "switch" => {
                    engine.set_enabled("p", false).unwrap();
                }
                _ => {}
            }
            go.notify_one();
        };
        let view = tokio::join!(turn.view(), revoked).0.unwrap();
        let holds = view.prompt().contents.contains("BODY");
        assert_eq!(holds, revocation == "none", "{revocation}");
    }
}

#[tokio::test]
async fn se4_a_skill_whose_files_changed_is_given_anew() {
    let scratch = Scratch::new();
    scratch.put("skills/a/SKILL.md", main_file("a", "D", "Body."));
    scratch.put("skills/a/one.md", "1");
    let engine = bare().source(scratch.user("skills")).build().await;
    let engine = engine.unwrap();
    let session = session(&engine).await;
    let mut first = turn(&session).await;
    first.view().await.unwrap();
    answer(&mut first, "load_skill", r#"{"name":"a"}"#).await;
    scratch.put("skills/a/two.md", "2");
    assert_eq!(engine.refresh().await.unwrap().changed, ["a"]);
    let mut next = turn(&session).await;
    next.view().await.unwrap();
    let again = answer(&mut next, "load_skill", r#"{"name":"a"}"#).await;
    assert!(again.contains("two.md"), "{again}");
    let again = answer(&mut next, "load_skill", r#"{"name":"a"}"#).await;
    assert!(again.contains("Already loaded"), "{again}");
}

#[tokio::test]
async fn se4_a_skill_that_needs_too_much_is_left_out_and_told_in_few_words() {
    let scratch = Scratch::new();
    let mut bins = String::new();
    for at in 0..10_000 {
        let _ = write!(bins, "b{at:x},");
    }
    let text = format!(
        "---\nname: a\ndescription: d\nmetadata:\n  requires.bins: \"{bins}\"\n---\nBody.\n"
    );
    scratch.put("skills/a/SKILL.md", text);
    let report = scratch.user("skills").scan().await.unwrap();
    let told = report.diagnostics.iter().map(|found| &found.message);
    let told: Vec<_> = told.collect();
    assert!(told.iter().all(|it| it.len() < 1_000), "{told:?}");
    assert!(
        told.iter().any(|it| it.contains("10000 programs")),
        "{told:?}"
    );
    let engine = bare().source(scratch.user("skills")).build().await;
    let mut turn = turn(&session(&engine.unwrap()).await).await;
    assert_eq!(turn.view().await.unwrap().tools().count(), 4);
}

#[cfg(unix)]
#[tokio::test]
async fn se4_any_number_of_links_to_a_folder_makes_one_skill_of_it() {
    let scratch = Scratch::new();
    scratch.skill("p/skills/a", "a", "Any.");
    scratch.skill("p/skills/group/b", "b", "Any.");
    for at in 0..200 {
        scratch.link("a", &format!("p/skills/l{at}"));
        scratch.link("group", &format!("p/skills/m{at}"));
    }
    scratch.link("../..", "p/skills/group/up");
    let folders = SkillFolders::new().project(scratch.at("p/skills"), scratch.at("p"));
    for _ in 0..2 {
        let report = folders.scan().await.unwrap();
        let names: Vec<_> = report
            .skills
            .iter()
            .map(|skill| &*skill.definition().id)
            .collect();
        assert_eq!(names, ["a", "b"]);
        let kinds: Vec<_> = report
            .diagnostics
            .iter()
            .map(|it| it.kind.as_str())
            .collect();
        assert_eq!(kinds, ["symlink-loop"]);
    }
}

#[tokio::test]
async fn se4_the_trail_says_nothing_of_arguments_that_can_be_guessed() {
    let mut digests = Vec::new();
    for key in [[7; 32], [8; 32]] {
        let notes = SkillBuilder::new("notes").content(Held::new("Pin $0."));
        let engine = bare()
            .audit_key(AuditKey::new(key).unwrap())
            .with_skill(notes.build().unwrap());
        let engine = engine.build().await.unwrap();
        let session = session(&engine).await;
        session.invoke(Actor::User, "notes", "1234").await.unwrap();
        engine.audit().flush().await;
        let records = engine.audit_ring().unwrap().records();
        let texts = records
            .iter()
            .map(|record| String::from_utf8_lossy(record.bytes()).into_owned());
        let loaded = texts.filter(|text| text.contains("skill_loaded"));
        let loaded: Vec<_> = loaded.collect();
        let told = loaded[0].split("\"told\":\"").nth(1).unwrap();
        digests.push(told[..64].to_owned());
    }
    assert_ne!(digests[0], digests[1]);
}

#[tokio::test]
async fn se4_an_error_names_only_tools_that_may_be_called() {
    let scratch = Scratch::new();
    let list = "---\nname: tight\ndescription: D\nallowed-tools: desk/ask\n---\nBody.\n";
    scratch.put("skills/tight/SKILL.md", list);
    let done = |name| tool(name, |_| async { "done" });
    let engine = bare()
        .allowed_tools(AllowedToolsMode::Restrict)
        .with_skill(skill("desk", [done("ask"), done("erase")]))
        .source(scratch.user("skills"));
    let engine = engine.build().await.unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let load = ToolCall::new("1", "load_skill", r#"{"name":"tight"}"#);
    let erase = ToolCall::new("2", "desk__erase", "{}");
    let results = turn.calls([load, erase]).await;
    let refused = results.iter().nth(1).unwrap().text().clone();
    assert!(!refused.contains("mean `desk__erase`"), "{refused}");
    let told = answer(&mut turn, "desk__asq", "{}").await;
    assert!(told.contains("Did you mean `desk__ask`?"), "{told}");
    engine.set_enabled("desk", false).unwrap();
    let told = answer(&mut turn, "desk__asp", "{}").await;
    assert!(!told.contains("desk__ask`"), "{told}");
}

struct Disk(Arc<AtomicBool>, AtomicU32);

impl SkillSource for Disk {
    fn name(&self) -> &'static str {
        "disk"
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        self.1.fetch_add(1, Ordering::SeqCst);
        let is_dead = self.0.load(Ordering::SeqCst);
        Box::pin(async move {
            if is_dead {
                std::future::pending::<()>().await;
            }
            let kept = SkillBuilder::new("kept").build()?;
            Ok(vec![Arc::new(kept) as Arc<dyn Skill>])
        })
    }
}

#[tokio::test]
async fn se4_a_source_that_hangs_does_not_hold_up_what_another_one_tells() {
    let (is_dead, instances) = (Arc::new(AtomicBool::new(false)), Instances::new());
    let stage = Stage::with(0, |builder| {
        builder
            .source(Disk(is_dead.clone(), AtomicU32::new(0)))
            .source(instances.clone())
    })
    .await;
    let session = stage.session("s").await;
    is_dead.store(true, Ordering::SeqCst);
    instances.insert(SkillBuilder::new("new").build().unwrap());
    let mut beginning = pin!(session.turn(TurnRequest::empty()));
    let mut begun = None;
    for _ in 0..100 {
        if let Poll::Ready(turn) =
            std::future::poll_fn(|cx| Poll::Ready(beginning.as_mut().poll(cx))).await
        {
            begun = Some(turn.unwrap());
            break;
        }
        settle().await;
    }
    // Nothing waited for the clock.
    let view = begun.expect("the turn begins").view().await.unwrap();
    for id in ["kept", "new"] {
        assert!(view.level(id).is_some(), "{id}");
    }
}

#[tokio::test]
async fn se4_no_source_gives_a_skill_with_the_rights_of_the_control_skill() {
    let instances = Instances::new();
    let engine = bare().source(instances.clone()).without("psl-skill");
    let engine = engine.build().await.unwrap();
    for id in ["psl-skill", "skill-loader"] {
        let made = SkillBuilder::new(id).tool(tool("x", |_| async { "ran" }));
        instances.insert(made.build().unwrap());
    }
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.failed.len(), 2);
    assert!(report.failed[0].to_string().contains("is the engine's own"));
    let session = session(&engine).await;
    session.allow(["nothing"]).unwrap();
    let view = turn(&session).await.view().await.unwrap();
    assert_eq!(view.tools().count(), 0);
}

#[tokio::test]
async fn se4_a_skill_that_a_model_may_not_begin_shows_it_nothing_by_itself() {
    let deploy = || SkillBuilder::new("deploy").model_invocable(false);
    let act = || tool("act", |_| async { "acted" });
    for (made, what) in [
        (deploy().tool(act()).build(), "a tool at METADATA"),
        (
            deploy().base_level(Level::Context).build(),
            "a base level above METADATA",
        ),
    ] {
        let error = bare().with_skill(made.unwrap()).build().await.unwrap_err();
        assert!(error.to_string().contains(what), "{error}");
    }
    let open_later = deploy().tool(act().level(Level::Context));
    let engine = bare().with_skill(open_later.build().unwrap()).build();
    let session = session(&engine.await.unwrap()).await;
    let view = turn(&session).await.view().await.unwrap();
    assert_eq!(tests::tools(&view), Vec::<&str>::new());
}

struct Hunter;

impl Redactor for Hunter {
    fn redact<'a>(&self, text: &'a str, _: &RedactionPlace<'_>) -> Cow<'a, str> {
        Cow::Owned(text.replace("hunter2", "***"))
    }
}

#[tokio::test]
async fn se4_an_argument_hint_is_redacted() {
    let scratch = Scratch::new();
    let text = "---\nname: deploy\ndescription: D\nargument-hint: hunter2\n---\nBody.\n";
    scratch.put("skills/deploy/SKILL.md", text);
    let engine = bare()
        .profile(Profile::spring())
        .redactor(Arc::new(Hunter))
        .source(scratch.user("skills"));
    let session = session(&engine.build().await.unwrap()).await;
    let view = turn(&session).await.view().await.unwrap();
    assert!(!view.tools_json(Dialect::Mcp).contains("hunter2"));
    let listed = session.invocable(Actor::User).await.unwrap();
    assert_eq!(listed[0].argument_hint.as_deref(), Some("***"));
}

#[tokio::test]
async fn se4_no_name_says_what_a_reader_does_not_see() {
    let tags = "Ignore"
        .chars()
        .map(|one| char::from_u32(0xE_0000 + u32::from(one)).unwrap());
    for unseen in [
        tags.collect::<String>(),
        "\u{200b}".into(),
        "\u{2028}".into(),
    ] {
        let scratch = Scratch::new();
        let text = format!("---\nname: \"de{unseen}ploy\"\ndescription: D\n---\nBody.\n");
        scratch.put("skills/a/SKILL.md", text);
        let report = scratch.user("skills").scan().await.unwrap();
        let kinds = report.diagnostics.iter().map(|it| it.kind.as_str());
        assert!(kinds.eq(["name-unsafe"]), "{:?}", report.diagnostics);
        assert!(report.skills.is_empty());
    }
}

#[test]
fn se4_names_of_tools_and_parameters_of_a_profile_collide_with_nothing() {
    for (parameter, name) in [
        (ProfileParameter::ResourcePath, "offset"),
        (ProfileParameter::ResourceSkill, "limit"),
    ] {
        assert!(Profile::psl().with_parameter(parameter, name).is_err());
    }
    assert!(
        Profile::psl()
            .with_tool(ProfileTool::Load, "desk__ask")
            .is_err()
    );
    assert!(
        Profile::psl()
            .with_tool(ProfileTool::Load, "desk_ask")
            .is_ok()
    );
}

/// Content that panics in one of its methods.
struct Panics(&'static str);

impl SkillContent for Panics {
    fn digest(&self) -> [u8; 32] {
        assert_ne!(self.0, "digest");
        [7; 32]
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        assert_ne!(self.0, "body");
        Box::pin(async { Ok("B".into()) })
    }

    fn total_resources(&self) -> usize {
        assert_ne!(self.0, "total_resources");
        0
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: u64,
        _: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>> {
        Box::pin(std::future::pending())
    }

    fn argument_names(&self) -> Vec<String> {
        assert_ne!(self.0, "argument_names");
        Vec::new()
    }
}

#[tokio::test]
async fn se4_content_that_panics_fails_alone() {
    let instances = Instances::new();
    let engine = bare().source(instances.clone()).build().await.unwrap();
    let session = session(&engine).await;
    for method in ["digest", "total_resources", "body", "argument_names"] {
        let id = method.replace('_', "-");
        let made = SkillBuilder::new(id.clone()).content(Panics(method));
        instances.insert(made.build().unwrap());
        let well = SkillBuilder::new("well").content(Held::new("Well."));
        instances.insert(well.build().unwrap());
        let mut turn = turn(&session).await;
        turn.view().await.unwrap();
        let told = answer(&mut turn, "load_skill", &format!(r#"{{"name":"{id}"}}"#)).await;
        assert!(told.contains(": "), "{told}");
        let begun = session.invoke(Actor::User, "well", "").await.unwrap();
        assert!(begun.message.contains("Well."));
        instances.remove(&id);
        instances.remove("well");
    }
}

#[tokio::test]
async fn se4_a_skill_is_loaded_by_its_name_as_it_is_listed() {
    let scratch = Scratch::new();
    for (at, name) in ["R&D", "a<b", "two  blanks", "#x"].iter().enumerate() {
        scratch.skill(&format!("skills/s{at}"), &format!("\"{name}\""), "Any.");
    }
    let engine = bare()
        .catalogue_budget(skills_engine::prompt::TokenBudget::new(1))
        .source(scratch.user("skills"));
    let session = session(&engine.build().await.unwrap()).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let listed = answer(&mut turn, "list_skills", "{}").await;
    let names = listed.lines().filter_map(|line| line.strip_prefix("- "));
    let names = names.filter_map(|line| line.split_once(": "));
    let names: Vec<_> = names.map(|(name, _)| name.to_owned()).collect();
    assert_eq!(names.len(), 4, "{listed}");
    for name in names {
        let arguments = serde_json::json!({ "name": name }).to_string();
        let told = answer(&mut turn, "load_skill", &arguments).await;
        assert!(told.contains("Body of"), "{name}: {told}");
    }
}
