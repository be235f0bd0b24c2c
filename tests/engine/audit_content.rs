//! What models were shown, kept once under its digest beside the audit trail.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use skills_engine::Level;
use skills_engine::audit::{
    AuditContent, AuditDetail, AuditError, AuditSink, ContentStore, Coverage, MemoryContents,
    MemoryRing, verify,
};
use skills_engine::engine::EngineBuilder;
use skills_engine::skill::{Attribute, BoxFuture, Limits, Timestamp};
use skills_engine::snapshot::{RedactionPlace, Redactor};
use skills_engine::tools::Dialect;
use tests::{open, until};

use super::stage::{Behavior, Entry, Stage, settle, skill, turn};

/// A store of texts in memory that misbehaves when told to.
struct Store {
    inner: MemoryContents,
    behavior: Mutex<Behavior>,
    panics: bool,
}

impl Store {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryContents::default(),
            behavior: Mutex::new(Behavior::Work),
            panics: false,
        })
    }

    fn set(&self, behavior: Behavior) {
        *self.behavior.lock().unwrap() = behavior;
    }

    async fn perform<T>(
        &self,
        work: BoxFuture<'_, Result<T, AuditError>>,
    ) -> Result<T, AuditError> {
        assert!(!self.panics, "told to panic");
        let behavior = *self.behavior.lock().unwrap();
        match behavior {
            Behavior::Work => work.await,
            Behavior::Hang => std::future::pending().await,
            _ => Err(AuditError::failed("it was told to fail")),
        }
    }
}

impl ContentStore for Store {
    fn touch<'a>(
        &'a self,
        digest: &'a [u8; 32],
        at: Timestamp,
    ) -> BoxFuture<'a, Result<bool, AuditError>> {
        Box::pin(self.perform(self.inner.touch(digest, at)))
    }

    fn put(&self, content: AuditContent, at: Timestamp) -> BoxFuture<'_, Result<(), AuditError>> {
        Box::pin(self.perform(self.inner.put(content, at)))
    }

    fn get<'a>(
        &'a self,
        digest: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<AuditContent>, AuditError>> {
        Box::pin(self.perform(self.inner.get(digest)))
    }

    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, AuditError>> {
        Box::pin(self.perform(self.inner.purge(before)))
    }
}

async fn stage(store: &Arc<Store>, adapt: impl FnOnce(EngineBuilder) -> EngineBuilder) -> Stage {
    let kept = Arc::clone(store) as Arc<dyn ContentStore>;
    Stage::with(0, |builder| {
        adapt(
            builder
                .audit_detail(AuditDetail::Content)
                .audit_contents(kept),
        )
    })
    .await
}

/// What the records of views name as their contents, once everything is written.
async fn named(stage: &Stage) -> Vec<Value> {
    stage.engine.audit().flush().await;
    if let Some(contents) = stage.engine.audit_contents() {
        contents.flush().await;
    }
    let mut entries = stage.sink.entries();
    entries.retain(|entry| entry.kind == "view");
    entries
        .into_iter()
        .map(|mut entry| entry.fields["contents"].take())
        .collect()
}

fn digest(contents: &Value, what: &str) -> [u8; 32] {
    let hex = contents[what].as_str().unwrap();
    assert_eq!(hex.len(), 64);
    let byte = |index: usize| u8::from_str_radix(&hex[2 * index..2 * index + 2], 16).unwrap();
    std::array::from_fn(byte)
}

async fn text(stage: &Stage, contents: &Value, what: &str) -> Option<String> {
    let kept = stage.engine.audit_contents().unwrap();
    kept.text(&digest(contents, what)).await.unwrap()
}

#[tokio::test]
async fn by_default_a_record_has_a_digest_alone() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    turn(&session).await.view().await.unwrap();
    assert!(stage.engine.audit_contents().is_none());
    stage.engine.audit().flush().await;
    let entries = stage.sink.entries();
    let entry = entries.iter().find(|entry| entry.kind == "view").unwrap();
    let keys: Vec<_> = entry.fields.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["bytes", "digest"]);
}

