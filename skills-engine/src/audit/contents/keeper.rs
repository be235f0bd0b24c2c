use std::collections::VecDeque;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::Notify;

use super::super::AuditError;
use super::shown::ContentSource;
use super::{AuditContent, ContentDigests, ContentStore, ViewContents};
use crate::skill::{Clock, Limits, Timestamp, lock, within};

/// What a view that waits takes at least.
const LEAST: usize = 4 << 10;

/// Keeps the texts of recorded views: a bounded queue and a task before a [`ContentStore`]. Clones are the same.
#[derive(Clone)]
pub struct AuditContents {
    shared: Arc<Shared>,
    /// Tells the task when the last clone has gone.
    _open: Arc<Open>,
}

/// How the keeping of texts goes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentsHealth {
    /// Views whose texts wait to be composed or kept.
    pub waiting: usize,
    /// Texts that were put into the store.
    pub stored: u64,
    /// Views whose texts are not kept, because there was no room for them, or they could not be composed.
    pub dropped: u64,
    /// Texts that the store did not take.
    pub failed: u64,
    /// What the store failed with last.
    pub last_error: Option<String>,
}

struct Shared {
    store: Arc<dyn ContentStore>,
    clock: Arc<dyn Clock>,
    timeout: Duration,
    retention: Duration,
    most_bytes: usize,
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<(Job, Permit)>,
    /// Bytes of what waits.
    bytes: usize,
    is_busy: bool,
    is_closed: bool,
    /// Whether nobody takes jobs any more.
    is_gone: bool,
    health: ContentsHealth,
}

/// The texts of one view.
pub(super) struct Job {
    texts: [([u8; 32], String); 3],
}

impl Job {
    pub(super) fn new(digests: ContentDigests, texts: [String; 3]) -> Self {
        let [snapshots, prompt, tools] = texts;
        Self {
            texts: [
                (digests.snapshots, snapshots),
                (digests.prompt, prompt),
                (digests.tools, tools),
            ],
        }
    }
}

/// The room that one view takes for as long as its texts wait.
pub(super) struct Permit {
    shared: Arc<Shared>,
    bytes: usize,
}

impl Permit {
    /// Hands texts on to be kept.
    pub(super) fn keep(mut self, job: Job) {
        let bytes: usize = job.texts.iter().map(|(_, text)| text.len()).sum();
        let shared = Arc::clone(&self.shared);
        let mut state = lock(&shared.state);
        if state.is_gone {
            // Its end looks at the state.
            drop(state);
            drop(self);
            return;
        }
        // What was charged before was a guess.
        state.bytes = state.bytes - self.bytes + bytes;
        self.bytes = bytes;
        state.jobs.push_back((job, self));
        drop(state);
        shared.changed.notify_waiters();
    }

    /// Notes that there are no texts to keep.
    pub(super) fn refuse(self) {
        lock(&self.shared.state).health.dropped += 1;
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.bytes -= self.bytes;
        state.health.waiting -= 1;
        drop(state);
        self.shared.changed.notify_waiters();
    }
}

impl AuditContents {
    /// Starts the task that puts texts into a store. It ends when the last clone has gone and nothing waits.
    ///
    /// Outside a tokio runtime every text is dropped.
    #[must_use]
    pub fn start(store: Arc<dyn ContentStore>, clock: Arc<dyn Clock>, limits: &Limits) -> Self {
        let shared = Arc::new(Shared {
            store,
            clock,
            timeout: limits.store_timeout,
            retention: limits.contents_retention,
            most_bytes: limits.contents_waiting,
            state: Mutex::default(),
            changed: Notify::new(),
        });
        let keeper = Keeper(Arc::clone(&shared));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(keeper.run());
        } else {
            tracing::error!("the texts of views are kept inside a tokio runtime only");
        }
        Self {
            _open: Arc::new(Open(Arc::clone(&shared))),
            shared,
        }
    }

    /// Takes a view's texts in, or not when there is no room for them.
    pub(crate) fn offer(&self, source: Arc<dyn ContentSource>, bytes: u64) -> ViewContents {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX).max(LEAST);
        let mut state = lock(&self.shared.state);
        let fits = state.bytes.saturating_add(bytes) <= self.shared.most_bytes
            || state.health.waiting == 0;
        if !fits || state.is_gone {
            state.health.dropped += 1;
            return ViewContents::dropped();
        }
        state.bytes = state.bytes.saturating_add(bytes);
        state.health.waiting += 1;
        drop(state);
        let shared = Arc::clone(&self.shared);
        ViewContents::new(source, Permit { shared, bytes })
    }

    /// The text under a digest that a record of a view names; `None` when it is not kept.
    ///
    /// # Errors
    ///
    /// When the store cannot be read within `limits.store_timeout`, or holds something else under the digest.
    pub async fn text(&self, digest: &[u8; 32]) -> Result<Option<String>, AuditError> {
        let content = self.shared.bounded(self.shared.store.get(digest)).await?;
        content
            .map(|content| content.text().map_err(AuditError::failed))
            .transpose()
    }

    /// How the keeping of texts goes.
    #[must_use]
    pub fn health(&self) -> ContentsHealth {
        lock(&self.shared.state).health.clone()
    }

    /// Waits until the texts of all records that are written by now are with the store, or `limits.store_timeout` has
    /// passed. Flush the log first: texts are composed when their record is written.
    pub async fn flush(&self) {
        let Shared { clock, timeout, .. } = &*self.shared;
        let at_rest = self
            .shared
            .until(|state| state.is_gone || (state.jobs.is_empty() && !state.is_busy));
        // What became of it is in the health.
        let _ = within(&**clock, *timeout, at_rest).await;
    }

    /// Forgets what was last shown longer ago than texts are kept.
    pub(crate) async fn purge(&self) {
        let Shared {
            store,
            clock,
            retention,
            ..
        } = &*self.shared;
        let milliseconds = i64::try_from(retention.as_millis()).unwrap_or(i64::MAX);
        let before = Timestamp(clock.now().0.saturating_sub(milliseconds));
        if let Err(err) = self.shared.bounded(store.purge(before)).await {
            self.shared.failed(&err);
        }
    }
}

