//! What macro-made code of hooks uses.

use crate::skill::{AttachContext, HookAnswer, HookCall, HookFault, ToolSelection, TurnRequest};

/// What a parameter of type `&T` of a hook may be.
#[diagnostic::on_unimplemented(
    message = "a hook cannot take a `&{Self}`",
    label = "neither the request nor its context",
    note = "a hook takes `&TurnRequest`, and `&AttachContext` where it needs the session"
)]
pub trait HookParameter {
    /// What the parameter takes.
    fn of<'a>(request: &'a TurnRequest, cx: &'a AttachContext) -> &'a Self;
}

impl HookParameter for TurnRequest {
    fn of<'a>(request: &'a TurnRequest, _cx: &'a AttachContext) -> &'a Self {
        request
    }
}

impl HookParameter for AttachContext {
    fn of<'a>(_request: &'a TurnRequest, cx: &'a AttachContext) -> &'a Self {
        cx
    }
}

/// What a hook's parameter of type `&T` is given.
#[must_use]
pub fn hook_parameter<'a, T: HookParameter>(
    request: &'a TurnRequest,
    cx: &'a AttachContext,
) -> &'a T {
    T::of(request, cx)
}

/// What a parameter of type `&T` of a hook may be that changes the request.
#[diagnostic::on_unimplemented(
    message = "a hook that changes the request cannot take a `&{Self}`",
    label = "not the context of a hook",
    note = "beside `&mut TurnRequest` it takes `&AttachContext` where it needs the session"
)]
pub trait AttachParameter {
    /// The context as the parameter takes it.
    fn of(cx: &AttachContext) -> &Self;
}

impl AttachParameter for AttachContext {
    fn of(cx: &AttachContext) -> &Self {
        cx
    }
}

/// What a parameter of type `&T` of a hook is given that changes the request.
#[must_use]
pub fn attach_context<T: AttachParameter>(cx: &AttachContext) -> &T {
    T::of(cx)
}

/// What a parameter of type `&mut T` of a hook may be.
#[diagnostic::on_unimplemented(
    message = "a hook cannot change `{Self}`",
    label = "not the request",
    note = "what a hook may change is the request, `&mut TurnRequest`; its context is `&AttachContext`"
)]
pub trait ChangedParameter {
    /// The request as the parameter takes it.
    fn of(request: &mut TurnRequest) -> &mut Self;
}

impl ChangedParameter for TurnRequest {
    fn of(request: &mut TurnRequest) -> &mut Self {
        request
    }
}

/// What a hook's parameter of type `&mut T` is given.
pub fn changed_request<T: ChangedParameter>(request: &mut TurnRequest) -> &mut T {
    T::of(request)
}

/// What `#[skill(supports)]` answers with.
pub type SupportsAnswer = bool;
/// What `#[skill(on_attach)]` answers with.
pub type AttachAnswer = ();
/// What `#[skill(instructions)]` answers with.
pub type InstructionsAnswer = Option<String>;
/// What `#[skill(tools)]` answers with.
pub type ToolsAnswer = ToolSelection;

/// What a hook's method returned.
pub fn hook_answer<T, A: HookAnswer<T>>(answer: A) -> Result<T, HookFault> {
    answer.answer()
}

/// A hook that is awaited.
pub fn pending_hook<'a, T>(
    future: impl Future<Output = Result<T, HookFault>> + Send + 'a,
) -> HookCall<'a, T> {
    HookCall::Pending(Box::pin(future))
}
