use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use super::dropped::Dropped;
use super::layout::{Layout, Step};
use super::rights::Rights;
use crate::skill::lock;

/// Layouts kept for reuse between sessions, up to a number of bytes.
///
/// What was asked for once is a newcomer; newcomers take a sixteenth of the bytes, and the oldest of them gives way to
/// the next one. What was asked for again by then is kept in the larger part, where only others that were asked for
/// again compete with it: sequences that occur once, however many, push out none that sessions share. As newcomers are
/// few, the memory of a new one is mostly that of one just dropped, and still in the processor's caches. A sequence that
/// comes back soon after it was dropped is no newcomer any more.
///
/// A layout that is dropped here lives on in the views that show it, and is made anew when it is asked for again.
pub(crate) struct Layouts {
    /// By fingerprint: hashing a long sequence well takes longer than comparing it. Of two sequences with one
    /// fingerprint, the first is kept.
    kept: DashMap<u64, Kept>,
    /// Never locked while a place of `kept` is: it is the other way round.
    order: Mutex<Order>,
    most_bytes: usize,
}

struct Kept {
    layout: Arc<Layout>,
    was_used: AtomicBool,
    /// Changes only while the order is locked.
    is_newcomer: AtomicBool,
}

struct Order {
    newcomers: Part,
    reused: Part,
    dropped: Dropped,
}

/// Some of what is kept, the oldest first.
#[derive(Default)]
struct Part {
    queue: VecDeque<u64>,
    bytes: usize,
}

