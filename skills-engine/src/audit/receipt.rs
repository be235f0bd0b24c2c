use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use futures_util::task::AtomicWaker;

const FAILED: usize = 1;
const SEALED: usize = 2;

/// What a caller waits for: that every sink has stored an event, or has failed to.
pub(super) struct Receipt {
    /// Sinks that have not stored it yet.
    missing: AtomicUsize,
    /// Bit 0: the event is not to be stored any more. The rest counts the sinks that may hold it.
    state: AtomicUsize,
    waker: AtomicWaker,
    /// The `log_seq` under which each sink stored it, 0 before. The first one apart: mostly there is one sink.
    first: AtomicU64,
    others: Box<[AtomicU64]>,
}

impl Receipt {
    pub(super) fn new(sinks: usize) -> Self {
        Self {
            missing: AtomicUsize::new(sinks),
            state: AtomicUsize::new(0),
            waker: AtomicWaker::new(),
            first: AtomicU64::new(0),
            others: (1..sinks).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    pub(super) fn stored(&self, sink: usize, log_seq: u64) {
        if let Some(place) = self.place(sink) {
            place.store(log_seq, Ordering::Release);
        }
        if self.missing.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.waker.wake();
        }
    }

    /// The number under which a sink stored the event.
    pub(super) fn stored_as(&self, sink: usize) -> Option<u64> {
        let log_seq = self.place(sink)?.load(Ordering::Acquire);
        (log_seq != 0).then_some(log_seq)
    }

    /// Notes that a sink is about to store the event; false when it is not to be stored any more.
    pub(super) fn try_seal(&self) -> bool {
        let add = |state: usize| (state & FAILED == 0).then_some(state + SEALED);
        self.state
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, add)
            .is_ok()
    }

    /// Takes back [`try_seal`](Self::try_seal): the sink has certainly not stored it.
    pub(super) fn unseal(&self) {
        self.state.fetch_sub(SEALED, Ordering::AcqRel);
    }

    /// Says that the event is not to be stored any more, where it is not yet.
    pub(super) fn fail(&self) {
        self.state.fetch_or(FAILED, Ordering::AcqRel);
        self.waker.wake();
    }

    pub(super) fn is_failed(&self) -> bool {
        self.state.load(Ordering::Acquire) & FAILED != 0
    }

    /// Whether a sink holds the event, or may come to.
    pub(super) fn may_be_stored(&self) -> bool {
        self.state.load(Ordering::Acquire) >= SEALED
    }

    /// True when every sink has stored it, false when one failed.
    pub(super) fn poll(&self, cx: &Context<'_>) -> Poll<bool> {
        self.waker.register(cx.waker());
        if self.missing.load(Ordering::Acquire) == 0 {
            Poll::Ready(true)
        } else if self.is_failed() {
            Poll::Ready(false)
        } else {
            Poll::Pending
        }
    }

    fn place(&self, sink: usize) -> Option<&AtomicU64> {
        match sink.checked_sub(1) {
            None => Some(&self.first),
            Some(index) => self.others.get(index),
        }
    }
}
