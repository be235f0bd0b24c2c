use std::future::poll_fn;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::{Either, select};

use super::chain::Chains;
use super::contents::compose_contents;
use super::outage::{Outage, pause_after};
use super::queue::{Item, Queue};
use super::{AuditError, AuditEvent, AuditKind, AuditRecord, AuditSink};
use crate::skill::{Actor, Clock};

/// Attempts for what is left when the log closes while the sink fails.
const LAST_ATTEMPTS: u32 = 4;

/// The task before one sink: seals what waits in the queue and stores it, again and again until it is stored.
pub(super) struct Writer {
    pub(super) sink: Arc<dyn AuditSink>,
    /// Which of the log's sinks this is.
    pub(super) index: usize,
    pub(super) queue: Arc<Queue>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) timeout: Duration,
    pub(super) chains: Chains,
    pub(super) batch: Batch,
}

/// What is being stored.
#[derive(Default)]
pub(super) struct Batch {
    items: Vec<Item>,
    records: Vec<AuditRecord>,
    /// Whether some of the records may be stored, so that they must not be made anew.
    is_uncertain: bool,
    outage: Option<Outage>,
    failures: u32,
    is_done: bool,
}

/// The writer gave up.
struct Abandoned;

impl Writer {
    pub(super) async fn run(mut self) {
        // An abandoned writer tells everyone when it is dropped.
        self.batch.is_done = self.write_all().await.is_ok();
    }

    async fn write_all(&mut self) -> Result<(), Abandoned> {
        let mut ends = Vec::new();
        while poll_fn(|cx| self.queue.poll_take(cx, &mut self.batch.items, &mut ends)).await {
            compose_contents(&self.batch.items).await;
            self.seal_items();
            self.store().await?;
            ends.drain(..).for_each(|end| self.chains.forget(&end));
            let is_flush = |item: &Item| matches!(item, Item::Flush(_));
            if self.chains.is_anchor_due() || self.batch.items.iter().any(is_flush) {
                self.store_anchors().await?;
            }
            for item in self.batch.items.drain(..) {
                if let Item::Flush(receipt) = item {
                    receipt.stored(self.index, 0);
                }
            }
        }
        self.store_anchors().await
    }

    async fn store_anchors(&mut self) -> Result<(), Abandoned> {
        let now = self.clock.now();
        self.chains.seal_anchors(now, &mut self.batch.records);
        self.store().await?;
        self.chains.anchored();
        Ok(())
    }

    fn seal_items(&mut self) {
        let Self {
            index,
            clock,
            chains,
            batch,
            ..
        } = self;
        let own = |scope, kind| AuditEvent {
            time: clock.now(),
            scope,
            turn: None,
            actor: Actor::System,
            by: None,
            reason: None,
            kind,
        };
        batch.items.retain_mut(|item| {
            let record = match item {
                Item::Event {
                    event,
                    receipt,
                    log_seq,
                } => {
                    if receipt.as_ref().is_some_and(|receipt| !receipt.try_seal()) {
                        return false;
                    }
                    let record = chains.seal(event);
                    *log_seq = record.log_seq();
                    record
                }
                Item::Withdraw { receipt, scope } => {
                    let Some(log_seq) = receipt.stored_as(*index) else {
                        return false;
                    };
                    chains.seal(&own(scope.clone(), AuditKind::Withdrawn { log_seq }))
                }
                Item::Lost(count) => chains.seal(&own(None, AuditKind::Lost { count: *count })),
                Item::Flush(_) => return true,
            };
            batch.records.push(record);
            true
        });
    }

    /// Stores the batch's records, then says how long that was not possible, if it was not.
    async fn store(&mut self) -> Result<(), Abandoned> {
        let mut is_note = false;
        loop {
            if self.batch.records.is_empty() {
                let Some(outage) = &self.batch.outage else {
                    return Ok(());
                };
                // With nothing else to write, this note is how the writer learns that the sink works again.
                is_note = true;
                let event = outage.note(self.clock.now());
                self.batch.records.push(self.chains.seal(&event));
            }
            match self.attempt().await {
                Ok(()) => {
                    self.succeeded();
                    if is_note {
                        self.batch.outage = None;
                    }
                }
                Err(err) => self.failed(&err, is_note).await?,
            }
        }
    }

