use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use crate::session::{
    Applied, Change, ChangeOutcome, GrantSpan, PURGE_BATCH, SessionKey, SessionState, StateChange,
    StoreOutcome, VisibilityStore,
};
use crate::skill::{Actor, Level, Limits, SessionId, Timestamp};

/// Checks that a store keeps what the engine relies on. Panics, saying what, when it does not.
///
/// `make` gives an empty store, `advance` moves the clock the store uses, if it uses one. Must run in a tokio
/// runtime; one with several threads shows more.
///
/// # Examples
///
/// ```
/// # use skills_engine::{store::MemoryStore, testing::visibility_store_contract};
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # runtime.block_on(async {
/// visibility_store_contract(async || MemoryStore::new(), |_| {}).await;
/// # });
/// ```
///
/// # Panics
///
/// When the store breaks the contract or does not answer.
pub async fn visibility_store_contract<S, M, F>(make: M, advance: impl Fn(Duration))
where
    S: VisibilityStore,
    M: Fn() -> F,
    F: Future<Output = S>,
{
    unknown_sessions_have_the_default_state(&make().await).await;
    what_was_applied_is_loaded(&make().await).await;
    a_stale_version_conflicts_and_stores_nothing(&make().await).await;
    a_removed_session_starts_anew(&make().await).await;
    sessions_never_mix(&make().await).await;
    of_racing_changes_one_is_applied(Arc::new(make().await)).await;
    racing_changes_are_all_applied_in_the_end(Arc::new(make().await)).await;
    ended_grants_are_purged_once(&make().await, &advance).await;
    purging_many_sessions_misses_none(&make().await, &advance).await;
    big_states_and_long_ids_come_back_whole(&make().await).await;
}

const START: Timestamp = Timestamp(1_700_000_000_000);
const TTL: Duration = Duration::from_secs(60);

fn key(principal: &str, session: &str) -> SessionKey {
    let session = SessionId::new(session).expect("the id is a legal one");
    SessionKey::new(principal, &session)
}

fn open(skill: &str, level: Level, span: GrantSpan) -> Change {
    Change::Set {
        skill: skill.into(),
        level,
        actor: Actor::Host,
        span,
    }
}

fn open_context(skill: &str) -> Change {
    open(skill, Level::Context, GrantSpan::UntilCleared)
}

fn open_for_a_while(skill: &str) -> Change {
    let span = GrantSpan::for_time(TTL, START, &Limits::default());
    open(skill, Level::Context, span.expect("the time is in range"))
}

fn changed(state: &SessionState, change: &Change) -> Applied {
    state
        .apply(change, &|_| Level::Metadata, START, &Limits::default())
        .expect("the change is allowed")
}

async fn load(store: &impl VisibilityStore, key: &SessionKey) -> Arc<SessionState> {
    store.load(key).await.expect("the store answers")
}

async fn try_apply(
    store: &impl VisibilityStore,
    key: &SessionKey,
    from: &SessionState,
    change: &Change,
) -> Result<Arc<SessionState>, Arc<SessionState>> {
    let next = Arc::new(changed(from, change).state);
    let outcome = store
        .apply(key, StateChange::new(from.version(), Arc::clone(&next)))
        .await;
    match outcome.expect("the store answers") {
        StoreOutcome::Applied => Ok(next),
        StoreOutcome::Conflict(current) => Err(current),
    }
}

/// Applies a change as the engine does: again, from the state that came first, until it is in.
async fn apply(
    store: &impl VisibilityStore,
    key: &SessionKey,
    change: &Change,
) -> (Arc<SessionState>, ChangeOutcome) {
    let mut from = load(store, key).await;
    loop {
        match try_apply(store, key, &from, change).await {
            Ok(state) => return (state, changed(&from, change).outcome),
            Err(current) => {
                assert_ne!(
                    current.version(),
                    from.version(),
                    "a conflict gives the state that came first"
                );
                from = current;
            }
        }
    }
}

fn skills_of(state: &SessionState) -> Vec<&str> {
    state.skills().map(|(skill, _)| &**skill).collect()
}

async fn unknown_sessions_have_the_default_state(store: &impl VisibilityStore) {
    let key = key("ada", "unknown");
    assert_eq!(*load(store, &key).await, SessionState::default());
    let removed = store.remove(&key).await;
    removed.expect("removing an unknown session succeeds");
    assert_eq!(*load(store, &key).await, SessionState::default());
}

