//! Sensitive values are in the model's prompt, or in the tool's hands, and nowhere else.

use std::collections::BTreeMap;
use std::fmt::{Debug, Write as _};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use skills_engine::audit::{
    AuditDetail, AuditKey, AuditRecord, AuditSink, AuditStore, JsonLines, MemoryContents,
    MemoryRing,
};
use skills_engine::engine::{EngineBuilder, ToolCall, TurnView, View};
use skills_engine::prompt::{CatalogueText, LiveText, PromptComposer, SkillText, StandardComposer};
use skills_engine::skill::{
    Arguments, Attribute, AttributeContext, AttributeFault, Cache, ParamEntry, SkillBuilder, Tool,
    ToolContext, schema_of,
};
use skills_engine::snapshot::{SkillSnapshot, SnapshotComposer};
use skills_engine::tools::Dialect;
use skills_engine::{Engine, Level, Principal, Session, Turn, skill, skill_attribute, skill_tool};
use tests::{ada, bare, call, open, session, snapshot, turn};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::set_global_default;
use tracing::{Event, Metadata, Subscriber};

use crate::stage;

/// What must not be found.
const MARKER: &str = "mXq7secret";

fn marker(place: &str) -> String {
    format!("{MARKER} {place}")
}

/// Knows what only the model may know.
#[skill(id = "vault", manual)]
struct Vault {
    /// The code of the door.
    #[skill_attribute(level = Metadata, sensitive)]
    code: String,
}

#[skill]
impl Vault {
    /// Who is inside.
    #[skill_attribute(sensitive)]
    fn inside(&self, cx: &AttributeContext) -> BTreeMap<String, String> {
        [(marker("key"), format!("{MARKER} {}", cx.session_id()))].into()
    }

    /// What is inside.
    #[skill_attribute(sensitive, lazy)]
    async fn content(&self) -> Vec<String> {
        tokio::task::yield_now().await;
        vec![marker("content")]
    }

    /// Has no value.
    #[skill_attribute(sensitive)]
    fn broken(&self) -> Result<u32, String> {
        Err(marker("error"))
    }

    /// Has no value either.
    #[skill_attribute(sensitive, lazy)]
    async fn late_broken(&self) -> Result<u32, String> {
        tokio::task::yield_now().await;
        Err(marker("late error"))
    }

    /// Opens the door.
    #[skill_tool(read_only)]
    fn unlock(&self, #[param(sensitive)] pin: u32, #[param(sensitive)] name: String) -> String {
        let _ = (pin, name);
        "unlocked".to_owned()
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Login {
    #[expect(dead_code, reason = "what matters is that it cannot be read")]
    pin: u32,
    #[expect(dead_code, reason = "as above")]
    user: String,
}

fn logins() -> SkillBuilder {
    let login = Tool::new("login", "Logs in.", |_: Login, _: ToolContext| async {
        "in"
    });
    let foreign = Tool::from_json(
        "foreign",
        "Logs in elsewhere.",
        r#"{"type":"object"}"#,
        |_: Value, cx: ToolContext| async move { cx.audit("used", "plain").map(|()| "in") },
    );
    SkillBuilder::new("logins")
        .tool(login.sensitive("pin").sensitive("user"))
        .tool(foreign.unwrap().sensitive("password"))
        .attribute(
            Attribute::constant("constant", "", &marker("constant"))
                .unwrap()
                .sensitive(),
        )
        .attribute(
            Attribute::blocking("blocking", "", |_| Ok(marker("blocking")))
                .cache(Cache::Session)
                .sensitive(),
        )
        .attribute(
            Attribute::blocking("broken", "", |_| {
                Err::<u32, _>(AttributeFault(marker("blocking error")))
            })
            .sensitive(),
        )
        .attribute(Attribute::live("open", "Not sensitive.", |_| "PUBLIC"))
}

/// Notes everything that is traced by anybody, with every field.
#[derive(Clone, Default)]
struct Traced(Arc<Mutex<String>>);

impl Visit for &Traced {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0.lock().unwrap(), " {field}={value:?}").unwrap();
    }
}

impl Traced {
    fn line(&self, metadata: &Metadata<'_>) {
        let mut text = self.0.lock().unwrap();
        write!(
            text,
            "\n{} {} {}",
            metadata.level(),
            metadata.target(),
            metadata.name()
        )
        .unwrap();
    }
}

