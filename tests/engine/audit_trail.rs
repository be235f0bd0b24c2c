//! What the engine writes down, and that nobody can change it unseen.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use skills_engine::audit::{
    AuditKey, AuditQuery, AuditRecord, AuditSink, AuditStore, ChainHead, Coverage, JsonLines,
    MemoryRing, verify,
};
use skills_engine::skill::{Actor, Attribute};
use skills_engine::{Level, Span};

use super::changes::floor;
use super::stage::{Entry, Stage, outcome, outlines, sees, settle, skill, turn};

const FLOOR: Span = Span::UntilCleared;
const SET: &str = "psl-skill__set_skill_visibility";

#[tokio::test]
async fn se15_each_change_has_one_record_of_who_what_why_and_when() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let user = session.acting_as(Actor::User);
    let minute = Span::Ttl(Duration::from_secs(60));
    stage.clock.advance(Duration::from_millis(1_500));
    session
        .open("alpha", Level::Context, FLOOR, "ticket \"T-1\"\nforged")
        .await
        .unwrap();
    session
        .open("alpha", Level::Context, FLOOR, "again")
        .await
        .unwrap();
    user.open("alpha", Level::Complete, minute, "look")
        .await
        .unwrap();
    user.open("alpha", Level::Metadata, FLOOR, "close")
        .await
        .unwrap_err();
    session.limit("beta", Level::Context).await.unwrap();
    session
        .acting_as(Actor::Model)
        .open("beta", Level::Complete, FLOOR, "")
        .await
        .unwrap_err();
    session
        .open("nothing", Level::Complete, FLOOR, "what")
        .await
        .unwrap_err();
    stage.pass(Duration::from_secs(61), 1).await;
    let mut one = turn(&session).await;
    let arguments = r#"{"skill_id":"gamma","level":"COMPLETE","ephemeral":true,"reason":"now"}"#;
    outcome(&mut one, SET, arguments).await.unwrap();
    outcome(&mut one, "psl-skill__clear_visibility", "{}")
        .await
        .unwrap();
    drop(one);
    session.clear_all().await.unwrap();
    let changes = stage.changes().await;
    let rows: Vec<_> = changes
        .iter()
        .map(|entry| {
            let turn = entry.turn.map_or("-".to_owned(), |turn| turn.to_string());
            let reason = entry.reason.as_deref().unwrap_or("-");
            let code = entry.fields["code"].as_str().unwrap_or("-");
            let span = entry.fields["span"].as_str().unwrap_or("-");
            format!(
                "{} {} | {span} {code} {turn} {reason}",
                entry.actor,
                entry.outline()
            )
        })
        .collect();
    assert_eq!(
        rows,
        [
            "host alpha granted METADATA>CONTEXT | until_cleared - - ticket \"T-1\"\nforged",
            "user alpha granted CONTEXT>COMPLETE | ttl - - look",
            "user alpha refused COMPLETE>COMPLETE | until_cleared held_by - close",
            "host beta limited METADATA>METADATA | - - - -",
            "model beta refused METADATA>METADATA | until_cleared not_permitted - -",
            "host nothing refused METADATA>METADATA | until_cleared unknown_skill - what",
            "system alpha expired COMPLETE>CONTEXT | - - - -",
            "model gamma granted CONTEXT>COMPLETE | turn - 1 now",
            "model * cleared METADATA>METADATA | - - 1 -",
            "model gamma cleared COMPLETE>CONTEXT | turn - 1 -",
            "host alpha cleared CONTEXT>METADATA | - - - -",
        ]
    );
    for entry in &changes {
        assert_eq!(entry.principal.as_deref(), Some("ada"));
        assert_eq!(entry.session.as_deref(), Some("s1"));
    }
    assert_eq!(changes[0].time, "2026-01-01T00:00:01.500Z");
    assert_eq!(changes[0].fields["asked"], "CONTEXT");
    assert_eq!(changes[1].fields["expires_at"], "2026-01-01T00:01:01.500Z");
    assert_eq!(changes[6].time, "2026-01-01T00:01:02.500Z");
}

