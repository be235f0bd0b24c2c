use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::heads::LostEnd;
use super::receipt::Receipt;
use super::{AuditEvent, AuditKind, ChainHead};
use crate::skill::{SessionScope, Timestamp};

/// Items that one batch has at most.
const BATCH: usize = 256;
/// Bytes of heap that a waiting event may hold on average.
const BYTES_PER_EVENT: usize = 512;
/// Items for which memory is kept while the queue is empty.
const KEPT: usize = 1_024;

/// What waits for a sink.
pub(super) enum Item {
    Event {
        event: AuditEvent,
        receipt: Option<Arc<Receipt>>,
        /// The `log_seq` it was sealed under, 0 before.
        log_seq: u64,
    },
    /// The change of an earlier event was refused: say so if the event is stored.
    Withdraw {
        receipt: Arc<Receipt>,
        scope: Option<Arc<SessionScope>>,
    },
    /// Whoever flushes waits for this.
    Flush(Arc<Receipt>),
    /// Events are missing here.
    Lost(u64),
}

/// Conditions of all queues of a log, readable with one load each.
#[derive(Default)]
pub(super) struct Alarms {
    /// How many sinks failed last time, plus how many queues are full.
    pub(super) failing: AtomicUsize,
    /// How many queues are half full.
    pub(super) crowded: AtomicUsize,
}

/// The bounded queue before one sink.
pub(super) struct Queue {
    state: Mutex<State>,
    /// Which of the log's sinks it is for.
    sink: usize,
    capacity: usize,
    alarms: Arc<Alarms>,
}

#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the conditions are independent of each other"
)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    /// The receipts among the items, in their order.
    waiting: VecDeque<Arc<Receipt>>,
    /// Whether someone began to wait since the last failure.
    is_urgent: bool,
    lost: u64,
    /// Sessions whose end was among the lost events.
    lost_ends: Vec<LostEnd>,
    is_closed: bool,
    is_full: bool,
    is_crowded: bool,
    writer: Option<Waker>,
    status: Status,
}

/// What a queue and its writer say of themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Status {
    pub(super) failing_since: Option<Timestamp>,
    pub(super) last_error: Option<String>,
    pub(super) written: u64,
    pub(super) lost: u64,
    pub(super) head: Option<ChainHead>,
    pub(super) queued: usize,
    pub(super) is_full: bool,
}

impl Queue {
    pub(super) fn new(sink: usize, capacity: usize, alarms: Arc<Alarms>) -> Self {
        Self {
            state: Mutex::default(),
            sink,
            capacity: capacity.max(16),
            alarms,
        }
    }

    /// Puts an event into the queue. False when there is no room: without a receipt it is then counted as lost.
    pub(super) fn push(&self, event: AuditEvent, receipt: Option<&Arc<Receipt>>) -> bool {
        let weight = event.weight();
        let mut state = self.lock();
        // Three quarters for what views and calls make, so that there is room for what must not be lost.
        let room = if event.is_routine() {
            self.capacity - self.capacity / 4
        } else {
            self.capacity
        };
        let fits = state.items.len() < room
            && state.bytes.saturating_add(weight) <= self.capacity.saturating_mul(BYTES_PER_EVENT);
        if !fits || state.is_closed {
            self.set_full(&mut state, true);
            if receipt.is_none() {
                state.lost += 1;
                state.status.lost += 1;
                if let (AuditKind::SessionEnded { .. }, Some(scope)) = (&event.kind, &event.scope)
                    && scope.audit_chain.has_begun(self.sink)
                    && !state.is_closed
                {
                    state.lost_ends.push(LostEnd::new(self.sink, scope));
                }
            }
            wake(state);
            return false;
        }
        if state.lost > 0 {
            let lost = std::mem::take(&mut state.lost);
            state.items.push_back(Item::Lost(lost));
        }
        state.bytes += weight;
        if let Some(scope) = &event.scope {
            scope.audit_chain.begin(self.sink);
        }
        if let Some(receipt) = receipt {
            state.waiting.push_back(Arc::clone(receipt));
            state.is_urgent = true;
        }
        state.items.push_back(Item::Event {
            event,
            receipt: receipt.cloned(),
            log_seq: 0,
        });
        if !state.is_crowded && state.items.len() > self.capacity / 2 {
            state.is_crowded = true;
            self.alarms.crowded.fetch_add(1, Ordering::Relaxed);
        }
        wake(state);
        true
    }

    /// Puts a note of the log itself into the queue, which has twice the room for these.
    pub(super) fn push_note(&self, item: Item) {
        let mut state = self.lock();
        let flush = match &item {
            Item::Flush(receipt) => Some(Arc::clone(receipt)),
            Item::Event { .. } | Item::Withdraw { .. } | Item::Lost(_) => None,
        };
        if state.is_closed || state.items.len() >= self.capacity.saturating_mul(2) {
            if let Some(receipt) = flush {
                receipt.fail();
            } else {
                state.lost += 1;
                state.status.lost += 1;
            }
            return;
        }
        state.is_urgent |= flush.is_some();
        state.waiting.extend(flush);
        state.items.push_back(item);
        wake(state);
    }

