use std::collections::HashMap;

use super::key::record_hash;
use super::line::LineWriter;
use super::record::Header;
use super::{AuditEvent, AuditKey, AuditKind, AuditRecord, ChainHead, ChainId};
use crate::skill::{Actor, Timestamp};

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
    heads: HashMap<u64, Head>,
    /// What the heads were before the records not yet confirmed, oldest first.
    undo: Vec<(u64, Option<Head>)>,
    undo_log_seq: u64,
    /// Sessions that advanced since the last anchor and still go on.
    touched: Vec<u64>,
    /// Last records of sessions that ended since the last anchor.
    ended: Vec<ChainHead>,
    since_anchor: u64,
}

/// There is one for every session: its marks share a word with its number.
#[derive(Clone, Copy)]
struct Head {
    hash: [u8; 32],
    seq_and_marks: u64,
}

/// The session ended with this record.
const IS_ENDED: u64 = 1 << 63;
/// It advanced since the last anchor.
const IS_TOUCHED: u64 = 1 << 62;

impl Head {
    fn seq(self) -> u64 {
        self.seq_and_marks & !(IS_ENDED | IS_TOUCHED)
    }

    fn has(self, mark: u64) -> bool {
        self.seq_and_marks & mark != 0
    }
}

impl Chains {
    pub(super) fn new(log: u64, key: Option<AuditKey>, reason: usize) -> Self {
        Self {
            log,
            key,
            reason,
            lines: LineWriter::default(),
            log_seq: 0,
            heads: HashMap::new(),
            undo: Vec::new(),
            undo_log_seq: 0,
            touched: Vec::new(),
            ended: Vec::new(),
            since_anchor: 0,
        }
    }

    /// Makes the record of an event and links it to its chain.
    pub(super) fn seal(&mut self, event: &AuditEvent) -> AuditRecord {
        let incarnation = self.incarnation_of(event);
        let before = self.heads.get(&incarnation).copied();
        let (last_seq, previous) = before.map_or((0, [0; 32]), |head| (head.seq(), head.hash));
        self.log_seq += 1;
        let header = Header {
            chain: ChainId::new(self.log, incarnation),
            seq: last_seq + 1,
            log_seq: self.log_seq,
            previous,
        };
        let bytes = self.lines.write(&header, event, self.reason);
        let hash = record_hash(self.key.as_ref(), bytes);
        let record = AuditRecord::sealed(bytes, hash, header);
        let mut head = Head {
            hash,
            seq_and_marks: header.seq,
        };
        if before.is_some_and(|head| head.has(IS_TOUCHED)) {
            head.seq_and_marks |= IS_TOUCHED;
        }
        if incarnation != ENGINE && matches!(event.kind, AuditKind::SessionEnded { .. }) {
            head.seq_and_marks |= IS_ENDED;
        }
        self.heads.insert(incarnation, head);
        self.undo.push((incarnation, before));
        record
    }

    /// The chain an event belongs to: that of its session, or the engine's when that chain has ended.
    fn incarnation_of(&self, event: &AuditEvent) -> u64 {
        let Some(scope) = &event.scope else {
            return ENGINE;
        };
        let is_over = match self.heads.get(&scope.incarnation) {
            Some(head) => head.has(IS_ENDED),
            None => scope.audit_chain.has_ended(),
        };
        if is_over { ENGINE } else { scope.incarnation }
    }

    /// Everything sealed is stored.
    pub(super) fn confirm(&mut self) {
        self.since_anchor += self.undo.len() as u64;
        self.undo_log_seq = self.log_seq;
        for (incarnation, _) in self.undo.drain(..) {
            let Some(head) = self.heads.get_mut(&incarnation) else {
                continue;
            };
            if head.has(IS_ENDED) {
                let chain = ChainId::new(self.log, incarnation);
                let (seq, hash) = (head.seq(), head.hash);
                self.ended.push(ChainHead { chain, seq, hash });
                self.heads.remove(&incarnation);
            } else if incarnation != ENGINE && !head.has(IS_TOUCHED) {
                head.seq_and_marks |= IS_TOUCHED;
                self.touched.push(incarnation);
            }
        }
        self.shrink();
    }

