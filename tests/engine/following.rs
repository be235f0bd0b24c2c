//! Sources that tell of changes: an engine refreshes by itself.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use skills_engine::Engine;
use skills_engine::engine::RefreshReport;
use skills_engine::skill::{BoxFuture, Clock as _, Fault, Limits, Skill, SkillBuilder};
use skills_engine::source::SkillSource;
use skills_engine::testing::ManualClock;
use tests::{at_rest, bare, until};
use tokio::sync::Notify;

const MILLISECOND: Duration = Duration::from_millis(1);

/// A source with one skill more each time it is asked.
#[derive(Clone)]
struct Shelf(Arc<Inner>);

struct Inner {
    name: &'static str,
    manner: Manner,
    changed: Notify,
    /// How often somebody was told of a change.
    told: AtomicUsize,
    loads: AtomicUsize,
}

enum Manner {
    /// Tells of each change once.
    Once,
    /// Tells of a change until it is asked.
    UntilAsked(AtomicBool),
    /// Always has something new to tell.
    Always,
    /// Breaks when it is asked to tell.
    Panics,
    /// Breaks while it waits for something to tell.
    PanicsLater,
}

impl Shelf {
    fn new(name: &'static str, manner: Manner) -> Self {
        Self(Arc::new(Inner {
            name,
            manner,
            changed: Notify::new(),
            told: AtomicUsize::new(0),
            loads: AtomicUsize::new(0),
        }))
    }

    fn once(name: &'static str) -> Self {
        Self::new(name, Manner::Once)
    }

    /// Changes, and waits until the engine knows.
    async fn change(&self) {
        let told = self.0.told.load(Ordering::Relaxed);
        self.0.changed.notify_one();
        until(|| self.0.told.load(Ordering::Relaxed) > told).await;
    }

    fn loads(&self) -> usize {
        self.0.loads.load(Ordering::Relaxed)
    }
}

impl SkillSource for Shelf {
    fn name(&self) -> &str {
        self.0.name
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        let count = self.0.loads.fetch_add(1, Ordering::Relaxed);
        if let Manner::UntilAsked(is_changed) = &self.0.manner {
            is_changed.store(false, Ordering::Relaxed);
        }
        let skill = |at| {
            let id = format!("{}-{at}", self.0.name);
            Arc::new(SkillBuilder::new(id).build().unwrap()) as Arc<dyn Skill>
        };
        let skills = (0..count).map(skill).collect();
        Box::pin(async { Ok(skills) })
    }

    fn changed(&self) -> Option<BoxFuture<'static, ()>> {
        assert!(!matches!(self.0.manner, Manner::Panics), "the shelf broke");
        let inner = Arc::clone(&self.0);
        Some(Box::pin(async move {
            match &inner.manner {
                Manner::UntilAsked(is_changed) => {
                    if !is_changed.load(Ordering::Relaxed) {
                        inner.changed.notified().await;
                        is_changed.store(true, Ordering::Relaxed);
                    }
                }
                Manner::Always => {}
                Manner::Once | Manner::Panics => inner.changed.notified().await,
                Manner::PanicsLater => panic!("the shelf broke"),
            }
            inner.told.fetch_add(1, Ordering::Relaxed);
        }))
    }
}

#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<RefreshReport>>>);

impl Reports {
    fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Ids that each refresh added.
    fn added(&self) -> Vec<Vec<String>> {
        let reports = self.0.lock().unwrap();
        reports.iter().map(|report| report.added.clone()).collect()
    }
}

async fn engine(clock: &ManualClock, limits: Limits, shelves: &[&Shelf]) -> (Engine, Reports) {
    let reports = Reports::default();
    let kept = reports.clone();
    let mut builder = bare().clock(Arc::new(clock.clone())).limits(limits);
    for shelf in shelves {
        builder = builder.source((*shelf).clone());
    }
    let builder = builder.on_refresh(move |report| kept.0.lock().unwrap().push(report.clone()));
    let engine = builder.build().await.unwrap();
    at_rest(clock).await;
    (engine, reports)
}

/// Lets time pass, with all who waited before and after it asleep: the reaper, and who waits for quiet.
async fn pass(clock: &ManualClock, duration: Duration) {
    until(|| clock.sleepers() == 2).await;
    clock.advance(duration);
    until(|| clock.sleepers() == 2).await;
}

/// Lets time pass until a condition holds.
async fn pass_until(clock: &ManualClock, mut holds: impl FnMut() -> bool) {
    until(|| {
        if clock.sleepers() == 2 {
            clock.advance(MILLISECOND * 10);
        }
        holds()
    })
    .await;
}