    /// Moves the next items into `batch`, and into `ends` the sessions whose end was lost. Ready with false when
    /// the queue is closed and empty.
    pub(super) fn poll_take(
        &self,
        cx: &Context<'_>,
        batch: &mut Vec<Item>,
        ends: &mut Vec<LostEnd>,
    ) -> Poll<bool> {
        let mut guard = self.lock();
        let state = &mut *guard;
        if state.items.is_empty() && state.lost == 0 && state.lost_ends.is_empty() {
            if state.is_closed {
                return Poll::Ready(false);
            }
            keep_waker(&mut state.writer, cx);
            return Poll::Pending;
        }
        let count = state.items.len().min(BATCH);
        for item in state.items.drain(..count) {
            match &item {
                Item::Event { event, receipt, .. } => {
                    state.bytes = state.bytes.saturating_sub(event.weight());
                    if receipt.is_some() {
                        state.waiting.pop_front();
                    }
                }
                Item::Flush(_) => drop(state.waiting.pop_front()),
                Item::Withdraw { .. } | Item::Lost(_) => {}
            }
            batch.push(item);
        }
        if state.items.is_empty() {
            // The ends were lost after everything that waited was put in.
            ends.append(&mut state.lost_ends);
            state.lost_ends = Vec::new();
            if state.lost > 0 {
                batch.push(Item::Lost(std::mem::take(&mut state.lost)));
            }
            if state.items.capacity() > KEPT {
                state.items = VecDeque::new();
            }
        }
        if state.items.len() < self.capacity / 2 {
            self.set_full(state, false);
            if std::mem::take(&mut state.is_crowded) {
                self.alarms.crowded.fetch_sub(1, Ordering::Relaxed);
            }
        }
        Poll::Ready(true)
    }

    /// Ready when there is a reason not to wait before the next attempt: someone waits for it, or the log closes.
    pub(super) fn poll_urgent(&self, cx: &Context<'_>, was_closed: bool) -> Poll<()> {
        let mut state = self.lock();
        if state.is_urgent || (state.is_closed && !was_closed) {
            return Poll::Ready(());
        }
        keep_waker(&mut state.writer, cx);
        Poll::Pending
    }

    /// Notes that records are stored.
    pub(super) fn succeeded(&self, records: usize, head: Option<ChainHead>) {
        let mut state = self.lock();
        state.status.written += records as u64;
        state.status.head = head;
        if state.status.failing_since.take().is_some() {
            state.status.last_error = None;
            self.alarms.failing.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Notes a failure and tells everyone who waits in the queue; says how many changes that refused.
    pub(super) fn failed(&self, now: Timestamp, error: String) -> u64 {
        let mut state = self.lock();
        if state.status.failing_since.is_none() {
            state.status.failing_since = Some(now);
            self.alarms.failing.fetch_add(1, Ordering::Relaxed);
        }
        state.status.last_error = Some(error);
        state.is_urgent = false;
        let waiting = std::mem::take(&mut state.waiting);
        if !waiting.is_empty() {
            // What is refused must not take the room of what has to be written.
            state.items.retain(|item| match item {
                Item::Event { receipt, .. } => receipt.is_none(),
                Item::Flush(_) => false,
                Item::Withdraw { .. } | Item::Lost(_) => true,
            });
        }
        drop(state);
        for receipt in &waiting {
            receipt.fail();
        }
        waiting.len() as u64
    }

    /// Closes the queue: nothing comes in any more; what is in it is still taken out.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        wake(state);
    }

    /// Closes the queue for good, when nobody takes anything out any more: whoever waits is told.
    pub(super) fn abandon(&self, reason: &str, now: Timestamp) {
        let items = {
            let mut state = self.lock();
            state.is_closed = true;
            std::mem::take(&mut state.items)
        };
        self.failed(now, reason.to_owned());
        self.lock().status.lost += items
            .iter()
            .filter(|item| matches!(item, Item::Event { .. }))
            .count() as u64;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    pub(super) fn status(&self) -> Status {
        let state = self.lock();
        Status {
            queued: state.items.len(),
            is_full: state.is_full,
            ..state.status.clone()
        }
    }

    fn set_full(&self, state: &mut State, is_full: bool) {
        if state.is_full != is_full {
            state.is_full = is_full;
            if is_full {
                self.alarms.failing.fetch_add(1, Ordering::Relaxed);
            } else {
                self.alarms.failing.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep_waker(place: &mut Option<Waker>, cx: &Context<'_>) {
    match place {
        Some(waker) => waker.clone_from(cx.waker()),
        None => *place = Some(cx.waker().clone()),
    }
}

/// Wakes the writer if it sleeps, after the lock is released.
fn wake(mut state: MutexGuard<'_, State>) {
    let writer = state.writer.take();
    drop(state);
    if let Some(writer) = writer {
        writer.wake();
    }
}
