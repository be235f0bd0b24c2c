//! What authors test their skills with: a probe, which needs no engine, and a harness, which runs one.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::{Value, json};
use skills_engine::engine::{ApprovalAnswer, ApprovalHandler, ApprovalRequest};
use skills_engine::skill::{
    Attribute, AttributeContext, AttributeFault, BoxFuture, BuiltSkill, Code, Expose,
    MissingResource, NoArguments, Resources, Skill, SkillBuilder, SkillDefinition, Tool,
    ToolContext, TurnRequest, gates,
};
use skills_engine::testing::{Harness, HarnessError, HarnessSession, ManualClock, Probe};
use skills_engine::{Level, Principal, skill, skill_attribute, skill_tool};
use tests::{after, session, until};

use crate::helpdesk::{Helpdesk, helpdesk};

/// A desk whose members look at who asks.
fn desk() -> SkillBuilder {
    let owner = |cx: &AttributeContext| cx.principal().id().to_owned();
    let tenant = |cx: &AttributeContext| cx.attribute("tenant").cloned();
    let who = |_: NoArguments, cx: ToolContext| async move {
        let tenant = cx.attribute("tenant").cloned();
        format!("{} {}", cx.principal().id(), tenant.unwrap_or_default())
    };
    SkillBuilder::new("desk")
        .description("Looks at who asks.")
        .attribute(Attribute::live("owner", "Whose session it is.", owner))
        .attribute(Attribute::live("tenant", "Of the request.", move |cx| {
            tenant(cx).unwrap_or_default()
        }))
        .tool(Tool::new("who", "Tells who asks.", who))
}

fn failing(reason: &'static str) -> Attribute {
    Attribute::lazy("failing", "Fails.", move |_| async move {
        Err::<u32, _>(AttributeFault::new(reason))
    })
}

#[tokio::test]
async fn probe_shows_a_typed_skill_at_each_level() {
    let probe = Probe::new(helpdesk()).unwrap();
    assert_eq!(probe.id(), "helpdesk");
    let rows: [(Level, &[&str], &[&str]); 3] = [
        (Level::Metadata, &["ping"], &["default_sla", "open_tickets"]),
        (
            Level::Context,
            &["ping", "get_ticket_faq"],
            &["default_sla", "open_tickets", "on_duty"],
        ),
        (
            Level::Complete,
            &["ping", "get_ticket_faq", "close_ticket"],
            &[
                "default_sla",
                "open_tickets",
                "on_duty",
                "recent_sla_exceptions",
            ],
        ),
    ];
    for (level, tools, attributes) in rows {
        let tools: Vec<_> = tools
            .iter()
            .map(|name| format!("helpdesk__{name}"))
            .collect();
        assert_eq!(probe.tools(level), tools, "{level}");
        let snapshot = probe.snapshot(level).await;
        let names = |list: &Value| -> Vec<String> {
            let tools = list.as_array().unwrap().iter();
            tools
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect()
        };
        assert_eq!(names(&snapshot["tools"]), tools, "{level}");
        assert_eq!(snapshot["level"], level.as_str());
        let shown = snapshot["attributes"].as_object().unwrap();
        assert_eq!(shown.len(), attributes.len(), "{level}: {shown:?}");
        let prompt = probe.prompt(level).await;
        for name in attributes {
            assert!(shown.contains_key(*name), "{level}: {name}");
            assert!(
                prompt.contains(&format!("- {name} ")),
                "{level}: {name} in {prompt}"
            );
        }
        assert!(!prompt.contains("internal_note"), "{prompt}");
        let listed = prompt.lines().filter(|line| line.starts_with("- tool "));
        assert_eq!(listed.count(), tools.len(), "{level}: {prompt}");
        // What engines say of skills in general is not of this one.
        assert!(prompt.starts_with("<skill id=\"helpdesk\""), "{prompt}");
    }
    let complete = probe.snapshot(Level::Complete).await;
    let exceptions = &complete["attributes"]["recent_sla_exceptions"];
    assert_eq!(exceptions["value"], json!(["T-7"]));
}

