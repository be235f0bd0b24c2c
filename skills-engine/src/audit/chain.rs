use std::collections::BTreeMap;
use std::sync::Arc;

use super::heads::{Heads, LostEnd};
use super::key::record_hash;
use super::line::LineWriter;
use super::record::Header;
use super::{AuditEvent, AuditKey, AuditKind, AuditRecord, ChainHead, ChainId};
use crate::skill::{Actor, LastRecord, SessionScope, Timestamp};

/// Records between two anchors.
pub(super) const ANCHOR_INTERVAL: u64 = 1_024;
/// Heads in one anchor record.
const HEADS_PER_ANCHOR: usize = 128;
/// The incarnation that stands for the engine itself.
const ENGINE: u64 = 0;

/// The chains of one sink: where each one stands, and how the next record is linked to it.
///
/// Sealing is tentative: it holds until [`confirm`](Self::confirm) says that the records are stored, or
/// [`roll_back`](Self::roll_back) that they are not.
pub(super) struct Chains {
    log: u64,
    key: Option<AuditKey>,
    reason: usize,
    lines: LineWriter,
    log_seq: u64,
    heads: Heads,
    /// What was the last record before each one not yet confirmed, oldest first.
    undo: Vec<Undo>,
    undo_log_seq: u64,
    /// Chains of sessions that advanced since the last anchor, by incarnation.
    advanced: BTreeMap<u64, ChainHead>,
    since_anchor: u64,
}

struct Undo {
    /// `None` for the engine's own chain.
    scope: Option<Arc<SessionScope>>,
    before: Option<LastRecord>,
}

impl Chains {
    /// The chains of the sink with an index.
    pub(super) fn new(sink: usize, log: u64, key: Option<AuditKey>, reason: usize) -> Self {
        Self {
            log,
            key,
            reason,
            lines: LineWriter::default(),
            log_seq: 0,
            heads: Heads::new(sink),
            undo: Vec::new(),
            undo_log_seq: 0,
            advanced: BTreeMap::new(),
            since_anchor: 0,
        }
    }

    /// Makes the record of an event and links it to its chain.
    pub(super) fn seal(&mut self, event: &AuditEvent) -> AuditRecord {
        let scope = self.chain_of(event);
        let before = self.heads.get(scope.map(AsRef::as_ref));
        self.log_seq += 1;
        let header = Header {
            chain: ChainId::new(self.log, scope.map_or(ENGINE, |scope| scope.incarnation)),
            seq: before.map_or(0, |last| last.seq) + 1,
            log_seq: self.log_seq,
            previous: before.map_or([0; 32], |last| last.hash),
        };
        let bytes = self.lines.write(&header, event, self.reason);
        let hash = record_hash(self.key.as_ref(), bytes);
        let record = AuditRecord::sealed(bytes, hash, header);
        let last = LastRecord {
            seq: header.seq,
            hash,
            is_end: scope.is_some() && matches!(event.kind, AuditKind::SessionEnded { .. }),
        };
        self.heads.set(scope.map(AsRef::as_ref), Some(last));
        self.undo.push(Undo {
            scope: scope.cloned(),
            before,
        });
        record
    }

