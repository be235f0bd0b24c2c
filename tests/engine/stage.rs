//! What the tests of contention, failure and audit share: a store and a sink that can be told to misbehave.

use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use serde_json::Value;
use skills_engine::audit::{AuditError, AuditRecord, AuditSink, MemoryRing};
use skills_engine::engine::{EngineBuilder, ToolCall};
use skills_engine::session::{
    Purged, SessionKey, SessionState, StateChange, StoreError, StoreOutcome, VisibilityStore,
};
use skills_engine::skill::{
    BoxFuture, Code, Expose, Fault, IntoToolResult, SkillBuilder, Timestamp, Tool, ToolContext,
    TurnRequest,
};
use skills_engine::source::Linked;
use skills_engine::store::MemoryStore;
use skills_engine::testing::ManualClock;
use skills_engine::{Engine, Level, Principal, Session, Turn};

/// What a store or sink does when it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behavior {
    Work,
    /// Does nothing and says that all is well; for sinks.
    Forget,
    /// Answers with an error and does nothing.
    Fail,
    /// Does nothing and never answers.
    Hang,
    /// Does what it is asked and answers with an error.
    WorkAndFail,
    /// Does what it is asked and never answers.
    WorkAndHang,
}

impl Behavior {
    fn works(self) -> bool {
        matches!(self, Self::Work | Self::WorkAndFail | Self::WorkAndHang)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Load,
    Apply,
    Remove,
    Purge,
}

/// A store in memory that yields around its work, and misbehaves when told to.
#[derive(Default)]
pub(crate) struct Store {
    pub(crate) inner: MemoryStore,
    yields: AtomicUsize,
    apply_yields: AtomicUsize,
    rules: Mutex<Vec<(Operation, Behavior)>>,
    pub(crate) conflicts: AtomicUsize,
    /// How often a session was to be forgotten.
    pub(crate) removals: AtomicUsize,
}

impl Store {
    pub(crate) fn yielding(yields: usize) -> Arc<Self> {
        let store = Self::default();
        store.yields.store(yields, Ordering::Relaxed);
        Arc::new(store)
    }

    /// Makes changes take so many yields more than anything else.
    pub(crate) fn slow_down_changes(&self, yields: usize) {
        self.apply_yields.store(yields, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, operation: Operation, behavior: Behavior) {
        let mut rules = self.rules.lock().unwrap();
        rules.retain(|(other, _)| *other != operation);
        rules.push((operation, behavior));
    }

    pub(crate) fn set_all(&self, behavior: Behavior) {
        use Operation::{Apply, Load, Purge, Remove};
        for operation in [Load, Apply, Remove, Purge] {
            self.set(operation, behavior);
        }
    }

    pub(crate) async fn state(&self, session: &Session) -> Arc<SessionState> {
        let key = SessionKey::new(session.principal().id(), session.id());
        self.inner.load(&key).await.unwrap()
    }

    async fn perform<T>(
        &self,
        operation: Operation,
        work: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, StoreError> {
        let yields = self.yields.load(Ordering::Relaxed);
        let more = if operation == Operation::Apply {
            self.apply_yields.load(Ordering::Relaxed)
        } else {
            0
        };
        for _ in 0..yields + more {
            tokio::task::yield_now().await;
        }
        let behavior = {
            let rules = self.rules.lock().unwrap();
            let rule = rules.iter().find(|(other, _)| *other == operation);
            rule.map_or(Behavior::Work, |(_, behavior)| *behavior)
        };
        let done = if behavior.works() {
            Some(work.await)
        } else {
            None
        };
        for _ in 0..yields {
            tokio::task::yield_now().await;
        }
        match (behavior, done) {
            (Behavior::Hang | Behavior::WorkAndHang, _) => std::future::pending().await,
            (Behavior::Work, Some(result)) => result,
            _ => Err(StoreError::Unavailable("it was told to fail".to_owned())),
        }
    }
}

impl VisibilityStore for Store {
    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Arc<SessionState>, StoreError>> {
        let work = async { self.inner.load(key).await };
        Box::pin(self.perform(Operation::Load, work))
    }

    fn apply<'a>(
        &'a self,
        key: &'a SessionKey,
        change: StateChange<'a>,
    ) -> BoxFuture<'a, Result<StoreOutcome, StoreError>> {
        let work = async move {
            let outcome = self.inner.apply(key, change).await;
            if matches!(outcome, Ok(StoreOutcome::Conflict(_))) {
                self.conflicts.fetch_add(1, Ordering::Relaxed);
            }
            outcome
        };
        Box::pin(self.perform(Operation::Apply, work))
    }

