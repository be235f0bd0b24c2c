use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use futures_util::FutureExt as _;

use crate::skill::{
    BoxFuture, Call, Clock, Code, Fault, ToolContext, ToolHandler, ToolResult, within,
};
use crate::snapshot::{BlockingPool, PoolError};

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
        Err(_) => return Err(panicked()),
        Ok(Call::Ready(result)) => return result,
        Ok(Call::Pending(future)) => future,
        Ok(Call::Blocking(work)) => {
            let Some(slot) = (call.thread)() else {
                return Err(too_many_threads());
            };
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
    if let Some(result) = within(call.clock, call.timeout, guarded).await {
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
