use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::select_all;
use tokio::task::AbortHandle;

use super::inner::EngineInner;
use crate::skill::{BoxFuture, Clock, lock, within};
use crate::source::SkillSource;

/// How many times the debounce sources that go on changing are waited for.
const LONGEST: u32 = 4;
/// The part of the debounce for which nothing is listened to after a change: one change is told of many times, and a
/// source may tell of it until it is asked.
const DEAF: u32 = 8;
/// A debounce of nothing would have a source that always tells of a change be asked without a pause.
const SHORTEST: Duration = Duration::from_millis(1);

/// What refreshes an engine when its sources change. It ends with the engine.
#[derive(Default)]
pub(super) struct Follower(Mutex<Option<AbortHandle>>);

impl Drop for Follower {
    fn drop(&mut self) {
        if let Some(task) = lock(&self.0).take() {
            task.abort();
        }
    }
}

/// Refreshes an engine whenever sources say that something changed, until the engine goes.
pub(super) fn follow(engine: &Arc<EngineInner>) {
    let sources = engine.sources.all.iter();
    let sources: Vec<_> = sources
        .filter(|source| change(source).is_some())
        .cloned()
        .collect();
    if sources.is_empty() {
        return;
    }
    let task = refresh_after_changes(
        Arc::downgrade(engine),
        sources,
        Arc::clone(&engine.clock),
        engine.limits.refresh_debounce.max(SHORTEST),
    );
    *lock(&engine.sources.follower.0) = Some(tokio::spawn(task).abort_handle());
}

async fn refresh_after_changes(
    engine: Weak<EngineInner>,
    sources: Vec<Arc<dyn SkillSource>>,
    clock: Arc<dyn Clock>,
    debounce: Duration,
) {
    loop {
        changed(&sources).await;
        come_to_rest(&sources, &*clock, debounce).await;
        // Held while it refreshes, and no longer.
        let Some(engine) = engine.upgrade() else {
            return;
        };
        engine.refresh_in_turn().await;
    }
}

/// Waits until sources that began to change have told of no change for as long as `debounce`, or went on for too long.
async fn come_to_rest(sources: &[Arc<dyn SkillSource>], clock: &dyn Clock, debounce: Duration) {
    let now = || Duration::from_nanos(clock.monotonic_nanos());
    let begun = now();
    let latest = begun.saturating_add(debounce.saturating_mul(LONGEST));
    let mut last = begun;
    loop {
        clock.sleep(debounce / DEAF).await;
        let end = last.saturating_add(debounce).min(latest);
        let rest = end.saturating_sub(now());
        if rest.is_zero() || within(clock, rest, changed(sources)).await.is_none() {
            return;
        }
        last = now();
    }
}

/// Completes when any of the sources tells of a change. Which of them told is forgotten: all are asked.
async fn changed(sources: &[Arc<dyn SkillSource>]) {
    let changes: Vec<_> = sources.iter().filter_map(change).collect();
    if changes.is_empty() {
        pending::<()>().await;
    }
    select_all(changes).await;
}

/// The next change of a source; `None` for one that does not tell. One that panics is not listened to for now.
fn change(source: &Arc<dyn SkillSource>) -> Option<BoxFuture<'static, ()>> {
    let report = |source: &Arc<dyn SkillSource>| {
        tracing::error!(
            source = source.name(),
            "a source panicked when it was asked for changes; see to it"
        );
    };
    let Ok(changed) = catch_unwind(AssertUnwindSafe(|| source.changed())) else {
        report(source);
        return Some(Box::pin(pending()));
    };
    let changed = AssertUnwindSafe(changed?).catch_unwind();
    let source = Arc::clone(source);
    Some(Box::pin(async move {
        if changed.await.is_err() {
            report(&source);
            pending::<()>().await;
        }
    }))
}
