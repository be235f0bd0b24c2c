mod asking;

use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::Notify;

use super::chain::ChainState;
use super::note::{Author, MOST_NOTES, Notebook, checked_data, too_many};
use super::values::SessionValues;
use super::visibility::no_turn;
use super::waits::Waits;
use super::{
    Actor, Fault, Principal, SessionId, TurnAccess, TurnId, TurnRequest, Visibility, lock,
};

/// What lasts as long as a session and is handed to its tools.
#[derive(Debug)]
pub struct SessionScope {
    pub(crate) id: SessionId,
    pub(crate) principal: Principal,
    pub(crate) values: SessionValues,
    /// Tells this session from others of the same name before and after it: a count from 1, kept by the engine.
    pub(crate) incarnation: u64,
    pub(crate) audit_chain: ChainState,
}

impl SessionScope {
    pub(crate) fn new(id: SessionId, principal: Principal, incarnation: u64) -> Self {
        Self {
            id,
            principal,
            values: SessionValues::default(),
            incarnation,
            audit_chain: ChainState::default(),
        }
    }
}

/// How far a call has come.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// The call it belongs to.
    pub call_id: Arc<str>,
    /// How much is done, in the tool's own unit.
    pub done: f64,
    /// How much there is to do, when known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<String>,
}

/// What lasts as long as a turn and is handed to its tools and attributes.
pub(crate) struct TurnScope {
    pub(crate) session: Arc<SessionScope>,
    pub(crate) id: TurnId,
    pub(crate) request: TurnRequest,
    /// Not held: evaluations of attributes last as long as they like, and this holds the session. `None` when there
    /// is no session.
    notebook: Option<Weak<dyn Notebook>>,
    /// How many events each attribute has written, by its position.
    noted: Mutex<Vec<(u32, u32)>>,
}

impl TurnScope {
    pub(crate) fn new(session: Arc<SessionScope>, id: TurnId, request: TurnRequest) -> Self {
        Self {
            session,
            id,
            request,
            notebook: None,
            noted: Mutex::default(),
        }
    }

    /// Says where skills write their events.
    pub(crate) fn notebook(mut self, notebook: Weak<dyn Notebook>) -> Self {
        self.notebook = Some(notebook);
        self
    }

    /// The session's owner, with the roles that counted when the turn began.
    fn principal(&self) -> &Principal {
        let asker = self.request.asker.as_ref();
        asker.map_or(&self.session.principal, |asker| &asker.principal)
    }

    fn note(&self, author: Author, actor: Actor, event: &str, data: String) -> Result<(), Fault> {
        match &self.notebook {
            None => Ok(()),
            Some(notebook) => match notebook.upgrade() {
                Some(notebook) => notebook.note(author, actor, event, data),
                None => Err(Fault::new(
                    super::Code::Cancelled,
                    "the turn has ended. Its attributes write no more events",
                )),
            },
        }
    }

    /// Counts an event of an attribute; false when it has written as many as it may.
    fn count_note(&self, attribute: u32) -> bool {
        let mut noted = lock(&self.noted);
        if let Some((_, count)) = noted.iter_mut().find(|(other, _)| *other == attribute) {
            *count = count.saturating_add(1);
            return *count <= MOST_NOTES;
        }
        noted.push((attribute, 1));
        true
    }

    pub(crate) fn detached() -> Arc<Self> {
        let id = SessionId::new("detached").expect("the id is a legal one");
        let session = Arc::new(SessionScope::new(id, Principal::local(), 0));
        Arc::new(Self::new(session, TurnId(0), TurnRequest::empty()))
    }
}

impl fmt::Debug for TurnScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TurnScope")
            .field("session", &self.session.id)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// What a tool may know of its caller. Owned and cheap to clone.
#[derive(Clone, Debug)]
pub struct ToolContext {
    call: Arc<CallScope>,
}

/// What lasts as long as a call.
struct CallScope {
    // Around the turn's scope, not in it: evaluations of attributes hold that for as long as they like, and this holds
    // the session.
    access: Arc<dyn TurnAccess>,
    id: Arc<str>,
    skill: Arc<str>,
    actor: Actor,
    /// The position of the tool in the turn's registry.
    tool: u32,
    /// How many events it has written.
    noted: AtomicU32,
    /// Whether the call ends where its arguments are known to be good.
    only_checks: bool,
    is_blocking: AtomicBool,
    is_cancelled: AtomicBool,
    cancelled: Notify,
    waits: Waits,
}