#[tokio::test]
async fn se15_each_changed_view_has_a_digest_and_each_turn_a_count_of_them() {
    let counter = Arc::new(std::sync::atomic::AtomicU32::new(0));
    let read = Arc::clone(&counter);
    let live = Attribute::live("count", "Counts.", move |_| {
        read.load(std::sync::atomic::Ordering::Relaxed)
    })
    .level(Level::Metadata);
    let counting = skill("counting").attribute(live).build().unwrap();
    let stage = Stage::with(0, |builder| builder.with_skill(counting)).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    let mut digests = Vec::new();
    for _ in 0..3 {
        let view = turn.view().await.unwrap();
        digests.push(*view.digest());
    }
    counter.store(1, std::sync::atomic::Ordering::Relaxed);
    digests.push(*turn.view().await.unwrap().digest());
    turn.open("alpha", Level::Context, "").await.unwrap();
    digests.push(*turn.view().await.unwrap().digest());
    turn.finish().await.unwrap();
    digests.dedup();
    assert_eq!(digests.len(), 3);
    stage.engine.audit().flush().await;
    let entries = stage.sink.entries();
    let views: Vec<_> = entries
        .iter()
        .filter(|entry| entry.kind == "view")
        .collect();
    let expected: Vec<_> = digests.iter().map(hex).collect();
    let written: Vec<_> = views
        .iter()
        .map(|view| view.field("digest").to_owned())
        .collect();
    assert_eq!(written, expected);
    assert!(
        views
            .iter()
            .all(|view| view.turn == Some(1) && view.fields["bytes"].as_u64() > Some(0))
    );
    let end = entries
        .iter()
        .find(|entry| entry.kind == "turn_ended")
        .unwrap();
    assert_eq!(end.fields["views"], 3);
    assert_eq!(end.field("outcome"), "finished");
}

fn hex(digest: &[u8; 32]) -> String {
    digest.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}