    async fn attempt(&self) -> Result<(), AuditError> {
        let append = async { self.sink.append(&self.batch.records).await };
        let append = pin!(AssertUnwindSafe(append).catch_unwind());
        // Made when it is first polled, which it is not when the sink is done at once.
        let deadline = pin!(async { self.clock.sleep(self.timeout).await });
        match select(append, deadline).await {
            Either::Left((Ok(result), _)) => result,
            Either::Left((Err(_), _)) => Err(AuditError::uncertain("the sink panicked")),
            Either::Right(_) => Err(AuditError::Uncertain(format!(
                "the sink did not answer within {} ms",
                self.timeout.as_millis()
            ))),
        }
    }

    fn succeeded(&mut self) {
        self.chains.confirm();
        self.queue
            .succeeded(self.batch.records.len(), self.chains.engine_head());
        self.batch.records.clear();
        self.batch.is_uncertain = false;
        self.batch.failures = 0;
        for item in &mut self.batch.items {
            if let Item::Event {
                receipt, log_seq, ..
            } = item
                && let Some(receipt) = receipt.take()
            {
                receipt.stored(self.index, *log_seq);
            }
        }
    }

    /// Tells who waits, takes back what can be taken back, and pauses before the next attempt.
    async fn failed(&mut self, err: &AuditError, is_note: bool) -> Result<(), Abandoned> {
        let now = self.clock.now();
        self.batch.is_uncertain |= !matches!(err, AuditError::Failed(_));
        self.batch.failures += 1;
        if self.batch.failures == 1 {
            tracing::error!(sink = self.index, error = %err, "the audit log cannot be written");
        }
        let waiting_in_queue = self.queue.failed(now, err.to_string());
        let refused = self.refuse_batch(is_note) + waiting_in_queue;
        self.batch
            .outage
            .get_or_insert_with(|| Outage::new(now))
            .attempt_failed(refused);
        self.pause().await
    }

    /// Tells who waits for the batch that it failed, and says how many changes that refused.
    fn refuse_batch(&mut self, is_note: bool) -> u64 {
        let Batch {
            items,
            records,
            is_uncertain,
            ..
        } = &mut self.batch;
        let has_receipts = items.iter().any(|item| match item {
            Item::Event { receipt, .. } => receipt.is_some(),
            Item::Withdraw { .. } | Item::Flush(_) | Item::Lost(_) => false,
        });
        // What is certainly not stored is made anew without the refused changes, or, the note, with new figures.
        // What may be stored stays as it is: if it comes to be stored in full, records of kind `withdrawn` say
        // which changes do not hold.
        let is_taken_back = !*is_uncertain && (is_note || has_receipts);
        if is_taken_back {
            self.chains.roll_back();
            records.clear();
        }
        let mut refused = 0;
        items.retain(|item| match item {
            Item::Event { receipt: None, .. } | Item::Withdraw { .. } | Item::Lost(_) => true,
            Item::Event {
                receipt: Some(receipt),
                ..
            } => {
                refused += u64::from(!receipt.is_failed());
                if is_taken_back {
                    receipt.unseal();
                }
                receipt.fail();
                !is_taken_back
            }
            Item::Flush(receipt) => {
                receipt.fail();
                false
            }
        });
        if is_taken_back && !is_note {
            self.seal_items();
        }
        refused
    }

