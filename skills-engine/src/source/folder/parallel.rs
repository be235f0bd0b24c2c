use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::skill::lock;

/// Jobs below which threads cost more than they save.
const FEW: usize = 64;
/// Threads that work together at most.
const MOST_THREADS: usize = 4;
/// Jobs that a thread takes at once.
const TAKEN: usize = 16;

/// Does the same with each of many things; the results are in their order.
pub(super) fn in_parallel<T: Sync, R: Send>(jobs: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
    let threads = processors.min(MOST_THREADS);
    if jobs.len() < FEW || threads == 1 {
        return jobs.iter().map(work).collect();
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(jobs.len()));
    let run = || {
        loop {
            let start = next.fetch_add(TAKEN, Ordering::Relaxed);
            let Some(rest) = jobs.get(start..).filter(|rest| !rest.is_empty()) else {
                return;
            };
            let taken = &rest[..rest.len().min(TAKEN)];
            let results: Vec<R> = taken.iter().map(&work).collect();
            lock(&done).push((start, results));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Without another thread, this one does it all.
            let _ = std::thread::Builder::new()
                .name("skills-engine".to_owned())
                .spawn_scoped(scope, run);
        }
        run();
    });
    let mut done = done
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    done.sort_unstable_by_key(|(start, _)| *start);
    done.into_iter().flat_map(|(_, results)| results).collect()
}
