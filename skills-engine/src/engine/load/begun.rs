use std::sync::Arc;

use crate::session::SessionState;
use crate::skill::{Actor, Level};

/// Bytes of arguments that are kept; the instructions of a skill that was begun with more are told without any.
const MOST_KEPT: usize = 64 * 1024;

/// With which arguments a skill was begun: its instructions are told with them for as long as it stays open, also after
/// the message that it was begun with has gone.
pub(in crate::engine) struct Begun {
    pub(in crate::engine) skill: Arc<str>,
    pub(in crate::engine) arguments: Arc<str>,
    by: Actor,
    /// The version of the session's state.
    at: u64,
}

impl Begun {
    pub(super) fn new(skill: &Arc<str>, arguments: &str, by: Actor, at: u64) -> Self {
        let is_kept = arguments.len() <= MOST_KEPT;
        Self {
            skill: Arc::clone(skill),
            arguments: if is_kept { arguments } else { "" }.into(),
            by,
            at,
        }
    }

    /// Whether the skill was not closed since.
    pub(in crate::engine) fn holds(&self, state: &SessionState) -> bool {
        !state.was_ended(&self.skill, Level::Context, self.by, self.at)
    }
}
