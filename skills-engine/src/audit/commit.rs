use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::queue::{Item, Queue};
use super::receipt::Receipt;
use crate::skill::{BoxFuture, Clock, Code, Fault, SessionScope};

/// Waits until every sink has stored an event; given up, it takes the event back.
pub(super) struct Commit {
    queues: Arc<[Arc<Queue>]>,
    clock: Arc<dyn Clock>,
    timeout: Duration,
    /// `None` when there is nothing to wait for (any more).
    receipt: Option<Arc<Receipt>>,
    scope: Option<Arc<SessionScope>>,
    deadline: Option<BoxFuture<'static, ()>>,
    was_polled: bool,
}

impl Future for Commit {
    type Output = Result<(), Fault>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(receipt) = self.receipt.clone() else {
            return Poll::Ready(Ok(()));
        };
        match receipt.poll(cx) {
            Poll::Ready(true) => {
                self.receipt = None;
                return Poll::Ready(Ok(()));
            }
            Poll::Ready(false) => return Poll::Ready(Err(self.refuse("a sink failed"))),
            Poll::Pending => {}
        }
        if !self.was_polled {
            // The writer mostly needs no more than its turn: arm no timer before it had one.
            self.was_polled = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let Self {
            clock,
            timeout,
            deadline,
            ..
        } = &mut *self;
        let deadline = deadline.get_or_insert_with(|| clock.sleep(*timeout));
        match deadline.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(self.refuse("a sink did not answer in time"))),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Commit {
    pub(super) fn new(
        queues: &Arc<[Arc<Queue>]>,
        clock: &Arc<dyn Clock>,
        timeout: Duration,
        receipt: Option<Arc<Receipt>>,
        scope: Option<Arc<SessionScope>>,
    ) -> Self {
        Self {
            queues: Arc::clone(queues),
            clock: Arc::clone(clock),
            timeout,
            receipt,
            scope,
            deadline: None,
            was_polled: false,
        }
    }

    fn refuse(&mut self, why: &str) -> Fault {
        self.withdraw();
        Fault::new(
            Code::AuditUnavailable,
            format!("{why}, so the change was not made. Try again later, or ask the operator"),
        )
    }

    fn withdraw(&mut self) {
        let Some(receipt) = self.receipt.take() else {
            return;
        };
        receipt.fail();
        if receipt.may_be_stored() {
            for queue in &*self.queues {
                queue.push_note(Item::Withdraw {
                    receipt: Arc::clone(&receipt),
                    scope: self.scope.clone(),
                });
            }
        }
    }
}

impl Drop for Commit {
    fn drop(&mut self) {
        self.withdraw();
    }
}
