use std::collections::BTreeSet;
use std::mem;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use notify::Event;
use notify::event::{EventKind, ModifyKind};
use tokio::sync::Notify;

use super::interest::Interest;
use crate::skill::lock;

/// Names that may have come to stand for something else; more of them stand for all names.
const MOST_NAMES: usize = 4_096;
/// How many scans in a row may be for nothing but lost events: where there are more folders than the system has room for
/// events, the scan itself may be why they are lost.
const MOST_LOST: u32 = 3;

/// What the system told of changes. Nothing is made of them but that there were some: a scan finds out which.
#[derive(Default)]
pub(super) struct Signal {
    changes: AtomicU64,
    /// The count of changes that were scanned for, or of which somebody was told.
    known: AtomicU64,
    changed: Notify,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    interest: Interest,
    moved: Moved,
    /// What was told since the last scan began.
    is_changed: bool,
    is_lost: bool,
    /// How many scans in a row were for nothing but lost events.
    lost: u32,
}

/// What may stand for something else than when it was watched. The system goes on to watch what it was.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Moved {
    Names(BTreeSet<PathBuf>),
    All,
}

impl Default for Moved {
    fn default() -> Self {
        Self::Names(BTreeSet::new())
    }
}

impl Signal {
    /// Begins a scan: for it the changes so far need not be told.
    pub(super) fn begin(&self) {
        let mut state = lock(&self.state);
        let is_changed = mem::take(&mut state.is_changed);
        let is_lost = mem::take(&mut state.is_lost);
        state.lost = if is_lost && !is_changed {
            state.lost.saturating_add(1)
        } else {
            0
        };
        drop(state);
        self.begin_round();
    }

    /// The same for a scan that is done again at once.
    pub(super) fn begin_round(&self) {
        let changes = self.changes.load(Ordering::Acquire);
        self.known.store(changes, Ordering::Release);
    }

    /// Sets what there is to be told of, and gives what may have moved.
    pub(super) fn set(&self, interest: Interest) -> Moved {
        let mut state = lock(&self.state);
        let moved = mem::take(&mut state.moved);
        let old = mem::replace(&mut state.interest, interest);
        drop(state);
        // It may be large.
        drop(old);
        moved
    }

    /// Takes what the system tells.
    pub(super) fn take(&self, event: notify::Result<Event>) {
        let is_told = match event {
            Ok(event) if !event.need_rescan() => self.take_change(event),
            Ok(_) => self.take_loss(),
            Err(error) => {
                tracing::warn!(%error, "watching folders of skills failed; they are searched anew");
                self.take_loss()
            }
        };
        if is_told {
            self.tell();
        }
    }

    fn take_change(&self, event: Event) -> bool {
        // A scan opens what it reads, and must not cause the next one.
        if matches!(event.kind, EventKind::Access(_)) {
            return false;
        }
        let is_move = matches!(
            event.kind,
            EventKind::Any
                | EventKind::Other
                | EventKind::Create(_)
                | EventKind::Remove(_)
                | EventKind::Modify(ModifyKind::Name(_))
        );
        let mut state = lock(&self.state);
        let mut is_told = false;
        for path in event.paths {
            if !state.interest.concerns(&path, event.kind) {
                continue;
            }
            is_told = true;
            if is_move {
                state.moved.add(path);
            }
        }
        state.is_changed |= is_told;
        is_told
    }

    fn take_loss(&self) -> bool {
        let mut state = lock(&self.state);
        state.moved = Moved::All;
        let is_first = !mem::replace(&mut state.is_lost, true);
        let is_told = state.lost < MOST_LOST;
        if is_first && !is_told {
            tracing::warn!(
                "the system loses track of changes in folders of skills, which are too many; refresh the engine after a change"
            );
        }
        is_told
    }

    /// Says that something changed.
    pub(super) fn tell(&self) {
        self.changes.fetch_add(1, Ordering::AcqRel);
        self.changed.notify_waiters();
    }

