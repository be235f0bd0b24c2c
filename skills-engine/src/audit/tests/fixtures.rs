//! What the tests of this module share.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::FutureExt;

use super::super::{
    AuditError, AuditEvent, AuditKind, AuditLog, AuditRecord, AuditSink, MemoryRing,
    VisibilityOutcome,
};
use crate::skill::{
    Actor, BoxFuture, Clock, Code, Level, Limits, Principal, SessionId, SessionScope, Span,
    Timestamp,
};
use crate::testing::ManualClock;

pub(in crate::audit) fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}

/// Lets every other task run until it waits.
pub(in crate::audit) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// A session. Its log keeps in it how far its chain has come, so there is one for each incarnation.
pub(in crate::audit) fn scope(id: &str, incarnation: u64) -> Arc<SessionScope> {
    let id = SessionId::new(id).unwrap();
    let principal = Principal::new("ada", [] as [&str; 0]);
    Arc::new(SessionScope::new(id, principal, incarnation))
}

pub(in crate::audit) fn event(scope: &Arc<SessionScope>, kind: AuditKind) -> AuditEvent {
    AuditEvent::new(Timestamp(1_767_225_600_000), Actor::Host, kind).scope(Arc::clone(scope))
}

pub(in crate::audit) fn opened(skill: &str) -> AuditKind {
    AuditKind::Visibility {
        skill: skill.into(),
        change: VisibilityOutcome::Granted,
        asked: Some(Level::Complete),
        old: Level::Metadata,
        new: Level::Context,
        span: Some(Span::Ttl(Duration::from_secs(90))),
        code: None,
        expires_at: Some(Timestamp(1_767_225_690_000)),
    }
}

pub(in crate::audit) fn view(byte: u8) -> AuditKind {
    AuditKind::View {
        digest: [byte; 32],
        bytes: 10,
        timed_out: Vec::new(),
        cut: [0; 3],
        contents: None,
    }
}

pub(in crate::audit) fn ended() -> AuditKind {
    AuditKind::SessionEnded {
        reason: "done".into(),
    }
}

/// `session kind` of every record.
pub(in crate::audit) fn outline(records: &[AuditRecord]) -> Vec<String> {
    let of = |record: &AuditRecord| {
        let entry = record.entry().unwrap();
        let session = entry.session.as_deref().unwrap_or("-");
        format!("{session} {}", entry.kind)
    };
    records.iter().map(of).collect()
}

/// What a sink does with one batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::audit) enum Behavior {
    Fail,
    Hang,
    /// Stores the batch and does not answer.
    StoreAndHang,
    /// Stores the batch and says that it is not known.
    StoreUncertain,
    Panic,
}

/// A ring that misbehaves as told, batch by batch, and then works; it takes no record twice.
#[derive(Debug, Default)]
pub(in crate::audit) struct ScriptedSink {
    pub(in crate::audit) ring: MemoryRing,
    script: Mutex<VecDeque<Behavior>>,
    /// What it does when the script is over.
    always: Mutex<Option<Behavior>>,
}

impl ScriptedSink {
    pub(in crate::audit) fn then(self: Arc<Self>, behavior: Behavior) -> Arc<Self> {
        self.script.lock().unwrap().push_back(behavior);
        self
    }

    pub(in crate::audit) fn always(&self, behavior: Option<Behavior>) {
        *self.always.lock().unwrap() = behavior;
    }

    async fn store(&self, records: &[AuditRecord]) {
        let known = self.ring.records();
        let new: Vec<_> = records
            .iter()
            .filter(|record| !known.contains(record))
            .cloned()
            .collect();
        self.ring.append(&new).await.unwrap();
    }
}

impl AuditSink for ScriptedSink {
    fn append<'a>(&'a self, records: &'a [AuditRecord]) -> BoxFuture<'a, Result<(), AuditError>> {
        let scripted = self.script.lock().unwrap().pop_front();
        let behavior = scripted.or(*self.always.lock().unwrap());
        Box::pin(async move {
            match behavior {
                Some(Behavior::Fail) => Err(AuditError::failed("the disk is full")),
                Some(Behavior::Hang) => std::future::pending().await,
                Some(Behavior::Panic) => panic!("a bug in the sink"),
                Some(Behavior::StoreAndHang) => {
                    self.store(records).await;
                    std::future::pending().await
                }
                Some(Behavior::StoreUncertain) => {
                    self.store(records).await;
                    Err(AuditError::uncertain("the connection was lost"))
                }
                None => {
                    self.store(records).await;
                    Ok(())
                }
            }
        })
    }
}

pub(in crate::audit) fn start(
    sinks: &[&Arc<ScriptedSink>],
    queue: usize,
) -> (AuditLog, ManualClock) {
    let clock = ManualClock::default();
    let limits = Limits {
        audit_queue: queue,
        ..Limits::default()
    };
    let sinks = sinks
        .iter()
        .map(|sink| Arc::clone(sink) as Arc<dyn AuditSink>)
        .collect();
    let shared: Arc<dyn Clock> = Arc::new(clock.clone());
    (AuditLog::start(sinks, shared, &limits, None), clock)
}

pub(in crate::audit) fn sink() -> Arc<ScriptedSink> {
    Arc::default()
}

/// A log that has ended normally, over `sessions` sessions, and its last head.
pub(in crate::audit) fn written_log(events: usize, sessions: u64) -> Vec<AuditRecord> {
    run(async {
        let sink = sink();
        let (log, _clock) = start(&[&sink], 65_536);
        let scopes: Vec<_> = (1..=sessions)
            .map(|number| scope(&format!("s{number}"), number))
            .collect();
        for (index, byte) in (0..events).zip((0..=u8::MAX).cycle()) {
            let scope = &scopes[index * 7 % scopes.len()];
            log.record(event(scope, view(byte)).reason("look\n\"here\""));
        }
        log.flush().await;
        sink.ring.records()
    })
}

/// Lets time pass until every pause and every deadline is over.
pub(in crate::audit) async fn wait(clock: &ManualClock) {
    for _ in 0..40 {
        clock.advance(Duration::from_secs(1));
        settle().await;
    }
}

pub(in crate::audit) async fn commit(
    log: &AuditLog,
    clock: &ManualClock,
    scope: &Arc<SessionScope>,
    skill: &str,
) -> Result<(), Code> {
    let mut commit = Box::pin(log.commit(event(scope, opened(skill))));
    for _ in 0..40 {
        if let Some(result) = (&mut commit).now_or_never() {
            return result.map_err(|fault| fault.code);
        }
        settle().await;
        if clock.sleepers() > 1 {
            clock.advance(Duration::from_secs(1));
        }
    }
    panic!("a commit ends within the timeout");
}