#[tokio::test]
async fn probe_shows_less_than_the_base_level_too() {
    let skill = desk().base_level(Level::Context).build().unwrap();
    let probe = Probe::new(skill).unwrap();
    assert_eq!(probe.tools(Level::Metadata), [] as [&str; 0]);
    assert_eq!(probe.tools(Level::Context), ["desk__who"]);
    let snapshot = probe.snapshot(Level::Metadata).await;
    assert_eq!(snapshot["level"], "METADATA");
    assert_eq!(snapshot["attributes"], json!({}));
}

#[tokio::test]
async fn probe_agrees_with_an_engine() {
    let engine = tests::bare().skill(helpdesk()).build().await.unwrap();
    let session = session(&engine).await;
    let probe = Probe::new(helpdesk()).unwrap();
    for level in Level::ALL {
        tests::open(&session, "helpdesk", level).await;
        let view = tests::turn(&session).await.view().await.unwrap();
        assert_eq!(probe.tools(level), tests::tools(&view), "{level}");
        let snapshot = tests::snapshot(&view, "helpdesk");
        assert_eq!(probe.snapshot(level).await, snapshot, "{level}");
        let prompt = probe.prompt(level).await;
        let whole = view.system_prompt();
        for line in prompt.lines() {
            assert!(whole.contains(line), "{level}: `{line}` is not in {whole}");
        }
    }
}

#[tokio::test]
async fn probe_calls_tools_whatever_their_level() {
    let desk = Arc::new(helpdesk());
    let probe = Probe::new(Arc::clone(&desk)).unwrap();
    let faq = probe
        .call("get_ticket_faq", json!({ "ticket_id": "T-1042" }))
        .await
        .unwrap();
    assert_eq!(faq.text(), "Restart the router.");
    assert_eq!(faq.json(), "Restart the router.");
    let count = probe.call("close_ticket", json!({})).await.unwrap();
    assert_eq!(count.json(), 1);
    assert_eq!(
        desk.closed.load(Ordering::Relaxed),
        1,
        "it is the same value"
    );

    let rows = [
        (
            "get_ticket_faq",
            json!({ "ticket_id": "T-0" }),
            Code::ToolError,
            "no ticket T-0",
        ),
        (
            "get_ticket_faq",
            json!({ "ticket": "T-1" }),
            Code::InvalidArguments,
            "ticket_id",
        ),
        (
            "get_ticket_fqa",
            json!({}),
            Code::UnknownTool,
            "did you mean `get_ticket_faq`?",
        ), // misspelled on purpose
        ("xyz", json!({}), Code::UnknownTool, "`get_ticket_faq`"),
        ("get_ticket_faq", json!(7), Code::InvalidArguments, ""),
    ];
    for (tool, arguments, code, part) in rows {
        let fault = probe.call(tool, arguments).await.unwrap_err();
        assert_eq!(fault.code, code, "{fault}");
        assert!(fault.message.contains(part), "{fault}");
    }
}

#[tokio::test]
async fn probe_evaluates_attributes_whatever_their_level() {
    let probe = Probe::new(helpdesk()).unwrap();
    let rows = [
        ("default_sla", json!("24h")),
        ("open_tickets", json!(3)),
        ("recent_sla_exceptions", json!(["T-7"])),
        ("internal_note", json!("the boss is away")),
    ];
    for (name, value) in rows {
        assert_eq!(probe.attribute(name).await, Ok(value), "{name}");
    }
    let fault = probe.attribute("open_tikets").await.unwrap_err(); // misspelled on purpose
    assert!(
        fault.message.contains("did you mean `open_tickets`?"),
        "{fault}"
    );
}

#[tokio::test]
async fn probe_tells_why_an_attribute_has_no_value() {
    let skill = SkillBuilder::new("broken")
        .attribute(failing("the database is away"))
        .attribute(Attribute::blocking(
            "hung",
            "Panics.",
            |_| -> Result<u32, _> { panic!("on purpose") },
        ))
        .attribute(Attribute::live("bad", "Panics.", |_| -> u32 {
            panic!("on purpose")
        }))
        .attribute(Attribute::blocking("slow", "Blocks.", |_| Ok(7)))
        .build()
        .unwrap();
    let probe = Probe::new(skill).unwrap();
    let fault = probe.attribute("failing").await.unwrap_err();
    assert_eq!(fault.code, Code::ToolError);
    assert!(fault.message.contains("the database is away"), "{fault}");
    for name in ["hung", "bad"] {
        assert_eq!(probe.attribute(name).await.unwrap_err().code, Code::Panic);
    }
    assert_eq!(probe.attribute("slow").await, Ok(json!(7)));
    let snapshot = probe.snapshot(Level::Context).await;
    assert_eq!(snapshot["attributes"]["failing"]["status"], "error");
    assert_eq!(snapshot["attributes"]["slow"]["value"], 7);
}

