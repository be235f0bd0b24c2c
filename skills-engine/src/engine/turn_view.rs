use std::ops::Deref;
use std::sync::Arc;

use super::epoch::Epoch;
use super::layout::Layout;
use super::view::View;

/// A view as a turn hands it out: the view, and what changed since the turn's last one.
#[derive(Clone, Debug)]
pub struct TurnView {
    view: Arc<View>,
    change: ViewChange,
}

/// How a view differs from the one its turn had before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ViewChange {
    /// It is the first one of its turn.
    First,
    /// In nothing: it is the same `Arc`.
    Unchanged,
    /// In what comes after the openings alone: live values, or what is said again after a compaction.
    Live,
    /// Something was opened: what the earlier prompt said up to its last opening is a prefix of what this one says.
    Appended,
    /// Something was closed, or the skills themselves changed.
    Prefix,
}

impl TurnView {
    pub(super) fn new(view: Arc<View>, change: ViewChange) -> Self {
        Self { view, change }
    }

    /// How it differs from the turn's last view.
    #[must_use]
    pub fn change(&self) -> ViewChange {
        self.change
    }

    /// Whether it is the turn's last view, the same `Arc`.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.change == ViewChange::Unchanged
    }

    /// The view, to keep.
    #[must_use]
    pub fn view(&self) -> &Arc<View> {
        &self.view
    }
}

impl Deref for TurnView {
    type Target = View;

    fn deref(&self) -> &View {
        &self.view
    }
}

/// What changed from one layout to another, live values aside.
pub(super) fn layout_change(before: &View, epoch: &Arc<Epoch>, layout: &Arc<Layout>) -> ViewChange {
    if !Arc::ptr_eq(before.epoch(), epoch) {
        return ViewChange::Prefix;
    }
    if !before.layout().has_rights(&layout.rights) {
        return ViewChange::Prefix;
    }
    if before.layout().steps == layout.steps {
        return ViewChange::Live;
    }
    match layout.steps.strip_prefix(&*before.layout().steps) {
        // What deviates from the catalogue stands first, so it is the same catalogue if none was added.
        Some([added, ..]) if !added.is_deviation() => ViewChange::Appended,
        Some(_) | None => ViewChange::Prefix,
    }
}