    /// The session to whose chain an event belongs; `None` is the engine's, also when the session's chain has ended.
    fn chain_of<'e>(&self, event: &'e AuditEvent) -> Option<&'e Arc<SessionScope>> {
        let scope = event.scope.as_ref()?;
        let is_over = match self.heads.get(Some(scope)) {
            Some(last) => last.is_end,
            None => scope.audit_chain.has_ended(),
        };
        (!is_over).then_some(scope)
    }

    /// Everything sealed is stored.
    pub(super) fn confirm(&mut self) {
        self.since_anchor += self.undo.len() as u64;
        self.undo_log_seq = self.log_seq;
        let undo = std::mem::take(&mut self.undo);
        for scope in undo.iter().filter_map(|undo| undo.scope.as_ref()) {
            // `None` where its end was among these records, and came up before.
            let Some(last) = self.heads.get(Some(scope)) else {
                continue;
            };
            let head = ChainHead {
                chain: ChainId::new(self.log, scope.incarnation),
                seq: last.seq,
                hash: last.hash,
            };
            self.advanced.insert(scope.incarnation, head);
            if last.is_end {
                self.heads.ended(scope);
            }
        }
        // Its memory serves the next batch, unless it was a long one.
        self.undo = undo;
        self.undo.clear();
        self.undo.shrink_to(1_024);
        self.heads.shrink();
    }

    /// Nothing sealed since the last confirmation is stored.
    pub(super) fn roll_back(&mut self) {
        for undo in std::mem::take(&mut self.undo).into_iter().rev() {
            self.heads.set(undo.scope.as_deref(), undo.before);
        }
        self.log_seq = self.undo_log_seq;
    }

    /// Lets go of a session whose end could not be recorded. To be called when everything sealed is confirmed.
    pub(super) fn forget(&mut self, end: &LostEnd) {
        self.heads.lost(end);
    }

    /// Whether it is time for an anchor.
    pub(super) fn is_anchor_due(&self) -> bool {
        self.since_anchor >= ANCHOR_INTERVAL
    }

    /// Seals the anchors over every chain that advanced since the last ones. To be confirmed before anything else
    /// is sealed; never rolled back.
    pub(super) fn seal_anchors(&mut self, now: Timestamp, records: &mut Vec<AuditRecord>) {
        let heads: Vec<_> = std::mem::take(&mut self.advanced).into_values().collect();
        for heads in heads.chunks(HEADS_PER_ANCHOR) {
            let kind = AuditKind::Anchor {
                heads: heads.to_vec(),
            };
            records.push(self.seal(&AuditEvent::new(now, Actor::System, kind)));
        }
    }

    /// The anchors are stored and confirmed.
    pub(super) fn anchored(&mut self) {
        self.since_anchor = 0;
    }

    /// The engine's own chain, which the anchors make the head of all the others.
    pub(super) fn engine_head(&self) -> Option<ChainHead> {
        self.heads.get(None).map(|last| ChainHead {
            chain: ChainId::new(self.log, ENGINE),
            seq: last.seq,
            hash: last.hash,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixtures::{ended, event, opened, scope, view};
    use super::super::{Coverage, verify};
    use super::*;

    fn chains() -> Chains {
        Chains::new(0, 7, None, 500)
    }

    fn second_chains() -> Chains {
        Chains::new(1, 7, None, 500)
    }

    #[test]
    fn a_record_has_the_documented_bytes() {
        let mut chains = chains();
        let event = event(&scope("s1", 2), opened("helpdesk"))
            .turn(crate::skill::TurnId(3))
            .reason("ticket \"T-1042\"\nforged line");
        chains.seal(&event);
        let record = chains.seal(&event);
        let previous = super::super::json::hex_text(record.previous());
        assert_eq!(
            record.to_string(),
            format!(
                "{{\"v\":1,\"chain\":\"00000000000000070000000000000002\",\"seq\":2,\"log_seq\":2,\
                 \"prev\":\"{previous}\",\"time\":\"2026-01-01T00:00:00.000Z\",\"principal\":\"ada\",\
                 \"session\":\"s1\",\"turn\":3,\"actor\":\"host\",\"reason\":\"ticket \\\"T-1042\\\"\\u000aforged line\",\
                 \"kind\":\"visibility\",\"fields\":{{\"skill\":\"helpdesk\",\"change\":\"granted\",\
                 \"asked\":\"COMPLETE\",\"old\":\"METADATA\",\"new\":\"CONTEXT\",\"span\":\"ttl\",\"ttl_ms\":90000,\
                 \"expires_at\":\"2026-01-01T00:01:30.000Z\"}}}}"
            )
        );
    }

    #[test]
    #[expect(clippy::too_many_lines, reason = "a row for every kind")]
    fn every_kind_is_one_line_of_json_with_its_fields() {
        let digest = [0xab; 32];
        let digest_text = "ab".repeat(32);
        let hostile = "x\u{202e}\n\"}";
        let name = || -> Arc<str> { hostile.into() };
        let head = ChainHead {
            chain: ChainId(1),
            seq: 2,
            hash: digest,
        };
        let rows = [
            (
                AuditKind::SessionOpened,
                "session_opened",
                serde_json::json!({}),
            ),
            (
                ended(),
                "session_ended",
                serde_json::json!({"reason": "done"}),
            ),
            (
                AuditKind::Stranger { principal: name() },
                "stranger",
                serde_json::json!({"principal": hostile}),
            ),
            (
                AuditKind::View {
                    digest,
                    bytes: 9,
                    timed_out: vec![name()],
                    cut: [1, 0, 2],
                    contents: None,
                },
                "view",
                serde_json::json!({"digest": digest_text, "bytes": 9, "timed_out": [hostile], "shortened": 1, "left_out": 2}),
            ),
            (
                AuditKind::View {
                    digest,
                    bytes: 9,
                    timed_out: Vec::new(),
                    cut: [0; 3],
                    contents: Some(super::super::ViewContents::dropped()),
                },
                "view",
                serde_json::json!({"digest": digest_text, "bytes": 9, "contents": "dropped"}),
            ),
            (
                AuditKind::SkillEvent {
                    skill: "helpdesk".into(),
                    member: "get_faq".into(),
                    event: "read".into(),
                    data: serde_json::value::to_raw_value(hostile).unwrap(),
                },
                "skill_event",
                serde_json::json!({"skill": "helpdesk", "member": "get_faq", "event": "read", "data": hostile}),
            ),
            (
                AuditKind::TurnEnded {
                    views: 3,
                    outcome: super::super::TurnOutcome::Dropped,
                },
                "turn_ended",
                serde_json::json!({"views": 3, "outcome": "dropped"}),
            ),
            (
                AuditKind::CallStarted {
                    call_id: name(),
                    skill: "helpdesk".into(),
                    tool: "get_faq".into(),
                    arguments: digest,
                },
                "call_started",
                serde_json::json!({
                    "call_id": hostile, "skill": "helpdesk", "tool": "get_faq", "arguments": digest_text,
                }),
            ),
            (
                AuditKind::CallEnded {
                    call_id: "c1".into(),
                    skill: "helpdesk".into(),
                    tool: "get_faq".into(),
                    outcome: Err(crate::skill::Code::Timeout),
                    latency_ns: 12,
                },
                "call_ended",
                serde_json::json!({
                    "call_id": "c1", "skill": "helpdesk", "tool": "get_faq", "outcome": "timeout", "latency_ns": 12,
                }),
            ),
            (
                AuditKind::call_refused(
                    "c1".into(),
                    &"é".repeat(1_000),
                    crate::skill::Code::UnknownTool,
                ),
                "call_refused",
                serde_json::json!({
                    "call_id": "c1", "name": format!("{}…", "é".repeat(128)), "code": "unknown_tool",
                }),
            ),
            (
                AuditKind::RegistryBuilt {
                    digest,
                    skills: 4,
                    crates: vec!["helpdesk-skill 1.2.3".into()],
                },
                "registry_built",
                serde_json::json!({"digest": digest_text, "skills": 4, "crates": ["helpdesk-skill 1.2.3"]}),
            ),
            (
                AuditKind::Lost { count: 5 },
                "lost",
                serde_json::json!({"count": 5}),
            ),
            (
                AuditKind::Withdrawn { log_seq: 6 },
                "withdrawn",
                serde_json::json!({"log_seq": 6}),
            ),
            (
                AuditKind::Recovered {
                    since: Timestamp(0),
                    attempts: 1,
                    refused: 2,
                },
                "recovered",
                serde_json::json!({"since": "1970-01-01T00:00:00.000Z", "attempts": 1, "refused": 2}),
            ),
            (
                AuditKind::Anchor { heads: vec![head] },
                "anchor",
                serde_json::json!({
                    "heads": [{"chain": "0".repeat(31) + "1", "seq": 2, "hash": digest_text}],
                }),
            ),
        ];
        let mut chains = chains();
        for (kind, name, fields) in rows {
            let record = chains.seal(&AuditEvent::new(Timestamp(0), Actor::System, kind));
            let unseen = |letter: char| letter.is_control() || letter == '\u{202e}';
            assert!(!record.to_string().contains(unseen), "{name}");
            let entry = record.entry().unwrap();
            assert_eq!(entry.kind, name);
            let written: serde_json::Value = serde_json::from_str(entry.fields.get()).unwrap();
            assert_eq!(written, fields, "{name}");
        }
    }

    #[test]
    fn what_is_rolled_back_leaves_no_trace() {
        for mut chains in [chains(), second_chains()] {
            let (one, two) = (scope("s1", 1), scope("s2", 2));
            let mut records = vec![chains.seal(&event(&one, view(1)))];
            chains.confirm();
            chains.seal(&event(&one, view(2)));
            chains.seal(&event(&two, view(3)));
            chains.seal(&event(&one, ended()));
            chains.roll_back();
            records.push(chains.seal(&event(&two, view(4))));
            records.push(chains.seal(&event(&one, view(5))));
            chains.confirm();
            verify(&records, None, &[], Coverage::Complete).unwrap();
        }
    }

    #[test]
    fn sinks_keep_chains_of_one_session_apart() {
        let one = scope("s1", 1);
        let (mut first, mut second) = (chains(), second_chains());
        let mut records = [Vec::new(), Vec::new()];
        for number in 0..6 {
            let event = event(&one, view(number));
            records[0].push(first.seal(&event));
            first.confirm();
            // Some never come to the second sink.
            if number % 3 != 1 {
                records[1].push(second.seal(&event));
                second.confirm();
            }
        }
        for records in records {
            verify(&records, None, &[], Coverage::Complete).unwrap();
        }
    }

    #[test]
    fn another_session_of_the_same_name_has_a_chain_of_its_own() {
        for mut chains in [chains(), second_chains()] {
            let (old, new) = (scope("s1", 1), scope("s1", 2));
            let mut records = vec![chains.seal(&event(&old, view(1)))];
            old.audit_chain.end();
            records.push(chains.seal(&event(&new, view(2))));
            records.push(chains.seal(&event(&old, ended())));
            records.push(chains.seal(&event(&new, view(3))));
            chains.confirm();
            let seqs: Vec<_> = records.iter().map(AuditRecord::seq).collect();
            assert_eq!(seqs, [1, 1, 2, 2]);
            verify(&records, None, &[], Coverage::Complete).unwrap();
        }
    }

    #[test]
    fn what_comes_after_the_end_of_a_session_goes_to_the_chain_of_the_engine() {
        for mut chains in [chains(), second_chains()] {
            let one = scope("s1", 1);
            one.audit_chain.end();
            let mut records = vec![chains.seal(&event(&one, view(1)))];
            assert!(records[0].chain().is_engine(), "its chain never began");
            let two = scope("s2", 2);
            records.push(chains.seal(&event(&two, view(1))));
            two.audit_chain.end();
            records.push(chains.seal(&event(&two, ended())));
            records.push(chains.seal(&event(&two, view(2))));
            chains.confirm();
            records.push(chains.seal(&event(&two, ended())));
            let in_engine: Vec<_> = records
                .iter()
                .map(|record| record.chain().is_engine())
                .collect();
            assert_eq!(in_engine, [true, false, false, true, true]);
            verify(&records, None, &[], Coverage::Complete).unwrap();
        }
    }

    #[test]
    fn only_sessions_that_live_are_remembered() {
        for sink in 0..2 {
            let mut chains = Chains::new(sink, 7, None, 500);
            for number in 1..=10_000 {
                let scope = scope("s", number);
                chains.seal(&event(&scope, view(0)));
                scope.audit_chain.end();
                if number % 2 == 0 {
                    chains.seal(&event(&scope, ended()));
                }
                chains.confirm();
                assert_eq!(Arc::strong_count(&scope), 1, "nothing holds it");
                if number % 2 == 1 {
                    chains.forget(&LostEnd::new(sink, &scope));
                    let late = chains.seal(&event(&scope, view(1)));
                    assert!(late.chain().is_engine());
                }
                if chains.is_anchor_due() {
                    let mut anchors = Vec::new();
                    chains.seal_anchors(Timestamp(0), &mut anchors);
                    assert!(anchors.len() as u64 <= ANCHOR_INTERVAL / HEADS_PER_ANCHOR as u64);
                    chains.confirm();
                    chains.anchored();
                }
            }
            assert!(chains.advanced.len() as u64 <= ANCHOR_INTERVAL);
            let (remembered, room) = chains.heads.beside();
            assert_eq!(remembered, 0);
            assert!(room < 1_000, "{room}");
        }
        assert!(size_of::<(u64, LastRecord)>() <= 64);
    }
}
