use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use serde_json::Value;
use tokio::sync::Notify;

use super::visibility::no_visibility;
use super::{Actor, Principal, SessionId, TurnId, TurnRequest, Visibility};

/// Values of the host by type, as a session carries them to its tools.
#[derive(Default)]
pub(crate) struct HostValues {
    // Most sessions carry none, and must then cost no map.
    values: OnceLock<Box<RwLock<ValueMap>>>,
}

type ValueMap = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

impl HostValues {
    /// Puts a value, replacing an earlier one of its type.
    pub(crate) fn put<T: Send + Sync + 'static>(&self, value: T) {
        let map = self.values.get_or_init(Box::default);
        let replaced = map
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(TypeId::of::<T>(), Arc::new(value));
        // Not under the lock: its end may look at the session.
        drop(replaced);
    }

    /// The value of a type, if one was put.
    pub(crate) fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let map = self
            .values
            .get()?
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        map.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }
}

impl fmt::Debug for HostValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("HostValues")
    }
}

/// What lasts as long as a session and is handed to its tools.
#[derive(Debug)]
pub struct SessionScope {
    pub(crate) id: SessionId,
    pub(crate) principal: Principal,
    pub(crate) values: HostValues,
    /// Tells this session from others of the same name before and after it: a count from 1, kept by the engine.
    pub(crate) incarnation: u64,
    pub(crate) audit_chain: ChainState,
}

impl SessionScope {
    pub(crate) fn new(id: SessionId, principal: Principal, incarnation: u64) -> Self {
        Self {
            id,
            principal,
            values: HostValues::default(),
            incarnation,
            audit_chain: ChainState::default(),
        }
    }
}

/// Where a session's audit chain is in its life. The audit log sets and reads it.
#[derive(Debug, Default)]
pub(crate) struct ChainState {
    has_begun: AtomicBool,
    has_ended: AtomicBool,
}

impl ChainState {
    /// Something of the session was handed to the audit log.
    pub(crate) fn begin(&self) {
        // Mostly it is set already, and a store would take the cache line away from other threads.
        if !self.has_begun() {
            self.has_begun.store(true, Ordering::Release);
        }
    }

    /// The session's end was: what comes later belongs to no chain of its own any more.
    pub(crate) fn end(&self) {
        self.has_ended.store(true, Ordering::Release);
    }

    pub(crate) fn has_begun(&self) -> bool {
        self.has_begun.load(Ordering::Acquire)
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
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
}

impl TurnScope {
    pub(crate) fn new(session: Arc<SessionScope>, id: TurnId, request: TurnRequest) -> Self {
        Self {
            session,
            id,
            request,
        }
    }

    fn detached() -> Arc<Self> {
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
    turn: Arc<TurnScope>,
    // Not in the turn's scope: evaluations of attributes hold that for as long as they like, and this holds the session.
    visibility: Arc<dyn Visibility>,
    id: Arc<str>,
    actor: Actor,
    is_cancelled: AtomicBool,
    cancelled: Notify,
}

impl fmt::Debug for CallScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("CallScope")
            .field("turn", &self.turn)
            .field("id", &self.id)
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}

impl ToolContext {
    pub(crate) fn new(
        turn: Arc<TurnScope>,
        visibility: Arc<dyn Visibility>,
        id: Arc<str>,
        actor: Actor,
    ) -> Self {
        let call = CallScope {
            turn,
            visibility,
            id,
            actor,
            is_cancelled: AtomicBool::new(false),
            cancelled: Notify::new(),
        };
        Self {
            call: Arc::new(call),
        }
    }

    /// A context of no session, for calling a tool's method in a test or from plain code.
    #[must_use]
    pub fn detached() -> Self {
        Self::new(
            TurnScope::detached(),
            no_visibility(),
            "detached".into(),
            Actor::Host,
        )
    }

    /// The session the call belongs to.
    #[must_use]
    pub fn session_id(&self) -> &SessionId {
        &self.call.turn.session.id
    }

    /// The turn the call belongs to.
    #[must_use]
    pub fn turn_id(&self) -> TurnId {
        self.call.turn.id
    }

    /// The call's own id.
    #[must_use]
    pub fn call_id(&self) -> &str {
        &self.call.id
    }

    /// The session's owner.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.call.turn.session.principal
    }

    /// Who makes the call.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.call.actor
    }

    /// A value the host attached to the request.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&Value> {
        self.call.turn.request.attributes.get(name)
    }

    /// A value the host put into the session.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.call.turn.session.values.get()
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
        if let Some(receive) = &self.call.turn.request.progress {
            receive(Progress {
                call_id: Arc::clone(&self.call.id),
                done,
                total,
                message,
            });
        }
    }

    /// What the call may see and change of its own session.
    #[must_use]
    pub fn visibility(&self) -> &dyn Visibility {
        &*self.call.visibility
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
}

impl AttributeContext {
    pub(crate) fn new(turn: Arc<TurnScope>) -> Self {
        Self { turn }
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

    /// The session's owner.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.turn.session.principal
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_values_are_found_by_type() {
        let values = HostValues::default();
        assert_eq!(values.get::<u32>(), None);
        values.put(7_u32);
        values.put("tenant");
        assert_eq!(values.get::<u32>().as_deref(), Some(&7));
        assert_eq!(values.get::<&str>().as_deref(), Some(&"tenant"));
        values.put(8_u32);
        assert_eq!(values.get::<u32>().as_deref(), Some(&8));
    }
}