    /// Completes once something changed after the last scan began, unless somebody was told of it.
    pub(super) async fn changed(&self) {
        loop {
            let mut next = pin!(self.changed.notified());
            next.as_mut().enable();
            let changes = self.changes.load(Ordering::Acquire);
            if self.known.swap(changes, Ordering::AcqRel) != changes {
                return;
            }
            next.await;
        }
    }
}

impl Moved {
    fn add(&mut self, path: PathBuf) {
        let Self::Names(names) = self else { return };
        names.insert(path);
        if names.len() > MOST_NAMES {
            *self = Self::All;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use notify::event::{AccessKind, AccessMode, CreateKind, DataChange, Flag};

    use super::*;

    fn signal() -> Signal {
        let signal = Signal::default();
        let moved = signal.set(Interest::of_skills(&["/skills/notes"]));
        assert_eq!(moved, Moved::default());
        signal
    }

    /// Something that happened to a main file.
    fn tell(signal: &Signal, kind: EventKind) {
        let event = Event::new(kind).add_path("/skills/notes/SKILL.md".into());
        signal.take(Ok(event));
    }

    fn is_told(signal: &Signal) -> bool {
        signal.changed().now_or_never().is_some()
    }

    #[test]
    fn reading_is_no_change() {
        let signal = signal();
        let modes = [AccessMode::Any, AccessMode::Read, AccessMode::Write];
        for mode in modes {
            tell(&signal, EventKind::Access(AccessKind::Open(mode)));
            tell(&signal, EventKind::Access(AccessKind::Close(mode)));
        }
        tell(&signal, EventKind::Access(AccessKind::Read));
        assert!(!is_told(&signal));
    }

    #[test]
    fn a_change_is_told_once_unless_it_is_scanned_for() {
        let signal = signal();
        let write = || {
            let kind = EventKind::Modify(ModifyKind::Data(DataChange::Any));
            tell(&signal, kind);
        };
        write();
        write();
        assert!(is_told(&signal));
        assert!(!is_told(&signal));
        write();
        assert!(is_told(&signal));
        write();
        signal.begin();
        assert!(!is_told(&signal));
        assert_eq!(signal.set(Interest::default()), Moved::default());
        write();
        assert!(!is_told(&signal), "nobody is interested any more");
    }

    #[test]
    fn what_comes_or_goes_may_stand_for_something_else() {
        let signal = signal();
        tell(&signal, EventKind::Create(CreateKind::File));
        let Moved::Names(names) = signal.set(Interest::default()) else {
            panic!("one name is not all");
        };
        assert!(
            names
                .into_iter()
                .eq([PathBuf::from("/skills/notes/SKILL.md")])
        );
        let mut moved = Moved::default();
        (0..=MOST_NAMES).for_each(|count| moved.add(format!("/{count}").into()));
        assert_eq!(moved, Moved::All);
        moved.add("/more".into());
        assert_eq!(moved, Moved::All);
    }

    #[test]
    fn se4_lost_events_may_mean_anything_but_do_not_go_on_for_ever() {
        let overflow = || Ok(Event::new(EventKind::Other).set_flag(Flag::Rescan));
        let failure = || Err(notify::Error::generic("broken"));
        for lose in [overflow, failure] {
            let signal = signal();
            let round = |signal: &Signal| {
                signal.begin();
                let moved = signal.set(Interest::of_skills(&["/skills/notes"]));
                signal.take(lose());
                signal.take(lose());
                (is_told(signal), moved == Moved::All)
            };
            assert_eq!(round(&signal), (true, false));
            for _ in 1..MOST_LOST {
                assert_eq!(round(&signal), (true, true));
            }
            // Each scan makes the next one necessary.
            assert_eq!(round(&signal), (false, true));
            assert_eq!(round(&signal), (false, true));
            tell(&signal, EventKind::Create(CreateKind::File));
            assert!(is_told(&signal));
            assert_eq!(round(&signal), (true, true));
        }
    }
}
