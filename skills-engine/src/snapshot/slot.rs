use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use serde::Serialize;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tracing::Instrument as _;

use super::pool::BlockingPool;
use crate::registry::RegisteredAttribute;
use crate::skill::{
    AttributeContext, AttributeReader, BoxFuture, Cache, Clock, Evaluation, Timestamp, TurnId, lock,
};

/// Evaluations of one context-taking blocking attribute that may run at once.
const MOST_AT_ONCE: u32 = 4;

/// Why an attribute shows no fresh value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AttributeStatus {
    /// It took longer than it may; its value is shown by a later view.
    Timeout,
    /// It returned an error.
    Error,
    /// It panicked.
    Panic,
    /// Its value, or those of the whole view, are larger than allowed.
    LimitExceeded,
    /// Too many evaluations of it are running.
    Busy,
}

impl AttributeStatus {
    /// The name on the wire, in snake case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Timeout => "timeout",
            Self::Error => "error",
            Self::Panic => "panic",
            Self::LimitExceeded => "limit_exceeded",
            Self::Busy => "busy",
        }
    }
}

/// A value as JSON text, or why there is none.
pub(crate) type Outcome = Result<Arc<[u8]>, AttributeStatus>;

/// A value to show, and when it was obtained if that is not now.
pub(crate) struct Shown {
    pub(crate) outcome: Outcome,
    pub(crate) as_of: Option<Timestamp>,
}

/// One attribute as one party sees it (all sessions, or one): its last value and the evaluation that is running.
///
/// There is never more than one evaluation: who comes while it runs waits for the same one.
#[derive(Default)]
pub(crate) struct Slot {
    state: Mutex<State>,
    done: Notify,
}

#[derive(Default)]
struct State {
    known: Option<Known>,
    flight: Option<Flight>,
    flights: u64,
    /// The known value came after somebody had stopped waiting for it.
    is_late: bool,
}

#[derive(Clone)]
struct Known {
    outcome: Outcome,
    at: Timestamp,
    turn: TurnId,
}

struct Flight {
    number: u64,
    started: Timestamp,
    turn: TurnId,
    was_given_up: bool,
    abort: Option<AbortHandle>,
}

/// What an evaluation needs beside the attribute.
pub(crate) struct Surroundings<'a> {
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) pool: &'a BlockingPool,
    pub(crate) running: &'a Arc<AtomicU32>,
    /// What an evaluation does belongs to it, wherever it runs.
    pub(crate) span: &'a tracing::Span,
}

/// A slot was asked: it answers at once, or must be waited for.
pub(crate) enum Asked {
    Now(Shown),
    Wait { flight: u64, remaining: Duration },
}

impl Slot {
    /// Asks for a value: a kept one, that of the running evaluation, or that of a new one.
    pub(crate) fn ask(
        self: &Arc<Self>,
        attribute: &RegisteredAttribute,
        cx: &AttributeContext,
        timeout: Duration,
        around: &Surroundings<'_>,
    ) -> Asked {
        let now = around.clock.now();
        let number = {
            let mut state = lock(&self.state);
            if let Some(shown) = state.kept(attribute.definition.cache, cx.turn_id(), now) {
                return Asked::Now(shown);
            }
            if let Some(flight) = &state.flight {
                // One that has had its time once is not waited for again, by anybody.
                let remaining = timeout.saturating_sub(now.since(flight.started));
                return Asked::Wait {
                    flight: flight.number,
                    remaining,
                };
            }
            state.flights += 1;
            let number = state.flights;
            state.flight = Some(Flight {
                number,
                started: now,
                turn: cx.turn_id(),
                was_given_up: false,
                abort: None,
            });
            number
        };
        match self.start(number, attribute, cx, around) {
            Some(outcome) => {
                self.land(number, outcome.clone(), now);
                Asked::Now(Shown {
                    outcome,
                    as_of: None,
                })
            }
            None => Asked::Wait {
                flight: number,
                remaining: timeout,
            },
        }
    }

    fn start(
        self: &Arc<Self>,
        number: u64,
        attribute: &RegisteredAttribute,
        cx: &AttributeContext,
        around: &Surroundings<'_>,
    ) -> Option<Outcome> {
        if attribute.definition.evaluation != Evaluation::Lazy {
            return Some(read_outcome(&attribute.reader, cx));
        }
        match catch_unwind(AssertUnwindSafe(|| attribute.reader.future(cx))) {
            Err(_) => Some(Err(AttributeStatus::Panic)),
            Ok(Some(future)) => self.start_future(number, future, around),
            Ok(None) => self.start_thread(number, attribute, cx, around),
        }
    }

    fn start_future(
        self: &Arc<Self>,
        number: u64,
        future: BoxFuture<'static, Result<Vec<u8>, crate::skill::AttributeFault>>,
        around: &Surroundings<'_>,
    ) -> Option<Outcome> {
        let mut future = Box::pin(AssertUnwindSafe(future).catch_unwind().map(
            |result| match result {
                Ok(Ok(json)) => Ok(Arc::from(json)),
                Ok(Err(fault)) => {
                    tracing::debug!(error = %fault, "attribute failed");
                    Err(AttributeStatus::Error)
                }
                Err(_) => Err(AttributeStatus::Panic),
            },
        ));
        // Many are ready at once, and a task costs more than they do. A future that is not is polled again by its task.
        if let Poll::Ready(outcome) = future.poll_unpin(&mut Context::from_waker(Waker::noop())) {
            return Some(outcome);
        }
        let (slot, clock) = (Arc::downgrade(self), Arc::clone(around.clock));
        let evaluation = async move {
            let outcome = future.await;
            if let Some(slot) = slot.upgrade() {
                slot.land(number, outcome, clock.now());
            }
        };
        let task = tokio::spawn(evaluation.instrument(around.span.clone()));
        let mut state = lock(&self.state);
        if let Some(flight) = state
            .flight
            .as_mut()
            .filter(|flight| flight.number == number)
        {
            flight.abort = Some(task.abort_handle());
        }
        None
    }

