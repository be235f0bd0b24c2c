//! A host's own composers and redactor: what they make is shown, and they are handed nothing that is not.

mod redactor;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use skills_engine::engine::{EngineBuilder, View};
use skills_engine::prompt::{CatalogueText, LiveText, PromptComposer, SkillText, StandardComposer};
use skills_engine::skill::{
    Attribute, AttributeFault, Cache, Expose, Limits, SkillBuilder, SkillDefinition, Tool,
    ToolContext, ToolOutput, ToolSelection, TurnRequest,
};
use skills_engine::snapshot::{
    Members, RedactionPlace, Redactor, SkillSnapshot, SnapshotComposer, TextKind,
};
use skills_engine::tools::Dialect;
use skills_engine::{Engine, Level};
use tests::{answer, bare, open, session, snapshot, turn};

use crate::made::tool;
use crate::stage::{self, Stage, outcome};

/// Everything that the code of a host was handed.
#[derive(Clone, Default)]
struct Handed(Arc<Mutex<Vec<String>>>);

impl Handed {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn count(&self, text: &str) -> usize {
        let handed = self.0.lock().unwrap();
        handed.iter().filter(|handed| handed.contains(text)).count()
    }
}

/// Replaces the word `plain`, and notes what it is handed.
struct Plain(Handed);

impl Redactor for Plain {
    fn redact<'a>(&self, text: &'a str, place: &RedactionPlace<'_>) -> Cow<'a, str> {
        let RedactionPlace {
            skill,
            member,
            kind,
            ..
        } = place;
        self.0.note(format!("{skill} {member:?} {kind:?}: {text}"));
        if text.contains("plain") {
            Cow::Owned(text.replace("plain", "[redacted]"))
        } else {
            Cow::Borrowed(text)
        }
    }
}

