use std::sync::Arc;

use tokio::task::yield_now;

use crate::session::{
    Purged, SessionKey, SessionState, StateChange, StoreError, StoreOutcome, VisibilityStore,
};
use crate::skill::{BoxFuture, Timestamp};

/// A store that lets other tasks run between reading and writing, so that conflicts do happen.
#[derive(Debug, Default)]
pub struct YieldingStore<S> {
    inner: S,
}

impl<S> YieldingStore<S> {
    /// Wraps a store.
    #[must_use]
    pub fn new(inner: S) -> Self {
        Self { inner }
    }
}

impl<S: VisibilityStore> VisibilityStore for YieldingStore<S> {
    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Arc<SessionState>, StoreError>> {
        Box::pin(async move {
            let state = self.inner.load(key).await;
            yield_now().await;
            state
        })
    }

    fn apply<'a>(
        &'a self,
        key: &'a SessionKey,
        change: StateChange<'a>,
    ) -> BoxFuture<'a, Result<StoreOutcome, StoreError>> {
        Box::pin(async move {
            yield_now().await;
            let outcome = self.inner.apply(key, change).await;
            yield_now().await;
            outcome
        })
    }

    fn remove<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            yield_now().await;
            self.inner.remove(key).await
        })
    }

    fn purge_expired(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<Purged>, StoreError>> {
        Box::pin(async move {
            yield_now().await;
            self.inner.purge_expired(now).await
        })
    }
}