async fn what_was_applied_is_loaded(store: &impl VisibilityStore) {
    let key = key("ada", "s1");
    for skill in ["b", "a", "c"] {
        let (state, _) = apply(store, &key, &open_context(skill)).await;
        assert_eq!(load(store, &key).await, state);
    }
    let state = load(store, &key).await;
    assert_eq!(state.version(), 3);
    assert_eq!(skills_of(&state), ["a", "b", "c"]);
    let opened = state
        .admissions()
        .iter()
        .map(|admission| &**admission.skill);
    assert_eq!(
        opened.collect::<Vec<_>>(),
        ["b", "a", "c"],
        "the order of openings is kept"
    );
}

async fn a_stale_version_conflicts_and_stores_nothing(store: &impl VisibilityStore) {
    let key = key("ada", "s1");
    let default = SessionState::default();
    let first = try_apply(store, &key, &default, &open_context("a")).await;
    let first = first.expect("the first change of a session is applied");
    let stale = try_apply(store, &key, &default, &open_context("b")).await;
    let current = stale.expect_err("a second first change conflicts");
    assert_eq!(current, first, "a conflict gives the state that came first");
    assert_eq!(load(store, &key).await, first, "a conflict stores nothing");

    let never_stored = self::key("ada", "s2");
    let ahead = try_apply(store, &never_stored, &first, &open_context("b")).await;
    let current = ahead.expect_err("a version that was never stored conflicts");
    assert_eq!(*current, default);
    assert_eq!(*load(store, &never_stored).await, default);
}

async fn a_removed_session_starts_anew(store: &impl VisibilityStore) {
    let (key, other) = (key("ada", "s1"), key("ada", "s2"));
    let (state, _) = apply(store, &key, &open_context("a")).await;
    let (kept, _) = apply(store, &other, &open_context("a")).await;
    store.remove(&key).await.expect("the store answers");
    assert_eq!(*load(store, &key).await, SessionState::default());
    assert_eq!(load(store, &other).await, kept, "only one session goes");
    let late = try_apply(store, &key, &state, &open_context("b")).await;
    late.expect_err("what was removed does not come back by a late change");
    let (state, _) = apply(store, &key, &open_context("b")).await;
    assert_eq!((state.version(), skills_of(&state)), (1, vec!["b"]));
}

async fn sessions_never_mix(store: &impl VisibilityStore) {
    let keys = [
        key("ada", "s1"),
        key("bob", "s1"),
        key("ada", "s2"),
        key("ad", "as1"),
        key("ada.s", "1"),
        key("ADA", "s1"),
        key("ada", "S1"),
        key("ada:s1", "s1"),
        key("ada%", "s1"),
    ];
    for (index, key) in keys.iter().enumerate() {
        let state = load(store, key).await;
        assert_eq!(
            *state,
            SessionState::default(),
            "{key:?} is another session"
        );
        apply(store, key, &open_context(&format!("skill-{index}"))).await;
    }
    for (index, key) in keys.iter().enumerate() {
        let state = load(store, key).await;
        assert_eq!(skills_of(&state), [format!("skill-{index}")], "{key:?}");
    }
}

async fn of_racing_changes_one_is_applied<S: VisibilityStore>(store: Arc<S>) {
    let mut tasks = Vec::new();
    for index in 0..64 {
        let store = Arc::clone(&store);
        tasks.push(tokio::spawn(async move {
            let change = open_context(&format!("skill-{index}"));
            let key = key("ada", "s1");
            try_apply(&*store, &key, &SessionState::default(), &change).await
        }));
    }
    let mut outcomes = Vec::new();
    for task in tasks {
        outcomes.push(task.await.expect("the task ends"));
    }
    let stored = load(&*store, &key("ada", "s1")).await;
    let applied: Vec<_> = outcomes
        .iter()
        .filter_map(|outcome| outcome.as_ref().ok())
        .collect();
    assert_eq!(applied, [&stored], "exactly one of 64 changes is applied");
    for told in outcomes.iter().filter_map(|outcome| outcome.as_ref().err()) {
        assert_eq!(*told, stored, "the others are told what came first");
    }
}

