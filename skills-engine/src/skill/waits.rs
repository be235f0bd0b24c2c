use std::pin::pin;
use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::Notify;

use super::lock;

/// The time in which a call waited for a person: it does not count against the time a tool may take.
#[derive(Default)]
pub(super) struct Waits {
    state: Mutex<State>,
    over: Notify,
}

#[derive(Default)]
struct State {
    /// How many waits go on: a tool may ask several things at once.
    running: u32,
    /// The monotonic reading at which the first of them began.
    since: u64,
    /// Nanoseconds of the waits that are over.
    waited: u64,
}

impl Waits {
    pub(super) fn begin(&self, reading: u64) {
        let mut state = lock(&self.state);
        if state.running == 0 {
            state.since = reading;
        }
        state.running += 1;
    }

    pub(super) fn end(&self, reading: u64) {
        let mut state = lock(&self.state);
        state.running = state.running.saturating_sub(1);
        if state.running == 0 {
            state.waited += reading.saturating_sub(state.since);
            drop(state);
            self.over.notify_waiters();
        }
    }

    /// How much time was waited up to a reading, waits that go on included.
    pub(super) fn waited(&self, reading: u64) -> Duration {
        let state = lock(&self.state);
        let running = match state.running {
            0 => 0,
            _ => reading.saturating_sub(state.since),
        };
        Duration::from_nanos(state.waited + running)
    }

    pub(super) fn is_waiting(&self) -> bool {
        lock(&self.state).running > 0
    }

    /// Completes once no wait goes on.
    pub(super) async fn over(&self) {
        loop {
            let mut over = pin!(self.over.notified());
            over.as_mut().enable();
            if !self.is_waiting() {
                return;
            }
            over.await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_that_overlap_count_once() {
        let waits = Waits::default();
        let waited = |reading| u64::try_from(waits.waited(reading).as_nanos()).unwrap();
        assert_eq!(waited(5), 0);
        waits.begin(10);
        waits.begin(20);
        assert_eq!(waited(25), 15);
        waits.end(30);
        assert!(waits.is_waiting());
        waits.end(40);
        assert!(!waits.is_waiting());
        assert_eq!(waited(100), 30);
        waits.begin(100);
        assert_eq!(waited(101), 31);
    }
}