impl CallScope {
    fn new(access: Arc<dyn TurnAccess>, id: Arc<str>, actor: Actor) -> Self {
        Self {
            access,
            id,
            skill: Arc::default(),
            actor,
            tool: 0,
            noted: AtomicU32::new(0),
            only_checks: false,
            is_blocking: AtomicBool::new(false),
            is_cancelled: AtomicBool::new(false),
            cancelled: Notify::new(),
            waits: Waits::default(),
        }
    }

    fn turn(&self) -> &TurnScope {
        self.access.scope()
    }
}

impl fmt::Debug for CallScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallScope")
            .field("turn", &self.turn())
            .field("id", &self.id)
            .field("skill", &self.skill)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

impl ToolContext {
    pub(crate) fn new(
        access: Arc<dyn TurnAccess>,
        id: Arc<str>,
        skill: Arc<str>,
        actor: Actor,
        tool: u32,
    ) -> Self {
        let mut call = CallScope::new(access, id, actor);
        call.skill = skill;
        call.tool = tool;
        Self {
            call: Arc::new(call),
        }
    }

    /// A context of no session, for calling a tool's method in a test or from plain code.
    #[must_use]
    pub fn detached() -> Self {
        let turn = TurnScope::detached();
        let call = CallScope::new(no_turn(turn), "detached".into(), Actor::Host);
        Self {
            call: Arc::new(call),
        }
    }

    /// What the call reaches of its turn.
    pub(crate) fn access(&self) -> &dyn TurnAccess {
        &*self.call.access
    }

    /// The session the call belongs to.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.call.turn().session.id
    }

    /// The turn the call belongs to.
    #[must_use]
    pub fn turn_id(&self) -> TurnId {
        self.call.turn().id
    }

    /// The call's own id.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call.id
    }

    /// The session's owner, with the roles that counted when the turn began.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        self.call.turn().principal()
    }

    /// Who makes the call.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.call.actor
    }

    /// A value the host attached to the request.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        self.call.turn().request.attributes.get(name)
    }

    /// A value the host put into the session.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.call.turn().session.values.get()
    }

    /// What the skill keeps of a type in this session; gone with the session, and no other skill's or session's.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.call.turn().session.values.state(&self.call.skill)
    }

    /// Keeps a value for the skill in this session, replacing an earlier one of its type.
    pub fn set_state<T: Send + Sync + 'static>(&self, value: T) {
        self.call
            .turn()
            .session
            .values
            .set_state(&self.call.skill, value);
    }

    /// What the skill keeps of a type in this session; made when there is nothing yet. Of two made at once, the first
    /// one stays.
    pub fn state_or_init<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        self.call
            .turn()
            .session
            .values
            .state_or_init(&self.call.skill, make)
    }

    /// Whether nobody waits for the result any more: the call timed out, or its turn was dropped.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.call.is_cancelled.load(Ordering::Acquire)
    }

    /// Completes once nobody waits for the result any more.
    pub async fn cancelled(&self) {
        loop {
            let mut notified = pin!(self.call.cancelled.notified());
            notified.as_mut().enable();
            if self.is_cancelled() {
                return;
            }
            notified.await;
        }
    }

    pub(crate) fn cancel(&self) {
        self.call.is_cancelled.store(true, Ordering::Release);
        self.call.cancelled.notify_waiters();
    }

    /// Reports how far the call has come; dropped when nobody listens.
    pub fn progress(&self, done: f64, total: Option<f64>, message: Option<String>) {
        if let Some(receive) = &self.call.turn().request.progress {
            receive(Progress {
                call_id: Arc::clone(&self.call.id),
                done,
                total,
                message,
            });
        }
    }

    /// Writes an event of the skill's own into the audit trail, chained with the other records of the session: a name,
    /// `[a-z0-9_.-]{1,64}`, and data, at most 4,096 bytes as JSON. One call writes at most 64.
    ///
    /// The data stands in the trail as it is, so what is secret must not be in it. It is queued, not awaited. In a
    /// [detached](Self::detached) context the event is checked, and written nowhere.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for another name, or data that cannot be written as JSON; `limit_exceeded` for too much data
    /// or too many events; `not_permitted` when the session has ended.
    ///
    /// # Examples
    ///
    /// ```
    /// use serde_json::json;
    /// use skills_engine::skill::ToolContext;
    ///
    /// let cx = ToolContext::detached();
    /// cx.audit("ticket.closed", &json!({ "ticket": "T-1042" }))?;
    /// # Ok::<(), skills_engine::skill::Fault>(())
    /// ```
    pub fn audit<T: Serialize + ?Sized>(&self, event: &str, data: &T) -> Result<(), Fault> {
        let data = checked_data(event, data)?;
        let call = &*self.call;
        let count = |noted: u32| (noted < MOST_NOTES).then_some(noted + 1);
        call.noted
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, count)
            .map_err(|_| too_many())?;
        call.turn()
            .note(Author::Tool(call.tool), call.actor, event, data)
    }

    /// What the call may see and change of its own session.
    #[must_use]
    pub fn visibility(&self) -> &dyn Visibility {
        &self.call
    }
}

