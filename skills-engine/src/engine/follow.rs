use std::future::pending;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::select_all;
use tokio::task::AbortHandle;

use super::inner::EngineInner;
use super::refresh::Asks;
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
        .map(|source| Arc::new(Heard::new(source)))
        .filter(|source| source.change().is_some())
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
    sources: Vec<Arc<Heard>>,
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
        engine.refresh_in_turn(Asks::All).await;
    }
}

/// Waits until sources that began to change have told of no change for as long as `debounce`, or went on for too long.
async fn come_to_rest(sources: &[Arc<Heard>], clock: &dyn Clock, debounce: Duration) {
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
async fn changed(sources: &[Arc<Heard>]) {
    let changes: Vec<_> = sources.iter().filter_map(Heard::change).collect();
    if changes.is_empty() {
        pending::<()>().await;
    }
    select_all(changes).await;
}

/// A source that is listened to, until it panics.
struct Heard {
    source: Arc<dyn SkillSource>,
    is_broken: AtomicBool,
}

impl Heard {
    fn new(source: &Arc<dyn SkillSource>) -> Self {
        Self {
            source: Arc::clone(source),
            is_broken: AtomicBool::new(false),
        }
    }

    /// The next change; `None` if the source does not tell.
    fn change(self: &Arc<Self>) -> Option<BoxFuture<'static, ()>> {
        if self.is_broken.load(Ordering::Relaxed) {
            return None;
        }
        let Ok(changed) = catch_unwind(AssertUnwindSafe(|| self.source.changed())) else {
            self.give_up();
            return None;
        };
        let changed = AssertUnwindSafe(changed?).catch_unwind();
        let heard = Arc::clone(self);
        Some(Box::pin(async move {
            if changed.await.is_err() {
                heard.give_up();
                pending::<()>().await;
            }
        }))
    }

    fn give_up(&self) {
        self.is_broken.store(true, Ordering::Relaxed);
        tracing::error!(
            source = self.source.name(),
            "a source panicked when it was asked for changes and is not asked for them again; see to it"
        );
    }
}