#[tokio::test]
async fn probe_tells_members_who_asks() {
    let probe = Probe::new(desk().build().unwrap())
        .unwrap()
        .principal(Principal::new("grace", ["ops"]))
        .request(TurnRequest::user("Hello").attribute("tenant", "north"));
    let answer = probe.call("who", json!({})).await.unwrap();
    assert_eq!(answer.text(), "grace \"north\"");
    assert_eq!(probe.attribute("tenant").await, Ok(json!("north")));
    let snapshot = probe.snapshot(Level::Context).await;
    assert_eq!(snapshot["attributes"]["owner"]["value"], "grace");

    let cx = ToolContext::detached();
    let answer = probe.call_with(&cx, "who", json!({})).await.unwrap();
    assert_eq!(answer.text(), "local null");
    let cx = AttributeContext::detached();
    assert_eq!(probe.attribute_with(&cx, "owner").await, Ok(json!("local")));
}

#[tokio::test]
async fn probe_keeps_time_by_the_clock_it_is_given() {
    let clock = ManualClock::default();
    let never = |_: NoArguments, _| std::future::pending::<()>();
    let skill = SkillBuilder::new("slow")
        .tool(Tool::new("wait", "Waits.", never).timeout(Duration::from_secs(5)))
        .build()
        .unwrap();
    let probe = Probe::new(skill).unwrap().clock(Arc::new(clock.clone()));
    let call = probe.call("wait", json!({}));
    let result = after(&clock, 1, Duration::from_secs(5), call).await;
    assert_eq!(result.unwrap_err().code, Code::Timeout);
}

#[tokio::test]
async fn probe_survives_a_panicking_tool() {
    let broken = |_: NoArguments, _| async {
        assert!(std::hint::black_box(false), "on purpose");
    };
    let skill = SkillBuilder::new("broken").tool(Tool::new("fail", "Fails.", broken));
    let probe = Probe::new(skill.build().unwrap()).unwrap();
    let fault = probe.call("fail", json!({})).await.unwrap_err();
    assert_eq!(fault.code, Code::Panic);
}

/// A skill that nobody checked.
struct Unchecked {
    definition: SkillDefinition,
    attributes: Vec<Attribute>,
    tools: Vec<Tool>,
}

impl Skill for Unchecked {
    fn definition(&self) -> &SkillDefinition {
        &self.definition
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }
}

#[test]
fn probe_lists_every_problem() {
    let numbers = |_: Vec<u32>, _| async {};
    let tool = |name| Tool::new(name, "", |_: NoArguments, _| async {});
    let skill = Unchecked {
        definition: SkillDefinition::new("Odd"),
        attributes: [1, 2]
            .map(|value| Attribute::constant("same", "", &value).unwrap())
            .into(),
        tools: vec![
            tool("a b"),
            tool("twice"),
            tool("twice"),
            Tool::new("list", "", numbers),
        ],
    };
    let err = Probe::new(skill).unwrap_err();
    let problems = err.problems();
    assert_eq!(problems.len(), 5, "{err}");
    for part in [
        "`Odd` is not a skill id",
        "`a b` is not a tool or attribute name",
        "attributes named `same`",
        "tools named `twice`",
        "tool `list`",
    ] {
        assert!(
            problems.iter().any(|problem| problem.contains(part)),
            "{part}: {err}"
        );
    }
}

#[tokio::test]
async fn probe_harness_is_a_test_in_five_lines() -> Result<(), HarnessError> {
    let harness = Harness::with(helpdesk()).open(Level::Context);
    let faq = harness
        .call("get_ticket_faq", json!({ "ticket_id": "T-1042" }))
        .await?;
    assert_eq!(faq.text(), "Restart the router.");
    Ok(())
}

