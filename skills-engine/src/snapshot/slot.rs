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

use super::bounds::Bounds;
use crate::registry::RegisteredAttribute;
use crate::skill::{
    AttributeContext, AttributeFault, AttributeReader, BlockingPool, BoxFuture, Cache, Clock,
    Evaluation, Timestamp, Viewpoint, lock,
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
    /// It is sensitive: only the model is shown its value.
    Redacted,
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
            Self::Redacted => "redacted",
        }
    }
}

/// A value as JSON text, or why there is none.
pub(crate) type Outcome = Result<Arc<[u8]>, AttributeStatus>;

/// A value to show, and when it was obtained if that is not now.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) outcome: Outcome,
    pub(crate) as_of: Option<Timestamp>,
    /// Who began the evaluation; nobody, when there was none.
    pub(crate) owner: Option<Viewpoint>,
}

/// Evaluations that are waited for longer than they may take are remembered for so many sessions.
const MOST_WAITING: usize = 64;

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
}

struct Known {
    outcome: Outcome,
    at: Timestamp,
    owner: Viewpoint,
    /// The sessions that asked for it and were not shown it.
    waiting: Vec<u64>,
}

struct Flight {
    number: u64,
    started: Timestamp,
    owner: Viewpoint,
    /// The sessions that asked for it.
    waiting: Vec<u64>,
    abort: Option<AbortHandle>,
}