impl Layouts {
    pub(crate) fn new(most_bytes: usize) -> Self {
        let order = Order {
            newcomers: Part::default(),
            reused: Part::default(),
            dropped: Dropped::new(most_bytes),
        };
        Self {
            kept: DashMap::new(),
            order: Mutex::new(order),
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
        let cost = layout.cost();
        let mut order = lock(&self.order);
        let is_newcomer = match self.kept.entry(fingerprint) {
            // Two callers may make the same layout at once; the bytes are the same, and the first one is kept.
            Entry::Occupied(entry) if entry.get().layout.is_for(rights, steps) => {
                entry.get().was_used.store(true, Ordering::Relaxed);
                return Arc::clone(&entry.get().layout);
            }
            Entry::Occupied(_) => return layout,
            Entry::Vacant(entry) => {
                let is_newcomer =
                    cost > self.most_reused_bytes() || !order.dropped.contains(fingerprint);
                entry.insert(Kept {
                    layout: Arc::clone(&layout),
                    // What came back was: else the hand might take it at once.
                    was_used: AtomicBool::new(!is_newcomer),
                    is_newcomer: AtomicBool::new(is_newcomer),
                });
                is_newcomer
            }
        };
        order.part(is_newcomer).queue.push_back(fingerprint);
        let dropped = self.charge(&mut order, is_newcomer, &layout, cost);
        drop(order);
        drop(dropped);
        layout
    }

    /// Notes that a layout takes more bytes than before, if it is kept here.
    pub(crate) fn has_grown(&self, layout: &Layout, bytes: usize) {
        let fingerprint = Step::fingerprint(&layout.rights, &layout.steps);
        let mut order = lock(&self.order);
        let is_newcomer = self
            .kept
            .get(&fingerprint)
            .filter(|kept| std::ptr::eq(Arc::as_ptr(&kept.layout), layout))
            .map(|kept| kept.is_newcomer.load(Ordering::Relaxed));
        if let Some(is_newcomer) = is_newcomer {
            let dropped = self.charge(&mut order, is_newcomer, layout, bytes);
            drop(order);
            drop(dropped);
        }
    }

    fn most_newcomer_bytes(&self) -> usize {
        self.most_bytes / 16
    }

    fn most_reused_bytes(&self) -> usize {
        self.most_bytes - self.most_newcomer_bytes()
    }

    /// Counts bytes in and lets go of what has no room any more, which is better dropped after the lock.
    fn charge(
        &self,
        order: &mut Order,
        is_newcomer: bool,
        layout: &Layout,
        bytes: usize,
    ) -> Vec<Arc<Layout>> {
        layout.charge(bytes);
        order.part(is_newcomer).bytes += bytes;
        let mut dropped = Vec::new();
        let mut second_chances = order.reused.queue.len();
        loop {
            let bytes = order.newcomers.bytes;
            // A single newcomer may take more than its part, as long as it takes nothing from the others.
            let are_newcomers_over = bytes > self.most_newcomer_bytes()
                && (order.newcomers.queue.len() > 1
                    || bytes + order.reused.bytes > self.most_bytes);
            if order.reused.bytes > self.most_reused_bytes() {
                self.pass_reused(order, &mut second_chances, &mut dropped);
            } else if are_newcomers_over {
                self.pass_newcomer(order, &mut dropped);
            } else {
                return dropped;
            }
        }
    }

    /// The oldest newcomer goes: to the reused ones if it was used.
    fn pass_newcomer(&self, order: &mut Order, dropped: &mut Vec<Arc<Layout>>) {
        let Some(oldest) = order.newcomers.queue.pop_front() else {
            order.newcomers.bytes = 0;
            return;
        };
        let used = self.kept.get(&oldest).and_then(|kept| {
            let was_used = kept.was_used.swap(false, Ordering::Relaxed);
            kept.is_newcomer.store(!was_used, Ordering::Relaxed);
            was_used.then(|| kept.layout.charged())
        });
        if let Some(bytes) = used {
            order.newcomers.bytes = order.newcomers.bytes.saturating_sub(bytes);
            order.reused.bytes += bytes;
            order.reused.queue.push_back(oldest);
        } else if let Some((_, kept)) = self.kept.remove(&oldest) {
            let bytes = kept.layout.charged();
            order.newcomers.bytes = order.newcomers.bytes.saturating_sub(bytes);
            order.dropped.add(oldest);
            dropped.push(kept.layout);
        }
    }

    /// The oldest of the reused ones goes, unless it was used since it was passed last.
    fn pass_reused(
        &self,
        order: &mut Order,
        second_chances: &mut usize,
        dropped: &mut Vec<Arc<Layout>>,
    ) {
        let Some(oldest) = order.reused.queue.pop_front() else {
            order.reused.bytes = 0;
            return;
        };
        let was_used = self
            .kept
            .get(&oldest)
            .is_some_and(|kept| kept.was_used.swap(false, Ordering::Relaxed));
        if was_used && *second_chances > 0 {
            *second_chances -= 1;
            order.reused.queue.push_back(oldest);
        } else if let Some((_, kept)) = self.kept.remove(&oldest) {
            let bytes = kept.layout.charged();
            order.reused.bytes = order.reused.bytes.saturating_sub(bytes);
            order.dropped.add(oldest);
            dropped.push(kept.layout);
        }
    }
}

impl Order {
    fn part(&mut self, is_newcomer: bool) -> &mut Part {
        if is_newcomer {
            &mut self.newcomers
        } else {
            &mut self.reused
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::epoch::Epoch;
    use super::super::rights::RightsBuilder;
    use super::super::telling::Telling;
    use super::*;
    use crate::audit::SecretDigest;
    use crate::registry::Registry;
    use crate::skill::{Level, Limits, Skill, SkillBuilder};

    const SKILLS: u32 = 32;

    fn epoch() -> Epoch {
        let skill = |number: u32| {
            let skill = SkillBuilder::new(format!("skill-{number:02}")).description("One of many.");
            Arc::new(skill.build().unwrap()) as Arc<dyn Skill>
        };
        let registry = Registry::build((0..SKILLS).map(skill).collect()).unwrap();
        let secrets = SecretDigest::random();
        Epoch::new(registry, Telling::standard(), secrets, &Limits::default()).unwrap()
    }

    /// Three skills in some order: 29,760 sequences, whose layouts all cost the same.
    fn steps(number: u32) -> Vec<Step> {
        let mut left: Vec<_> = (0..SKILLS).collect();
        let mut rest = number;
        let mut next = || {
            let count = u32::try_from(left.len()).unwrap();
            let skill = left.remove((rest % count) as usize);
            rest /= count;
            Step::opening(skill, Level::Metadata, Level::Context)
        };
        [next(), next(), next()].to_vec()
    }

    struct Cache {
        epoch: Epoch,
        rights: Arc<Rights>,
        layouts: Layouts,
        made: Cell<usize>,
        cost: usize,
    }

    impl Cache {
        /// With room for so many layouts.
        fn of(count: usize) -> Self {
            let epoch = epoch();
            let rights = Arc::new(RightsBuilder::new(&epoch.registry).finish(&epoch));
            let cost = Layout::new(&epoch, &rights, &steps(0)).cost();
            Self {
                rights,
                layouts: Layouts::new(count * cost),
                made: Cell::new(0),
                epoch,
                cost,
            }
        }

        fn get(&self, number: u32) -> Arc<Layout> {
            let steps = steps(number);
            let layout = self.layouts.get_or_make(&self.rights, &steps, || {
                self.made.set(self.made.get() + 1);
                Layout::new(&self.epoch, &self.rights, &steps)
            });
            assert_eq!(*layout.steps, *steps);
            layout
        }

        /// Whether it need not be made for this.
        fn has(&self, number: u32) -> bool {
            let before = self.made.get();
            self.get(number);
            self.made.get() == before
        }
    }

    /// That what is counted is what is kept, and within its bounds.
    #[track_caller]
    fn check(layouts: &Layouts) {
        let order = lock(&layouts.order);
        let kept: BTreeMap<_, _> = layouts
            .kept
            .iter()
            .map(|entry| {
                let is_newcomer = entry.is_newcomer.load(Ordering::Relaxed);
                (*entry.key(), (is_newcomer, entry.layout.charged()))
            })
            .collect();
        let mut queued = 0;
        for (part, is_newcomers) in [(&order.newcomers, true), (&order.reused, false)] {
            let mut bytes = 0;
            for fingerprint in &part.queue {
                let (is_newcomer, charged) = kept[fingerprint];
                assert_eq!(is_newcomer, is_newcomers);
                bytes += charged;
            }
            assert_eq!(part.bytes, bytes);
            queued += part.queue.len();
        }
        assert_eq!(queued, kept.len(), "each is queued once");
        let most_newcomer_bytes = layouts.most_bytes / 16;
        let (newcomers, reused) = (&order.newcomers, &order.reused);
        assert!(newcomers.bytes <= most_newcomer_bytes || newcomers.queue.len() == 1);
        assert!(reused.bytes <= layouts.most_bytes - most_newcomer_bytes);
        assert!(newcomers.bytes + reused.bytes <= layouts.most_bytes);
    }

    #[test]
    fn sequences_that_occur_once_never_push_out_one_that_was_used_again() {
        let cache = Cache::of(64);
        // What is kept beside the newcomers, whose part is that of four.
        let shared = 10_000..10_060;
        for number in shared.clone() {
            assert!(!cache.has(number));
            assert!(cache.has(number));
        }
        for number in 0..5_000 {
            assert!(!cache.has(number), "{number}");
        }
        for number in shared {
            assert!(cache.has(number), "{number}");
        }
        check(&cache.layouts);
    }

    #[test]
    fn newcomers_give_way_to_newcomers_and_are_found_until_then() {
        let cache = Cache::of(64);
        (0..4).for_each(|number| assert!(!cache.has(number)));
        (1..4).for_each(|number| assert!(cache.has(number), "{number}"));
        (4..20).for_each(|number| assert!(!cache.has(number)));
        // The first was not used again, the others were.
        (1..4).for_each(|number| assert!(cache.has(number), "{number}"));
        assert!(!cache.has(0));
    }

    #[test]
    fn what_comes_back_after_it_was_dropped_is_no_newcomer() {
        let cache = Cache::of(64);
        assert!(!cache.has(7));
        (100..120).for_each(|number| assert!(!cache.has(number)));
        assert!(!cache.has(7), "it was dropped");
        (200..220).for_each(|number| assert!(!cache.has(number)));
        assert!(cache.has(7), "it came back, so it stays");
        check(&cache.layouts);
    }

    #[test]
    fn of_those_used_again_the_ones_in_use_stay() {
        let cache = Cache::of(64);
        for number in 0..1_000 {
            cache.get(number);
            cache.get(number);
            cache.get(20_000);
        }
        assert!(cache.has(20_000));
        assert!(!cache.has(500));
        check(&cache.layouts);
    }

    #[test]
    fn what_is_too_big_for_its_part_is_kept_where_it_takes_nothing_from_others() {
        // The part of newcomers is that of half a layout.
        let cache = Cache::of(8);
        assert!(!cache.has(1));
        assert!(cache.has(1));
        assert!(!cache.has(2));
        assert!(cache.has(1));
        (10..16).for_each(|number| drop((cache.get(number), cache.get(number))));
        check(&cache.layouts);
        let big = cache.get(30);
        cache.layouts.has_grown(&big, cache.cost);
        check(&cache.layouts);
        (10..16).for_each(|number| assert!(cache.has(number), "{number}"));
        assert!(!cache.has(30), "it had no room beside them");

        let none = Cache::of(0);
        assert!(!none.has(1) && !none.has(1));
        check(&none.layouts);
        assert_eq!(*none.get(1).steps, *steps(1), "it can be used all the same");
    }

    #[test]
    fn threads_share_one_cache() {
        let cache = Cache::of(64);
        let (epoch, rights) = (&cache.epoch, &cache.rights);
        let (layouts, cost) = (&cache.layouts, cache.cost);
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                scope.spawn(move || {
                    let mut seed = thread + 1;
                    for _ in 0..4_000 {
                        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                        // Some often, others hardly ever.
                        let number = if seed >> 31 == 0 {
                            seed >> 8 & 15
                        } else {
                            seed >> 8 & 1_023
                        };
                        let steps = steps(number);
                        let layout = layouts
                            .get_or_make(rights, &steps, || Layout::new(epoch, rights, &steps));
                        assert_eq!(*layout.steps, *steps);
                        if (seed >> 24).is_multiple_of(4) {
                            layouts.has_grown(&layout, cost / 4);
                        }
                    }
                });
            }
        });
        check(layouts);
        let bytes = lock(&layouts.order).reused.bytes;
        assert!(bytes > 32 * cost, "{bytes}");
    }

    proptest! {
        #[test]
        fn bounds_hold_whatever_is_asked_for(
            room in 0_usize..80,
            asked in prop::collection::vec((0_u32..60, 0_usize..4), 1..300),
        ) {
            let cache = Cache::of(room);
            let mut last = None;
            for (number, grows) in asked {
                let layout = cache.get(number);
                if grows == 0 {
                    cache.layouts.has_grown(&layout, cache.cost / 3);
                    // One that may be dropped by now.
                    if let Some(last) = last.replace(layout) {
                        cache.layouts.has_grown(&last, 1);
                    }
                }
                check(&cache.layouts);
                // What was just made is there, unless it alone is too much.
                if room > 0 && last.is_none() {
                    assert!(cache.has(number));
                }
            }
        }
    }
}
