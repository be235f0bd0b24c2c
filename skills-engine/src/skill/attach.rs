use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Weak};

use serde::Serialize;

use super::context::{SessionScope, TurnScope};
use super::note::{Author, MOST_NOTES, Notebook, checked_data, too_many};
use super::{Actor, Asker, Code, Fault, Principal, SessionId, TurnId};

/// What a hook may know of the session whose turn begins, and keep in it. Owned and cheap to clone.
#[derive(Clone)]
pub struct AttachContext {
    session: Arc<SessionScope>,
    turn: TurnId,
    principal: Principal,
    skill: Arc<str>,
    notes: Notes,
}

/// Where the hooks of one skill write their events, and how many they have written.
#[derive(Clone, Default)]
struct Notes {
    /// The position of the skill in the turn's registry.
    skill: u32,
    /// Not held: a context lasts as long as its hook likes. `None` when there is no session.
    notebook: Option<Weak<dyn Notebook>>,
    written: Arc<AtomicU32>,
}

impl AttachContext {
    pub(crate) fn new(
        session: Arc<SessionScope>,
        turn: TurnId,
        asker: &Asker,
        skill: Arc<str>,
    ) -> Self {
        Self {
            session,
            turn,
            principal: asker.principal.clone(),
            skill,
            notes: Notes::default(),
        }
    }

    /// Says where its skill, by its position, writes events.
    pub(crate) fn notebook(mut self, skill: u32, notebook: Weak<dyn Notebook>) -> Self {
        self.notes.skill = skill;
        self.notes.notebook = Some(notebook);
        self
    }

    /// A context of no session, for calling a hook's method in a test or from plain code.
    #[must_use]
    pub fn detached() -> Self {
        let turn = TurnScope::detached();
        let asker = Asker {
            principal: turn.session.principal.clone(),
            session: turn.session.id.clone(),
        };
        Self::new(Arc::clone(&turn.session), turn.id, &asker, Arc::default())
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

    /// The session's owner, with the roles that count when the turn begins.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.principal
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

    /// Writes an event of the skill's own into the audit trail, as [`ToolContext::audit`](super::ToolContext::audit)
    /// does: at most 64 of one skill's hooks in a turn.
    ///
    /// # Errors
    ///
    /// Those of [`ToolContext::audit`](super::ToolContext::audit), and `cancelled` once the turn has begun.
    pub fn audit<T: Serialize + ?Sized>(&self, event: &str, data: &T) -> Result<(), Fault> {
        let data = checked_data(event, data)?;
        let Some(notebook) = &self.notes.notebook else {
            return Ok(());
        };
        let count = |written: u32| (written < MOST_NOTES).then_some(written + 1);
        let written = &self.notes.written;
        if written
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, count)
            .is_err()
        {
            return Err(too_many());
        }
        let notebook = notebook.upgrade().ok_or_else(|| {
            Fault::new(
                Code::Cancelled,
                "the turn has begun. Its hooks write no more events",
            )
        })?;
        notebook.note(Author::Hooks(self.notes.skill), Actor::System, event, data)
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