/// What an evaluation needs beside the attribute.
pub(crate) struct Surroundings<'a> {
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) pool: &'a BlockingPool,
    pub(crate) running: &'a Arc<AtomicU32>,
    /// What an evaluation does belongs to it, wherever it runs.
    pub(crate) span: &'a tracing::Span,
    pub(crate) bounds: Bounds,
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
        let viewpoint = cx.viewpoint();
        let number = {
            let mut state = lock(&self.state);
            if let Some(shown) = state.kept(attribute.definition.cache, viewpoint, now) {
                return Asked::Now(shown);
            }
            if let Some(flight) = &mut state.flight {
                flight.await_by(viewpoint.session);
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
                owner: viewpoint,
                waiting: vec![viewpoint.session],
                abort: None,
            });
            number
        };
        match self.start(number, attribute, cx, around) {
            Some(outcome) => {
                self.land(number, outcome.clone(), now);
                self.served(viewpoint);
                Asked::Now(Shown {
                    outcome,
                    as_of: None,
                    owner: Some(viewpoint),
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
            return Some(read(attribute, cx, &around.bounds));
        }
        match catch_unwind(AssertUnwindSafe(|| attribute.reader.future(cx))) {
            Err(_) => Some(Err(AttributeStatus::Panic)),
            Ok(Some(future)) => self.start_future(number, future, attribute, around),
            Ok(None) => self.start_thread(number, attribute, cx, around),
        }
    }

    fn start_future(
        self: &Arc<Self>,
        number: u64,
        future: BoxFuture<'static, Result<Vec<u8>, AttributeFault>>,
        attribute: &RegisteredAttribute,
        around: &Surroundings<'_>,
    ) -> Option<Outcome> {
        let (bounds, sensitive) = (around.bounds.clone(), attribute.definition.sensitive);
        let mut future =
            Box::pin(
                AssertUnwindSafe(future)
                    .catch_unwind()
                    .map(move |result| match result {
                        Ok(Ok(json)) => bounds.bounded(json),
                        Ok(Err(fault)) => {
                            tell(&fault, sensitive);
                            Err(AttributeStatus::Error)
                        }
                        Err(_) => Err(AttributeStatus::Panic),
                    }),
            );
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
        let (reader, cx, bounds) = (attribute.reader.clone(), cx.clone(), around.bounds.clone());
        let sensitive = attribute.definition.sensitive;
        let span = around.span.clone();
        let submitted = around.pool.submit(move || {
            let _running = running;
            let _entered = span.enter();
            if slot.strong_count() == 0 {
                // Whoever asked has gone while it waited for a thread.
                return;
            }
            let outcome = read_with(&reader, sensitive, &cx, &bounds);
            if let Some(slot) = slot.upgrade() {
                slot.land(number, outcome, clock.now());
            }
        });
        submitted.err().map(|_| Err(AttributeStatus::Busy))
    }

    /// Waits for an evaluation that was asked for.
    ///
    /// Whoever gives up, or is dropped, is shown the value when it asks next.
    pub(crate) async fn wait(
        &self,
        flight: u64,
        remaining: Duration,
        viewpoint: Viewpoint,
        clock: &dyn Clock,
    ) -> Shown {
        let give_up = || {
            self.landed(flight, viewpoint).unwrap_or(Shown {
                outcome: Err(AttributeStatus::Timeout),
                as_of: None,
                owner: None,
            })
        };
        if remaining.is_zero() {
            return give_up();
        }
        let mut sleep = clock.sleep(remaining);
        loop {
            let mut done = pin!(self.done.notified());
            // Registered before the look, so that a landing between the two is not missed.
            done.as_mut().enable();
            if let Some(shown) = self.landed(flight, viewpoint) {
                return shown;
            }
            match select(done, &mut sleep).await {
                Either::Left(_) => {}
                Either::Right(_) => return give_up(),
            }
        }
    }

    fn landed(&self, flight: u64, viewpoint: Viewpoint) -> Option<Shown> {
        let mut state = lock(&self.state);
        if state
            .flight
            .as_ref()
            .is_some_and(|running| running.number == flight)
        {
            return None;
        }
        let known = state.known.as_mut()?;
        known.serve(viewpoint);
        Some(Shown {
            outcome: known.outcome.clone(),
            as_of: None,
            owner: Some(known.owner),
        })
    }

    fn served(&self, viewpoint: Viewpoint) {
        if let Some(known) = &mut lock(&self.state).known {
            known.serve(viewpoint);
        }
    }

    fn land(&self, number: u64, outcome: Outcome, at: Timestamp) {
        {
            let mut state = lock(&self.state);
            let Some(mut flight) = state.flight.take_if(|flight| flight.number == number) else {
                return;
            };
            // Who waited for an earlier value in vain is as well served with this one.
            for session in state
                .known
                .take()
                .into_iter()
                .flat_map(|known| known.waiting)
            {
                flight.await_by(session);
            }
            state.known = Some(Known {
                outcome,
                at,
                owner: flight.owner,
                waiting: flight.waiting,
            });
        }
        self.done.notify_waiters();
    }
}

impl State {
    /// The value that need not be obtained again: a late one, once for each who asked, or one kept for a time.
    fn kept(
        &mut self,
        cache: Option<Cache>,
        viewpoint: Viewpoint,
        now: Timestamp,
    ) -> Option<Shown> {
        let known = self.known.as_mut()?;
        let is_late = known.serve(viewpoint);
        let is_fresh = match cache {
            Some(Cache::For(duration)) => now.since(known.at) < duration,
            // Kept by whoever asks.
            Some(Cache::Turn | Cache::Session) | None => false,
        };
        (known.outcome.is_ok() && (is_late || is_fresh)).then(|| Shown {
            outcome: known.outcome.clone(),
            as_of: is_late.then_some(known.at),
            owner: Some(known.owner),
        })
    }
}

impl Flight {
    fn await_by(&mut self, session: u64) {
        if self.waiting.len() < MOST_WAITING && !self.waiting.contains(&session) {
            self.waiting.push(session);
        }
    }
}

impl Known {
    /// Notes that a session sees the value; says whether it had waited for it.
    fn serve(&mut self, viewpoint: Viewpoint) -> bool {
        let place = self
            .waiting
            .iter()
            .position(|session| *session == viewpoint.session);
        place.map(|place| self.waiting.swap_remove(place)).is_some()
    }
}

/// Evaluates a sync reader where it is called.
fn read(attribute: &RegisteredAttribute, cx: &AttributeContext, bounds: &Bounds) -> Outcome {
    read_with(
        &attribute.reader,
        attribute.definition.sensitive,
        cx,
        bounds,
    )
}

fn read_with(
    reader: &AttributeReader,
    sensitive: bool,
    cx: &AttributeContext,
    bounds: &Bounds,
) -> Outcome {
    let mut out = Vec::new();
    match catch_unwind(AssertUnwindSafe(|| reader.read_now(cx, &mut out))) {
        Ok(Some(Ok(()))) => bounds.bounded(out),
        Ok(Some(Err(fault))) => {
            tell(&fault, sensitive);
            Err(AttributeStatus::Error)
        }
        Ok(None) => Err(AttributeStatus::Error),
        Err(_) => Err(AttributeStatus::Panic),
    }
}

/// Logs why an attribute has no value, unless its text may hold what is sensitive.
pub(super) fn tell(fault: &AttributeFault, sensitive: bool) {
    if sensitive {
        tracing::debug!("attribute failed");
    } else {
        tracing::debug!(error = %fault, "attribute failed");
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
