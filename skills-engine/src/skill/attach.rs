use std::fmt;
use std::sync::Arc;

use super::context::{SessionScope, TurnScope};
use super::{Principal, SessionId, TurnId};

/// What a hook may know of the session whose turn begins, and keep in it. Owned and cheap to clone.
#[derive(Clone)]
pub struct AttachContext {
    session: Arc<SessionScope>,
    turn: TurnId,
    skill: Arc<str>,
}

impl AttachContext {
    pub(crate) fn new(session: Arc<SessionScope>, turn: TurnId, skill: Arc<str>) -> Self {
        Self {
            session,
            turn,
            skill,
        }
    }

    /// A context of no session, for calling a hook's method in a test or from plain code.
    #[must_use]
    pub fn detached() -> Self {
        let turn = TurnScope::detached();
        Self::new(Arc::clone(&turn.session), turn.id, Arc::default())
    }

    /// The session whose turn begins.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.session.id
    }

    /// The turn that begins.
    #[must_use]
    pub fn turn_id(&self) -> TurnId {
        self.turn
    }

    /// The session's owner.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.session.principal
    }

    /// A value the host put into the session.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.session.values.get()
    }

    /// What the skill keeps of a type in this session; gone with the session, and no other skill's or session's.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.session.values.state(&self.skill)
    }

    /// Keeps a value for the skill in this session, replacing an earlier one of its type.
    pub fn set_state<T: Send + Sync + 'static>(&self, value: T) {
        self.session.values.set_state(&self.skill, value);
    }

    /// What the skill keeps of a type in this session; made when there is nothing yet. Of two made at once, the first
    /// one stays.
    pub fn state_or_init<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        self.session.values.state_or_init(&self.skill, make)
    }
}

impl fmt::Debug for AttachContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AttachContext")
            .field("session", &self.session.id)
            .field("turn", &self.turn)
            .field("skill", &self.skill)
            .finish_non_exhaustive()
    }
}