#[tokio::test]
async fn probe_harness_says_what_a_test_can_do_about_a_refusal() {
    let start = async |harness: Harness| -> HarnessSession { harness.start().await.unwrap() };
    let mut closed = start(Harness::with(helpdesk())).await;
    let mut capped = start(Harness::with(helpdesk()).open(Level::Complete)).await;
    let limit = capped.session().limit("helpdesk", Level::Context).await;
    limit.unwrap();
    let mut off =
        start(Harness::with(helpdesk()).engine(|builder| builder.disable("helpdesk"))).await;
    let hidden = SkillBuilder::new("odd")
        .tool(Tool::new("inner", "", |_: NoArguments, _| async {}).expose(Expose::Disabled));
    let mut disabled = start(Harness::with(hidden.build().unwrap())).await;
    let rows = [
        (
            &mut closed,
            "close_ticket",
            Code::Hidden,
            "write `.open(Level::Complete)`",
        ),
        (
            &mut capped,
            "close_ticket",
            Code::Hidden,
            "lift the limit of `helpdesk` to COMPLETE",
        ),
        (
            &mut off,
            "get_ticket_faq",
            Code::UnknownTool,
            "`helpdesk` is switched off",
        ),
        (
            &mut disabled,
            "inner",
            Code::UnknownTool,
            "nothing opens `inner`",
        ),
    ];
    for (session, tool, code, part) in rows {
        let err = session.call(tool, json!({})).await.unwrap_err();
        assert_eq!(err.code(), Some(code), "{err}");
        assert!(err.to_string().contains(part), "{err}");
        assert_eq!(format!("{err:?}"), err.to_string());
    }
    let err = closed.call("close_tikcet", json!({})).await.unwrap_err(); // misspelled on purpose
    assert!(
        err.to_string().contains("did you mean `close_ticket`?"),
        "{err}"
    );
    let err = capped.call("get_ticket_faq", json!({})).await.unwrap_err();
    assert_eq!(err.code(), Some(Code::InvalidArguments));
    assert!(
        !err.to_string().contains("in the test"),
        "the fault says it all: {err}"
    );
}

#[tokio::test]
async fn probe_harness_goes_through_session_turn_and_audit() -> Result<(), HarnessError> {
    let desk = Arc::new(helpdesk());
    let mut harness = Harness::with(Arc::clone(&desk))
        .principal(Principal::new("grace", ["ops"]))
        .request("Close my ticket")
        .start()
        .await?;
    assert_eq!(
        harness
            .call("close_ticket", json!({}))
            .await
            .unwrap_err()
            .code(),
        Some(Code::Hidden)
    );

    // The model opens the skill for this turn.
    let wish = json!({ "skill_id": "helpdesk", "level": "COMPLETE", "ephemeral": true });
    let change = harness
        .call("psl-skill__set_skill_visibility", wish)
        .await?;
    assert_eq!(change.json()["new_level"], "COMPLETE");
    assert_eq!(harness.call("close_ticket", json!({})).await?.json(), 1);
    assert_eq!(desk.closed.load(Ordering::Relaxed), 1);
    let view = harness.view().await?;
    assert!(
        view.tools()
            .any(|tool| tool.name() == "helpdesk__close_ticket")
    );

    harness.next_turn("And again").await?;
    let err = harness.call("close_ticket", json!({})).await.unwrap_err();
    assert_eq!(
        err.code(),
        Some(Code::Hidden),
        "the grant went with its turn"
    );
    harness.open(Level::Complete).await?;
    assert_eq!(harness.call("close_ticket", json!({})).await?.json(), 2);

    let audit = harness.audit().await;
    let kinds = |kind: &str| -> Vec<&Value> {
        audit
            .iter()
            .filter(|record| record["kind"] == kind)
            .collect()
    };
    assert!(audit.iter().all(|record| record["principal"] == "grace"));
    let ended = kinds("call_ended");
    let tools: Vec<_> = ended
        .iter()
        .map(|record| &record["fields"]["tool"])
        .collect();
    assert_eq!(
        tools,
        ["set_skill_visibility", "close_ticket", "close_ticket"]
    );
    assert_eq!(kinds("call_refused").len(), 2);
    assert_eq!(kinds("visibility").len(), 2);
    assert_eq!(harness.engine().session_count(), 1);
    Ok(())
}

