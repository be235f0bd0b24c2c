use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{Either, select};

use crate::skill::{
    BlockingPool, BoxFuture, Call, Clock, Code, Fault, PoolError, ToolContext, ToolHandler,
    ToolResult,
};

/// What carrying out a call needs.
pub(crate) struct Dispatch<'a> {
    pub(crate) handler: &'a ToolHandler,
    pub(crate) arguments: &'a [u8],
    pub(crate) cx: &'a ToolContext,
    pub(crate) timeout: Duration,
    pub(crate) clock: &'a dyn Clock,
    pub(crate) pool: &'a BlockingPool,
    /// Gives the call a thread, for as long as the thread runs; `None` when its session has too many.
    pub(crate) thread: &'a (dyn Fn() -> Option<Box<dyn Send>> + Sync),
}

/// Carries out a call: in place when it can be, else under its timeout. A panic stays inside.
pub(crate) async fn dispatch(call: Dispatch<'_>) -> ToolResult {
    let begun = catch_unwind(AssertUnwindSafe(|| {
        call.handler.call(call.arguments, call.cx)
    }));
    let mut future: BoxFuture<'static, ToolResult> = match begun {
        // No handler only checks under the context of a call.
        Err(_) | Ok(Call::Checked) => return Err(panicked()),
        Ok(Call::Ready(result)) => return result,
        Ok(Call::Pending(future)) => future,
        Ok(Call::Blocking(work)) => {
            let Some(slot) = (call.thread)() else {
                return Err(too_many_threads());
            };
            call.cx.set_blocking();
            let pool = call.pool.clone();
            let work = move || {
                let _slot = slot;
                work()
            };
            Box::pin(async move {
                pool.run(work).await.unwrap_or_else(|err| {
                    Err(match err {
                        PoolError::Panicked => panicked(),
                        PoolError::Full => too_many_threads(),
                    })
                })
            })
        }
    };
    let guarded = AssertUnwindSafe(&mut future).catch_unwind();
    if let Some(result) = within_own_time(call.clock, call.timeout, call.cx, guarded).await {
        return result.unwrap_or_else(|_| Err(panicked()));
    }
    call.cx.cancel();
    Err(Fault::new(
        Code::Timeout,
        format!(
            "the tool did not finish within {} ms. Try again, or do without it",
            call.timeout.as_millis()
        ),
    ))
}

/// The result of a call's future, or `None` when it takes longer than `limit`, the time left out in which it waits for
/// a person.
async fn within_own_time<F: Future>(
    clock: &dyn Clock,
    limit: Duration,
    cx: &ToolContext,
    future: F,
) -> Option<F::Output> {
    let mut future = pin!(future);
    if let Poll::Ready(output) = poll_fn(|task| Poll::Ready(future.as_mut().poll(task))).await {
        return Some(output);
    }
    let mut left = limit;
    loop {
        // A timer would go on while the call's own time stands still.
        if cx.is_waiting() {
            match select(future.as_mut(), pin!(cx.waits_are_over())).await {
                Either::Left((output, _)) => return Some(output),
                Either::Right(_) => continue,
            }
        }
        let begun = clock.monotonic_nanos();
        let before = cx.waited(begun);
        match select(future.as_mut(), clock.sleep(left)).await {
            Either::Left((output, _)) => return Some(output),
            Either::Right(_) => {}
        }
        // A timer may come late, but never early, whatever the clock reads.
        let now = clock.monotonic_nanos();
        let passed = Duration::from_nanos(now.saturating_sub(begun)).max(left);
        let own = passed.saturating_sub(cx.waited(now).saturating_sub(before));
        left = left.saturating_sub(own);
        if left.is_zero() && !cx.is_waiting() {
            return None;
        }
    }
}

fn too_many_threads() -> Fault {
    Fault::new(
        Code::LimitExceeded,
        "too many blocking calls are running. Try again later",
    )
}

fn panicked() -> Fault {
    Fault::new(
        Code::Panic,
        "the tool failed inside. Do not repeat the call; try another way",
    )
}