#[tokio::test]
async fn se4_a_burst_of_changes_is_one_refresh_once_it_is_over() {
    let limits = Limits::default();
    let debounce = limits.refresh_debounce;
    assert_eq!(debounce, Duration::from_millis(250));
    let clock = ManualClock::default();
    let (left, right) = (Shelf::once("left"), Shelf::once("right"));
    let (_engine, reports) = engine(&clock, limits, &[&left, &right]).await;
    for round in 1..3 {
        for shelf in [&left, &right, &left] {
            shelf.change().await;
            // Far into the quiet time, but not to its end.
            pass(&clock, debounce / 2).await;
            let rest = debounce.saturating_sub(debounce / 2 + MILLISECOND);
            pass(&clock, rest).await;
            assert_eq!((left.loads(), right.loads()), (round, round));
        }
        clock.advance(MILLISECOND);
        until(|| reports.len() == round).await;
        assert_eq!((left.loads(), right.loads()), (round + 1, round + 1));
        at_rest(&clock).await;
    }
    assert_eq!(
        reports.added(),
        [["left-0", "right-0"], ["left-1", "right-1"]]
    );
}

#[tokio::test]
async fn se4_changes_without_end_still_lead_to_refreshes() {
    let limits = Limits::default();
    let longest = limits.refresh_debounce * 4;
    let clock = ManualClock::default();
    let shelf = Shelf::once("shelf");
    let (_engine, reports) = engine(&clock, limits, &[&shelf]).await;
    for round in 1..4 {
        let begun = clock.now();
        while reports.len() < round {
            assert!(clock.now().since(begun) < longest, "it waits for ever");
            shelf.change().await;
            until(|| clock.sleepers() == 2).await;
            clock.advance(Duration::from_millis(100));
            until(|| clock.sleepers() == 2 || reports.len() == round).await;
        }
        assert_eq!(
            clock.now().since(begun),
            longest,
            "it waits for quiet first"
        );
        assert_eq!(shelf.loads(), round + 1);
    }
}

#[tokio::test]
async fn se4_a_source_that_always_tells_of_a_change_is_not_asked_all_the_time() {
    let manners = [Manner::Always, Manner::UntilAsked(AtomicBool::new(true))];
    for manner in manners {
        let limits = Limits::default();
        let longest = limits.refresh_debounce * 4;
        let clock = ManualClock::default();
        let shelf = Shelf::new("shelf", manner);
        let reports = Reports::default();
        let kept = reports.clone();
        let builder = bare().clock(Arc::new(clock.clone())).source(shelf.clone());
        let builder = builder.on_refresh(move |report| kept.0.lock().unwrap().push(report.clone()));
        let _engine = builder.build().await.unwrap();
        for round in 1..3 {
            let begun = clock.now();
            shelf.0.changed.notify_one();
            pass_until(&clock, || reports.len() == round).await;
            let waited = clock.now().since(begun);
            assert!(
                (longest..longest + MILLISECOND * 50).contains(&waited),
                "{waited:?}"
            );
            assert_eq!(shelf.loads(), round + 1);
        }
    }
}

#[tokio::test]
async fn se4_how_long_it_must_be_quiet_is_a_limit() {
    for debounce in [Duration::ZERO, Duration::from_secs(5), Duration::MAX] {
        let mut limits = Limits::default();
        limits.refresh_debounce = debounce;
        let clock = ManualClock::default();
        let shelf = Shelf::once("shelf");
        let (_engine, reports) = engine(&clock, limits, &[&shelf]).await;
        shelf.change().await;
        if debounce == Duration::ZERO {
            pass_until(&clock, || reports.len() == 1).await;
            continue;
        }
        pass(&clock, Duration::from_secs(4)).await;
        pass(&clock, Duration::from_millis(999)).await;
        assert_eq!(reports.len(), 0);
        if debounce == Duration::from_secs(5) {
            clock.advance(MILLISECOND);
            until(|| reports.len() == 1).await;
        }
    }
}

#[tokio::test]
async fn se4_a_source_that_panics_keeps_no_other_from_being_heard() {
    let clock = ManualClock::default();
    let broken = Shelf::new("broken", Manner::Panics);
    let later = Shelf::new("later", Manner::PanicsLater);
    let shelf = Shelf::once("shelf");
    let shelves = [&broken, &later, &shelf];
    let (_engine, reports) = engine(&clock, Limits::default(), &shelves).await;
    for round in 1..3 {
        shelf.change().await;
        pass_until(&clock, || reports.len() == round).await;
        assert!(reports.added()[round - 1].contains(&format!("shelf-{}", round - 1)));
        at_rest(&clock).await;
    }
}

#[tokio::test]
async fn se4_what_waits_for_changes_goes_with_its_engine() {
    let clock = ManualClock::default();
    let shelf = Shelf::once("shelf");
    let (idle, _) = engine(&clock, Limits::default(), &[&shelf]).await;
    drop(idle);
    until(|| Arc::strong_count(&shelf.0) == 1).await;
    // In the middle of a debounce, too.
    let clock = ManualClock::default();
    let (waiting, reports) = engine(&clock, Limits::default(), &[&shelf]).await;
    shelf.change().await;
    until(|| clock.sleepers() == 2).await;
    drop(waiting);
    until(|| Arc::strong_count(&shelf.0) == 1).await;
    assert_eq!(reports.len(), 0);
}