#[tokio::test]
async fn a_record_names_what_its_view_showed_and_each_text_is_kept_once() {
    let store = Store::new();
    let count = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&count);
    let live = Attribute::live("count", "", move |_| counter.load(Ordering::Relaxed))
        .level(Level::Metadata);
    let desk = skill("desk").attribute(live).build().unwrap();
    let stage = stage(&store, |builder| builder.with_skill(desk)).await;
    let mut views = Vec::new();
    for id in ["s1", "s2"] {
        let session = stage.session(id).await;
        count.store(0, Ordering::Relaxed);
        let mut turn = turn(&session).await;
        views.push(turn.view().await.unwrap());
        turn.view().await.unwrap();
        count.store(1, Ordering::Relaxed);
        views.push(turn.view().await.unwrap());
        open(&session, "alpha", Level::Context).await;
        views.push(turn.view().await.unwrap());
    }
    let named = named(&stage).await;
    assert_eq!(named.len(), 6);
    for (contents, view) in named.iter().zip(&views) {
        let shown = [
            ("snapshots", view.snapshots()),
            ("prompt", view.system_prompt().to_owned()),
            ("tools", view.tools_json(Dialect::Mcp).to_owned()),
        ];
        for (what, shown) in shown {
            assert_eq!(text(&stage, contents, what).await, Some(shown), "{what}");
        }
    }
    // The sessions did the same, and the tools changed once.
    assert_eq!(named[..3], named[3..]);
    assert_eq!(named[0]["tools"], named[1]["tools"]);
    assert_ne!(named[0]["prompt"], named[1]["prompt"]);
    let distinct: BTreeSet<_> = named
        .iter()
        .flat_map(|contents| contents.as_object().unwrap().values())
        .map(|digest| digest.as_str().unwrap())
        .collect();
    assert_eq!(distinct.len(), 3 + 3 + 2);
    assert_eq!(store.inner.len(), distinct.len());
    let health = stage.engine.audit_contents().unwrap().health();
    assert_eq!((health.stored, health.dropped, health.failed), (8, 0, 0));
    assert_eq!(health.waiting, 0);
    let kept = stage.engine.audit_contents().unwrap();
    assert_eq!(kept.text(&[0; 32]).await, Ok(None));
    verify(&stage.sink.ring.records(), None, &[], Coverage::Complete).unwrap();
}

#[tokio::test]
async fn every_sink_names_the_same_and_it_is_kept_in_memory_unless_told_otherwise() {
    let other = Arc::new(MemoryRing::default());
    let sink = Arc::clone(&other) as Arc<dyn AuditSink>;
    let stage = Stage::with(3, |builder| {
        builder.audit(sink).audit_detail(AuditDetail::Content)
    })
    .await;
    let session = stage.session("s1").await;
    turn(&session).await.view().await.unwrap();
    stage.engine.shutdown().await.unwrap();
    let named = named(&stage).await;
    let entries = other.records().iter().map(Entry::read).collect::<Vec<_>>();
    let entry = entries.iter().find(|entry| entry.kind == "view").unwrap();
    assert_eq!(entry.fields["contents"], named[0]);
    assert!(
        text(&stage, &named[0], "prompt")
            .await
            .unwrap()
            .starts_with("# Skills")
    );
    let health = stage.engine.audit_contents().unwrap().health();
    assert_eq!(health.stored, 3);
}

#[tokio::test]
async fn what_does_not_fit_is_dropped_counted_and_said() {
    let store = Store::new();
    let mut limits = Limits::default();
    limits.contents_waiting = 64 << 10;
    let stage = stage(&store, |builder| builder.limits(limits)).await;
    store.set(Behavior::Hang);
    let session = stage.session("s1").await;
    for _ in 0..40 {
        turn(&session).await.view().await.unwrap();
        settle().await;
    }
    stage.engine.audit().flush().await;
    let records = stage.sink.entries();
    let mut views = records.iter().filter(|entry| entry.kind == "view");
    let dropped = views
        .clone()
        .filter(|entry| entry.fields["contents"] == "dropped")
        .count();
    assert!((20..40).contains(&dropped), "{dropped}");
    assert!(views.next().unwrap().fields["contents"].is_object());
    let health = stage.engine.audit_contents().unwrap().health();
    assert_eq!(health.dropped, dropped as u64);
    assert_eq!(health.waiting, 40 - dropped);
    // Each time to answer passes once for each text; then there is room again.
    store.set(Behavior::Work);
    stage.pass(Duration::from_secs(2), 4).await;
    until(|| stage.engine.audit_contents().unwrap().health().waiting == 0).await;
    turn(&session).await.view().await.unwrap();
    assert!(named(&stage).await.last().unwrap().is_object());
    let health = stage.engine.audit_contents().unwrap().health();
    assert_eq!(health.failed, 1);
    assert!(
        health
            .last_error
            .unwrap()
            .contains("did not answer within 2000 ms")
    );
    assert_eq!(health.dropped, dropped as u64);
}

#[tokio::test]
async fn a_store_that_fails_or_panics_is_told_of_and_holds_nothing_up() {
    for panics in [false, true] {
        let store = Arc::new(Store {
            inner: MemoryContents::default(),
            behavior: Mutex::new(Behavior::Fail),
            panics,
        });
        let stage = stage(&store, |builder| builder).await;
        let session = stage.session("s1").await;
        let mut turn = turn(&session).await;
        turn.view().await.unwrap();
        let named = named(&stage).await;
        assert!(named[0].is_object());
        let contents = stage.engine.audit_contents().unwrap();
        let health = contents.health();
        assert_eq!((health.failed, health.stored, health.waiting), (3, 0, 0));
        let error = health.last_error.unwrap();
        let expected = if panics { "panicked" } else { "told to fail" };
        assert!(error.contains(expected), "{error}");
        contents
            .text(&digest(&named[0], "prompt"))
            .await
            .unwrap_err();
    }
}

