use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use super::lock;

/// Jobs that may wait for a thread; more are refused.
const QUEUE: usize = 1_024;
/// How long a thread without work stays.
const LINGER: Duration = Duration::from_secs(10);

type Job = Box<dyn FnOnce() + Send>;

/// Threads for blocking tools and blocking attributes.
///
/// They are detached, unlike those of tokio's blocking pool: a runtime waits for its own threads when it shuts down,
/// so that one hung attribute would keep the process from exiting.
#[derive(Clone, Debug)]
pub(crate) struct BlockingPool {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
    most: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    threads: usize,
    idle: usize,
}

impl std::fmt::Debug for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            queue,
            threads,
            idle,
        } = self;
        formatter
            .debug_struct("State")
            .field("queue", &queue.len())
            .field("threads", threads)
            .field("idle", idle)
            .finish()
    }
}

/// Why a job gave no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PoolError {
    /// All threads are taken and the queue is full, or the system gives no thread.
    Full,
    /// The job panicked.
    Panicked,
}

impl BlockingPool {
    pub(crate) fn new(most: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                work: Condvar::new(),
                most: most.max(1),
            }),
        }
    }

    /// Runs a job on a thread of the pool.
    pub(crate) fn submit(&self, job: impl FnOnce() + Send + 'static) -> Result<(), PoolError> {
        let needs_thread = {
            let mut state = lock(&self.shared.state);
            let needs_thread = state.idle <= state.queue.len() && state.threads < self.shared.most;
            if !needs_thread && state.queue.len() >= QUEUE {
                return Err(PoolError::Full);
            }
            state.queue.push_back(Box::new(job));
            state.threads += usize::from(needs_thread);
            needs_thread
        };
        if !needs_thread {
            self.shared.work.notify_one();
            return Ok(());
        }
        let shared = Arc::clone(&self.shared);
        let spawned = std::thread::Builder::new()
            .name("skills-engine".to_owned())
            .spawn(move || shared.run());
        if spawned.is_err() {
            let mut state = lock(&self.shared.state);
            state.threads -= 1;
            // Other threads will come to the job; without any it would wait for ever.
            if state.threads == 0 {
                state.queue.pop_back();
                return Err(PoolError::Full);
            }
        }
        Ok(())
    }

    /// Runs a job and gives its result. Dropping the future before a thread took the job takes it back.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, PoolError> {
        let (sender, receiver) = oneshot::channel();
        self.submit(move || {
            if !sender.is_closed() {
                let result = catch_unwind(AssertUnwindSafe(job)).map_err(|_| PoolError::Panicked);
                let _ = sender.send(result);
            }
        })?;
        receiver.await.unwrap_or(Err(PoolError::Full))
    }

    #[cfg(test)]
    fn threads(&self) -> usize {
        lock(&self.shared.state).threads
    }
}

impl Shared {
    fn run(&self) {
        let mut state = lock(&self.state);
        loop {
            if let Some(job) = state.queue.pop_front() {
                drop(state);
                // A panic must not take the thread's count with it.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = lock(&self.state);
                continue;
            }
            state.idle += 1;
            let (woken, timeout) = self
                .work
                .wait_timeout(state, LINGER)
                .unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.idle -= 1;
            if timeout.timed_out() && state.queue.is_empty() {
                state.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn a_job_gives_its_result_and_a_panic_is_told() {
        let pool = BlockingPool::new(2);
        assert_eq!(pool.run(|| 6 * 7).await, Ok(42));
        assert_eq!(
            pool.run(|| panic!("boom")).await.map(|(): ()| 0),
            Err(PoolError::Panicked)
        );
        assert_eq!(pool.run(|| "still here").await, Ok("still here"));
    }

    #[tokio::test]
    async fn threads_and_queue_are_bounded() {
        let pool = BlockingPool::new(2);
        let (release, hold) = mpsc::channel::<()>();
        let hold = Arc::new(Mutex::new(hold));
        for _ in 0..2 + QUEUE {
            let hold = Arc::clone(&hold);
            let _ = pool.submit(move || {
                let _ = lock(&hold).recv();
            });
        }
        while pool.submit(|| ()).is_ok() {}
        assert_eq!(pool.submit(|| ()), Err(PoolError::Full));
        assert_eq!(pool.threads(), 2);
        drop(release);
    }
}
