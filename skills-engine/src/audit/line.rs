//! The exact bytes of a record.

use super::approval::write_approval;
use super::event::NAME_LENGTH;
use super::json::{Object, TimeText, hex, number, text};
use super::record::{Header, VERSION};
use super::{AuditEvent, AuditKind, ChainHead, ViewContents};
use crate::skill::{Code, Span, Timestamp};

/// Names of late attributes that one record holds.
const TIMED_OUT: usize = 64;
/// Roles, and patterns, that one record holds.
const ACCESS: usize = 64;
/// Crates that a record names.
const CRATES: usize = 64;
/// Characters of the name that a skill gives an event.
const EVENT: usize = 64;
/// Bytes of data of an event of a skill.
const DATA: usize = 8_192;
/// Characters of the path of a file of a skill.
const PATH_LENGTH: usize = 512;

/// Writes records into a buffer it keeps.
#[derive(Default)]
pub(super) struct LineWriter {
    time: TimeText,
    line: Vec<u8>,
}

impl LineWriter {
    /// The bytes of the record that `event` becomes; `reason` is how many characters a reason may have.
    pub(super) fn write(&mut self, header: &Header, event: &AuditEvent, reason: usize) -> &[u8] {
        let Self { time, line } = self;
        line.clear();
        line.extend_from_slice(b"{\"v\":");
        line.extend_from_slice(VERSION.as_bytes());
        line.extend_from_slice(b",\"chain\":\"");
        hex(line, &header.chain.0.to_be_bytes());
        line.extend_from_slice(b"\",\"seq\":");
        number(line, header.seq);
        line.extend_from_slice(b",\"log_seq\":");
        number(line, header.log_seq);
        line.extend_from_slice(b",\"prev\":\"");
        hex(line, &header.previous);
        line.extend_from_slice(b"\",\"time\":");
        time.write(line, event.time);
        if let Some(scope) = &event.scope {
            line.extend_from_slice(b",\"principal\":");
            text(line, scope.principal.id(), 256);
            line.extend_from_slice(b",\"session\":");
            text(line, scope.id.as_str(), 128);
        }
        if let Some(turn) = event.turn {
            line.extend_from_slice(b",\"turn\":");
            number(line, turn.0);
        }
        line.extend_from_slice(b",\"actor\":\"");
        line.extend_from_slice(event.actor.as_str().as_bytes());
        line.push(b'"');
        if let Some(by) = &event.by {
            line.extend_from_slice(b",\"by\":");
            text(line, by, 256);
        }
        if let Some(why) = &event.reason {
            line.extend_from_slice(b",\"reason\":");
            text(line, why, reason);
        }
        line.extend_from_slice(b",\"kind\":\"");
        line.extend_from_slice(event.kind.name().as_bytes());
        line.extend_from_slice(b"\",\"fields\":");
        let mut fields = Object::begin(line);
        write_fields(&mut fields, &event.kind, reason);
        fields.end();
        line.push(b'}');
        line
    }
}

fn write_fields(fields: &mut Object<'_>, kind: &AuditKind, reason: usize) {
    match kind {
        AuditKind::SessionOpened => {}
        AuditKind::SessionEnded { reason: why } => fields.text("reason", why, reason),
        AuditKind::Stranger { principal } => fields.text("principal", principal, 256),
        AuditKind::Visibility { .. } => write_visibility(fields, kind),
        AuditKind::View {
            digest,
            bytes,
            timed_out,
            cut,
            contents,
        } => {
            fields.hex("digest", digest);
            fields.number("bytes", *bytes);
            if !timed_out.is_empty() {
                let out = fields.key("timed_out");
                list(out, timed_out.iter().take(TIMED_OUT), |out, name| {
                    text(out, name, NAME_LENGTH);
                });
            }
            for (name, count) in ["shortened", "names_only", "left_out"].into_iter().zip(cut) {
                if *count > 0 {
                    fields.number(name, u64::from(*count));
                }
            }
            if let Some(contents) = contents {
                write_contents(fields, contents);
            }
        }
        AuditKind::TurnEnded { views, outcome } => {
            fields.number("views", *views);
            fields.word("outcome", outcome.as_str());
        }
        AuditKind::CallStarted {
            call_id,
            skill,
            tool,
            arguments,
        } => {
            write_call(fields, call_id, skill, tool);
            fields.hex("arguments", arguments);
        }
        AuditKind::CallEnded {
            call_id,
            skill,
            tool,
            outcome,
            latency_ns,
        } => {
            write_call(fields, call_id, skill, tool);
            let outcome = outcome.map_or_else(Code::as_str, |()| "ok");
            fields.word("outcome", outcome);
            fields.number("latency_ns", *latency_ns);
        }
        AuditKind::CallRefused {
            call_id,
            name,
            code,
        } => {
            fields.text("call_id", call_id, NAME_LENGTH);
            fields.text("name", name, NAME_LENGTH);
            fields.word("code", code.as_str());
        }
        AuditKind::AccessChanged { .. } => write_access(fields, kind),
        AuditKind::ChildCreated { child } => fields.text("child", child, NAME_LENGTH),
        AuditKind::Observed { what } => fields.word("what", what.as_str()),
        AuditKind::Switched { skill, is_enabled } => {
            fields.text("skill", skill, NAME_LENGTH);
            fields.word("to", if *is_enabled { "on" } else { "off" });
        }
        AuditKind::HookFailed {
            skill,
            hook,
            failure,
        } => {
            fields.text("skill", skill, NAME_LENGTH);
            fields.word("hook", hook);
            fields.word("failure", failure.as_str());
        }
        AuditKind::SkillLoaded { .. }
        | AuditKind::ResourceRead { .. }
        | AuditKind::SkillEvent { .. } => write_of_skill(fields, kind),
        AuditKind::ApprovalAsked { .. }
        | AuditKind::ApprovalDecided { .. }
        | AuditKind::ApprovalUsed { .. } => write_approval(fields, kind),
        AuditKind::RegistryBuilt { .. }
        | AuditKind::RegistryRefreshed { .. }
        | AuditKind::Lost { .. }
        | AuditKind::Withdrawn { .. }
        | AuditKind::Recovered { .. }
        | AuditKind::Anchor { .. } => write_of_engine(fields, kind),
    }
}

