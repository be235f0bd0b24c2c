use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use dashmap::DashMap;
use dashmap::mapref::entry::Entry;

use super::cell::Cell;
use crate::session::SessionKey;
use crate::skill::{Limits, Principal, Timestamp};

/// The sessions of an engine, by principal and id.
///
/// There may be very many, mostly of principals that have a single one: nothing is kept twice, and such a session takes
/// one place in one map.
#[derive(Default)]
pub(super) struct Sessions {
    /// One session of each principal.
    first: DashMap<ByOwner, ()>,
    /// What more they have. Locked, as the counts are, while a place of the first ones is, never the other way round.
    more: DashMap<ByKey, ()>,
    /// How many more each principal has.
    counts: DashMap<ById, u32>,
}

/// What came of a wish to add a session.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    New,
    /// There is one of that name.
    Held,
    /// The principal has as many as it may.
    TooMany,
}

impl Sessions {
    /// The session under a key.
    pub(super) fn get(&self, key: &SessionKey) -> Option<Arc<Cell>> {
        // Its guard goes before the next map is locked.
        let first = self.first.get(key.principal_id()).and_then(|first| {
            let cell = &first.key().0;
            (cell.name() == key.as_str()).then(|| Arc::clone(cell))
        });
        first.or_else(|| {
            let more = self.more.get(key.as_str())?;
            Some(Arc::clone(&more.key().0))
        })
    }

    /// The principal, in the memory of its other sessions if it has any.
    pub(super) fn known(&self, principal: &Principal) -> Option<Principal> {
        // The same id may come with other roles.
        let same = |known: &Principal| (known == principal).then(|| known.clone());
        let first = self
            .first
            .get(principal.id())
            .and_then(|first| same(&first.key().0.scope.principal));
        first.or_else(|| same(&self.counts.get(principal.id())?.key().0))
    }

    /// Adds a session to the at most so many of its principal.
    pub(super) fn add(&self, cell: &Arc<Cell>, most: usize) -> Added {
        let principal = &cell.scope.principal;
        match self.first.entry(ByOwner(Arc::clone(cell))) {
            Entry::Occupied(first) => {
                if first.key().0.name() == cell.name() {
                    return Added::Held;
                }
                let Entry::Vacant(place) = self.more.entry(ByKey(Arc::clone(cell))) else {
                    return Added::Held;
                };
                match self.counts.entry(ById(principal.clone())) {
                    Entry::Occupied(mut count) if (*count.get() as usize) + 1 < most => {
                        *count.get_mut() += 1;
                    }
                    Entry::Vacant(count) if most > 1 => drop(count.insert(1)),
                    Entry::Occupied(_) | Entry::Vacant(_) => return Added::TooMany,
                }
                place.insert(());
            }
            Entry::Vacant(place) => {
                // The first one may have gone before the others.
                let count = self.counts.get(principal.id()).map_or(0, |count| *count);
                if count > 0 && self.more.contains_key(cell.name()) {
                    return Added::Held;
                }
                if count as usize >= most {
                    return Added::TooMany;
                }
                place.insert(());
            }
        }
        Added::New
    }

    /// Takes a session out, if it is this very one.
    pub(super) fn remove(&self, cell: &Arc<Cell>) {
        let principal = cell.scope.principal.id();
        let is_first = self
            .first
            .remove_if(principal, |first, ()| Arc::ptr_eq(&first.0, cell));
        if is_first.is_some() {
            return;
        }
        let is_more = self
            .more
            .remove_if(cell.name(), |more, ()| Arc::ptr_eq(&more.0, cell));
        if is_more.is_some() {
            self.counts.remove_if_mut(principal, |_, count| {
                *count = count.saturating_sub(1);
                *count == 0
            });
        }
    }

    /// Adds sessions that nobody used for long, until there are so many.
    pub(super) fn idle(
        &self,
        now: Timestamp,
        limits: &Limits,
        most: usize,
        idle: &mut Vec<Arc<Cell>>,
    ) {
        let is_idle = |cell: &&Arc<Cell>| cell.is_idle(now, limits);
        for first in &self.first {
            if idle.len() >= most {
                return;
            }
            idle.extend(Some(&first.key().0).filter(is_idle).cloned());
        }
        for more in &self.more {
            if idle.len() >= most {
                return;
            }
            idle.extend(Some(&more.key().0).filter(is_idle).cloned());
        }
    }

    pub(super) fn len(&self) -> usize {
        self.first.len() + self.more.len()
    }

    /// Gives memory back when many have gone.
    pub(super) fn shrink(&self) {
        if self.first.capacity() > 4 * self.first.len() + 1_024 {
            self.first.shrink_to_fit();
        }
        if self.more.capacity() > 4 * self.more.len() + 1_024 {
            self.more.shrink_to_fit();
            self.counts.shrink_to_fit();
        }
    }
}

/// A session that is found by the id of its principal.
struct ByOwner(Arc<Cell>);

impl Borrow<str> for ByOwner {
    fn borrow(&self) -> &str {
        self.0.scope.principal.id()
    }
}

/// A session that is found by its key.
struct ByKey(Arc<Cell>);

impl Borrow<str> for ByKey {
    fn borrow(&self) -> &str {
        self.0.name()
    }
}

/// A principal that is found by its id, whatever its roles.
struct ById(Principal);

impl Borrow<str> for ById {
    fn borrow(&self) -> &str {
        self.0.id()
    }
}

