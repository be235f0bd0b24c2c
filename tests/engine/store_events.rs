//! A store that keeps the audit trail too is handed what there is to write down of each change.

use std::sync::{Arc, Mutex};

use skills_engine::audit::{AuditKind, VisibilityOutcome};
use skills_engine::session::{
    Purged, SessionKey, SessionState, StateChange, StoreError, StoreOutcome, VisibilityStore,
};
use skills_engine::skill::{BoxFuture, Timestamp};
use skills_engine::store::MemoryStore;
use skills_engine::{Level, Span};
use tests::{bare, session};

use crate::made::{skill, tool};

/// Notes the events of the changes it stores.
#[derive(Default)]
struct Noting {
    inner: MemoryStore,
    noted: Mutex<Vec<(String, VisibilityOutcome)>>,
}

impl VisibilityStore for Noting {
    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Arc<SessionState>, StoreError>> {
        self.inner.load(key)
    }

    fn apply<'a>(
        &'a self,
        key: &'a SessionKey,
        change: StateChange<'a>,
    ) -> BoxFuture<'a, Result<StoreOutcome, StoreError>> {
        for event in change.events {
            if let AuditKind::Visibility { skill, change, .. } = &event.kind {
                let mut noted = self.noted.lock().unwrap();
                noted.push((skill.to_string(), *change));
            }
        }
        self.inner.apply(key, change)
    }

    fn remove<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<(), StoreError>> {
        self.inner.remove(key)
    }

    fn purge_expired(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<Purged>, StoreError>> {
        self.inner.purge_expired(now)
    }
}

#[tokio::test]
async fn a_store_is_handed_the_events_of_each_change() {
    let store = Arc::new(Noting::default());
    let act = || tool("act", async |_| "done");
    let engine = bare()
        .with_skill(skill("a", [act()]))
        .with_skill(skill("b", [act()]))
        .store(Arc::clone(&store) as Arc<dyn VisibilityStore>)
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    for id in ["a", "b"] {
        let span = Span::UntilCleared;
        session.open(id, Level::Context, span, "").await.unwrap();
    }
    session.limit("a", Level::Metadata).await.unwrap();
    session.clear_all().await.unwrap();
    let noted = store.noted.lock().unwrap().clone();
    let expected = [
        ("a", VisibilityOutcome::Granted),
        ("b", VisibilityOutcome::Granted),
        ("a", VisibilityOutcome::Limited),
        ("a", VisibilityOutcome::Cleared),
        ("b", VisibilityOutcome::Cleared),
    ];
    let mut sorted = noted.clone();
    sorted[3..].sort_by(|left, right| left.0.cmp(&right.0));
    assert_eq!(
        sorted,
        expected.map(|(id, outcome)| (id.to_owned(), outcome))
    );
}
