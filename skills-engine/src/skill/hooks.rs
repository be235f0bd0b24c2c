use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::{AttachContext, BoxFuture, HookEntry, Instance, Tool, TurnRequest};

/// Why a hook gave no answer. The message goes to logs, never to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HookFault(pub String);

impl HookFault {
    /// A fault with the text of an error.
    #[must_use]
    pub fn new(err: impl fmt::Display) -> Self {
        Self(err.to_string())
    }
}

/// Which tools of its own a skill offers in one turn.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum ToolSelection {
    /// All it is registered with.
    #[default]
    All,
    /// Those with these names alone; the others are not there in this turn. A name that it has no tool of is an error.
    Only(Vec<Cow<'static, str>>),
    /// These in place of those it is registered with. They obey levels as any other.
    Replace(Vec<Tool>),
}

impl ToolSelection {
    /// The tools with these names alone.
    pub fn only<N: Into<Cow<'static, str>>>(names: impl IntoIterator<Item = N>) -> Self {
        Self::Only(names.into_iter().map(Into::into).collect())
    }

    /// These tools in place of those it is registered with.
    pub fn replace(tools: impl IntoIterator<Item = Tool>) -> Self {
        Self::Replace(tools.into_iter().collect())
    }

    /// None at all.
    #[must_use]
    pub fn none() -> Self {
        Self::Only(Vec::new())
    }
}

/// A hook that was begun: it has answered already, or answers when awaited.
#[non_exhaustive]
pub enum HookCall<'a, T> {
    /// Answered.
    Ready(Result<T, HookFault>),
    /// Answers when awaited; dropping it ends the hook.
    Pending(BoxFuture<'a, Result<T, HookFault>>),
}

impl<T> fmt::Debug for HookCall<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Pending(_) => "Pending",
        })
    }
}

/// What a hook may return where an answer of type `T` is wanted: the answer, or a `Result` of it.
///
/// Instructions (`Option<String>`) may also be a text, or an `Option` of any kind of text.
#[diagnostic::on_unimplemented(
    message = "a hook cannot answer with `{Self}`",
    label = "the answer is `{T}`",
    note = "return `{T}`, or a `Result<{T}, E>` whose error is `Display`"
)]
pub trait HookAnswer<T> {
    /// The answer, or why there is none.
    ///
    /// # Errors
    ///
    /// When the hook failed.
    fn answer(self) -> Result<T, HookFault>;
}

#[diagnostic::do_not_recommend]
impl HookAnswer<()> for () {
    fn answer(self) -> Result<(), HookFault> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl HookAnswer<bool> for bool {
    fn answer(self) -> Result<bool, HookFault> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl HookAnswer<ToolSelection> for ToolSelection {
    fn answer(self) -> Result<ToolSelection, HookFault> {
        Ok(self)
    }
}

#[diagnostic::do_not_recommend]
impl HookAnswer<Option<String>> for String {
    fn answer(self) -> Result<Option<String>, HookFault> {
        Ok(Some(self))
    }
}

#[diagnostic::do_not_recommend]
impl HookAnswer<Option<String>> for &str {
    fn answer(self) -> Result<Option<String>, HookFault> {
        Ok(Some(self.to_owned()))
    }
}

#[diagnostic::do_not_recommend]
impl HookAnswer<Option<String>> for Cow<'_, str> {
    fn answer(self) -> Result<Option<String>, HookFault> {
        Ok(Some(self.into_owned()))
    }
}

#[diagnostic::do_not_recommend]
impl<S: Into<String>> HookAnswer<Option<String>> for Option<S> {
    fn answer(self) -> Result<Option<String>, HookFault> {
        Ok(self.map(Into::into))
    }
}

#[diagnostic::do_not_recommend]
impl<T, A: HookAnswer<T>, E: fmt::Display> HookAnswer<T> for Result<A, E> {
    fn answer(self) -> Result<T, HookFault> {
        self.map_err(HookFault::new)?.answer()
    }
}

/// Begins a hook that only reads the request.
pub(crate) type Ask<T> =
    dyn for<'a> Fn(&'a TurnRequest, &'a AttachContext) -> HookCall<'a, T> + Send + Sync;
/// Begins a hook that may change the request.
pub(crate) type Attach =
    dyn for<'a> Fn(&'a mut TurnRequest, &'a AttachContext) -> HookCall<'a, ()> + Send + Sync;

/// What a skill has to say about the request of each turn before it takes part.
///
/// All are asked once per turn, `on_attach` only after `supports` said yes, instructions and tools only of the request
/// as every `on_attach` left it. The plain forms run in the turn's own task, so they must be cheap; what waits belongs
/// into the `_async` forms. A hook that fails, panics or takes too long leaves its skill out of the turn.
///
/// # Examples
///
/// ```
/// use skills_engine::skill::{Hooks, TurnRequest};
///
/// let hooks = Hooks::new()
///     .supports(|request: &TurnRequest| request.attributes.contains_key("tenant"))
///     .instructions_async(|request, _cx| Box::pin(async move {
///         let tenant = request.attributes.get("tenant")?.as_str()?;
///         Some(format!("Answer for {tenant} alone."))
///     }));
/// assert!(!hooks.is_empty());
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Hooks {
    pub(crate) supports: Option<Arc<Ask<bool>>>,
    pub(crate) on_attach: Option<Arc<Attach>>,
    pub(crate) instructions: Option<Arc<Ask<Option<String>>>>,
    pub(crate) tools: Option<Arc<Ask<ToolSelection>>>,
}

/// Makes the closure of a sync hook: it has answered when it returns.
fn ready<T, R: HookAnswer<T>>(
    hook: impl Fn(&TurnRequest) -> R + Send + Sync + 'static,
) -> Arc<Ask<T>> {
    Arc::new(move |request, _| HookCall::Ready(hook(request).answer()))
}

/// Makes the closure of an async hook.
fn pending<T, R: HookAnswer<T> + 'static>(
    hook: impl for<'a> Fn(&'a TurnRequest, &'a AttachContext) -> BoxFuture<'a, R>
    + Send
    + Sync
    + 'static,
) -> Arc<Ask<T>> {
    Arc::new(move |request, cx| {
        let answer = hook(request, cx);
        HookCall::Pending(Box::pin(async move { answer.await.answer() }))
    })
}