impl Subscriber for Traced {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        self.line(attributes.metadata());
        attributes.record(&mut &*self);
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, values: &Record<'_>) {
        values.record(&mut &*self);
    }

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn event(&self, event: &Event<'_>) {
        self.line(event.metadata());
        event.record(&mut &*self);
    }

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

/// Texts by where they were found.
#[derive(Default)]
struct Found(Vec<(String, String)>);

impl Found {
    fn text(&mut self, place: &str, text: impl Into<String>) {
        self.0.push((place.to_owned(), text.into()));
    }

    fn debug(&mut self, place: &str, value: &dyn Debug) {
        self.text(place, format!("{value:?} {value:#?}"));
    }

    /// The places where the marker stands.
    fn marked(&self) -> Vec<&str> {
        let marked = self.0.iter().filter(|(_, text)| text.contains(MARKER));
        marked.map(|(place, _)| &**place).collect()
    }
}

/// Hands on what it is given to the standard composers, and notes its debug output.
#[derive(Clone, Default)]
struct Debugs(Arc<Mutex<String>>);

impl Debugs {
    fn note(&self, value: &dyn Debug) {
        write!(self.0.lock().unwrap(), "{value:?}").unwrap();
    }
}

impl PromptComposer for Debugs {
    fn open_catalogue(&self, catalogue: &CatalogueText, out: &mut String) {
        StandardComposer::default().open_catalogue(catalogue, out);
    }

    fn skill(&self, skill: &SkillText<'_>, out: &mut String) {
        self.note(skill);
        StandardComposer::default().skill(skill, out);
    }

    fn close_catalogue(&self, out: &mut String) {
        StandardComposer::default().close_catalogue(out);
    }

    fn opened(&self, from: Level, skill: &SkillText<'_>, out: &mut String) {
        self.note(skill);
        StandardComposer::default().opened(from, skill, out);
    }