    fn remove<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<(), StoreError>> {
        self.removals.fetch_add(1, Ordering::Relaxed);
        let work = async { self.inner.remove(key).await };
        Box::pin(self.perform(Operation::Remove, work))
    }

    fn purge_expired(&self, now: Timestamp) -> BoxFuture<'_, Result<Vec<Purged>, StoreError>> {
        let work = async move { self.inner.purge_expired(now).await };
        Box::pin(self.perform(Operation::Purge, work))
    }
}

/// A sink in memory that yields before it writes, and misbehaves when told to.
pub(crate) struct Sink {
    pub(crate) ring: MemoryRing,
    behavior: Mutex<Behavior>,
    yields: usize,
}

impl Sink {
    pub(crate) fn yielding(yields: usize) -> Arc<Self> {
        Arc::new(Self {
            ring: MemoryRing::new(1 << 20),
            behavior: Mutex::new(Behavior::Work),
            yields,
        })
    }

    pub(crate) fn set(&self, behavior: Behavior) {
        *self.behavior.lock().unwrap() = behavior;
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.ring.records().iter().map(Entry::read).collect()
    }

    /// The records of visibility changes, oldest first.
    pub(crate) fn changes(&self) -> Vec<Entry> {
        let mut entries = self.entries();
        entries.retain(|entry| entry.kind == "visibility");
        entries
    }
}

impl AuditSink for Sink {
    fn append<'a>(&'a self, records: &'a [AuditRecord]) -> BoxFuture<'a, Result<(), AuditError>> {
        Box::pin(async move {
            for _ in 0..self.yields {
                tokio::task::yield_now().await;
            }
            let behavior = *self.behavior.lock().unwrap();
            if behavior.works() {
                let known = self.ring.records();
                let new: Vec<_> = records
                    .iter()
                    .filter(|record| !known.iter().rev().take(512).any(|known| known == *record))
                    .cloned()
                    .collect();
                self.ring.append(&new).await?;
            }
            match behavior {
                Behavior::Work | Behavior::Forget => Ok(()),
                Behavior::Fail => Err(AuditError::failed("it was told to fail")),
                Behavior::WorkAndFail => Err(AuditError::uncertain("it was told to fail")),
                Behavior::Hang | Behavior::WorkAndHang => std::future::pending().await,
            }
        })
    }
}

/// A record, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) time: String,
    pub(crate) principal: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) turn: Option<u64>,
    pub(crate) actor: String,
    pub(crate) reason: Option<String>,
    pub(crate) kind: String,
    pub(crate) fields: Value,
}

impl Entry {
    pub(crate) fn read(record: &AuditRecord) -> Self {
        let entry = record.entry().unwrap();
        Self {
            time: entry.time.into_owned(),
            principal: entry.principal.map(Into::into),
            session: entry.session.map(Into::into),
            turn: entry.turn,
            actor: entry.actor.into_owned(),
            reason: entry.reason.map(Into::into),
            kind: entry.kind.into_owned(),
            fields: serde_json::from_str(entry.fields.get()).unwrap(),
        }
    }

    pub(crate) fn field(&self, name: &str) -> &str {
        self.fields[name].as_str().unwrap_or("")
    }

    /// `skill change old>new`, for comparing whole trails.
    pub(crate) fn outline(&self) -> String {
        format!(
            "{} {} {}>{}",
            self.field("skill"),
            self.field("change"),
            self.field("old"),
            self.field("new")
        )
    }
}

pub(crate) fn outlines(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(Entry::outline).collect()
}

const ANY: &str = r#"{"type":"object"}"#;

/// A tool that takes anything.
pub(crate) fn tool<F>(
    name: &'static str,
    call: impl Fn(Value, ToolContext) -> F + Send + Sync + 'static,
) -> Tool
where
    F: Future<Output: IntoToolResult> + Send + 'static,
{
    Tool::from_json(name, "Answers.", ANY, call).unwrap()
}

/// The tools of every skill on this stage: one of CONTEXT, one of COMPLETE, one that only reads.
pub(crate) fn skill(id: &'static str) -> SkillBuilder {
    let answer = |name| tool(name, |_, _| async { "done" });
    SkillBuilder::new(id)
        .description("Stands on a stage.")
        .tool(answer("act"))
        .tool(answer("finish").level(Level::Complete))
        .tool(
            answer("look")
                .level(Level::Metadata)
                .expose(Expose::Always)
                .read_only(),
        )
}

