use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use super::layout::{Layout, Step};
use super::rights::Rights;
use crate::skill::lock;

/// Layouts kept for reuse between sessions, up to a number of bytes.
///
/// A layout that is dropped here lives on in the views that show it, and is made anew when it is asked for again.
pub(crate) struct Layouts {
    /// By fingerprint: hashing a long sequence well takes longer than comparing it. Of two sequences with one
    /// fingerprint, the first is kept.
    kept: DashMap<u64, Kept>,
    order: Mutex<Order>,
    most_bytes: usize,
}

struct Kept {
    layout: Arc<Layout>,
    was_used: AtomicBool,
}

#[derive(Default)]
struct Order {
    queue: VecDeque<u64>,
    bytes: usize,
}

impl Layouts {
    pub(crate) fn new(most_bytes: usize) -> Self {
        Self {
            kept: DashMap::new(),
            order: Mutex::default(),
            most_bytes,
        }
    }

    pub(crate) fn get_or_make(
        &self,
        rights: &Arc<Rights>,
        steps: &[Step],
        make: impl FnOnce() -> Layout,
    ) -> Arc<Layout> {
        let fingerprint = Step::fingerprint(rights, steps);
        if let Some(kept) = self.kept.get(&fingerprint)
            && kept.layout.is_for(rights, steps)
        {
            // Written only once per round of the hand, so that readers do not take the line from each other.
            if !kept.was_used.load(Ordering::Relaxed) {
                kept.was_used.store(true, Ordering::Relaxed);
            }
            return Arc::clone(&kept.layout);
        }
        let layout = Arc::new(make());
        match self.kept.entry(fingerprint) {
            // Two callers may make the same layout at once; the bytes are the same, and the first one is kept.
            Entry::Occupied(entry) if entry.get().layout.is_for(rights, steps) => {
                return Arc::clone(&entry.get().layout);
            }
            Entry::Occupied(_) => return layout,
            Entry::Vacant(entry) => {
                entry.insert(Kept {
                    layout: Arc::clone(&layout),
                    was_used: AtomicBool::new(false),
                });
            }
        }
        let mut order = lock(&self.order);
        order.queue.push_back(fingerprint);
        self.charge(&mut order, &layout, layout.cost());
        drop(order);
        layout
    }

    /// Notes that a layout takes more bytes than before, if it is kept here.
    pub(crate) fn has_grown(&self, layout: &Layout, bytes: usize) {
        let mut order = lock(&self.order);
        let is_kept = self
            .kept
            .get(&Step::fingerprint(&layout.rights, &layout.steps))
            .is_some_and(|kept| std::ptr::eq(Arc::as_ptr(&kept.layout), layout));
        if is_kept {
            self.charge(&mut order, layout, bytes);
        }
    }

    /// Counts bytes in and lets go of layouts that were not used since the hand last passed.
    fn charge(&self, order: &mut Order, layout: &Layout, bytes: usize) {
        layout.charge(bytes);
        order.bytes += bytes;
        let mut second_chances = order.queue.len();
        while order.bytes > self.most_bytes {
            let Some(oldest) = order.queue.pop_front() else {
                return;
            };
            let was_used = self
                .kept
                .get(&oldest)
                .is_some_and(|kept| kept.was_used.swap(false, Ordering::Relaxed));
            if was_used && second_chances > 0 {
                second_chances -= 1;
                order.queue.push_back(oldest);
                continue;
            }
            if let Some((_, dropped)) = self.kept.remove(&oldest) {
                order.bytes = order.bytes.saturating_sub(dropped.layout.charged());
            }
        }
    }
}