impl Shared {
    async fn bounded<T>(
        &self,
        asked: impl Future<Output = Result<T, AuditError>>,
    ) -> Result<T, AuditError> {
        let asked = AssertUnwindSafe(asked).catch_unwind();
        match within(&*self.clock, self.timeout, asked).await {
            Some(Ok(result)) => result,
            Some(Err(_)) => Err(AuditError::uncertain("the store of texts panicked")),
            None => Err(AuditError::Uncertain(format!(
                "the store of texts did not answer within {} ms",
                self.timeout.as_millis()
            ))),
        }
    }

    fn failed(&self, err: &AuditError) {
        let mut state = lock(&self.state);
        let is_first = state.health.failed == 0;
        state.health.failed += 1;
        state.health.last_error = Some(err.to_string());
        drop(state);
        if is_first {
            tracing::error!(error = %err, "texts of views cannot be kept");
        }
    }

    /// Waits until something holds.
    async fn until(&self, holds: impl Fn(&State) -> bool) {
        loop {
            let mut changed = pin!(self.changed.notified());
            // Registered before the look, so that a change between the two is not missed.
            changed.as_mut().enable();
            if holds(&lock(&self.state)) {
                return;
            }
            changed.await;
        }
    }

    async fn keep(&self, digest: &[u8; 32], text: &str) -> Result<bool, AuditError> {
        let at = self.clock.now();
        if self.bounded(self.store.touch(digest, at)).await? {
            return Ok(false);
        }
        let content = AuditContent::compressed(*digest, text);
        self.bounded(self.store.put(content, at)).await?;
        Ok(true)
    }
}

/// The task before the store.
struct Keeper(Arc<Shared>);

impl Keeper {
    async fn run(self) {
        let shared = &*self.0;
        loop {
            shared
                .until(|state| {
                    !state.jobs.is_empty() || (state.is_closed && state.health.waiting == 0)
                })
                .await;
            let job = {
                let mut state = lock(&shared.state);
                state.is_busy = !state.jobs.is_empty();
                state.jobs.pop_front()
            };
            let Some((job, permit)) = job else {
                return;
            };
            for (digest, text) in &job.texts {
                match shared.keep(digest, text).await {
                    Ok(is_new) => lock(&shared.state).health.stored += u64::from(is_new),
                    Err(err) => shared.failed(&err),
                }
                // Hashing and compressing take their time, and a store in memory never waits.
                tokio::task::yield_now().await;
            }
            lock(&shared.state).is_busy = false;
            drop(permit);
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let jobs = {
            let mut state = lock(&self.0.state);
            state.is_gone = true;
            std::mem::take(&mut state.jobs)
        };
        // Not under the lock: permits take it when they go.
        drop(jobs);
        self.0.changed.notify_waiters();
    }
}

/// Lives as long as there is a handle.
struct Open(Arc<Shared>);

impl Drop for Open {
    fn drop(&mut self) {
        lock(&self.0.state).is_closed = true;
        self.0.changed.notify_waiters();
    }
}

impl fmt::Debug for AuditContents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuditContents")
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