async fn racing_changes_are_all_applied_in_the_end<S: VisibilityStore>(store: Arc<S>) {
    let mut tasks = Vec::new();
    for index in 0..64 {
        let store = Arc::clone(&store);
        tasks.push(tokio::spawn(async move {
            let change = open_context(&format!("skill-{index}"));
            let (_, outcome) = apply(&*store, &key("ada", "s1"), &change).await;
            outcome.version
        }));
    }
    let mut versions = Vec::new();
    for task in tasks {
        versions.push(task.await.expect("the task ends"));
    }
    versions.sort_unstable();
    let expected: Vec<u64> = (1..=64).collect();
    assert_eq!(versions, expected, "each change has its own version");
    let state = load(&*store, &key("ada", "s1")).await;
    assert_eq!((state.version(), state.skills().count()), (64, 64));
}

async fn ended_grants_are_purged_once(store: &impl VisibilityStore, advance: &impl Fn(Duration)) {
    let key = key("ada", "s1");
    apply(store, &key, &open_for_a_while("a")).await;
    let (before, _) = apply(store, &key, &open_context("b")).await;
    let early = store.purge_expired(START).await.expect("the store answers");
    assert!(early.is_empty(), "a live grant stays: {early:?}");
    assert_eq!(load(store, &key).await, before);

    advance(TTL);
    let end = Timestamp(START.0 + 60_000);
    let purged = store.purge_expired(end).await.expect("the store answers");
    let [purged] = &purged[..] else {
        panic!("one session has an ended grant, not {purged:?}");
    };
    assert_eq!(purged.key, key);
    let ended = purged.expired.iter().map(|grant| &*grant.skill);
    assert_eq!(ended.collect::<Vec<_>>(), ["a"]);
    let after = load(store, &key).await;
    assert_eq!(after, purged.state, "the state without it is stored");
    assert_eq!(skills_of(&after), ["b"], "a floor stays");
    let late = try_apply(store, &key, &before, &open_context("c")).await;
    late.expect_err("a purge is a change, and conflicts with one made before it");
    let again = store.purge_expired(end).await.expect("the store answers");
    assert!(again.is_empty(), "a grant is purged once: {again:?}");
}

async fn purging_many_sessions_misses_none(
    store: &impl VisibilityStore,
    advance: &impl Fn(Duration),
) {
    let mut keys: Vec<SessionKey> = (0..=PURGE_BATCH)
        .map(|index| key("ada", &format!("s{index}")))
        .collect();
    for key in &keys {
        let change = open_for_a_while("a");
        let outcome = try_apply(store, key, &SessionState::default(), &change).await;
        outcome.expect("the first change of a session is applied");
    }
    advance(TTL);
    let end = Timestamp(START.0 + 60_000);
    let mut purged = Vec::new();
    loop {
        let batch = store.purge_expired(end).await.expect("the store answers");
        assert!(batch.len() <= PURGE_BATCH, "an answer is bounded");
        if batch.is_empty() {
            break;
        }
        purged.extend(batch.into_iter().map(|purged| purged.key));
    }
    keys.sort();
    purged.sort();
    assert!(purged == keys, "each session is purged once");
}

async fn big_states_and_long_ids_come_back_whole(store: &impl VisibilityStore) {
    let keys = [
        key(&"p".repeat(256), &"s".repeat(128)),
        key(&"ü".repeat(128), &"S".repeat(128)),
        key("a'b\"c\\d;e--f/g\u{202e}h i", "._-"),
        key("1", "1"),
    ];
    for key in &keys {
        let mut state = SessionState::default();
        for index in 0..Limits::default().grants {
            let skill = format!("{}{index:03}", "x".repeat(61));
            let limit = Change::Limit {
                skill: skill.as_str().into(),
                level: Some(Level::Context),
            };
            state = changed(&state, &limit).state;
            state = changed(&state, &open_context(&skill)).state;
        }
        let clear = Change::Clear {
            skill: None,
            actor: Actor::Model,
        };
        let next = Arc::new(changed(&state, &clear).state);
        let first = store
            .apply(key, StateChange::new(0, Arc::clone(&next)))
            .await;
        let first = first.expect("the store answers");
        assert!(matches!(first, StoreOutcome::Applied), "{key:?}");
        assert_eq!(load(store, key).await, next, "{key:?}");
    }
}
