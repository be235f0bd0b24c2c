use std::sync::{Arc, Mutex, Weak};

use super::cell::Cell;
use super::turn_core::TurnCore;
use crate::session::{AllowList, PslControl};
use crate::skill::{Principal, lock};

/// What the host set for one session beside what is open in it. Most sessions have none; replaced whole.
#[derive(Clone, Default)]
pub(super) struct Access {
    /// The principal with other roles than the session began with.
    pub(super) principal: Option<Principal>,
    pub(super) lists: Arc<[AllowList]>,
    pub(super) control: Option<PslControl>,
    pub(super) parent: Option<Parent>,
    /// The sessions that end with this one.
    children: Arc<Mutex<Vec<Weak<Cell>>>>,
}

/// The session that made a child, and the turn it was made in.
#[derive(Clone)]
pub(super) struct Parent {
    pub(super) cell: Arc<Cell>,
    pub(super) turn: Option<Weak<TurnCore>>,
}

impl Access {
    /// What a child session begins with.
    pub(super) fn child_of(parent: Parent, lists: Arc<[AllowList]>) -> Self {
        Self {
            lists,
            parent: Some(parent),
            ..Self::default()
        }
    }

    /// Has a session end with this one.
    pub(super) fn adopt(&self, child: &Arc<Cell>) {
        let mut children = lock(&self.children);
        children.retain(|child| child.strong_count() > 0);
        children.push(Arc::downgrade(child));
    }

    /// The next of the sessions that are to end with this one.
    pub(super) fn next_child(&self) -> Option<Arc<Cell>> {
        let mut children = lock(&self.children);
        std::iter::from_fn(|| children.pop()).find_map(|child| child.upgrade())
    }
}
