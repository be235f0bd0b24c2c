use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use crate::skill::{BoxFuture, Clock, Timestamp};

/// A clock that stands still until it is told to advance. Clones are the same clock.
///
/// # Examples
///
/// ```
/// # use std::time::Duration;
/// # use skills_engine::skill::{Clock, Timestamp};
/// # use skills_engine::testing::ManualClock;
/// let clock = ManualClock::new(Timestamp(1_000));
/// clock.advance(Duration::from_millis(500));
/// assert_eq!(clock.now(), Timestamp(1_500));
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    start: Timestamp,
    elapsed: Duration,
    /// Who sleeps, by the elapsed time they wait for and the order in which they began.
    sleepers: BTreeMap<(Duration, u64), Waker>,
    sleeps: u64,
}

impl ManualClock {
    /// A clock that shows `start`.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        let state = State {
            start,
            elapsed: Duration::ZERO,
            sleepers: BTreeMap::new(),
            sleeps: 0,
        };
        Self {
            state: Arc::new(Mutex::new(state)),
        }
    }

    /// Moves the time on and wakes everyone whose sleep is over, those due first first.
    ///
    /// A sleep that starts only because of this waking counts from the new time: to let a task sleep several
    /// times, advance in several steps.
    pub fn advance(&self, duration: Duration) {
        let woken = {
            let mut state = self.lock();
            state.elapsed = state.elapsed.saturating_add(duration);
            let last_due = (state.elapsed, u64::MAX);
            let later = state.sleepers.split_off(&last_due);
            std::mem::replace(&mut state.sleepers, later)
        };
        woken.into_values().for_each(Waker::wake);
    }

    /// How many sleeps have been polled and are not over: what a test waits for before it advances.
    #[must_use]
    pub fn sleepers(&self) -> usize {
        self.lock().sleepers.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for ManualClock {
    /// A clock that shows 2026-01-01T00:00:00.000Z.
    fn default() -> Self {
        Self::new(Timestamp(1_767_225_600_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let state = self.lock();
        state
            .start
            .checked_add(state.elapsed)
            .unwrap_or(Timestamp(i64::MAX))
    }

    fn monotonic_nanos(&self) -> u64 {
        u64::try_from(self.lock().elapsed.as_nanos()).unwrap_or(u64::MAX)
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut state = self.lock();
        state.sleeps += 1;
        Box::pin(Sleep {
            state: Arc::clone(&self.state),
            key: (state.elapsed.saturating_add(duration), state.sleeps),
        })
    }
}

struct Sleep {
    state: Arc<Mutex<State>>,
    key: (Duration, u64),
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if self.key.0 <= state.elapsed {
            state.sleepers.remove(&self.key);
            return Poll::Ready(());
        }
        state.sleepers.insert(self.key, cx.waker().clone());
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sleepers.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;

    #[test]
    fn a_sleep_ends_when_its_time_has_come_and_not_before() {
        let clock = ManualClock::default();
        let mut sleep = clock.sleep(Duration::from_secs(2));
        assert!((&mut sleep).now_or_never().is_none());
        clock.advance(Duration::from_millis(1_999));
        assert!((&mut sleep).now_or_never().is_none());
        assert_eq!(clock.sleepers(), 1);
        clock.advance(Duration::from_millis(1));
        assert!((&mut sleep).now_or_never().is_some());
        assert_eq!(clock.sleepers(), 0);
    }

    #[test]
    fn a_dropped_sleep_is_forgotten() {
        let clock = ManualClock::default();
        let mut sleep = clock.sleep(Duration::from_secs(1));
        assert!((&mut sleep).now_or_never().is_none());
        drop(sleep);
        assert_eq!(clock.sleepers(), 0);
    }

    #[test]
    fn both_readings_advance_together_and_clones_share_them() {
        let clock = ManualClock::new(Timestamp(10));
        clock.clone().advance(Duration::from_millis(5));
        assert_eq!(clock.now(), Timestamp(15));
        assert_eq!(clock.monotonic_nanos(), 5_000_000);
    }
}