    fn live(&self, values: &[LiveText<'_>], out: &mut String) {
        self.note(&values);
        StandardComposer::default().live(values, out);
    }
}

impl SnapshotComposer for Debugs {
    fn compose(&self, skill: &SkillSnapshot<'_>, out: &mut String) {
        self.note(skill);
        *out += &serde_json::to_string(skill).unwrap();
    }
}

fn secret(builder: EngineBuilder) -> EngineBuilder {
    let vault = Vault {
        code: marker("field"),
    };
    builder.skill(vault).with_skill(logins().build().unwrap())
}

/// Calls with sensitive arguments: right ones, and wrong ones in every way.
fn calls() -> Vec<ToolCall> {
    let quoted = format!("\"{MARKER}\"");
    let rows = [
        ("vault__unlock", format!(r#"{{"pin":1,"name":{quoted}}}"#)),
        (
            "vault__unlock",
            format!(r#"{{"pin":{quoted},"name":{quoted}}}"#),
        ),
        (
            "vault__unlock",
            format!(r#"{{"pin":[{quoted}],"name":{{"a":{quoted}}}}}"#),
        ),
        ("vault__unlock", format!(r#"{{"name":{quoted}}}"#)),
        (
            "vault__unlock",
            format!(r#"{{"pin":1,"name":{quoted},"name":{quoted}}}"#),
        ),
        ("vault__unlock", format!(r#"{{"pin":1,"name":{quoted}"#)),
        ("vault__unlock", quoted.clone()),
        ("vault__unlock", format!("[{quoted}]")),
        ("logins__login", format!(r#"{{"pin":1,"user":{quoted}}}"#)),
        (
            "logins__login",
            format!(r#"{{"pin":{quoted},"user":{quoted}}}"#),
        ),
        ("logins__login", format!(r#"{{"user":{quoted}}}"#)),
        ("logins__login", format!(r#"{{"pin":1,"user":{quoted}"#)),
        ("logins__foreign", format!(r#"{{"password":{quoted}}}"#)),
        ("logins__foreign", format!("[{quoted}]")),
        ("logins__unknown", format!(r#"{{"password":{quoted}}}"#)),
    ];
    let calls = rows.into_iter().enumerate();
    calls
        .map(|(number, (name, arguments))| ToolCall::new(number.to_string(), name, arguments))
        .collect()
}

/// Where a trail is kept.
#[derive(Clone)]
struct Trail {
    ring: Arc<MemoryRing>,
    lines: Arc<JsonLines>,
    contents: Arc<MemoryContents>,
}

impl Trail {
    fn gather(&self, engine: &Engine, found: &mut Found) {
        let records = self.ring.records();
        let has_contents = |record: &AuditRecord| record.to_string().contains("\"contents\":{");
        assert!(records.iter().any(has_contents));
        for record in records {
            found.text("records", format!("{record} {record:?}"));
        }
        found.debug("audit", engine.audit());
        found.debug("contents", &engine.audit_contents());
        let kept = self.contents.contents();
        let texts: Vec<_> = kept.iter().map(|content| content.text().unwrap()).collect();
        let is_prompt = |text: &String| text.contains("- logins.open = \"PUBLIC\"");
        assert!(texts.len() >= 3 && texts.iter().any(is_prompt));
        found.text("contents", texts.concat());
    }
}

fn gather_view(view: &TurnView, found: &mut Found) {
    found.text("prompt", view.system_prompt());
    let prompt = view.prompt();
    let parts = [prompt.stable, prompt.opened, prompt.restated, prompt.live];
    found.text("prompt in parts", parts.concat());
    found.text("snapshots", view.snapshots());
    found.debug("view", view);
    found.debug("view behind it", view.view());
    found.debug("prompt's debug", &prompt);
    for dialect in [
        Dialect::OpenAiChat,
        Dialect::Anthropic,
        Dialect::Gemini,
        Dialect::Mcp,
    ] {
        found.text("tools", view.tools_json(dialect));
    }
    for tool in view.tools() {
        found.debug("tool", &tool);
        found.debug("tool's definition", tool.definition());
    }
}

fn gather_explanations(session: &Session, turn: &Turn, found: &mut Found) {
    for (skill, member) in [
        ("vault", "code"),
        ("vault", "inside"),
        ("vault", "unlock"),
        ("logins", "open"),
    ] {
        for explanation in [session.explain(skill, member), turn.explain(skill, member)] {
            found.debug("explanation", &explanation);
            found.text("explanation", serde_json::to_string(&explanation).unwrap());
        }
    }
}

async fn gather_calls(turn: &mut Turn, found: &mut Found) {
    let asked = calls();
    found.debug("calls", &asked);
    let count = asked.len();
    let results = turn.calls(asked).await;
    let fine = results.iter().filter(|result| result.outcome.is_ok());
    assert_eq!((fine.count(), results.iter().count()), (3, count));
    for result in &results {
        found.debug("result", result);
        found.debug("message", &result.message());
        found.text("result", result.text());
        if let Err(fault) = &result.outcome {
            found.text("fault", format!("{fault} {fault:?}"));
        }
    }
}

/// What an observer is shown of the session.
async fn gather_foreign(engine: &Engine, found: &mut Found) {
    let observer = Principal::new("olga", ["observer"]);
    let foreign = engine.foreign_session(&observer, "ada", "s1").unwrap();
    let seen = foreign.view().await.unwrap();
    for shown in [
        "- code = null (redacted): The code of the door.\n",
        "- vault.inside = null (redacted)\n",
        "- logins.open = \"PUBLIC\"\n",
    ] {
        assert!(
            seen.system_prompt().contains(shown),
            "{}",
            seen.system_prompt()
        );
    }
    found.text("what others see", seen.system_prompt());
    let prompt = seen.prompt();
    let parts = [prompt.stable, prompt.opened, prompt.live];
    assert_eq!(parts.concat(), seen.system_prompt());
    assert!(prompt.stable.ends_with("</skills>\n"));
    found.text("what others see", seen.snapshots());
    found.debug("what others see", &seen);
}

/// Does everything there is to do with an engine, and gathers all it shows.
async fn work(found: &mut Found, trail: &Trail) {
    let debugs = Debugs::default();
    let engine = secret(bare())
        .audit(Arc::clone(&trail.ring) as Arc<dyn AuditSink>)
        .audit(Arc::clone(&trail.lines) as Arc<dyn AuditSink>)
        .audit_detail(AuditDetail::Content)
        .audit_contents(Arc::clone(&trail.contents) as _)
        .prompt_composer(Arc::new(debugs.clone()))
        .snapshot_composer(Arc::new(debugs.clone()))
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    open(&session, "vault", Level::Context).await;
    open(&session, "logins", Level::Context).await;
    session.compacted();
    let mut turn = turn(&session).await;
    gather_view(&turn.view().await.unwrap(), found);
    gather_explanations(&session, &turn, found);
    gather_calls(&mut turn, found).await;
    turn.view().await.unwrap();
    found.debug("turn", &turn);
    found.debug("session", &session);
    found.debug("state", &session.state());
    found.debug("engine", &engine);
    found.debug("skills", &engine.skills());
    for skill in engine.skills() {
        let members = (skill.definition(), skill.attributes(), skill.tools());
        found.debug("members", &members);
    }
    gather_foreign(&engine, found).await;
    turn.finish().await.unwrap();
    session.end("done").await.unwrap();
    engine.shutdown().await.unwrap();
    trail.gather(&engine, found);
    found.text("composers", debugs.0.lock().unwrap().clone());
}

#[test]
fn se32_sensitive_values_are_in_the_prompt_and_nowhere_else() {
    let name = format!("skills-engine-sensitive-{}", std::process::id());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("trail.jsonl");
    let _ = std::fs::remove_file(&path);
    let trail = Trail {
        ring: Arc::default(),
        lines: Arc::new(JsonLines::open(&path).unwrap()),
        contents: Arc::default(),
    };
    let (mut found, traced) = (Found::default(), Traced::default());
    // Blocking attributes run on threads of their own, and what they log must be seen as well.
    set_global_default(traced.clone()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        work(&mut found, &trail).await;
        let verified = trail.lines.verify(None, &[]).await.unwrap();
        assert!(verified.records > 10);
    });
    drop(trail);
    let file = std::fs::read(&path).unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(file.len() > 1_000);
    found.text("file", String::from_utf8(file).unwrap());
    let traced = traced.0.lock().unwrap().clone();
    for part in ["execute_tool", "attribute failed", "skill=vault"] {
        assert!(traced.contains(part), "{part}: {traced}");
    }
    found.text("traces", traced);
    assert_eq!(found.marked(), ["prompt", "prompt in parts"]);

    let prompt = &found.0[0].1;
    for place in ["field", "key", "s1", "content", "constant", "blocking"] {
        assert!(
            prompt.contains(&format!("{MARKER} {place}")),
            "{place}: {prompt}"
        );
    }
    for place in ["error", "late error", "blocking error"] {
        assert!(!prompt.contains(&marker(place)), "{place}: {prompt}");
    }
}

#[tokio::test]
async fn se32_a_snapshot_says_that_a_value_is_redacted() {
    let engine = secret(bare()).build().await.unwrap();
    let session = session(&engine).await;
    open(&session, "vault", Level::Context).await;
    open(&session, "logins", Level::Context).await;
    let view = turn(&session).await.view().await.unwrap();
    for (skill, names) in [
        (
            "vault",
            &["code", "inside", "content", "broken", "late_broken"][..],
        ),
        ("logins", &["constant", "blocking", "broken"]),
    ] {
        let attributes = snapshot(&view, skill)["attributes"].clone();
        for name in names {
            let mut attribute = attributes[name].clone();
            assert!(attribute["schema"].take().is_object(), "{name}");
            assert!(attribute["description"].take().is_string(), "{name}");
            let expected =
                json!({ "value": null, "schema": null, "description": null, "status": "redacted" });
            assert_eq!(attribute, expected, "{name}");
        }
    }
    assert_eq!(
        snapshot(&view, "logins")["attributes"]["open"]["value"],
        "PUBLIC"
    );
}

#[tokio::test]
async fn se32_the_arguments_of_a_call_are_not_debugged() {
    let call = ToolCall::new("1", "vault__unlock", format!(r#"{{"pin":"{MARKER}"}}"#));
    assert_eq!(
        format!("{call:?}"),
        r#"ToolCall { id: "1", name: "vault__unlock", arguments: 20 bytes }"#
    );
    let json = format!(r#"{{"skill_id":"{MARKER}"}}"#);
    let entry = ParamEntry {
        name: "skill_id",
        description: "",
        schema: schema_of::<String>,
        sensitive: true,
        is_option: false,
        default: None,
    };
    let parameters: &'static [_] = Box::leak(Box::new([entry]));
    let arguments = Arguments::parse(json.as_bytes(), parameters);
    assert_eq!(format!("{arguments:?}"), "[\"skill_id\"]");
}

/// An engine with a sensitive constant and a sensitive live value, where they are not empty.
async fn two(constant: &str, live: &'static str, key: Option<[u8; 32]>) -> Engine {
    let mut desk = SkillBuilder::new("desk").base_level(Level::Context);
    if !constant.is_empty() {
        desk = desk.attribute(
            Attribute::constant("constant", "", &constant)
                .unwrap()
                .sensitive(),
        );
    }
    if !live.is_empty() {
        desk = desk.attribute(Attribute::live("live", "", move |_| live).sensitive());
    }
    let builder = bare().with_skill(desk.build().unwrap());
    let builder = match key {
        Some(key) => builder.audit_key(AuditKey::new(key).unwrap()),
        None => builder,
    };
    builder.build().await.unwrap()
}

async fn view(engine: &Engine) -> Arc<View> {
    let view = turn(&session(engine).await).await.view().await.unwrap();
    Arc::clone(view.view())
}

#[tokio::test]
async fn se32_a_digest_depends_on_sensitive_values_and_nobody_can_guess_them() {
    let key = Some([7; 32]);
    let base = view(&two("a", "b", key).await).await;
    let digest = |engine: Engine| async move { *view(&engine).await.digest() };
    assert_eq!(digest(two("a", "b", key).await).await, *base.digest());
    for (name, other) in [
        ("constant", two("c", "b", key).await),
        ("live value", two("a", "c", key).await),
        ("key", two("a", "b", Some([8; 32])).await),
        ("no key", two("a", "b", None).await),
    ] {
        assert_ne!(digest(other).await, *base.digest(), "{name}");
    }
    for (constant, live) in [("a", ""), ("", "b")] {
        let [one, other] = [key, Some([8; 32])].map(|key| two(constant, live, key));
        assert_ne!(
            digest(one.await).await,
            digest(other.await).await,
            "{constant}{live}"
        );
    }
    let [one, other] = [key, Some([8; 32])].map(|key| two("", "", key));
    assert_eq!(digest(one.await).await, digest(other.await).await);
    // Without an audit key it is a random one.
    let without = [two("a", "b", None).await, two("a", "b", None).await];
    let [one, other] = without;
    assert_ne!(digest(one).await, digest(other).await);

    // The digest of the registry, which stands in the trail, has no key, and so must not know.
    let mut records = Vec::new();
    for constant in ["a", "c"] {
        let engine = two(constant, "b", key).await;
        view(&engine).await;
        engine.audit().flush().await;
        let ring = engine.audit_ring().unwrap().records();
        let of = |kind: &str| {
            let entries = ring.iter().map(stage::Entry::read);
            entries
                .filter(|entry| entry.kind == kind)
                .map(|entry| entry.fields)
                .collect::<Vec<_>>()
        };
        records.push((of("registry_built"), of("view")[0]["bytes"].clone()));
    }
    assert_eq!(records[0], records[1]);
}

#[tokio::test]
async fn se32_a_record_does_not_tell_how_long_a_sensitive_value_is() {
    let mut bytes = Vec::new();
    for (constant, live) in [("a", "b"), ("a longer one", "a longer one")] {
        let engine = two(constant, live, None).await;
        let view = view(&engine).await;
        engine.audit().flush().await;
        let records = engine.audit_ring().unwrap().records();
        let entry = records
            .iter()
            .map(stage::Entry::read)
            .find(|entry| entry.kind == "view");
        bytes.push((entry.unwrap().fields["bytes"].clone(), view.bytes()));
    }
    assert_eq!(bytes[0].0, bytes[1].0);
    assert_ne!(bytes[0].1, bytes[1].1);
}

#[tokio::test]
async fn se32_values_that_change_are_seen_to_change_and_cut_as_all_are() {
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let long = Attribute::live("long", "", move |_| {
        format!("{}{}", counter.load(Ordering::Relaxed), "x".repeat(3_000))
    });
    let desk = SkillBuilder::new("desk")
        .base_level(Level::Context)
        .attribute(long.sensitive())
        .build()
        .unwrap();
    let engine = bare().with_skill(desk).build().await.unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let first = turn.view().await.unwrap();
    assert!(
        first
            .system_prompt()
            .contains("… [cut: 953 more characters]")
    );
    assert!(turn.view().await.unwrap().is_unchanged());
    count.store(1, Ordering::Relaxed);
    let second = turn.view().await.unwrap();
    assert!(!second.is_unchanged());
    assert_ne!(first.digest(), second.digest());
    let [first, second] = [first, second].map(|view| view.view().redacted());
    assert_eq!(first.system_prompt(), second.system_prompt());
    assert!(Arc::ptr_eq(&first, &first.redacted()));
}

#[tokio::test]
async fn what_holds_nothing_sensitive_is_the_same_for_others() {
    let engine = bare()
        .with_skill(stage::skill("desk").build().unwrap())
        .build()
        .await
        .unwrap();
    let view = view(&engine).await;
    assert!(Arc::ptr_eq(&view, &view.redacted()));
    let session = engine.session(ada(), "s1").await.unwrap();
    let result = call(&mut turn(&session).await, "desk__look", "{}").await;
    assert!(result.outcome.is_ok());
}
