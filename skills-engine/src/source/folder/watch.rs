use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::Notify;

use crate::skill::{BoxFuture, lock};

/// Tells when something changed below the roots of a source.
pub(super) struct Watch {
    signal: Arc<Signal>,
    watching: Mutex<Option<Watching>>,
}

/// Counts what the operating system tells of.
#[derive(Default)]
struct Signal {
    changes: AtomicU64,
    /// The count when the roots were searched last, or when somebody was told last.
    seen: AtomicU64,
    changed: Notify,
}

struct Watching {
    places: Vec<Place>,
    /// Dropped, it tells of nothing any more.
    _watcher: RecommendedWatcher,
}

/// A folder that is looked at: a root, or where one is missing, the next folder above it that is there.
#[derive(PartialEq, Eq)]
struct Place {
    path: PathBuf,
    is_root: bool,
    /// Tells a folder from another one that took its place.
    identity: Option<(u64, u64)>,
}

impl Watch {
    pub(super) fn new() -> Self {
        Self {
            signal: Arc::new(Signal::default()),
            watching: Mutex::new(None),
        }
    }

    /// Notes that the roots are searched now, and sees to it that they are watched. Does work on files.
    pub(super) fn begin(&self, roots: &[PathBuf]) {
        let changes = self.signal.changes.load(Ordering::Acquire);
        let places: Vec<_> = roots.iter().filter_map(|root| Place::of(root)).collect();
        let mut watching = lock(&self.watching);
        if watching.as_ref().is_none_or(|it| it.places != places) {
            // The old one first: together they may be more than the system allows.
            *watching = None;
            match self.watch(places, roots) {
                Ok(new) => *watching = Some(new),
                Err(err) => tracing::warn!(
                    %err,
                    "folders of skills cannot be watched; refresh the engine after a change"
                ),
            }
        }
        self.signal.seen.store(changes, Ordering::Release);
    }

    fn watch(&self, places: Vec<Place>, roots: &[PathBuf]) -> notify::Result<Watching> {
        let signal = Arc::clone(&self.signal);
        let roots = roots.to_vec();
        let mut watcher = notify::recommended_watcher(move |event| {
            if matters(&event, &roots) {
                signal.changes.fetch_add(1, Ordering::AcqRel);
                signal.changed.notify_waiters();
            }
        })?;
        for place in &places {
            let mode = if place.is_root {
                RecursiveMode::Recursive
            } else {
                RecursiveMode::NonRecursive
            };
            if let Err(err) = watcher.watch(&place.path, mode) {
                tracing::warn!(path = %place.path.display(), %err, "a folder cannot be watched");
            }
        }
        Ok(Watching {
            places,
            _watcher: watcher,
        })
    }

    /// Completes once something changed after the roots were searched last, and nobody was told of it.
    pub(super) fn changed(&self) -> BoxFuture<'static, ()> {
        let signal = Arc::clone(&self.signal);
        Box::pin(async move {
            loop {
                let mut changed = pin!(signal.changed.notified());
                changed.as_mut().enable();
                let count = signal.changes.load(Ordering::Acquire);
                if signal.seen.swap(count, Ordering::AcqRel) != count {
                    return;
                }
                changed.await;
            }
        })
    }
}

impl Place {
    fn of(root: &Path) -> Option<Self> {
        let root = std::path::absolute(root).ok()?;
        let path = root.ancestors().find(|path| path.is_dir())?.to_path_buf();
        Some(Self {
            is_root: path == root,
            identity: identity(&path),
            path,
        })
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = path.metadata().ok()?;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_path: &Path) -> Option<(u64, u64)> {
    None
}

/// Whether an event can mean that skills changed. Reading is none, or a search would cause the next one; that events were
/// lost is one.
fn matters(event: &notify::Result<notify::Event>, roots: &[PathBuf]) -> bool {
    let Ok(event) = event else {
        return true;
    };
    if matches!(event.kind, EventKind::Access(_)) {
        return false;
    }
    event.need_rescan()
        || event.paths.is_empty()
        || event.paths.iter().any(|path| {
            roots.iter().any(|root| {
                let root = std::path::absolute(root);
                root.is_ok_and(|root| path.starts_with(&root) || root.starts_with(path))
            })
        })
}
