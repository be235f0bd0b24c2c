//! The events that skills write into the audit trail themselves.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use skills_engine::Level;
use skills_engine::audit::{Coverage, verify};
use skills_engine::skill::{
    Attribute, AttributeContext, Code, Expose, SkillBuilder, Tool, ToolContext,
};

use super::stage::{Entry, Kept, Stage, outcome, settle, skill, tool, turn};

/// A tool that writes as many events as its argument `times` says, and answers with the last code.
fn noting() -> Tool {
    tool("note", |arguments: Value, cx: ToolContext| async move {
        let times = arguments["times"].as_u64().unwrap();
        let event = arguments["event"].as_str().unwrap_or("noted").to_owned();
        let mut last = Ok(());
        for number in 0..times {
            last = cx.audit(
                &event,
                &json!({ "number": number, "text": arguments["text"] }),
            );
        }
        last.map(|()| "ok")
    })
    .level(Level::Metadata)
    .expose(Expose::Always)
}

async fn stage(extra: SkillBuilder) -> Stage {
    let desk = extra.tool(noting()).build().unwrap();
    Stage::with(0, |builder| builder.with_skill(desk)).await
}

async fn events(stage: &Stage) -> Vec<Entry> {
    stage.engine.audit().flush().await;
    let mut entries = stage.sink.entries();
    entries.retain(|entry| entry.kind == "skill_event");
    entries
}

#[tokio::test]
async fn an_event_of_a_tool_is_chained_with_the_session_and_names_its_author() {
    let stage = stage(skill("desk")).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    outcome(
        &mut turn,
        "desk__note",
        r#"{"times":1,"event":"ticket.closed","text":"a\nb\u202e"}"#,
    )
    .await
    .unwrap();
    let events = events(&stage).await;
    let [event] = &events[..] else {
        panic!("{events:?}");
    };
    assert_eq!(event.session.as_deref(), Some("s1"));
    assert_eq!(event.turn, Some(1));
    assert_eq!(event.actor, "model");
    assert_eq!(
        event.fields,
        json!({
            "skill": "desk",
            "member": "note",
            "event": "ticket.closed",
            "data": { "number": 0, "text": "a\nb\u{202e}" },
        })
    );
    let records = stage.sink.ring.records();
    verify(&records, None, &[], Coverage::Complete).unwrap();
    let record = records
        .iter()
        .find(|record| record.to_string().contains("skill_event"))
        .unwrap();
    assert!(record.to_string().contains(r"a\nb\u202e"), "{record}");
}

#[tokio::test]
async fn a_call_writes_a_bounded_number_of_events_under_legal_names() {
    let stage = stage(skill("desk")).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    for (arguments, expected) in [
        (json!({ "times": 64 }), Ok(())),
        (json!({ "times": 65 }), Err(Code::LimitExceeded)),
        (
            json!({ "times": 1, "event": "" }),
            Err(Code::InvalidArguments),
        ),
        (
            json!({ "times": 1, "event": "Up" }),
            Err(Code::InvalidArguments),
        ),
        (
            json!({ "times": 1, "event": "a".repeat(65) }),
            Err(Code::InvalidArguments),
        ),
        (json!({ "times": 1, "event": "a".repeat(64) }), Ok(())),
        (
            json!({ "times": 1, "text": "x".repeat(4_096) }),
            Err(Code::LimitExceeded),
        ),
        (json!({ "times": 1, "text": "x".repeat(4_000) }), Ok(())),
    ] {
        let arguments = arguments.to_string();
        let shown = &arguments[..arguments.len().min(40)];
        let result = outcome(&mut turn, "desk__note", &arguments).await;
        // The tool passes the fault on, as an error of its own.
        assert_eq!(result.is_ok(), expected.is_ok(), "{shown}");
        let cx = ToolContext::detached();
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        let mut last = Ok(());
        for number in 0..arguments["times"].as_u64().unwrap() {
            let data = json!({ "number": number, "text": arguments["text"] });
            last = cx.audit(arguments["event"].as_str().unwrap_or("noted"), &data);
        }
        assert_eq!(last.map_err(|fault| fault.code), expected, "{shown}");
    }
    assert_eq!(events(&stage).await.len(), 64 + 64 + 1 + 1);
}

#[tokio::test]
async fn an_attribute_writes_events_too_and_a_bounded_number_of_them() {
    let attribute = |name: &'static str, times: u32| {
        Attribute::live(name, "", move |cx: &AttributeContext| {
            (0..times)
                .filter(|number| cx.audit("read", number).is_ok())
                .count()
        })
        .level(Level::Metadata)
    };
    let late = Attribute::lazy("late", "", |cx: AttributeContext| async move {
        tokio::task::yield_now().await;
        cx.audit("read.late", "now").unwrap();
        Ok(())
    })
    .level(Level::Metadata);
    let desk = skill("desk")
        .attribute(attribute("often", 100))
        .attribute(attribute("once", 1))
        .attribute(late);
    let stage = stage(desk).await;
    let session = stage.session("s1").await;
    let mut first = turn(&session).await;
    first.view().await.unwrap();
    first.view().await.unwrap();
    let mut counts = std::collections::BTreeMap::new();
    for event in events(&stage).await {
        let member = event.fields["member"].as_str().unwrap().to_owned();
        *counts.entry(member).or_insert(0) += 1;
    }
    let expected = [("late", 2), ("often", 64), ("once", 2)];
    assert_eq!(
        counts,
        expected
            .map(|(name, count)| (name.to_owned(), count))
            .into()
    );
    // Another turn has its own share.
    turn(&session).await.view().await.unwrap();
    assert_eq!(events(&stage).await.len(), 64 + 4 + 64 + 2);
    AttributeContext::detached().audit("read", &1).unwrap();
}

#[tokio::test]
async fn nothing_is_written_for_a_session_or_turn_that_has_gone() {
    let kept = Kept::default();
    let seen = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&seen);
    let look = Attribute::live("look", "", move |cx: &AttributeContext| {
        *keep.lock().unwrap() = Some(cx.clone());
    })
    .level(Level::Metadata);
    let stage = stage(skill("desk").attribute(look).tool(kept.tool())).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    outcome(&mut turn, "desk__keep", "{}").await.unwrap();
    let (tool, attribute) = (kept.take(), seen.lock().unwrap().take().unwrap());
    drop(turn);
    // What a tool does after its turn is worth a record.
    tool.audit("late", &()).unwrap();
    session.end("done").await.unwrap();
    assert_eq!(
        tool.audit("later", &()).unwrap_err().code,
        Code::NotPermitted
    );
    drop(tool);
    settle().await;
    assert_eq!(
        attribute.audit("later", &()).unwrap_err().code,
        Code::Cancelled
    );
    assert_eq!(events(&stage).await.len(), 1);
}
