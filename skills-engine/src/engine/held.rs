//! What the engine's maps are keyed by: there may be very many entries, so nothing is in them twice.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use super::cell::Cell;
use crate::skill::Principal;

/// A session that is found by its key, which it holds itself.
pub(super) struct Held(pub(super) Arc<Cell>);

impl Held {
    fn key(&self) -> &str {
        self.0.scope.id.text()
    }
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Held {}

impl Hash for Held {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key().hash(state);
    }
}

impl Borrow<str> for Held {
    fn borrow(&self) -> &str {
        self.key()
    }
}

/// A principal that is found by its id, whatever its roles.
pub(super) struct ById(pub(super) Principal);

impl PartialEq for ById {
    fn eq(&self, other: &Self) -> bool {
        self.0.id() == other.0.id()
    }
}

impl Eq for ById {}

impl Hash for ById {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.id().hash(state);
    }
}

impl Borrow<str> for ById {
    fn borrow(&self) -> &str {
        self.0.id()
    }
}
