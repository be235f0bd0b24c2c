//! What the examples share: a line of text for a record of the audit trail.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use skills_engine::Engine;
use skills_engine::audit::AuditRecord;

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
