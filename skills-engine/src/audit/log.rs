use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::chain::Chains;
use super::commit::Commit;
use super::key::{ArgumentDigest, SecretDigest};
use super::queue::{Alarms, Item, Queue};
use super::receipt::Receipt;
use super::writer::{Batch, Writer};
use super::{AuditEvent, AuditHealth, AuditKey, AuditKind, AuditSink, SinkHealth};
use crate::skill::{Clock, Fault, Limits, SessionScope};

/// Where events go in: one queue and one task per sink behind it. Clones are the same log.
#[derive(Clone)]
pub struct AuditLog {
    inner: Arc<Inner>,
}

struct Inner {
    queues: Arc<[Arc<Queue>]>,
    alarms: Arc<Alarms>,
    clock: Arc<dyn Clock>,
    timeout: Duration,
    arguments: Option<ArgumentDigest>,
}

impl AuditLog {
    /// Starts one writer task per sink on the current tokio runtime. The tasks end when the last clone of the log
    /// is dropped and everything in the queues is written; when the runtime ends before that, what waits is lost. Wait
    /// for [`flush`](Self::flush) at the end of a program.
    ///
    /// Without sinks every event is dropped and every commit succeeds. Outside a tokio runtime, or when the
    /// operating system gives no randomness, the log works but [fails](Self::is_failing) from the beginning.
    #[must_use]
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a secret is given away, not lent"
    )]
    pub fn start(
        sinks: Vec<Arc<dyn AuditSink>>,
        clock: Arc<dyn Clock>,
        limits: &Limits,
        key: Option<AuditKey>,
    ) -> Self {
        let alarms = Arc::new(Alarms::default());
        let queue = |sink| Arc::new(Queue::new(sink, limits.audit_queue, Arc::clone(&alarms)));
        let queues: Arc<[_]> = (0..sinks.len()).map(queue).collect();
        let arguments = match &key {
            Some(key) => Some(ArgumentDigest::new(key)),
            None => ArgumentDigest::random().ok(),
        };
        let mut log = [0; 8];
        let is_random = getrandom::fill(&mut log).is_ok() && arguments.is_some();
        let runtime = tokio::runtime::Handle::try_current();
        for (index, sink) in sinks.into_iter().enumerate() {
            let writer = Writer {
                sink,
                index,
                queue: Arc::clone(&queues[index]),
                clock: Arc::clone(&clock),
                timeout: limits.store_timeout,
                chains: Chains::new(index, u64::from_be_bytes(log), key.clone(), limits.reason),
                batch: Batch::default(),
            };
            match &runtime {
                Ok(runtime) if is_random => drop(runtime.spawn(writer.run())),
                // Dropped, the writer closes its queue.
                Ok(_) => {
                    tracing::error!("the audit log got no randomness from the operating system");
                }
                Err(_) => tracing::error!("the audit log was started outside a tokio runtime"),
            }
        }
        let inner = Inner {
            queues,
            alarms,
            clock,
            timeout: limits.store_timeout,
            arguments,
        };
        Self {
            inner: Arc::new(inner),
        }
    }

    /// Puts an event into the queue of every sink. Never waits; when there is no room, the event is lost, which is
    /// counted, shown by [`health`](Self::health), and recorded once there is room.
    pub fn record(&self, event: AuditEvent) {
        close_chain(&event);
        if let Some((last, others)) = self.inner.queues.split_last() {
            for queue in others {
                queue.push(event.clone(), None);
            }
            last.push(event, None);
        }
    }

    /// Puts an event into the queue of every sink at once; the future completes when every sink has stored it.
    ///
    /// When it fails, or is dropped before, the change must not be made: where the event is not stored yet it
    /// never will be, and where it is, a record of kind `withdrawn` follows.
    ///
    /// # Errors
    ///
    /// `audit_unavailable` when a sink fails, a queue is full, or `limits.store_timeout` has passed.
    pub fn commit(
        &self,
        event: AuditEvent,
    ) -> impl Future<Output = Result<(), Fault>> + Send + use<> {
        close_chain(&event);
        let queues = &self.inner.queues;
        let scope = event.scope.clone();
        let receipt = self.receipt();
        if let (Some(receipt), Some((last, others))) = (&receipt, queues.split_last()) {
            let mut fits = others
                .iter()
                .all(|queue| queue.push(event.clone(), Some(receipt)));
            fits = fits && last.push(event, Some(receipt));
            if !fits {
                receipt.fail();
            }
        }
        self.wait(receipt, scope)
    }

    /// Whether the last write to a sink failed, or a queue is full: no room for what views and calls make.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        self.inner.alarms.failing.load(Ordering::Relaxed) != 0
    }

    /// Lets the writers run when a queue is half full; costs one load when none is.
    ///
    /// On a runtime of one thread a task that never waits would otherwise keep the writers from running until
    /// their queues are full.
    pub async fn relieve(&self) {
        const YIELDS: usize = 64;
        for _ in 0..YIELDS {
            if self.inner.alarms.crowded.load(Ordering::Relaxed) == 0 || self.is_failing() {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    /// Waits until everything recorded so far is stored, with an anchor over it, or a sink fails or takes longer
    /// than `limits.store_timeout`. What became of it is in [`health`](Self::health).
    pub async fn flush(&self) {
        let Some(receipt) = self.receipt() else {
            return;
        };
        for queue in &*self.inner.queues {
            queue.push_note(Item::Flush(Arc::clone(&receipt)));
        }
        // What became of it is in the health.
        let _ = self.wait(Some(receipt), None).await;
    }

    /// How the log and its sinks are.
    #[must_use]
    pub fn health(&self) -> AuditHealth {
        let sinks = self.inner.queues.iter().map(|queue| {
            let status = queue.status();
            SinkHealth {
                failing_since: status.failing_since,
                last_error: status.last_error,
                is_full: status.is_full,
                queued: status.queued,
                written: status.written,
                lost: status.lost,
                engine_head: status.head,
            }
        });
        AuditHealth {
            is_failing: self.is_failing(),
            sinks: sinks.collect(),
        }
    }

    /// The digest that stands for the arguments of a call in its record. Keyed with the audit key, or without one
    /// with a random key of this log, so that nobody can confirm guessed arguments by hashing them.
    #[must_use]
    pub fn argument_digest(&self, bytes: &[u8]) -> [u8; 32] {
        // Without randomness there is no key, and a digest without one would tell.
        self.inner
            .arguments
            .as_ref()
            .map_or([0; 32], |arguments| arguments.digest(bytes))
    }

    /// What makes the digests of sensitive values, keyed as those of arguments are. It does not keep the log.
    pub(crate) fn secret_digest(&self) -> SecretDigest {
        SecretDigest::new(self.inner.arguments.clone())
    }

    fn wait(&self, receipt: Option<Arc<Receipt>>, scope: Option<Arc<SessionScope>>) -> Commit {
        let Inner {
            queues,
            clock,
            timeout,
            ..
        } = &*self.inner;
        Commit::new(queues, clock, *timeout, receipt, scope)
    }

    fn receipt(&self) -> Option<Arc<Receipt>> {
        let sinks = self.inner.queues.len();
        (sinks > 0).then(|| Arc::new(Receipt::new(sinks)))
    }
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuditLog")
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        for queue in &*self.queues {
            queue.close();
        }
    }
}

/// Marks a session's chain as ending, so that later events do not start it anew.
fn close_chain(event: &AuditEvent) {
    if let (AuditKind::SessionEnded { .. }, Some(scope)) = (&event.kind, &event.scope) {
        scope.audit_chain.end();
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixtures::{
        Behavior, ended, event, opened, outline, run, scope, settle, sink, start, view,
    };
    use super::super::{Coverage, verify};
    use super::*;
    use crate::skill::{Code, SystemClock};

    #[test]
    fn without_sinks_everything_is_dropped_and_nothing_fails() {
        run(async {
            let (log, _clock) = start(&[], 100);
            let one = scope("s1", 1);
            log.record(event(&one, view(1)));
            assert_eq!(log.commit(event(&one, opened("helpdesk"))).await, Ok(()));
            log.flush().await;
            assert!(!log.is_failing());
        });
    }

    #[test]
    fn outside_a_runtime_changes_are_refused() {
        let sinks: Vec<Arc<dyn AuditSink>> = vec![sink()];
        let clock = Arc::new(SystemClock::default());
        let log = AuditLog::start(sinks, clock, &Limits::default(), None);
        assert!(log.is_failing());
        run(async {
            let result = log.commit(event(&scope("s1", 1), opened("helpdesk"))).await;
            assert_eq!(result.unwrap_err().code, Code::AuditUnavailable);
            log.flush().await;
        });
    }

    #[test]
    fn when_the_runtime_has_gone_changes_are_refused() {
        let (log, refused) = run(async {
            let sink = sink();
            sink.always(Some(Behavior::Hang));
            let (log, _clock) = start(&[&sink], 100);
            let commit = log.commit(event(&scope("s1", 1), opened("helpdesk")));
            settle().await;
            (log, commit)
        });
        assert!(log.is_failing());
        assert!(run(refused).is_err());
        assert!(run(log.commit(event(&scope("s1", 1), opened("helpdesk")))).is_err());
    }

    #[test]
    fn what_does_not_fit_is_counted_and_recorded_where_it_is_missing() {
        run(async {
            let sink = sink();
            let (log, _clock) = start(&[&sink], 40);
            let one = scope("s1", 1);
            for _ in 0..50 {
                log.record(event(&one, view(1)));
            }
            assert!(log.is_failing(), "the queue is full");
            // A quarter of the room is kept for what must not be lost.
            for _ in 0..3 {
                log.record(event(&one, opened("helpdesk")));
            }
            assert_eq!(log.health().sinks[0].lost, 20);
            settle().await;
            assert!(!log.is_failing());
            log.record(event(&one, view(2)));
            settle().await;
            let lines = outline(&sink.ring.records());
            assert_eq!(lines.len(), 35);
            assert_eq!(
                lines[29..],
                [
                    "s1 view",
                    "- lost",
                    "s1 visibility",
                    "s1 visibility",
                    "s1 visibility",
                    "s1 view"
                ]
            );
            assert!(
                sink.ring.records()[30]
                    .to_string()
                    .contains("{\"count\":20}")
            );
            verify(&sink.ring.records(), None, &[], Coverage::Complete).unwrap();
        });
    }

    #[test]
    fn a_full_queue_refuses_commits_and_bounds_bytes_as_well_as_events() {
        run(async {
            let sink = sink();
            sink.always(Some(Behavior::Hang));
            let (log, _clock) = start(&[&sink], 40);
            let one = scope("s1", 1);
            let text = "x".repeat(15_000);
            for _ in 0..3 {
                log.record(event(&one, view(1)).reason(&text));
            }
            assert_eq!(log.health().sinks[0].lost, 2);
            assert_eq!(log.health().sinks[0].queued, 1);
            for _ in 0..60 {
                log.record(event(&one, opened("helpdesk")));
            }
            let commit = log.commit(event(&one, opened("helpdesk"))).await;
            assert_eq!(commit.unwrap_err().code, Code::AuditUnavailable);
        });
    }

    #[test]
    fn a_session_whose_end_was_lost_is_forgotten() {
        run(async {
            let sink = sink();
            let (log, _clock) = start(&[&sink], 16);
            let scopes: Vec<_> = (1..=8).map(|number| scope("s", number)).collect();
            for scope in &scopes {
                log.record(event(scope, AuditKind::SessionOpened));
            }
            settle().await;
            for _ in 0..16 {
                log.record(event(&scopes[0], opened("helpdesk")));
            }
            for scope in &scopes {
                log.record(event(scope, ended()));
                log.record(event(
                    scope,
                    AuditKind::TurnEnded {
                        views: 1,
                        outcome: super::super::TurnOutcome::Dropped,
                    },
                ));
            }
            settle().await;
            log.record(event(&scopes[1], opened("helpdesk")));
            log.flush().await;
            let records = sink.ring.records();
            let late = records
                .iter()
                .rfind(|record| record.to_string().contains("helpdesk"));
            assert!(late.unwrap().chain().is_engine());
            let head = log.health().sinks[0].engine_head.unwrap();
            verify(&records, None, &[head], Coverage::Complete).unwrap();
        });
    }

    #[test]
    fn relieving_lets_the_writer_run_before_the_queue_is_full() {
        run(async {
            let sink = sink();
            let (log, _clock) = start(&[&sink], 40);
            let one = scope("s1", 1);
            for _ in 0..1_000 {
                log.record(event(&one, view(1)));
                log.relieve().await;
            }
            assert_eq!(log.health().sinks[0].lost, 0);
        });
    }

    #[test]
    fn many_threads_may_record_and_commit_at_once() {
        const EACH: u64 = 500;
        run(async {
            let sink = sink();
            let (log, _clock) = start(&[&sink], 65_536);
            let shared = scope("shared", 9);
            let threads: Vec<_> = (1..=4)
                .map(|number| {
                    let (log, shared) = (log.clone(), Arc::clone(&shared));
                    std::thread::spawn(move || {
                        let own = scope("s", number);
                        for _ in 0..EACH {
                            log.record(event(&own, view(1)));
                            log.record(event(&shared, view(1)));
                            drop(log.commit(event(&own, opened("helpdesk"))));
                        }
                    })
                })
                .collect();
            while threads.iter().any(|thread| !thread.is_finished()) {
                settle().await;
            }
            log.flush().await;
            let records = sink.ring.records();
            let head = log.health().sinks[0].engine_head.unwrap();
            verify(&records, None, &[head], Coverage::Complete).unwrap();
            let lines = outline(&records);
            let count = |line| lines.iter().filter(|found| *found == line).count() as u64;
            assert_eq!(count("s view") + count("shared view"), 2 * 4 * EACH);
            assert_eq!(count("s visibility"), count("s withdrawn"));
        });
    }

    #[test]
    fn a_keyed_log_verifies_with_its_key_only() {
        run(async {
            let sink = sink();
            let key = AuditKey::new([3; 32]).unwrap();
            let sinks: Vec<Arc<dyn AuditSink>> = vec![sink.clone()];
            let clock = Arc::new(crate::testing::ManualClock::default());
            let log = AuditLog::start(sinks, clock, &Limits::default(), Some(key.clone()));
            log.record(event(&scope("s1", 1), view(1)));
            log.flush().await;
            let records = sink.ring.records();
            assert!(verify(&records, Some(&key), &[], Coverage::Complete).is_ok());
            assert!(verify(&records, None, &[], Coverage::Complete).is_err());
        });
    }
}