    fn start_thread(
        self: &Arc<Self>,
        number: u64,
        attribute: &RegisteredAttribute,
        cx: &AttributeContext,
        around: &Surroundings<'_>,
    ) -> Option<Outcome> {
        let is_bounded = attribute.definition.takes_context;
        if is_bounded && around.running.fetch_add(1, Ordering::AcqRel) >= MOST_AT_ONCE {
            around.running.fetch_sub(1, Ordering::AcqRel);
            return Some(Err(AttributeStatus::Busy));
        }
        let running = Running {
            count: is_bounded.then(|| Arc::clone(around.running)),
        };
        let (slot, clock) = (Arc::downgrade(self), Arc::clone(around.clock));
        let (reader, cx) = (attribute.reader.clone(), cx.clone());
        let span = around.span.clone();
        let submitted = around.pool.submit(move || {
            let _running = running;
            let _entered = span.enter();
            let outcome = read_outcome(&reader, &cx);
            if let Some(slot) = slot.upgrade() {
                slot.land(number, outcome, clock.now());
            }
        });
        submitted.err().map(|_| Err(AttributeStatus::Busy))
    }

    /// Waits for an evaluation that was asked for.
    pub(crate) async fn wait(&self, flight: u64, remaining: Duration, clock: &dyn Clock) -> Shown {
        if remaining.is_zero() {
            return self.give_up(flight);
        }
        let mut sleep = clock.sleep(remaining);
        loop {
            let mut done = pin!(self.done.notified());
            // Registered before the look, so that a landing between the two is not missed.
            done.as_mut().enable();
            if let Some(shown) = self.landed(flight) {
                return shown;
            }
            match select(done, &mut sleep).await {
                Either::Left(_) => {}
                Either::Right(_) => return self.give_up(flight),
            }
        }
    }

    fn landed(&self, flight: u64) -> Option<Shown> {
        let state = lock(&self.state);
        if state
            .flight
            .as_ref()
            .is_some_and(|running| running.number == flight)
        {
            return None;
        }
        let outcome = state
            .known
            .as_ref()
            .map_or(Err(AttributeStatus::Timeout), |known| known.outcome.clone());
        Some(Shown {
            outcome,
            as_of: None,
        })
    }

    fn give_up(&self, flight: u64) -> Shown {
        if let Some(shown) = self.landed(flight) {
            return shown;
        }
        if let Some(running) = lock(&self.state).flight.as_mut() {
            running.was_given_up = true;
        }
        Shown {
            outcome: Err(AttributeStatus::Timeout),
            as_of: None,
        }
    }

    fn land(&self, number: u64, outcome: Outcome, at: Timestamp) {
        {
            let mut state = lock(&self.state);
            let Some(flight) = state.flight.take_if(|flight| flight.number == number) else {
                return;
            };
            state.is_late = flight.was_given_up && outcome.is_ok();
            state.known = Some(Known {
                outcome,
                at,
                turn: flight.turn,
            });
        }
        self.done.notify_waiters();
    }
}

/// Evaluates a sync reader where it is called.
fn read_outcome(reader: &AttributeReader, cx: &AttributeContext) -> Outcome {
    let mut out = Vec::new();
    match catch_unwind(AssertUnwindSafe(|| reader.read_now(cx, &mut out))) {
        Ok(Some(Ok(()))) => Ok(Arc::from(out)),
        Ok(Some(Err(fault))) => {
            tracing::debug!(error = %fault, "attribute failed");
            Err(AttributeStatus::Error)
        }
        Ok(None) => Err(AttributeStatus::Error),
        Err(_) => Err(AttributeStatus::Panic),
    }
}

impl State {
    /// The value that need not be obtained again: a late one, once, or one that its cache still holds.
    fn kept(&mut self, cache: Option<Cache>, turn: TurnId, now: Timestamp) -> Option<Shown> {
        let known = self.known.as_ref()?;
        if std::mem::take(&mut self.is_late) {
            return Some(Shown {
                outcome: known.outcome.clone(),
                as_of: Some(known.at),
            });
        }
        let is_fresh = known.outcome.is_ok()
            && match cache? {
                Cache::Turn => known.turn == turn,
                Cache::Session => true,
                Cache::For(duration) => now.since(known.at) < duration,
            };
        is_fresh.then(|| Shown {
            outcome: known.outcome.clone(),
            as_of: None,
        })
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let state = self
            .state
            .get_mut()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(abort) = state.flight.take().and_then(|flight| flight.abort) {
            abort.abort();
        }
    }
}

/// Counts one running evaluation for as long as it lives.
struct Running {
    count: Option<Arc<AtomicU32>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(count) = &self.count {
            count.fetch_sub(1, Ordering::AcqRel);
        }
    }
}
