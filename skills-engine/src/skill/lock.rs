use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex whose data is valid at every step, so that a panic elsewhere while it was held changes nothing.
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
