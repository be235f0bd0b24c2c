//! What is written down of approvals, and what never is.

use std::fmt::{Debug, Write as _};
use std::sync::Arc;

use serde_json::{Value, json};
use skills_engine::audit::{Coverage, verify};
use skills_engine::engine::ApprovalAnswer;
use skills_engine::skill::{Actor, Question, Tool, ToolContext};
use skills_engine::{Level, Session};
use tokio::sync::Notify;

use super::{Desk, Does, MINUTE, Person, SUM, TTL, code};
use crate::stage::{Entry, settle, tool};

/// The records of approvals and of what ran, without those of turns, views and sessions.
async fn trail(desk: &Desk) -> Vec<Entry> {
    desk.stage.engine.audit().flush().await;
    let records = desk.stage.sink.ring.records();
    verify(&records, None, &[], Coverage::FromOldest).unwrap();
    let mut entries = desk.stage.sink.entries();
    entries.retain(|entry| entry.kind.starts_with("approval_") || entry.kind.starts_with("call_"));
    entries
}

/// `kind number outcome`, as far as there are any.
fn outline(entries: &[Entry]) -> Vec<String> {
    let part = |value: &Value| match value {
        Value::Null => String::new(),
        Value::String(text) => format!(" {text}"),
        other => format!(" {other}"),
    };
    entries
        .iter()
        .map(|entry| {
            let [approval, outcome, code] =
                ["approval", "outcome", "code"].map(|field| part(&entry.fields[field]));
            format!("{}{approval}{outcome}{code}", entry.kind)
        })
        .collect()
}