/// Leaves out what begins with `internal`, turns tools around, and writes snapshots of another shape.
struct Shaped(Handed, &'static str);

impl SnapshotComposer for Shaped {
    fn select(&self, skill: &SkillDefinition, level: Level, members: &mut Members<'_>) {
        self.0.note(format!("{skill:?} {level} {members:?}"));
        members
            .attributes
            .retain(|attribute| !attribute.name.starts_with("internal"));
        members.tools.reverse();
    }

    fn compose(&self, skill: &SkillSnapshot<'_>, out: &mut String) {
        self.0.note(format!("{skill:?}"));
        let attributes: Vec<_> = skill
            .attributes
            .iter()
            .map(|attribute| json!([attribute.name, attribute.value]))
            .collect();
        let tools: Vec<_> = skill.tools.iter().map(|tool| tool.name).collect();
        let shape = json!({
            "shape": self.1,
            "about": skill.description,
            "attributes": attributes,
            "tools": tools,
            "instructions": skill.instructions,
        });
        out.push_str(&shape.to_string());
    }
}

/// Writes as the standard one does, a mark before everything, and notes what it is handed.
struct Noted(Handed, &'static str);

impl PromptComposer for Noted {
    fn open_catalogue(&self, catalogue: &CatalogueText, out: &mut String) {
        out.push_str(self.1);
        StandardComposer::default().open_catalogue(catalogue, out);
    }

    fn skill(&self, skill: &SkillText<'_>, out: &mut String) {
        self.0.note(format!("{skill:?}"));
        StandardComposer::default().skill(skill, out);
    }

    fn close_catalogue(&self, out: &mut String) {
        StandardComposer::default().close_catalogue(out);
    }

    fn opened(&self, from: Level, skill: &SkillText<'_>, out: &mut String) {
        self.0.note(format!("{skill:?}"));
        StandardComposer::default().opened(from, skill, out);
    }

    fn live(&self, values: &[LiveText<'_>], out: &mut String) {
        self.0.note(format!("{values:?}"));
        StandardComposer::default().live(values, out);
    }
}

fn constant(name: &'static str, value: &str) -> Attribute {
    Attribute::constant(name, format!("About plain {name}."), &value).unwrap()
}

fn described(name: &'static str, description: &'static str) -> Tool {
    Tool::from_json(
        name,
        description,
        r#"{"type":"object","properties":{"plain":{"type":"string","description":"A plain word."}}}"#,
        |_: Value, _: ToolContext| async { "plain result" },
    )
    .unwrap()
}

/// A skill with members of each level; what is of COMPLETE, or never shown, has the word HIDDEN in it.
fn desk() -> SkillBuilder {
    SkillBuilder::new("desk")
        .name("The desk")
        .description("A plain desk.")
        .tag("plain")
        .instructions("Speak plain words.")
        .attribute(constant("shown", "plain").level(Level::Metadata))
        .attribute(constant("internal_note", "INTERNAL").level(Level::Metadata))
        .attribute(
            Attribute::live("count", "How plain.", |_| json_of("plain")).level(Level::Context),
        )
        .attribute(constant("HIDDEN_constant", "HIDDEN").level(Level::Complete))
        .attribute(
            Attribute::live("HIDDEN_live", "HIDDEN", |_| json_of("HIDDEN")).level(Level::Complete),
        )
        .attribute(constant("HIDDEN_never", "HIDDEN").expose(Expose::Disabled))
        .tool(described("look", "Looks at a plain thing.").level(Level::Metadata))
        .tool(described("act", "Acts on a plain thing."))
        .tool(described("HIDDEN_tool", "HIDDEN").level(Level::Complete))
        .tool(described("HIDDEN_off", "HIDDEN").expose(Expose::Disabled))
}

fn json_of(text: &str) -> std::collections::BTreeMap<String, Vec<String>> {
    [(format!("{text} key"), vec![format!("{text} value")])].into()
}

fn hidden(id: &'static str) -> SkillBuilder {
    SkillBuilder::new(id)
        .description("HIDDEN")
        .base_level(Level::Complete)
        .instructions("HIDDEN")
        .attribute(constant("HIDDEN", "HIDDEN"))
        .tool(described("HIDDEN", "HIDDEN"))
}

fn builder() -> EngineBuilder {
    bare()
        .with_skill(desk().build().unwrap())
        .with_skill(hidden("code-only").code_only().build().unwrap())
        .with_skill(hidden("off").build().unwrap())
        .with_skill(hidden("unlisted").build().unwrap())
        .disable("off")
}

fn own(handed: &Handed) -> EngineBuilder {
    builder()
        .redactor(Arc::new(Plain(handed.clone())))
        .snapshot_composer(Arc::new(Shaped(handed.clone(), "brief")))
        .prompt_composer(Arc::new(Noted(handed.clone(), "OWN\n")))
}

/// A view at CONTEXT, after everything was asked of it.
async fn looked_at(engine: &Engine) -> Arc<View> {
    let session = session(engine).await;
    session.allow(["desk"]).unwrap();
    open(&session, "desk", Level::Context).await;
    session.compacted();
    let view = Arc::clone(turn(&session).await.view().await.unwrap().view());
    let _ = view.snapshots();
    for dialect in [
        Dialect::OpenAiChat,
        Dialect::Anthropic,
        Dialect::Gemini,
        Dialect::Mcp,
    ] {
        let _ = view.tools_json(dialect);
    }
    session.search("desk hidden off").await.unwrap();
    session.visibility().await.unwrap();
    view
}

#[tokio::test]
async fn se22_what_a_host_composes_and_redacts_is_in_snapshot_and_prompt() {
    let handed = Handed::default();
    let engine = own(&handed).build().await.unwrap();
    let view = looked_at(&engine).await;
    assert_eq!(
        snapshot(&view, "desk"),
        json!({
            "shape": "brief",
            "about": "A [redacted] desk.",
            "attributes": [["shown", "[redacted]"], ["count", { "[redacted] key": ["[redacted] value"] }]],
            "tools": ["desk__act", "desk__look"],
            "instructions": "Speak [redacted] words.",
        })
    );
    let prompt = view.system_prompt();
    assert!(prompt.starts_with("OWN\n# Skills\n"), "{prompt}");
    assert!(
        prompt.contains(
            "<skill id=\"desk\" name=\"The desk\" level=\"METADATA\" tags=\"[redacted]\">\n\
             A [redacted] desk.\n\
             - shown = \"[redacted]\": About [redacted] shown.\n\
             - tool desk__look\n"
        ),
        "{prompt}"
    );
    assert!(
        prompt.contains(
            "- count (live): How [redacted].\n- tool desk__act\nInstructions:\nSpeak [redacted] words.\n"
        ),
        "{prompt}"
    );
    assert!(
        prompt.contains("- desk at CONTEXT: desk__act, desk__look\n"),
        "{prompt}"
    );
    assert!(
        prompt.contains("- desk.count = {\"[redacted] key\":[\"[redacted] value\"]}\n"),
        "{prompt}"
    );
    for text in [prompt, &view.snapshots(), view.tools_json(Dialect::Mcp)] {
        // The name of an argument is no text.
        let rest = text.replace("\"plain\":{", "");
        assert!(
            !rest.contains("plain") && !rest.contains("INTERNAL"),
            "{text}"
        );
    }
    let list: Vec<Value> = serde_json::from_str(view.tools_json(Dialect::Mcp)).unwrap();
    let of_desk = |tool: &&Value| tool["name"].as_str().unwrap().starts_with("desk");
    let of_desk: Vec<_> = list.iter().filter(of_desk).collect();
    // Which tools there are, and in which order, is up to the rule alone.
    assert_eq!(of_desk.len(), 2);
    for (tool, name) in of_desk.into_iter().zip(["desk__look", "desk__act"]) {
        assert_eq!(tool["name"], name);
        let described = &tool["inputSchema"]["properties"]["plain"]["description"];
        assert_eq!(described, "A [redacted] word.");
    }
    let act = view
        .tools()
        .find(|tool| tool.name() == "desk__act")
        .unwrap();
    assert_eq!(act.definition().description, "Acts on a [redacted] thing.");
    assert!(act.input_schema().contains("A [redacted] word."));
}

#[tokio::test]
async fn se22_neither_is_handed_a_hidden_member() {
    let handed = Handed::default();
    let engine = own(&handed).build().await.unwrap();
    looked_at(&engine).await;
    assert_eq!(handed.count("HIDDEN"), 0, "{:?}", handed.0.lock().unwrap());
    assert!(handed.count("desk") > 10);
    // What was seen to be so is seen once it is open.
    let session = engine.new_session(tests::ada()).await.unwrap();
    session.allow(["desk"]).unwrap();
    open(&session, "desk", Level::Complete).await;
    let view = turn(&session).await.view().await.unwrap();
    let _ = view.snapshots();
    assert!(
        view.system_prompt()
            .contains("HIDDEN_constant = \"HIDDEN\"")
    );
    for part in [
        "Some(\"HIDDEN_constant\") Value: HIDDEN",
        "name: \"HIDDEN_live\"",
    ] {
        assert!(handed.count(part) > 0, "{part}");
    }
    for never in ["HIDDEN_never", "HIDDEN_off", "code-only", "unlisted"] {
        assert_eq!(handed.count(never), 0, "{never}");
    }
}

#[tokio::test]
async fn se22_texts_that_never_change_are_redacted_once() {
    let handed = Handed::default();
    let engine = own(&handed).build().await.unwrap();
    for _ in 0..3 {
        let session = engine.new_session(tests::ada()).await.unwrap();
        open(&session, "desk", Level::Context).await;
        let _ = turn(&session).await.view().await.unwrap().snapshots();
    }
    for once in [
        "desk None Description: ",
        "desk None Instructions: ",
        "desk Some(\"shown\") Value: ",
        "desk Some(\"act\") Description: ",
    ] {
        assert_eq!(handed.count(once), 1, "{once}");
    }
    // One key and one string of each view.
    assert_eq!(handed.count("desk Some(\"count\") Value: "), 2 * 3);
}

#[tokio::test]
async fn se22_the_digest_covers_what_they_made() {
    type Adapt = fn(EngineBuilder) -> EngineBuilder;
    let rows: [(&str, Adapt); 8] = [
        ("standard", |builder| builder),
        ("snapshots", |builder| {
            builder.snapshot_composer(Arc::new(Shaped(Handed::default(), "brief")))
        }),
        ("other snapshots", |builder| {
            builder.snapshot_composer(Arc::new(Shaped(Handed::default(), "wide")))
        }),
        ("prompt", |builder| {
            builder.prompt_composer(Arc::new(Noted(Handed::default(), "ONE\n")))
        }),
        ("other prompt", |builder| {
            builder.prompt_composer(Arc::new(Noted(Handed::default(), "TWO\n")))
        }),
        ("redactor", |builder| {
            builder.redactor(Arc::new(Plain(Handed::default())))
        }),
        ("other redactor", |builder| {
            builder.redactor(Arc::new(Fails))
        }),
        ("redactor of tools", |builder| {
            builder.redactor(Arc::new(Tools))
        }),
    ];
    let mut digests = Vec::new();
    for (name, adapt) in rows {
        let digest = *looked_at(&adapt(builder()).build().await.unwrap())
            .await
            .digest();
        let again = *looked_at(&adapt(builder()).build().await.unwrap())
            .await
            .digest();
        assert_eq!(digest, again, "{name}");
        assert!(!digests.contains(&digest), "{name}");
        digests.push(digest);
    }
}

/// Changes nothing but what is said of tools, which no prompt repeats.
struct Tools;

impl Redactor for Tools {
    fn redact<'a>(&self, text: &'a str, place: &RedactionPlace<'_>) -> Cow<'a, str> {
        match place.kind {
            TextKind::Description if place.member == Some("act") => Cow::Borrowed("Acts."),
            _ => Cow::Borrowed(text),
        }
    }
}

/// Panics at `plain`, and makes everything of `long` too long.
struct Fails;

impl Redactor for Fails {
    fn redact<'a>(&self, text: &'a str, _place: &RedactionPlace<'_>) -> Cow<'a, str> {
        assert!(!text.contains("plain"), "told to panic");
        if text.contains("long") {
            return Cow::Owned("x".repeat(1 << 20));
        }
        Cow::Borrowed(text)
    }
}

/// Chooses by name, in the order of the names that are given, each twice.
struct Chooses(&'static [&'static str]);

impl SnapshotComposer for Chooses {
    fn select(&self, _skill: &SkillDefinition, _level: Level, members: &mut Members<'_>) {
        for list in [&mut members.attributes, &mut members.tools] {
            let all = std::mem::take(list);
            for name in self.0 {
                let named = all.iter().filter(|member| member.name.ends_with(name));
                list.extend(named.clone().chain(named));
            }
        }
        members.instructions = false;
    }
}

#[tokio::test]
async fn se22_a_selection_holds_for_snapshot_and_prompt_and_saves_evaluations() {
    let reads = Arc::new(AtomicU32::new(0));
    let read = Arc::clone(&reads);
    let dear = Attribute::live("dear", "", move |_| read.fetch_add(1, Ordering::Relaxed));
    let cheap = Attribute::live("cheap", "", |_| 1);
    let desk = SkillBuilder::new("desk")
        .instructions("Not shown.")
        .attribute(dear)
        .attribute(cheap)
        .attribute(constant("third", "3"))
        .tool(described("act", ""))
        .tool(described("wait", ""))
        .build()
        .unwrap();
    let choice = Arc::new(Chooses(&["wait", "third", "cheap", "act"]));
    let engine = bare()
        .with_skill(desk)
        .snapshot_composer(choice)
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    open(&session, "desk", Level::Context).await;
    let view = turn(&session).await.view().await.unwrap();
    let json = view.snapshot("desk").unwrap();
    let third = json.find("\"third\"").unwrap();
    assert!(third < json.find("\"cheap\"").unwrap(), "{json}");
    assert_eq!(json.matches("desk__wait").count(), 1, "{json}");
    assert!(json.find("desk__wait") < json.find("desk__act"), "{json}");
    assert!(
        !json.contains("dear") && !json.contains("instructions"),
        "{json}"
    );
    assert!(
        view.system_prompt().ends_with(
            "<opened skill=\"desk\" level=\"CONTEXT\">\n\
             - third = \"3\": About plain third.\n- cheap (live)\n\
             - tool desk__wait\n- tool desk__act\n</opened>\n\n<live>\n- desk.cheap = 1\n</live>\n"
        ),
        "{}",
        view.system_prompt()
    );
    assert_eq!(reads.load(Ordering::Relaxed), 0);
    // What can be called is up to the rule.
    assert_eq!(tests::tools(&view), ["desk__act", "desk__wait"]);
}

/// Panics, or writes no JSON, for skills of some ids.
struct Breaks;

impl SnapshotComposer for Breaks {
    fn select(&self, skill: &SkillDefinition, _level: Level, _members: &mut Members<'_>) {
        assert_ne!(skill.id, "select", "told to panic");
    }

    fn compose(&self, skill: &SkillSnapshot<'_>, out: &mut String) {
        assert_ne!(skill.id, "compose", "told to panic");
        out.push_str(if skill.id == "text" {
            "{no json"
        } else {
            "{\"fine\":true}"
        });
    }
}

#[tokio::test]
async fn a_composer_that_breaks_shows_nothing_of_that_skill_alone() {
    let skills = ["compose", "fine", "select", "text"].map(|id| {
        SkillBuilder::new(id)
            .base_level(Level::Context)
            .attribute(constant("value", "MEMBER"))
            .build()
            .unwrap()
    });
    let builder = skills.into_iter().fold(bare(), EngineBuilder::with_skill);
    let engine = builder
        .without("psl-skill")
        .snapshot_composer(Arc::new(Breaks))
        .build()
        .await
        .unwrap();
    let view = turn(&session(&engine).await).await.view().await.unwrap();
    assert_eq!(
        view.snapshots(),
        "[null,{\"fine\":true},{\"fine\":true},null]"
    );
    let members = view.system_prompt().matches("MEMBER").count();
    assert_eq!(members, 3, "{}", view.system_prompt());
}

/// A skill whose hook gives instructions and two tools, one of them of COMPLETE.
fn hooked() -> SkillBuilder {
    let say = |_: &TurnRequest| Some("Speak plain words today.".to_owned());
    SkillBuilder::new("shop")
        .instructions("Sell.")
        .tool(described("replaced", ""))
        .dynamic_instructions(say)
        .dynamic_tools(|_: &TurnRequest| {
            let quote = described("quote", "Quotes a plain price.").level(Level::Context);
            let order = described("HIDDEN_order", "HIDDEN").level(Level::Complete);
            let look = described("look", "Looks.").level(Level::Context);
            ToolSelection::replace([quote, order, look])
        })
}

#[tokio::test]
async fn se22_what_hooks_give_for_a_turn_is_composed_and_redacted_too() {
    let handed = Handed::default();
    let own = |builder: EngineBuilder| {
        builder
            .redactor(Arc::new(Plain(handed.clone())))
            .snapshot_composer(Arc::new(Shaped(handed.clone(), "brief")))
    };
    let shop = || bare().with_skill(hooked().build().unwrap());
    let engine = own(shop()).build().await.unwrap();
    let session = session(&engine).await;
    open(&session, "shop", Level::Context).await;
    session.compacted();
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    let shown = snapshot(&view, "shop");
    assert_eq!(shown["tools"], json!(["shop__look", "shop__quote"]));
    assert_eq!(
        shown["instructions"],
        "Sell.\n\nSpeak [redacted] words today."
    );
    let prompt = view.prompt();
    assert!(
        prompt.turn.contains("Speak [redacted] words today."),
        "{}",
        prompt.turn
    );
    assert!(
        prompt
            .restated
            .contains("- shop at CONTEXT: shop__look, shop__quote\n")
    );
    let quote = view
        .tools()
        .find(|tool| tool.name() == "shop__quote")
        .unwrap();
    assert_eq!(quote.definition().description, "Quotes a [redacted] price.");
    assert!(quote.input_schema().contains("A [redacted] word."));
    for text in [
        view.system_prompt(),
        view.tools_json(Dialect::Mcp),
        &view.snapshots(),
    ] {
        assert!(!text.replace("\"plain\":{", "").contains("plain"), "{text}");
    }
    assert_eq!(handed.count("HIDDEN"), 0, "{:?}", handed.0.lock().unwrap());
    assert!(turn.view().await.unwrap().is_unchanged());
    assert_eq!(
        answer(&mut turn, "shop__quote", "{}").await,
        "[redacted] result"
    );

    open(&session, "shop", Level::Complete).await;
    let view = turn.view().await.unwrap();
    assert!(tests::tools(&view).contains(&"shop__HIDDEN_order"));
    let _ = view.snapshots();
    assert!(handed.count("HIDDEN") > 0);

    // What the host selects holds for what hooks give as well.
    let choice = Arc::new(Chooses(&["look"]));
    let engine = shop().snapshot_composer(choice).build().await.unwrap();
    let session = tests::session(&engine).await;
    open(&session, "shop", Level::Context).await;
    let view = tests::turn(&session).await.view().await.unwrap();
    let shown = snapshot(&view, "shop");
    assert_eq!(
        shown["tools"],
        json!([{ "name": "shop__look", "description": "Looks." }])
    );
    assert_eq!(shown.get("instructions"), None);
    assert_eq!(view.prompt().turn, "");
    assert_eq!(tests::tools(&view), ["shop__quote", "shop__look"]);
}
