use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use serde_json::Value;

use super::super::visibility::{no_turn, sealed};
use super::super::{
    Actor, BoxFuture, Cleared, Clock, Fault, Question, SetVisibility, SkillMatch, SkillVisibility,
    Visibility, VisibilityChange,
};
use super::{CallScope, ToolContext, TurnScope};

impl sealed::Sealed for Arc<CallScope> {}

/// What the call's turn allows, told which call it is that asks.
impl Visibility for Arc<CallScope> {
    fn set(&self, mut request: SetVisibility) -> BoxFuture<'_, Result<VisibilityChange, Fault>> {
        request.call = Some(ToolContext {
            call: Self::clone(self),
        });
        self.access.set(request)
    }

    fn get(&self) -> BoxFuture<'_, Result<Vec<SkillVisibility>, Fault>> {
        self.access.get()
    }

    fn clear<'a>(&'a self, skill: Option<&'a str>) -> BoxFuture<'a, Result<Cleared, Fault>> {
        self.access.clear(skill)
    }

    fn search<'a>(&'a self, query: &'a str) -> BoxFuture<'a, Result<Vec<SkillMatch>, Fault>> {
        self.access.search(query)
    }
}

impl ToolContext {
    /// A context under which a handler checks the arguments it is given, and runs nothing.
    pub(crate) fn checking() -> Self {
        let turn = TurnScope::detached();
        let mut call = CallScope::new(no_turn(turn), "checking".into(), Actor::System);
        call.only_checks = true;
        Self {
            call: Arc::new(call),
        }
    }

    pub(crate) fn only_checks(&self) -> bool {
        self.call.only_checks
    }

    /// Asks the person the session belongs to, and waits for the reply.
    ///
    /// It goes the way of approvals: to the host's handler, or to a list that the host answers from later. The time
    /// until then does not count against the time the tool may take. How the reply is to be read is the tool's business:
    /// it is not checked against the question's schema.
    ///
    /// # Errors
    ///
    /// `approval_denied` when the person refuses to answer, `approval_required` when nobody can be asked, `timeout` when
    /// nobody answered within `limits.approval_ttl`, `cancelled` when nobody waits for the call any more,
    /// `limit_exceeded` for a question that is too long and when too much waits for a person already, and
    /// `not_permitted` under a [detached](Self::detached) context, from a `blocking` tool, and in a session that has
    /// ended.
    pub fn ask(&self, question: impl Into<Question>) -> BoxFuture<'_, Result<Value, Fault>> {
        self.call.access.ask(self, question.into())
    }

    /// The position of the tool in the turn's registry.
    pub(crate) fn tool(&self) -> u32 {
        self.call.tool
    }

    pub(crate) fn shared_call_id(&self) -> &Arc<str> {
        &self.call.id
    }

    /// Notes that the call holds a thread.
    pub(crate) fn set_blocking(&self) {
        self.call.is_blocking.store(true, Ordering::Release);
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.call.is_blocking.load(Ordering::Acquire)
    }

    /// Notes that the call waits for a person, until the guard is dropped.
    pub(crate) fn wait_for_person(&self, clock: &Arc<dyn Clock>) -> WaitForPerson {
        self.call.waits.begin(clock.monotonic_nanos());
        WaitForPerson {
            cx: self.clone(),
            clock: Arc::clone(clock),
        }
    }

    /// How long the call has waited for a person, up to a monotonic reading.
    pub(crate) fn waited(&self, reading: u64) -> Duration {
        self.call.waits.waited(reading)
    }

    pub(crate) fn is_waiting(&self) -> bool {
        self.call.waits.is_waiting()
    }

    /// Completes once the call waits for no person.
    pub(crate) async fn waits_are_over(&self) {
        self.call.waits.over().await;
    }
}

/// A call that waits for a person.
pub(crate) struct WaitForPerson {
    cx: ToolContext,
    clock: Arc<dyn Clock>,
}

impl Drop for WaitForPerson {
    fn drop(&mut self) {
        self.cx.call.waits.end(self.clock.monotonic_nanos());
    }
}