#[tokio::test]
async fn se30_what_is_asked_is_recorded_first_and_decided_before_it_runs() {
    let told = Arc::new(Notify::new());
    let edit = ApprovalAnswer::ApproveWith(r#"{"sum":4}"#.to_owned());
    let desk = Desk::new(Person::who([Does::Wait(Arc::clone(&told), edit)])).await;
    let look = async {
        settle().await;
        let so_far = trail(&desk).await;
        assert_eq!(outline(&so_far), ["approval_asked 1"]);
        told.notify_one();
    };
    let (result, ()) = tokio::join!(desk.call("desk__pay", SUM), look);
    assert_eq!(result.text(), "paid");
    let entries = trail(&desk).await;
    assert_eq!(
        outline(&entries),
        [
            "approval_asked 1",
            "approval_decided 1 edited",
            "approval_used 1",
            "call_started",
            "call_ended ok"
        ]
    );
    let [asked, decided, used, started, _] = entries.as_slice() else {
        panic!("five records");
    };
    for (field, value) in [
        ("subject", "tool"),
        ("call_id", "call"),
        ("skill", "desk"),
        ("version", "0.0.0"),
        ("tool", "pay"),
        ("expires_at", "2026-01-01T00:15:00.000Z"),
    ] {
        assert_eq!(asked.field(field), value, "{field}");
    }
    let digest = |json: &str| -> String {
        let digest = desk.stage.engine.audit().argument_digest(json.as_bytes());
        digest.iter().fold(String::new(), |mut hex, byte| {
            write!(hex, "{byte:02x}").unwrap();
            hex
        })
    };
    assert_eq!(asked.field("arguments"), digest(SUM));
    assert_eq!(decided.field("arguments"), digest(r#"{"sum":4}"#));
    assert_eq!(started.field("arguments"), decided.field("arguments"));
    assert_eq!(used.field("call_id"), "call");
    let actors = [asked, decided, used].map(|entry| &*entry.actor);
    assert_eq!(actors, ["model", "host", "model"]);
    for entry in &entries {
        assert_eq!(entry.session.as_deref(), Some("s1"));
        assert_eq!(entry.turn, Some(1));
    }
}

#[tokio::test]
async fn se30_the_trail_names_who_decided_and_what_became_of_the_rest() {
    let desk = Desk::later().await;
    let as_user = |session: &Session| session.acting_as(Actor::User);
    let deny = ApprovalAnswer::Deny("too dear".to_owned());
    let denied = desk.pending("desk__pay", SUM).await;
    as_user(&desk.session).answer(&denied, deny).unwrap();
    desk.resume(&denied).await.unwrap();
    let approved = desk.pending("desk__send", "{}").await;
    as_user(&desk.session)
        .answer(&approved, ApprovalAnswer::Approve)
        .unwrap();
    desk.pending("desk__send", r#"{"a":1}"#).await;
    desk.stage.clock.advance(TTL);
    assert!(desk.session.approvals().is_empty());
    let entries = trail(&desk).await;
    assert_eq!(
        outline(&entries),
        [
            "approval_asked 1",
            "call_refused approval_required",
            "approval_decided 1 denied",
            "call_refused approval_denied",
            "approval_asked 2",
            "call_refused approval_required",
            "approval_decided 2 approved",
            "approval_asked 3",
            "call_refused approval_required",
            "approval_decided 2 expired",
            "approval_decided 3 expired"
        ]
    );
    let decided: Vec<_> = entries
        .iter()
        .filter(|entry| entry.kind == "approval_decided")
        .collect();
    let actors: Vec<_> = decided.iter().map(|entry| &*entry.actor).collect();
    assert_eq!(actors, ["user", "user", "system", "system"]);
    assert_eq!(decided[0].reason.as_deref(), Some("too dear"));

    let desk = Desk::new(Person::who([Does::Panic, Does::Hang])).await;
    desk.call("desk__pay", SUM).await;
    let hanging = tokio::time::timeout(std::time::Duration::ZERO, desk.call("desk__pay", SUM));
    assert!(hanging.await.is_err());
    assert_eq!(
        outline(&trail(&desk).await),
        [
            "approval_asked 1",
            "approval_decided 1 failed",
            "call_refused approval_required",
            "approval_asked 2",
            "approval_decided 2 withdrawn"
        ]
    );
}

const SECRET: &str = "MARKER-4711";

/// A tool with a sensitive argument that asks a question with it, and needs an approval.
fn secret_tool() -> Tool {
    tool("tell", |arguments: Value, cx: ToolContext| async move {
        let text = arguments["secret"].as_str().unwrap_or_default().to_owned();
        let question = Question::new(format!("Is it {text}?")).schema(json!({"const": text}));
        let shown = format!("{question:?}{cx:?}");
        let _ = cx.ask(question).await;
        shown
    })
    .level(Level::Metadata)
    .requires_approval()
    .sensitive("secret")
}

#[track_caller]
fn assert_silent(shown: &impl Debug, case: &str) {
    let shown = format!("{shown:?}{shown:#?}");
    assert!(!shown.contains(SECRET), "{case}: {shown}");
}

#[tokio::test]
async fn se30_sensitive_arguments_are_seen_by_the_person_and_nobody_else() {
    let arguments = json!({"secret": SECRET}).to_string();
    let edit = |json: &str| ApprovalAnswer::ApproveWith(json.to_owned());
    let reply = ApprovalAnswer::Reply(json!(SECRET));
    let broken = format!(r#"{{"secret":"{SECRET}""#);
    let person = Person::answering([
        edit(&broken),
        edit(&json!({"secret": SECRET, "edited": true}).to_string()),
        reply.clone(),
    ]);
    let desk = Desk::with(person, |builder| {
        builder.with_skill(crate::made::skill("odd", [secret_tool()]))
    })
    .await;
    for answer in [edit(&arguments), reply] {
        assert_silent(&answer, "an answer");
    }
    let result = desk.call("odd__tell", &arguments).await;
    assert!(result.outcome.is_err(), "the edit is no JSON");
    assert_silent(&result, "a failure");
    assert!(!result.text().contains(SECRET));
    let result = desk.call("odd__tell", &arguments).await;
    assert_eq!(code(&result), Ok(()));
    assert!(!result.text().contains(SECRET), "{}", result.text());

    let pending = desk.call("odd__tell", &arguments).await;
    assert_silent(&pending, "a call that waits");
    let waiting = desk.session.approvals();
    assert_silent(&waiting, "requests");
    let token = waiting[0].token.clone();
    assert!(!format!("{token:?}{waiting:?}").contains(token.as_str()));
    let fault = desk.session.answer(&token, edit(&broken)).unwrap_err();
    assert_silent(&fault, "an error");
    desk.stage.pass(MINUTE, 15).await;
    assert_silent(&desk.session.approvals(), "what has expired");

    desk.stage.engine.audit().flush().await;
    for record in desk.stage.sink.ring.records() {
        let text = String::from_utf8_lossy(record.bytes());
        assert!(!text.contains(SECRET), "{text}");
    }
    // The person saw it all.
    let asked = desk.person.asked();
    assert_eq!(asked.len(), 4);
    for request in &asked {
        use skills_engine::engine::ApprovalKind::{Question, Tool};
        let seen = match &request.kind {
            Tool { arguments, .. } => arguments.contains(SECRET),
            Question { text, schema, .. } => {
                text.contains(SECRET) && format!("{schema:?}").contains(SECRET)
            }
            _ => false,
        };
        assert!(seen);
    }
}

#[tokio::test]
async fn se30_questions_and_openings_are_recorded_without_their_texts() {
    let asks = tool(
        "ask",
        |_, cx: ToolContext| async move { cx.ask("Which?").await },
    );
    let person = Person::answering([ApprovalAnswer::Reply(json!("this one"))]);
    let desk = Desk::with(person, |builder| {
        builder.with_skill(crate::made::skill("odd", [asks.level(Level::Metadata)]))
    })
    .await;
    assert_eq!(desk.call("odd__ask", "{}").await.text(), "this one");
    let entries = trail(&desk).await;
    assert_eq!(
        outline(&entries),
        [
            "call_started",
            "approval_asked 1",
            "approval_decided 1 answered",
            "call_ended ok"
        ]
    );
    let fields = entries[1].fields.as_object().unwrap();
    let names: Vec<_> = fields.keys().map(String::as_str).collect();
    assert_eq!(
        names,
        [
            "approval",
            "call_id",
            "expires_at",
            "question",
            "skill",
            "subject",
            "tool"
        ]
    );
    let text = entries[1].fields.to_string() + &entries[2].fields.to_string();
    assert!(!text.contains("Which") && !text.contains("this one"));
}