#[tokio::test]
async fn se15_calls_are_written_down_with_a_digest_of_their_arguments_and_not_with_them() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    outcome(&mut turn, "alpha__look", r#"{"password":"hunter2"}"#)
        .await
        .unwrap();
    outcome(&mut turn, "alpha__look", r#"{"password":"hunter3"}"#)
        .await
        .unwrap();
    outcome(&mut turn, "alpha__act", r#"{"password":"hunter2"}"#)
        .await
        .unwrap_err();
    outcome(&mut turn, "made_up", r#"{"password":"hunter2"}"#)
        .await
        .unwrap_err();
    stage.engine.audit().flush().await;
    let records = stage.sink.ring.records();
    assert!(
        !records
            .iter()
            .any(|record| record.to_string().contains("hunter"))
    );
    let calls: Vec<_> = stage
        .sink
        .entries()
        .into_iter()
        .filter(|entry| entry.kind.starts_with("call_"))
        .collect();
    let rows: Vec<_> = calls
        .iter()
        .map(|entry| {
            let name = if entry.kind == "call_refused" {
                "name"
            } else {
                "tool"
            };
            let end = entry.field("outcome").to_owned() + entry.field("code");
            format!("{} {} {end}", entry.kind, entry.field(name))
        })
        .collect();
    assert_eq!(
        rows,
        [
            "call_started look ",
            "call_ended look ok",
            "call_started look ",
            "call_ended look ok",
            "call_refused alpha__act hidden",
            "call_refused made_up unknown_tool",
        ]
    );
    assert_ne!(calls[0].field("arguments"), calls[2].field("arguments"));
}

/// Two sessions that do a little of everything, written to a file and to a ring.
async fn busy(
    key: Option<AuditKey>,
) -> (
    Arc<JsonLines>,
    Vec<AuditRecord>,
    ChainHead,
    Vec<AuditRecord>,
) {
    let directory = std::env::temp_dir().join(format!("skills-engine-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let name = format!("{:?}.jsonl", std::thread::current().id());
    let path = directory.join(name.replace(['(', ')'], "-"));
    let _ = std::fs::remove_file(&path);
    let lines = Arc::new(JsonLines::open(&path).unwrap());
    let ring = Arc::new(MemoryRing::new(24));
    let sinks: [Arc<dyn AuditSink>; 2] = [Arc::clone(&lines) as _, Arc::clone(&ring) as _];
    let stage = Stage::with(0, |mut builder| {
        for sink in sinks {
            builder = builder.audit(sink);
        }
        match key {
            Some(key) => builder.audit_key(key),
            None => builder,
        }
    })
    .await;
    for id in ["s1", "s2"] {
        let session = stage.session(id).await;
        let mut turn = turn(&session).await;
        for skill in ["alpha", "beta"] {
            session
                .open(skill, Level::Context, FLOOR, "because")
                .await
                .unwrap();
            assert!(sees(&mut turn, &format!("{skill}__act")).await);
            outcome(&mut turn, &format!("{skill}__act"), "{}")
                .await
                .unwrap();
        }
        session.clear("alpha").await.unwrap();
        turn.finish().await.unwrap();
        if id == "s1" {
            session.end("enough").await.unwrap();
        }
    }
    stage.engine.audit().flush().await;
    let health = stage.engine.audit().health();
    let head = health.sinks[1].engine_head.unwrap();
    let of_file = lines.query(AuditQuery::new().limit(10_000)).await.unwrap();
    let _ = std::fs::remove_file(&path);
    (lines, of_file, head, ring.records())
}

#[tokio::test]
async fn se15_the_trail_of_an_engine_verifies_through_file_and_ring_and_any_harm_is_found() {
    for key in [None, Some(AuditKey::new([7; 32]).unwrap())] {
        let (_lines, records, head, ring) = busy(key.clone()).await;
        let check =
            |records: &[AuditRecord]| verify(records, key.as_ref(), &[head], Coverage::Complete);
        let verified = check(&records).unwrap();
        assert_eq!(verified.records, records.len() as u64);
        assert_eq!(verified.heads.len(), 3);
        let of_ring = verify(&ring, key.as_ref(), &[], Coverage::FromOldest).unwrap();
        assert_eq!(of_ring.records, 24);
        assert!(
            verify(
                &ring[..20],
                key.as_ref(),
                &[ring[23].head()],
                Coverage::FromOldest
            )
            .is_err()
        );

        for at in 0..records.len() {
            let mut dropped = records.clone();
            dropped.remove(at);
            assert!(check(&dropped).is_err(), "record {at} dropped");
            let mut repeated = records.clone();
            repeated.insert(at, records[at].clone());
            assert!(check(&repeated).is_err(), "record {at} repeated");
            assert!(check(&records[..at]).is_err(), "tail cut at {at}");
            if at > 0 {
                let mut swapped = records.clone();
                swapped.swap(at - 1, at);
                assert!(check(&swapped).is_err(), "record {at} moved");
            }
            let text = records[at].to_string();
            let Some(edited) = edit(&text) else { continue };
            let mut edits = records.clone();
            edits[at] = AuditRecord::from_stored(edited.into_bytes(), *records[at].hash()).unwrap();
            assert!(check(&edits).is_err(), "record {at} edited");
        }
    }
}

/// The record with one letter of what it says changed.
fn edit(text: &str) -> Option<String> {
    let at = text.find("\"actor\":\"")? + "\"actor\":\"".len();
    let mut bytes = text.as_bytes().to_vec();
    bytes[at] ^= 1;
    String::from_utf8(bytes).ok()
}

#[tokio::test]
async fn se15_each_end_of_a_grant_by_time_is_written_down_once() {
    for with_traffic in [false, true] {
        let stage = Stage::new().await;
        let session = stage.session("s1").await;
        let span = |seconds| Span::Ttl(Duration::from_secs(seconds));
        session
            .open("alpha", Level::Context, span(10), "")
            .await
            .unwrap();
        session
            .open("alpha", Level::Complete, span(5), "")
            .await
            .unwrap();
        session
            .open("beta", Level::Complete, span(5), "")
            .await
            .unwrap();
        let mut turn = turn(&session).await;
        for _ in 0..30 {
            stage.clock.advance(Duration::from_secs(1));
            if with_traffic {
                turn.view().await.unwrap();
                floor(&session, "gamma", Level::Complete).await.unwrap();
                session
                    .clear_all()
                    .await
                    .unwrap_or_else(|fault| panic!("{fault}"));
            }
            settle().await;
        }
        stage.pass(Duration::from_secs(60), 3).await;
        let mut expired: Vec<_> = stage
            .changes()
            .await
            .iter()
            .filter(|entry| entry.field("change") == "expired")
            .map(Entry::outline)
            .collect();
        expired.sort();
        let expected: &[&str] = if with_traffic {
            // All was cleared before it could end.
            &[]
        } else {
            &[
                "alpha expired COMPLETE>METADATA",
                "alpha expired CONTEXT>METADATA",
                "beta expired COMPLETE>METADATA",
            ]
        };
        assert_eq!(expired, expected);
    }
}

#[tokio::test]
async fn se15_clearing_at_the_moment_a_grant_ends_writes_down_one_end() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let span = Span::Ttl(Duration::from_secs(5));
    session
        .open("alpha", Level::Complete, span, "")
        .await
        .unwrap();
    stage.clock.advance(Duration::from_secs(5));
    session.clear_all().await.unwrap();
    stage.pass(Duration::from_secs(60), 2).await;
    assert_eq!(
        outlines(&stage.changes().await),
        [
            "alpha granted METADATA>COMPLETE",
            "alpha expired COMPLETE>METADATA",
            "* cleared METADATA>METADATA",
        ]
    );
}