    /// Nothing sealed since the last confirmation is stored.
    pub(super) fn roll_back(&mut self) {
        for (incarnation, before) in self.undo.drain(..).rev() {
            match before {
                Some(head) => self.heads.insert(incarnation, head),
                None => self.heads.remove(&incarnation),
            };
        }
        self.log_seq = self.undo_log_seq;
    }

    /// Lets go of a session whose end could not be recorded.
    pub(super) fn forget(&mut self, incarnation: u64) {
        if let Some(head) = self.heads.remove(&incarnation)
            && head.has(IS_TOUCHED)
        {
            let chain = ChainId::new(self.log, incarnation);
            let (seq, hash) = (head.seq(), head.hash);
            self.ended.push(ChainHead { chain, seq, hash });
        }
        self.shrink();
    }

    /// Whether it is time for an anchor.
    pub(super) fn is_anchor_due(&self) -> bool {
        self.since_anchor >= ANCHOR_INTERVAL
    }

    /// Seals the anchors over every chain that advanced since the last ones. To be confirmed before anything else
    /// is sealed; never rolled back.
    pub(super) fn seal_anchors(&mut self, now: Timestamp, records: &mut Vec<AuditRecord>) {
        let log = self.log;
        let mut heads = std::mem::take(&mut self.ended);
        for incarnation in std::mem::take(&mut self.touched) {
            // A session that ended meanwhile is among the ended ones.
            if let Some(head) = self.heads.get_mut(&incarnation)
                && head.has(IS_TOUCHED)
            {
                head.seq_and_marks &= !IS_TOUCHED;
                heads.push(ChainHead {
                    chain: ChainId::new(log, incarnation),
                    seq: head.seq(),
                    hash: head.hash,
                });
            }
        }
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
        self.heads.get(&ENGINE).map(|head| ChainHead {
            chain: ChainId::new(self.log, ENGINE),
            seq: head.seq(),
            hash: head.hash,
        })
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.heads.len()
    }

    fn shrink(&mut self) {
        if self.heads.capacity() > 256 && self.heads.len() < self.heads.capacity() / 8 {
            self.heads.shrink_to(self.heads.len() * 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixtures::{ended, event, opened, scope, view};
    use super::super::{Coverage, verify};
    use super::*;

    fn chains() -> Chains {
        Chains::new(7, None, 500)
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
        let name = || -> std::sync::Arc<str> { hostile.into() };
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
                },
                "view",
                serde_json::json!({"digest": digest_text, "bytes": 9, "timed_out": [hostile]}),
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
        let (one, two) = (scope("s1", 1), scope("s2", 2));
        let mut chains = chains();
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

    #[test]
    fn what_comes_after_the_end_of_a_session_goes_to_the_chain_of_the_engine() {
        let one = scope("s1", 1);
        one.audit_chain.end();
        let mut chains = chains();
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

    #[test]
    fn only_sessions_that_live_are_remembered() {
        let mut chains = chains();
        for number in 1..=10_000 {
            let scope = scope("s", number);
            chains.seal(&event(&scope, view(0)));
            scope.audit_chain.end();
            if number % 2 == 0 {
                chains.seal(&event(&scope, ended()));
            }
            chains.confirm();
            if number % 2 == 1 {
                chains.forget(number);
            }
            if chains.is_anchor_due() {
                let mut anchors = Vec::new();
                chains.seal_anchors(Timestamp(0), &mut anchors);
                assert!(anchors.len() as u64 <= ANCHOR_INTERVAL * 2 / HEADS_PER_ANCHOR as u64);
                chains.confirm();
                chains.anchored();
            }
        }
        assert_eq!(chains.len(), 1, "the engine's own chain");
        assert!(
            chains.heads.capacity() < 1_000,
            "{}",
            chains.heads.capacity()
        );
        assert!(size_of::<(u64, Head)>() <= 64);
    }
}
