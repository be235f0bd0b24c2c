//! The store in memory keeps the contract, and holds no more than it must.

use std::sync::Arc;

use skills_engine::session::{SessionKey, StateChange, VisibilityStore};
use skills_engine::skill::SessionId;
use skills_engine::store::MemoryStore;
use skills_engine::testing::{YieldingStore, visibility_store_contract};

use super::{Context, Host, Metadata, Session, set};

#[tokio::test]
async fn memory_store_keeps_the_contract_on_one_thread() {
    visibility_store_contract(async || MemoryStore::new(), |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn memory_store_keeps_the_contract_on_several_threads() {
    visibility_store_contract(async || MemoryStore::new(), |_| {}).await;
}

#[tokio::test]
async fn se10_yielding_store_keeps_the_contract() {
    let make = async || YieldingStore::new(MemoryStore::new());
    visibility_store_contract(make, |_| {}).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn se10_yielding_store_keeps_the_contract_on_several_threads() {
    let make = async || YieldingStore::new(MemoryStore::new());
    visibility_store_contract(make, |_| {}).await;
}

#[tokio::test]
async fn only_sessions_that_changed_something_are_held() {
    let store = MemoryStore::new();
    let key = |index: usize| {
        let id = SessionId::new(format!("s{index}")).unwrap();
        SessionKey::new("ada", &id)
    };
    for index in 0..100 {
        store.load(&key(index)).await.unwrap();
    }
    assert!(store.is_empty());
    let mut session = Session::at(Metadata);
    let opened = Arc::new(session.must(&set("a", Context, Host)).state);
    for index in 0..5_000 {
        store
            .apply(&key(index), StateChange::new(0, Arc::clone(&opened)))
            .await
            .unwrap();
    }
    assert_eq!(store.len(), 5_000);
    for index in 0..4_990 {
        store.remove(&key(index)).await.unwrap();
    }
    assert_eq!(store.len(), 10);
    for index in 4_990..5_000 {
        let state = store.load(&key(index)).await.unwrap();
        assert_eq!(state, opened, "what is left survives shrinking");
    }
}