#[tokio::test]
async fn texts_go_when_they_were_not_shown_for_their_time_without_any_traffic() {
    const DAY: Duration = Duration::from_secs(24 * 3_600);
    let store = Store::new();
    let mut limits = Limits::default();
    limits.contents_retention = 10 * DAY;
    limits.session_idle = 100 * DAY;
    let stage = stage(&store, |builder| builder.limits(limits)).await;
    let session = stage.session("s1").await;
    let mut first = turn(&session).await;
    first.view().await.unwrap();
    open(&session, "alpha", Level::Context).await;
    first.view().await.unwrap();
    named(&stage).await;
    assert_eq!(store.inner.len(), 6);
    stage.pass(5 * DAY, 1).await;
    // The second view is shown again, and so are its texts.
    turn(&session).await.view().await.unwrap();
    named(&stage).await;
    stage.pass(6 * DAY, 1).await;
    assert_eq!(store.inner.len(), 3);
    let named = named(&stage).await;
    assert_eq!(text(&stage, &named[0], "prompt").await, None);
    assert!(text(&stage, &named[1], "prompt").await.is_some());
    assert_eq!(named[1], named[2]);
    stage.pass(5 * DAY, 1).await;
    assert!(store.inner.is_empty());
}

/// Replaces what stands on a stage.
struct Curtain;

impl Redactor for Curtain {
    fn redact<'a>(&self, text: &'a str, _place: &RedactionPlace<'_>) -> Cow<'a, str> {
        text.replace("stage", "[curtain]").into()
    }
}

#[tokio::test]
async fn what_is_kept_is_redacted() {
    let store = Store::new();
    let stage = stage(&store, |builder| builder.redactor(Arc::new(Curtain))).await;
    let session = stage.session("s1").await;
    turn(&session).await.view().await.unwrap();
    named(&stage).await;
    let texts = store
        .inner
        .contents()
        .iter()
        .map(|content| content.text().unwrap())
        .collect::<String>();
    assert!(texts.contains("Stands on a [curtain]."), "{texts}");
    assert!(!texts.contains("stage"), "{texts}");
}

#[tokio::test]
async fn nothing_is_left_behind_when_an_engine_goes() {
    let store = Store::new();
    let stage = stage(&store, |builder| builder).await;
    let session = stage.session("s1").await;
    turn(&session).await.view().await.unwrap();
    let sink = Arc::clone(&stage.sink);
    drop((session, stage));
    until(|| Arc::strong_count(&store) == 1).await;
    // What was recorded before is kept nevertheless.
    assert_eq!(store.inner.len(), 3);
    let entries = sink.entries();
    assert!(
        entries
            .iter()
            .any(|entry| entry.fields["contents"].is_object())
    );
}

/// A text of so many bytes that no algorithm makes shorter.
fn dense(seed: u32, length: usize) -> String {
    let mut state = u64::from(seed) << 32 | 1;
    let letter = |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        char::from(b' ' + u8::try_from((state >> 33) % 95).unwrap())
    };
    (0..length).map(letter).collect()
}

#[tokio::test]
async fn texts_in_memory_are_bounded_and_what_was_shown_longest_ago_goes_first() {
    let store = MemoryContents::new(5_000);
    let texts = [1, 2, 3, 4].map(|seed| AuditContent::new(&dense(seed, 1_000)));
    for (content, at) in texts[..3].iter().zip(1..) {
        store.put(content.clone(), Timestamp(at)).await.unwrap();
    }
    assert!(store.touch(texts[0].digest(), Timestamp(4)).await.unwrap());
    // An earlier time than the last makes no text older.
    assert!(store.touch(texts[0].digest(), Timestamp(0)).await.unwrap());
    assert!(!store.touch(&[9; 32], Timestamp(5)).await.unwrap());
    store.put(texts[3].clone(), Timestamp(5)).await.unwrap();
    store.put(texts[3].clone(), Timestamp(6)).await.unwrap();
    let order: Vec<_> = store
        .contents()
        .iter()
        .map(|content| *content.digest())
        .collect();
    assert_eq!(order, [2, 0, 3].map(|index: usize| *texts[index].digest()));
    assert_eq!(store.get(texts[1].digest()).await, Ok(None));
    assert_eq!(
        store.get(texts[0].digest()).await,
        Ok(Some(texts[0].clone()))
    );
    let large = AuditContent::new(&dense(5, 6_000));
    store.put(large, Timestamp(7)).await.unwrap_err();
    assert_eq!(store.len(), 3);
    assert_eq!(store.purge(Timestamp(4)).await, Ok(1));
    assert_eq!(store.purge(Timestamp(4)).await, Ok(0));
    assert_eq!(store.purge(Timestamp(100)).await, Ok(2));
    assert!(store.is_empty());
    let small = AuditContent::new(&json!({ "again": true }).to_string());
    store.put(small.clone(), Timestamp(8)).await.unwrap();
    assert_eq!(store.contents(), [small]);
}
