use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use super::slot::{Shown, Slot};
use crate::registry::AttributeIndex;
use crate::skill::lock;

/// What one session, or one turn, keeps of attributes: evaluations that it may not share, and values.
#[derive(Default)]
pub(crate) struct OwnValues {
    // Most have none, and must then cost no map.
    values: Mutex<Option<Box<GenerationValues>>>,
}

/// Holds the values of a session, and makes room for them when there are any.
pub(crate) trait HoldsValues: Sync {
    fn values(&self) -> Arc<OwnValues>;
}

impl HoldsValues for Arc<OwnValues> {
    fn values(&self) -> Arc<OwnValues> {
        Self::clone(self)
    }
}

#[derive(Default)]
struct GenerationValues {
    generation: u64,
    is_closed: bool,
    slots: HashMap<AttributeIndex, Arc<Slot>>,
    kept: HashMap<AttributeIndex, Shown>,
}

impl OwnValues {
    pub(super) fn slot(&self, generation: u64, attribute: AttributeIndex) -> Arc<Slot> {
        self.with(generation, |values| {
            if values.is_closed {
                return Arc::default();
            }
            Arc::clone(values.slots.entry(attribute).or_default())
        })
    }

    pub(super) fn kept(&self, generation: u64, attribute: AttributeIndex) -> Option<Shown> {
        self.with(generation, |values| values.kept.get(&attribute).cloned())
    }

    pub(super) fn keep(&self, generation: u64, attribute: AttributeIndex, shown: Shown) {
        self.with(generation, |values| {
            if !values.is_closed {
                values.kept.insert(attribute, shown);
            }
        });
    }

    /// Keeps nothing.
    pub(crate) fn closed() -> Self {
        let closed = Self::default();
        closed.close();
        closed
    }

    /// Ends the evaluations that run, and keeps nothing from now on.
    pub(crate) fn close(&self) {
        let mut guard = lock(&self.values);
        let closed = GenerationValues {
            is_closed: true,
            ..GenerationValues::default()
        };
        let ended = guard.replace(Box::new(closed));
        drop(guard);
        // Not under the lock: what an evaluation holds may look at the session when it goes.
        drop(ended);
    }

    fn with<T>(&self, generation: u64, look: impl FnOnce(&mut GenerationValues) -> T) -> T {
        let mut guard = lock(&self.values);
        let values = guard.get_or_insert_default();
        let mut outdated = None;
        if values.generation != generation {
            // Positions mean other attributes in another registry.
            let current = GenerationValues {
                generation,
                is_closed: values.is_closed,
                ..GenerationValues::default()
            };
            outdated = Some(std::mem::replace(&mut **values, current));
        }
        let result = look(values);
        drop(guard);
        drop(outdated);
        result
    }
}