/// An engine with skills `alpha`, `beta` and, open from the beginning, `gamma`.
pub(crate) struct Stage {
    pub(crate) engine: Engine,
    pub(crate) clock: ManualClock,
    pub(crate) store: Arc<Store>,
    pub(crate) sink: Arc<Sink>,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        Self::yielding(0).await
    }

    /// With a store and a sink that yield so often before and after their work.
    pub(crate) async fn yielding(yields: usize) -> Self {
        Self::with(yields, |builder| builder).await
    }

    pub(crate) async fn with(
        yields: usize,
        adapt: impl FnOnce(EngineBuilder) -> EngineBuilder,
    ) -> Self {
        let clock = ManualClock::new(Timestamp(1_767_225_600_000));
        let store = Store::yielding(yields);
        let sink = Sink::yielding(yields);
        let builder = Engine::builder()
            .linked(Linked::None)
            .with_skill(skill("alpha").build().unwrap())
            .with_skill(skill("beta").build().unwrap())
            .with_skill(skill("gamma").base_level(Level::Context).build().unwrap())
            .clock(Arc::new(clock.clone()))
            .store(Arc::clone(&store) as Arc<dyn VisibilityStore>)
            .audit(Arc::clone(&sink) as Arc<dyn AuditSink>);
        let engine = adapt(builder).build().await.unwrap();
        Self {
            engine,
            clock,
            store,
            sink,
        }
    }

    pub(crate) async fn session(&self, id: &str) -> Session {
        let principal = Principal::new("ada", [] as [&str; 0]);
        self.engine.session(principal, id).await.unwrap()
    }

    /// Lets time pass in steps, so that everything that waits for a time, and then for another, gets there.
    pub(crate) async fn pass(&self, step: Duration, steps: usize) {
        for _ in 0..steps {
            self.clock.advance(step);
            settle().await;
        }
    }

    /// Drives a future while time passes.
    pub(crate) async fn while_time_passes<T>(&self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        for _ in 0..1_000 {
            let polled = std::future::poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx))).await;
            if let Poll::Ready(output) = polled {
                return output;
            }
            settle().await;
            self.clock.advance(Duration::from_millis(100));
        }
        panic!("not done after 100 seconds");
    }

    pub(crate) async fn changes(&self) -> Vec<Entry> {
        self.engine.audit().flush().await;
        self.sink.changes()
    }
}

/// Lets every other task run until none has anything to do; for runtimes of one thread.
pub(crate) async fn settle() {
    for _ in 0..300 {
        tokio::task::yield_now().await;
    }
}

/// The level of a skill as views and calls go by it.
#[track_caller]
pub(crate) fn level(session: &Session, skill: &str) -> Level {
    session.explain(skill, "act").level.unwrap()
}

pub(crate) fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new("call", name, arguments)
}

/// The code of a call's failure, if it failed.
pub(crate) async fn outcome(turn: &mut Turn, name: &str, arguments: &str) -> Result<(), Code> {
    let results = turn.calls([call(name, arguments)]).await;
    let result = results.iter().next().unwrap();
    match &result.outcome {
        Ok(_) => Ok(()),
        Err(Fault { code, .. }) => Err(*code),
    }
}

pub(crate) async fn tool_names(turn: &mut Turn) -> Vec<String> {
    let view = turn.view().await.unwrap();
    view.tools().map(|tool| tool.name().to_owned()).collect()
}

pub(crate) async fn sees(turn: &mut Turn, tool: &str) -> bool {
    tool_names(turn).await.iter().any(|name| name == tool)
}

pub(crate) async fn turn(session: &Session) -> Turn {
    session.turn(TurnRequest::empty()).await.unwrap()
}

/// The context of a tool's call, kept beyond its end.
#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Mutex<Option<ToolContext>>>);

impl Kept {
    /// A tool that keeps the context of its last call.
    pub(crate) fn tool(&self) -> Tool {
        let kept = self.clone();
        tool("keep", move |_, cx| {
            *kept.0.lock().unwrap() = Some(cx);
            async { "kept" }
        })
        .level(Level::Metadata)
        .expose(Expose::Always)
    }

    pub(crate) fn take(&self) -> ToolContext {
        self.0.lock().unwrap().take().unwrap()
    }
}