/// Which turn of which session looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Viewpoint {
    /// The session's incarnation.
    pub(crate) session: u64,
    pub(crate) turn: TurnId,
}

/// What an attribute may know of who looks at it. Owned and cheap to clone.
#[derive(Clone, Debug)]
pub struct AttributeContext {
    turn: Arc<TurnScope>,
    skill: Arc<str>,
    /// The position of the attribute in the turn's registry.
    attribute: u32,
}

impl AttributeContext {
    /// The context of the attributes of no skill yet.
    pub(crate) fn new(turn: Arc<TurnScope>) -> Self {
        Self {
            turn,
            skill: Arc::default(),
            attribute: 0,
        }
    }

    /// Makes it the context of one attribute of a skill.
    pub(crate) fn enter(&mut self, skill: &Arc<str>, attribute: u32) {
        self.attribute = attribute;
        // Neighbors are mostly of one skill, and counting references costs more than most values.
        if !Arc::ptr_eq(&self.skill, skill) {
            self.skill = Arc::clone(skill);
        }
    }

    pub(crate) fn viewpoint(&self) -> Viewpoint {
        Viewpoint {
            session: self.turn.session.incarnation,
            turn: self.turn.id,
        }
    }

    /// A context of no session, for calling an attribute's method in a test or from plain code.
    #[must_use]
    pub fn detached() -> Self {
        Self::new(TurnScope::detached())
    }

    /// The session that looks.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.turn.session.id
    }

    /// The turn that looks.
    #[must_use]
    pub fn turn_id(&self) -> TurnId {
        self.turn.id
    }

    /// The session's owner, with the roles that counted when the turn began.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        self.turn.principal()
    }

    /// A value the host attached to the request.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        self.turn.request.attributes.get(name)
    }

    /// A value the host put into the session.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.turn.session.values.get()
    }

    /// Writes an event of the skill's own into the audit trail, as [`ToolContext::audit`] does: at most 64 of one
    /// attribute in a turn.
    ///
    /// # Errors
    ///
    /// Those of [`ToolContext::audit`], and `cancelled` when the turn that looked has gone meanwhile.
    pub fn audit<T: Serialize + ?Sized>(&self, event: &str, data: &T) -> Result<(), Fault> {
        let data = checked_data(event, data)?;
        if !self.turn.count_note(self.attribute) {
            return Err(too_many());
        }
        // Whatever is evaluated is evaluated for a model's view.
        let author = Author::Attribute(self.attribute);
        self.turn.note(author, Actor::Model, event, data)
    }

    /// What the skill keeps of a type in this session; gone with the session, and no other skill's or session's.
    #[must_use]
    pub fn state<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.turn.session.values.state(&self.skill)
    }

    /// Keeps a value for the skill in this session, replacing an earlier one of its type.
    pub fn set_state<T: Send + Sync + 'static>(&self, value: T) {
        self.turn.session.values.set_state(&self.skill, value);
    }

    /// What the skill keeps of a type in this session; made when there is nothing yet. Of two made at once, the first
    /// one stays.
    pub fn state_or_init<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        self.turn.session.values.state_or_init(&self.skill, make)
    }
}