impl Hooks {
    /// No hook at all.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what says whether the skill takes part in a turn.
    pub fn supports<R: HookAnswer<bool>>(
        mut self,
        hook: impl Fn(&TurnRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        self.supports = Some(ready(hook));
        self
    }

    /// As [`supports`](Self::supports), for one that waits.
    pub fn supports_async<R: HookAnswer<bool> + 'static>(
        mut self,
        hook: impl for<'a> Fn(&'a TurnRequest, &'a AttachContext) -> BoxFuture<'a, R>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.supports = Some(pending(hook));
        self
    }

    /// Sets what is done when the skill takes part: it may change the request, and fill the skill's session state.
    pub fn on_attach<R: HookAnswer<()>>(
        mut self,
        hook: impl Fn(&mut TurnRequest, &AttachContext) -> R + Send + Sync + 'static,
    ) -> Self {
        self.on_attach = Some(Arc::new(move |request, cx| {
            HookCall::Ready(hook(request, cx).answer())
        }));
        self
    }

    /// As [`on_attach`](Self::on_attach), for one that waits.
    pub fn on_attach_async<R: HookAnswer<()> + 'static>(
        mut self,
        hook: impl for<'a> Fn(&'a mut TurnRequest, &'a AttachContext) -> BoxFuture<'a, R>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.on_attach = Some(Arc::new(move |request, cx| {
            let answer = hook(request, cx);
            HookCall::Pending(Box::pin(async move { answer.await.answer() }))
        }));
        self
    }

    /// Sets what gives the turn's own instructions, shown from CONTEXT on.
    pub fn instructions<R: HookAnswer<Option<String>>>(
        mut self,
        hook: impl Fn(&TurnRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        self.instructions = Some(ready(hook));
        self
    }

    /// As [`instructions`](Self::instructions), for one that waits.
    pub fn instructions_async<R: HookAnswer<Option<String>> + 'static>(
        mut self,
        hook: impl for<'a> Fn(&'a TurnRequest, &'a AttachContext) -> BoxFuture<'a, R>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.instructions = Some(pending(hook));
        self
    }

    /// Sets what selects the tools of the turn.
    pub fn tools<R: HookAnswer<ToolSelection>>(
        mut self,
        hook: impl Fn(&TurnRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        self.tools = Some(ready(hook));
        self
    }

    /// As [`tools`](Self::tools), for one that waits.
    pub fn tools_async<R: HookAnswer<ToolSelection> + 'static>(
        mut self,
        hook: impl for<'a> Fn(&'a TurnRequest, &'a AttachContext) -> BoxFuture<'a, R>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        self.tools = Some(pending(hook));
        self
    }

    /// Sets a hook to a method of an annotated type.
    pub(crate) fn method(mut self, entry: HookEntry, instance: &Instance) -> Self {
        let instance = Arc::clone(instance);
        match entry {
            HookEntry::Supports(call) => {
                self.supports = Some(Arc::new(move |request, cx| call(&instance, request, cx)));
            }
            HookEntry::OnAttach(call) => {
                self.on_attach = Some(Arc::new(move |request, cx| call(&instance, request, cx)));
            }
            HookEntry::Instructions(call) => {
                self.instructions = Some(Arc::new(move |request, cx| call(&instance, request, cx)));
            }
            HookEntry::Tools(call) => {
                self.tools = Some(Arc::new(move |request, cx| call(&instance, request, cx)));
            }
        }
        self
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self {
            supports,
            on_attach,
            instructions,
            tools,
        } = self;
        supports.is_none() && on_attach.is_none() && instructions.is_none() && tools.is_none()
    }
}

impl fmt::Debug for Hooks {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            supports,
            on_attach,
            instructions,
            tools,
        } = self;
        formatter
            .debug_struct("Hooks")
            .field("supports", &supports.is_some())
            .field("on_attach", &on_attach.is_some())
            .field("instructions", &instructions.is_some())
            .field("tools", &tools.is_some())
            .finish()
    }
}