#[tokio::test]
async fn probe_harness_keeps_time_by_the_clock_it_is_given() -> Result<(), HarnessError> {
    let clock = ManualClock::default();
    let mut harness = Harness::with(helpdesk())
        .clock(clock.clone())
        .start()
        .await?;
    let wish = json!({ "skill_id": "helpdesk", "level": "CONTEXT", "ttl_seconds": 10 });
    harness
        .call("psl-skill__set_skill_visibility", wish)
        .await?;
    let arguments = json!({ "ticket_id": "T-1042" });
    harness.call("get_ticket_faq", arguments.clone()).await?;
    until(|| clock.sleepers() >= 1).await;
    clock.advance(Duration::from_secs(10));
    let err = harness.call("get_ticket_faq", arguments).await.unwrap_err();
    assert_eq!(err.code(), Some(Code::Hidden));
    Ok(())
}

/// Knows names.
#[skill(id = "probed-names", manual)]
struct Names(&'static str);

struct Greeting(&'static str);

/// Greets.
#[skill(id = "probed-greeter", factory = Greeter::new)]
struct Greeter {
    /// What it begins with.
    #[skill_attribute(level = Metadata)]
    greeting: &'static str,
    names: Arc<Names>,
}

impl Greeter {
    fn new(resources: &Resources) -> Result<Self, MissingResource> {
        Ok(Self {
            greeting: resources.require::<Greeting>()?.0,
            names: resources.skill()?,
        })
    }
}

#[skill]
impl Greeter {
    /// Greets.
    #[skill_tool]
    fn greet(&self) -> String {
        format!("{}, {}", self.greeting, self.names.0)
    }
}

#[tokio::test]
async fn probe_harness_makes_skills_as_engines_do() -> Result<(), HarnessError> {
    let harness = Harness::of::<Greeter>()
        .resource(Greeting("Hello"))
        .skill(Names("Ada"))
        .open(Level::Context);
    assert_eq!(harness.call("greet", json!({})).await?.text(), "Hello, Ada");

    let err = Harness::of::<Greeter>().start().await.unwrap_err();
    assert!(err.to_string().contains("no resource of type"), "{err}");
    assert_eq!(err.code(), None);
    let broken = Harness::with(helpdesk()).skill(helpdesk()).start().await;
    assert!(
        broken
            .unwrap_err()
            .to_string()
            .contains("two skills have the id `helpdesk`")
    );
    Ok(())
}

#[tokio::test]
async fn probe_harness_has_only_the_skills_it_is_given() {
    let harness = Harness::with(helpdesk()).start().await.unwrap();
    let skills = harness.engine().skills();
    let ids: Vec<_> = skills.iter().map(|skill| &*skill.definition().id).collect();
    assert_eq!(ids, ["helpdesk", "psl-skill"]);
    let instance: Arc<Helpdesk> = harness.engine().skill().unwrap();
    assert_eq!(instance.closed.load(Ordering::Relaxed), 0);
    let explained = harness.explain("close_ticket");
    assert_eq!(explained.level, Some(Level::Metadata));
}

#[tokio::test]
async fn probe_harness_asks_hooks_and_people() -> Result<(), HarnessError> {
    struct Yes;
    impl ApprovalHandler for Yes {
        fn ask<'a>(&'a self, _request: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
            Box::pin(async { ApprovalAnswer::Approve })
        }
    }
    let pay = Tool::new("pay", "Pays.", |_: NoArguments, _| async { "paid" });
    let skill = SkillBuilder::new("till")
        .supports(gates::attribute("tenant"))
        .tool(pay.requires_approval());
    let skill = skill.build().unwrap();
    let tenant = || TurnRequest::empty().attribute("tenant", "north");
    let harness = |skill: BuiltSkill| Harness::with(skill).open(Level::Context);

    let err = harness(skill.clone()).call("pay", json!({})).await;
    let err = err.unwrap_err().to_string();
    assert!(err.contains("does not support the request"), "{err}");
    let asked = harness(skill.clone()).request(tenant());
    let err = asked.call("pay", json!({})).await.unwrap_err();
    assert_eq!(err.code(), Some(Code::ApprovalRequired));
    let part = "builder.approvals(handler)";
    assert!(err.to_string().contains(part), "{err}");
    let approved = harness(skill)
        .request(tenant())
        .engine(|builder| builder.approvals(Yes));
    assert_eq!(approved.call("pay", json!({})).await?.text(), "paid");
    Ok(())
}