/// What skills gave, and what they wrote themselves.
fn write_of_skill(fields: &mut Object<'_>, kind: &AuditKind) {
    match kind {
        AuditKind::SkillLoaded {
            skill,
            body,
            told,
            bytes,
        } => {
            fields.text("skill", skill, NAME_LENGTH);
            fields.hex("body", body);
            fields.hex("told", told);
            fields.number("bytes", *bytes);
        }
        AuditKind::ResourceRead {
            skill,
            path,
            offset,
            bytes,
        } => {
            fields.text("skill", skill, NAME_LENGTH);
            fields.text("path", path, PATH_LENGTH);
            fields.number("offset", *offset);
            fields.number("bytes", *bytes);
        }
        AuditKind::SkillEvent {
            skill,
            member,
            event,
            data,
        } => {
            fields.text("skill", skill, NAME_LENGTH);
            fields.text("member", member, NAME_LENGTH);
            fields.text("event", event, EVENT);
            fields.json("data", data.get(), DATA);
        }
        _ => {}
    }
}

/// What concerns the whole engine, or the log itself.
fn write_of_engine(fields: &mut Object<'_>, kind: &AuditKind) {
    match kind {
        AuditKind::RegistryBuilt {
            digest,
            skills,
            crates,
        } => {
            fields.hex("digest", digest);
            fields.number("skills", *skills);
            if !crates.is_empty() {
                let out = fields.key("crates");
                list(out, crates.iter().take(CRATES), |out, name| {
                    text(out, name, NAME_LENGTH);
                });
            }
        }
        AuditKind::RegistryRefreshed { digest, skills } => {
            fields.hex("digest", digest);
            fields.number("skills", *skills);
        }
        AuditKind::Lost { count } => fields.number("count", *count),
        AuditKind::Withdrawn { log_seq } => fields.number("log_seq", *log_seq),
        AuditKind::Recovered {
            since,
            attempts,
            refused,
        } => {
            write_time(fields, "since", *since);
            fields.number("attempts", *attempts);
            fields.number("refused", *refused);
        }
        AuditKind::Anchor { heads } => {
            list(fields.key("heads"), heads.iter(), write_head);
        }
        _ => {}
    }
}

fn write_contents(fields: &mut Object<'_>, contents: &ViewContents) {
    let Some(digests) = contents.digests() else {
        fields.word("contents", "dropped");
        return;
    };
    let mut object = Object::begin(fields.key("contents"));
    object.hex("snapshots", &digests.snapshots);
    object.hex("prompt", &digests.prompt);
    object.hex("tools", &digests.tools);
    object.end();
}

fn write_visibility(fields: &mut Object<'_>, kind: &AuditKind) {
    let AuditKind::Visibility {
        skill,
        change,
        asked,
        old,
        new,
        span,
        code,
        expires_at,
    } = kind
    else {
        return;
    };
    fields.text("skill", skill, NAME_LENGTH);
    fields.word("change", change.as_str());
    if let Some(asked) = asked {
        fields.word("asked", asked.as_str());
    }
    fields.word("old", old.as_str());
    fields.word("new", new.as_str());
    write_span(fields, *span);
    if let Some(code) = code {
        fields.word("code", code.as_str());
    }
    if let Some(expires_at) = expires_at {
        write_time(fields, "expires_at", *expires_at);
    }
}

pub(super) fn write_span(fields: &mut Object<'_>, span: Option<Span>) {
    match span {
        None => {}
        Some(Span::UntilCleared) => fields.word("span", "until_cleared"),
        Some(Span::Turn) => fields.word("span", "turn"),
        Some(Span::Ttl(ttl)) => {
            fields.word("span", "ttl");
            let milliseconds = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
            fields.number("ttl_ms", milliseconds);
        }
    }
}

fn write_access(fields: &mut Object<'_>, kind: &AuditKind) {
    let AuditKind::AccessChanged {
        roles,
        patterns,
        lets_model,
    } = kind
    else {
        return;
    };
    for (key, texts) in [("roles", roles), ("patterns", patterns)] {
        let out = fields.key(key);
        list(out, texts.iter().take(ACCESS), |out, part| {
            text(out, part, 256);
        });
    }
    fields.word("model_opens", if *lets_model { "yes" } else { "no" });
}

fn write_call(fields: &mut Object<'_>, call_id: &str, skill: &str, tool: &str) {
    fields.text("call_id", call_id, NAME_LENGTH);
    fields.text("skill", skill, NAME_LENGTH);
    fields.text("tool", tool, NAME_LENGTH);
}

pub(super) fn write_time(fields: &mut Object<'_>, key: &'static str, time: Timestamp) {
    TimeText::default().write(fields.key(key), time);
}

fn write_head(out: &mut Vec<u8>, head: &ChainHead) {
    let mut object = Object::begin(out);
    object.hex("chain", &head.chain.0.to_be_bytes());
    object.number("seq", head.seq);
    object.hex("hash", &head.hash);
    object.end();
}

fn list<T>(
    out: &mut Vec<u8>,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut Vec<u8>, T),
) {
    out.push(b'[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        write(out, item);
    }
    out.push(b']');
}