macro_rules! compared_by_text {
    ($($key:ident)*) => {$(
        impl PartialEq for $key {
            fn eq(&self, other: &Self) -> bool {
                let (left, right): (&str, &str) = (self.borrow(), other.borrow());
                left == right
            }
        }

        impl Eq for $key {}

        impl Hash for $key {
            fn hash<H: Hasher>(&self, state: &mut H) {
                let text: &str = self.borrow();
                text.hash(state);
            }
        }
    )*};
}
compared_by_text! { ByOwner ByKey ById }

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::*;
    use crate::session::SessionState;
    use crate::skill::{SessionId, SessionScope};

    fn key(owner: u8, session: u8) -> SessionKey {
        // One id is the other one's with a slash and more.
        let id = SessionId::new(format!("s{session}")).unwrap();
        SessionKey::new(["ada", "ada/s1", "bo"][usize::from(owner)], &id)
    }

    fn cell(key: &SessionKey) -> Arc<Cell> {
        let principal = Principal::new(key.principal_id(), ["support"]);
        let scope = SessionScope::new(key.shared_session_id(), principal, 1);
        let state = SessionState::initial();
        Arc::new(Cell::new(Arc::new(scope), state, Timestamp(0)))
    }

    proptest! {
        #[test]
        fn each_session_is_found_by_its_key_and_counted_for_its_principal(
            most in 0_usize..5,
            steps in prop::collection::vec((0_u8..3, 0_u8..6, any::<bool>()), 1..80),
        ) {
            let sessions = Sessions::default();
            let mut model: BTreeMap<SessionKey, Arc<Cell>> = BTreeMap::new();
            for (owner, session, adds) in steps {
                let key = key(owner, session);
                let new = cell(&key);
                if adds {
                    let count = model
                        .keys()
                        .filter(|other| other.principal_id() == key.principal_id())
                        .count();
                    let expected = match model.get(&key) {
                        Some(_) => Added::Held,
                        None if count >= most => Added::TooMany,
                        None => Added::New,
                    };
                    let added = sessions.add(&new, most);
                    // One that is held is told of as such only where there is room for another: callers look first.
                    prop_assert!(added == expected || added == Added::TooMany && count >= most);
                    if added == Added::New {
                        model.insert(key.clone(), new);
                    }
                } else {
                    // Another one of that name is not taken out.
                    sessions.remove(&new);
                    if let Some(held) = model.remove(&key) {
                        sessions.remove(&held);
                    }
                }
                prop_assert_eq!(sessions.len(), model.len());
                for owner in 0..3 {
                    for session in 0..6 {
                        let key = self::key(owner, session);
                        let (found, held) = (sessions.get(&key), model.get(&key));
                        prop_assert_eq!(found.as_ref().map(Arc::as_ptr), held.map(Arc::as_ptr));
                    }
                }
            }
            let mut idle = Vec::new();
            let late = Timestamp(i64::MAX);
            sessions.idle(late, &Limits::default(), 3, &mut idle);
            prop_assert_eq!(idle.len(), model.len().min(3));
            for cell in model.values() {
                sessions.remove(cell);
            }
            prop_assert_eq!(sessions.len(), 0);
            prop_assert!(sessions.counts.is_empty());
        }
    }

    #[test]
    fn sessions_share_the_memory_of_a_principal_with_the_same_roles() {
        let sessions = Sessions::default();
        let first = cell(&key(0, 0));
        assert_eq!(sessions.known(&first.scope.principal), None);
        assert_eq!(sessions.add(&first, 9), Added::New);
        let same = Principal::new("ada", ["support"]);
        assert_eq!(sessions.known(&same), Some(same));
        assert_eq!(sessions.known(&Principal::new("ada", ["ops"])), None);
        let second = cell(&key(0, 1));
        assert_eq!(sessions.add(&second, 9), Added::New);
        sessions.remove(&first);
        let same = Principal::new("ada", ["support"]);
        assert_eq!(sessions.known(&same), Some(same), "of those that stay");
    }

    #[test]
    fn threads_add_and_remove_at_once() {
        let sessions = Sessions::default();
        std::thread::scope(|scope| {
            for thread in 0..4_u8 {
                let sessions = &sessions;
                scope.spawn(move || {
                    for round in 0..2_000_u32 {
                        let owner = u8::from(round % 2 == 0);
                        let own = cell(&key(owner, 10 + thread));
                        assert_eq!(sessions.add(&own, 100), Added::New);
                        let found = sessions.get(&own.key());
                        assert!(found.is_some_and(|found| Arc::ptr_eq(&found, &own)));
                        // These are the other threads', too.
                        let shared = key(owner, u8::try_from(round / 2 % 6).unwrap());
                        if sessions.add(&cell(&shared), 100) == Added::Held
                            && let Some(held) = sessions.get(&shared)
                        {
                            sessions.remove(&held);
                        }
                        sessions.remove(&own);
                    }
                });
            }
        });
        let mut left = Vec::new();
        let late = Timestamp(i64::MAX);
        sessions.idle(late, &Limits::default(), usize::MAX, &mut left);
        assert_eq!(left.len(), sessions.len());
        let names: BTreeSet<_> = left.iter().map(|cell| cell.name()).collect();
        assert_eq!(names.len(), left.len(), "each name is held once");
        for cell in &left {
            sessions.remove(cell);
        }
        assert_eq!(sessions.len(), 0);
        assert!(sessions.counts.is_empty());
    }
}