    async fn pause(&mut self) -> Result<(), Abandoned> {
        let is_closed = self.queue.is_closed();
        if is_closed && self.batch.failures >= LAST_ATTEMPTS {
            tracing::error!(
                sink = self.index,
                "audit records were not written when the log closed"
            );
            return Err(Abandoned);
        }
        let pause = pause_after(self.batch.failures);
        let urgent = poll_fn(|cx| self.queue.poll_urgent(cx, is_closed));
        select(self.clock.sleep(pause), pin!(urgent)).await;
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        if !self.batch.is_done {
            let lost = "the writer of the audit log stopped before everything was written";
            self.queue.abandon(lost, self.clock.now());
            for item in &self.batch.items {
                if let Item::Event {
                    receipt: Some(receipt),
                    ..
                }
                | Item::Flush(receipt) = item
                {
                    receipt.fail();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::tests::fixtures::{
        Behavior, ScriptedSink, commit, ended, event, opened, outline, run, scope, settle, sink,
        start, view, wait,
    };
    use super::super::{Coverage, verify};
    use crate::skill::Code;

    #[track_caller]
    fn assert_verifies(sink: &ScriptedSink) {
        verify(&sink.ring.records(), None, &[], Coverage::Complete).unwrap();
    }

    #[test]
    fn a_sink_that_fails_refuses_commits_and_keeps_the_rest_in_order() {
        run(async {
            let sink = sink();
            let (log, clock) = start(&[&sink], 100);
            let one = scope("s1", 1);
            sink.always(Some(Behavior::Fail));
            log.record(event(&one, view(1)));
            let refused = log.commit(event(&one, opened("helpdesk")));
            log.record(event(&one, view(2)));
            log.record(event(&one, ended()));
            assert_eq!(refused.await.unwrap_err().code, Code::AuditUnavailable);
            assert!(log.is_failing());
            let health = log.health();
            assert_eq!(health.sinks[0].written, 0);
            assert!(health.sinks[0].failing_since.is_some());
            sink.always(None);
            wait(&clock).await;
            assert!(!log.is_failing());
            assert_eq!(
                outline(&sink.ring.records()),
                ["s1 view", "s1 view", "s1 session_ended", "- recovered"]
            );
            assert_verifies(&sink);
        });
    }

    #[test]
    fn a_commit_wakes_a_writer_that_pauses_and_succeeds_when_the_sink_works_again() {
        run(async {
            let sink = sink().then(Behavior::Fail);
            let (log, clock) = start(&[&sink], 100);
            let one = scope("s1", 1);
            let first = log.commit(event(&one, opened("helpdesk"))).await;
            assert!(first.is_err() && log.is_failing());
            // No time passes.
            log.commit(event(&one, opened("billing"))).await.unwrap();
            assert!(!log.is_failing());
            assert_eq!(clock.sleepers(), 0);
            assert_eq!(
                outline(&sink.ring.records()),
                ["- recovered", "s1 visibility"]
            );
            assert_verifies(&sink);
        });
    }

    #[test]
    fn the_writer_finds_out_by_itself_that_the_sink_works_again() {
        run(async {
            let sink = sink().then(Behavior::Fail).then(Behavior::Fail);
            let (log, clock) = start(&[&sink], 100);
            let refused = log.commit(event(&scope("s1", 1), opened("helpdesk"))).await;
            assert!(refused.is_err());
            wait(&clock).await;
            assert!(!log.is_failing());
            let records = sink.ring.records();
            assert_eq!(outline(&records), ["- recovered"]);
            let fields = records[0].entry().unwrap().fields.get();
            assert!(fields.contains("\"attempts\":2,\"refused\":1"), "{fields}");
        });
    }

    #[test]
    fn a_change_that_was_refused_is_not_in_the_log_or_is_withdrawn() {
        let rows: [(Behavior, &[&str]); 4] = [
            (Behavior::Fail, &["s1 view", "- recovered"]),
            (
                Behavior::Hang,
                &["s1 view", "s1 visibility", "- recovered", "s1 withdrawn"],
            ),
            (
                Behavior::StoreAndHang,
                &["s1 view", "s1 visibility", "- recovered", "s1 withdrawn"],
            ),
            (
                Behavior::StoreUncertain,
                &["s1 view", "s1 visibility", "- recovered", "s1 withdrawn"],
            ),
        ];
        for (behavior, expected) in rows {
            run(async {
                let sink = sink().then(behavior);
                let (log, clock) = start(&[&sink], 100);
                let one = scope("s1", 1);
                log.record(event(&one, view(1)));
                let result = commit(&log, &clock, &one, "helpdesk").await;
                assert_eq!(result, Err(Code::AuditUnavailable), "{behavior:?}");
                wait(&clock).await;
                let records = sink.ring.records();
                assert_eq!(outline(&records), expected, "{behavior:?}");
                if let Some(withdrawn) = records.get(3) {
                    let fields = withdrawn.entry().unwrap().fields.get();
                    assert_eq!(fields, "{\"log_seq\":2}", "{behavior:?}");
                }
                assert_verifies(&sink);
                assert!(!log.is_failing(), "{behavior:?}");
            });
        }
    }

    #[test]
    fn a_sink_that_panics_is_a_sink_that_failed() {
        run(async {
            let sink = sink().then(Behavior::Panic);
            let (log, clock) = start(&[&sink], 100);
            log.record(event(&scope("s1", 1), view(1)));
            settle().await;
            assert!(log.is_failing());
            wait(&clock).await;
            assert_eq!(outline(&sink.ring.records()), ["s1 view", "- recovered"]);
        });
    }

    #[test]
    fn a_commit_needs_every_sink_and_is_withdrawn_where_it_was_stored() {
        run(async {
            let (good, bad) = (sink(), sink().then(Behavior::Fail));
            let (log, clock) = start(&[&good, &bad], 100);
            let one = scope("s1", 1);
            let result = commit(&log, &clock, &one, "helpdesk").await;
            assert_eq!(result, Err(Code::AuditUnavailable));
            wait(&clock).await;
            assert_eq!(
                outline(&good.ring.records()),
                ["s1 visibility", "s1 withdrawn"]
            );
            assert_eq!(outline(&bad.ring.records()), ["- recovered"]);
            assert_eq!(commit(&log, &clock, &one, "billing").await, Ok(()));
            assert_verifies(&good);
            assert_verifies(&bad);
        });
    }

    #[test]
    fn a_commit_that_nobody_waits_for_is_not_written_or_is_withdrawn() {
        run(async {
            let sink = sink();
            let (log, _clock) = start(&[&sink], 100);
            let one = scope("s1", 1);
            drop(log.commit(event(&one, opened("helpdesk"))));
            settle().await;
            assert!(sink.ring.records().is_empty());
            let stored = log.commit(event(&one, opened("helpdesk")));
            settle().await;
            drop(stored);
            settle().await;
            assert_eq!(
                outline(&sink.ring.records()),
                ["s1 visibility", "s1 withdrawn"]
            );
        });
    }

    #[test]
    fn anchors_come_regularly_and_when_the_log_is_flushed_or_closed() {
        run(async {
            let sink = sink();
            let (log, _clock) = start(&[&sink], 65_536);
            let scopes: Vec<_> = (1..=300).map(|number| scope("s", number)).collect();
            for scope in scopes.iter().cycle().take(3_000) {
                log.record(event(scope, view(0)));
            }
            let is_anchor = |line: &String| line == "- anchor";
            let anchors = |sink: &ScriptedSink| {
                let lines = outline(&sink.ring.records());
                lines.iter().filter(|line| is_anchor(line)).count()
            };
            settle().await;
            assert_eq!(anchors(&sink), 2 * 3, "of 128 heads at most");
            log.flush().await;
            let flushed = anchors(&sink);
            assert!(flushed > 6);
            log.flush().await;
            assert_eq!(anchors(&sink), flushed, "nothing advanced");
            let head = log.health().sinks[0].engine_head.unwrap();
            log.record(event(&scopes[0], view(0)));
            drop(log);
            settle().await;
            assert_eq!(anchors(&sink), flushed + 1);
            assert_eq!(Arc::strong_count(&sink), 1, "the task has ended");
            let records = sink.ring.records();
            let head = verify(&records, None, &[head], Coverage::Complete);
            assert_eq!(head.unwrap().heads.len(), 301);
        });
    }

    #[test]
    fn a_log_that_closes_while_its_sink_fails_gives_up_in_the_end() {
        run(async {
            let sink = sink();
            sink.always(Some(Behavior::Fail));
            let (log, clock) = start(&[&sink], 100);
            log.record(event(&scope("s1", 1), view(1)));
            drop(log);
            wait(&clock).await;
            assert_eq!(Arc::strong_count(&sink), 1, "the task has ended");
        });
    }
}
