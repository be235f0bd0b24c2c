//! What the examples share: recorded replies of models, and a line of text for a record of the audit trail.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Deserialize;
use serde_json::Value;
use skills_engine::Engine;
use skills_engine::audit::AuditRecord;
use skills_engine::engine::ToolCall;

/// A recorded reply, in the shape of `OpenAI`'s chat completions.
#[derive(Debug, Deserialize)]
pub struct Reply {
    /// Mostly one.
    pub choices: Vec<Choice>,
}

/// One way in which a model replied.
#[derive(Debug, Deserialize)]
pub struct Choice {
    /// What it said.
    pub message: Message,
}

/// What a model said.
#[derive(Debug, Deserialize)]
pub struct Message {
    /// Its words.
    pub content: Option<String>,
    /// The calls it wants made.
    #[serde(default)]
    pub tool_calls: Vec<RecordedCall>,
}

/// A call that a model wants made.
#[derive(Debug, Deserialize)]
pub struct RecordedCall {
    id: String,
    /// Of what, and with what.
    pub function: Function,
}

/// The tool of a call, and its arguments.
#[derive(Debug, Deserialize)]
pub struct Function {
    /// The tool's name on the wire.
    pub name: String,
    /// As JSON text.
    pub arguments: String,
}

impl From<RecordedCall> for ToolCall {
    fn from(call: RecordedCall) -> Self {
        Self::new(call.id, call.function.name, call.function.arguments)
    }
}

/// The audit trail that an engine keeps in memory, a line for each record of a session, oldest first.
///
/// What differs from run to run is left out: times, latencies, digests.
pub async fn audit_lines(engine: &Engine) -> Vec<String> {
    engine.audit().flush().await;
    let Some(ring) = engine.audit_ring() else {
        return vec!["the trail is written elsewhere".to_owned()];
    };
    ring.records().iter().filter_map(audit_line).collect()
}

fn audit_line(record: &AuditRecord) -> Option<String> {
    let entry = record.entry().ok()?;
    let session = entry.session.as_ref()?;
    let fields: BTreeMap<String, Value> = serde_json::from_str(entry.fields.get()).ok()?;
    let mut line = format!("{session}: {} by {}", entry.kind, entry.actor);
    for (name, value) in &fields {
        if !matches!(
            name.as_str(),
            "arguments" | "body" | "bytes" | "digest" | "expires_at" | "latency_ns" | "told"
        ) {
            let _ = write!(line, " {name}={value}");
        }
    }
    if let Some(reason) = &entry.reason {
        let _ = write!(line, " ({reason})");
    }
    Some(line)
}
