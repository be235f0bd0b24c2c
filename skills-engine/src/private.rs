//! What macro-made code uses. Not public API: anything here may change in any release.

#[path = "private/hooks.rs"]
mod hooks;

pub use ::inventory;
pub use ::serde_json;
use std::any::TypeId;
use std::convert::Infallible;
use std::fmt::Display;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;

pub use self::hooks::{
    AttachAnswer, AttachParameter, ChangedParameter, HookParameter, InstructionsAnswer,
    SupportsAnswer, ToolsAnswer, attach_context, changed_request, hook_answer, hook_parameter,
    pending_hook,
};
pub use crate::skill::{
    Annotations, Argument, Arguments, AttachContext, AttributeContext, AttributeEntry,
    AttributeFault, AttributeValue, BlockEntry, BoxFuture, Cache, Call, Evaluation, Expose, Fault,
    HookAnswer, HookCall, HookEntry, HookFault, HookMethod, Instance, Level, Make, Origin,
    ParamEntry, Place, ReadEntry, Resources, SkillEntry, SkillType, ToolContext, ToolEntry,
    ToolOutput, ToolResult, TurnRequest,
};
use crate::skill::{Code, SchemaFunction, output_schema_of, schema_of, write_json};
#[cfg(feature = "folders")]
pub use crate::source::EmbeddedSkills;
#[cfg(feature = "folders")]
pub use crate::source::folder::{
    Document, EmbeddedFile, EmbeddedFolder, EmbeddedRoot, Read, read_document,
};

/// The instance of `T` behind a handler. The registry pairs handlers with instances by type, so it is one.
pub fn instance<T: Send + Sync + 'static>(instance: &Instance) -> Arc<T> {
    Arc::clone(instance)
        .downcast()
        .unwrap_or_else(|_| unreachable!("handlers are joined to instances by type id"))
}

/// As [`instance`], borrowed.
pub fn instance_ref<T: 'static>(instance: &Instance) -> &T {
    instance
        .downcast_ref()
        .unwrap_or_else(|| unreachable!("handlers are joined to instances by type id"))
}

/// The id of a skill's type.
#[must_use]
pub fn skill_type_id<T: SkillType>() -> TypeId {
    TypeId::of::<T>()
}

/// The schema of a parameter's type: `ArgumentSchema::<T>::FUNCTION`.
///
/// A type without one gets [`NoSchema`], so that only [`Arguments`] reports it, once.
#[derive(Debug)]
pub struct ArgumentSchema<T>(PhantomData<T>);

impl<T: Argument> ArgumentSchema<T> {
    /// Gives the schema.
    pub const FUNCTION: SchemaFunction = schema_of::<T>;
}

/// What [`ArgumentSchema`] says of a type that cannot be a parameter.
pub trait NoSchema {
    /// Stands for a schema in code that does not compile.
    const FUNCTION: SchemaFunction = || serde_json::Value::Null;
}

impl<T> NoSchema for ArgumentSchema<T> {}

/// The schema of a field's type.
#[must_use]
pub fn attribute_schema<T: AttributeValue + ?Sized>() -> serde_json::Value {
    output_schema_of::<T>()
}

/// A type whose values can be the default of a parameter.
#[diagnostic::on_unimplemented(
    message = "a `{Self}` cannot be the default of a parameter",
    note = "the default is shown in the tool's schema; derive `serde::Serialize` for the type"
)]
pub trait DefaultValue: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize> DefaultValue for T {}

/// A default as the schema shows it.
#[must_use]
pub fn default_json<T: DefaultValue>(value: &T) -> serde_json::Value {
    serde_json::to_value(value).unwrap_or_default()
}

/// A type that a text literal can be a default of.
#[diagnostic::on_unimplemented(
    message = "a text cannot be the default of a `{Self}`",
    note = "write a value of the parameter's type: `#[param(default = 10)] limit: u32`"
)]
pub trait FromText {
    /// Converts.
    fn from_text(text: &'static str) -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: From<&'static str>> FromText for T {
    fn from_text(text: &'static str) -> Self {
        text.into()
    }
}

/// A text literal as a default.
#[must_use]
pub fn text_default<T: FromText>(text: &'static str) -> T {
    T::from_text(text)
}

/// What a parameter of type `&T` of a tool may be.
#[diagnostic::on_unimplemented(
    message = "a tool cannot take a `&{Self}`",
    label = "neither a context nor an argument",
    note = "a parameter of type `&T` is the context, `&ToolContext`; an argument is owned, or `&str` or `&[T]`"
)]
pub trait ToolParameter {
    /// The context as the parameter takes it.
    fn of(cx: &ToolContext) -> &Self;
}

impl ToolParameter for ToolContext {
    fn of(cx: &ToolContext) -> &Self {
        cx
    }
}

/// What a tool's parameter of type `&T` is given.
#[must_use]
pub fn tool_context<T: ToolParameter>(cx: &ToolContext) -> &T {
    T::of(cx)
}

/// What a parameter of type `&T` of an attribute may be.
#[diagnostic::on_unimplemented(
    message = "an attribute cannot take a `&{Self}`",
    label = "not the context of an attribute",
    note = "the only parameter of an attribute is `&AttributeContext`"
)]
pub trait AttributeParameter {
    /// The context as the parameter takes it.
    fn of(cx: &AttributeContext) -> &Self;
}

impl AttributeParameter for AttributeContext {
    fn of(cx: &AttributeContext) -> &Self {
        cx
    }
}

/// What an attribute's parameter of type `&T` is given.
#[must_use]
pub fn attribute_context<T: AttributeParameter>(cx: &AttributeContext) -> &T {
    T::of(cx)
}

/// Ends the taking of arguments; a call that only has them checked goes no further.
///
/// # Errors
///
/// What the call comes to when its method must not be run.
pub fn finish(arguments: Arguments<'_>, cx: &ToolContext) -> Result<(), Call> {
    match arguments.finish() {
        Err(fault) => Err(Call::Ready(Err(fault))),
        Ok(()) if cx.only_checks() => Err(Call::Checked),
        Ok(()) => Ok(()),
    }
}

/// Ends a call whose method is not run.
#[must_use]
pub fn refuse(finished: Result<(), Call>) -> Call {
    finished.err().unwrap_or_else(|| {
        Call::Ready(Err(Fault::new(
            Code::InvalidArguments,
            "an argument is missing. Correct the arguments and call again",
        )))
    })
}

/// A call that is awaited.
pub fn pending(future: impl Future<Output = ToolResult> + Send + 'static) -> Call {
    Call::Pending(Box::pin(future))
}

/// A call that blocks.
pub fn blocking(run: impl FnOnce() -> ToolResult + Send + 'static) -> Call {
    Call::Blocking(Box::new(run))
}

/// The value of an async attribute.
pub fn lazy_value(
    future: impl Future<Output = Result<Vec<u8>, AttributeFault>> + Send + 'static,
) -> BoxFuture<'static, Result<Vec<u8>, AttributeFault>> {
    Box::pin(future)
}

/// Splits what a method returned into a value and an error: by type, so that aliases of `Result` work.
#[derive(Debug)]
pub struct Returned<T>(pub T);

/// The error of a `Result` that a member returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a skill's method",
    note = "implement `std::fmt::Display` for it: its text is what the model reads of a failed call"
)]
pub trait ErrorText: Display {}

#[diagnostic::do_not_recommend]
impl<E: Display + ?Sized> ErrorText for E {}

impl<T, E> Returned<Result<T, E>> {
    /// The value of a tool, or its error, of which [`Failed`] makes a fault.
    pub fn tool_value(self) -> Result<T, E> {
        self.0
    }

    /// The value of an attribute.
    pub fn attribute_value(self) -> Result<T, AttributeFault>
    where
        E: ErrorText,
    {
        self.0.map_err(|err| AttributeFault(err.to_string()))
    }
}

/// What [`Returned`] does for a type that is not a `Result`.
pub trait ReturnedPlain {
    /// The type itself.
    type Value;

    /// The value of a tool.
    fn tool_value(self) -> Result<Self::Value, Infallible>;

    /// The value of an attribute.
    fn attribute_value(self) -> Result<Self::Value, AttributeFault>;
}

impl<T> ReturnedPlain for Returned<T> {
    type Value = T;

    fn tool_value(self) -> Result<T, Infallible> {
        Ok(self.0)
    }

    fn attribute_value(self) -> Result<T, AttributeFault> {
        Ok(self.0)
    }
}

/// Turns a tool's error into a fault.
#[derive(Debug)]
pub struct Failed<E>(pub E);

impl Failed<Fault> {
    /// The fault itself, with its code.
    #[must_use]
    pub fn fault(self) -> Fault {
        self.0
    }
}

/// What [`Failed`] does for an error that is not a [`Fault`].
pub trait FailedPlain {
    /// The error itself.
    type Error;

    /// A fault with the error's text.
    fn fault(self) -> Fault
    where
        Self::Error: ErrorText;
}

impl<E> FailedPlain for Failed<E> {
    type Error = E;

    fn fault(self) -> Fault
    where
        E: ErrorText,
    {
        Fault::new(Code::ToolError, self.0.to_string())
    }
}

/// Turns a tool's value into its output.
#[derive(Debug)]
pub struct Output<T>(pub T);

impl Output<ToolOutput> {
    /// The output itself.
    pub fn tool_result(self) -> ToolResult {
        Ok(self.0)
    }
}

impl Output<()> {
    /// Says that it is done: a result of `null` would read as if something was not found.
    pub fn tool_result(self) -> ToolResult {
        Ok(ToolOutput::done())
    }
}

/// A type that a tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a skill tool",
    note = "derive `serde::Serialize` for it, or return a text, `()`, `ToolOutput`, or a `Result` of one of these"
)]
pub trait ToolValue: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> ToolValue for T {}

/// What [`Output`] does for a type that is not a `ToolOutput`.
pub trait OutputPlain {
    /// The type itself.
    type Value;

    /// The value as text or JSON.
    fn tool_result(self) -> ToolResult
    where
        Self::Value: ToolValue;
}

impl<T> OutputPlain for Output<T> {
    type Value = T;

    fn tool_result(self) -> ToolResult
    where
        T: ToolValue,
    {
        ToolOutput::json(&self.0)
    }
}

/// Writes an attribute's value.
pub fn write_attribute<T: AttributeValue + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
) -> Result<(), AttributeFault> {
    write_json(value, out)
}

/// As [`write_attribute`], into a buffer of its own.
pub fn written<T: AttributeValue + ?Sized>(value: &T) -> Result<Vec<u8>, AttributeFault> {
    let mut out = Vec::new();
    write_attribute(value, &mut out)?;
    Ok(out)
}

/// The schema of an attribute's value, that of the `Ok` type for a `Result`: `TypeOf::<T>::new().schema()`.
#[derive(Debug)]
pub struct TypeOf<T: ?Sized>(PhantomData<T>);

impl<T: ?Sized> TypeOf<T> {
    /// Stands for the type.
    #[must_use]
    #[expect(clippy::new_without_default, reason = "only macro-made code uses it")]
    pub const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<T, E> TypeOf<Result<T, E>> {
    /// The schema of the `Ok` type.
    #[must_use]
    pub fn schema(&self) -> serde_json::Value
    where
        T: AttributeValue,
    {
        output_schema_of::<T>()
    }
}

/// What [`TypeOf`] does for a type that is not a `Result`.
pub trait TypeOfPlain {
    /// The type itself.
    type Value: ?Sized;

    /// The schema of the type.
    fn schema(&self) -> serde_json::Value
    where
        Self::Value: AttributeValue;
}

impl<T: ?Sized> TypeOfPlain for TypeOf<T> {
    type Value = T;

    fn schema(&self) -> serde_json::Value
    where
        T: AttributeValue,
    {
        output_schema_of::<T>()
    }
}

/// Whether a type is an `Option`, by type and not by name: `OptionProbe::<T>::IS_OPTION`.
#[derive(Debug)]
pub struct OptionProbe<T>(PhantomData<T>);

impl<T> OptionProbe<Option<T>> {
    /// It is.
    pub const IS_OPTION: bool = true;
}

/// What [`OptionProbe`] says of any other type.
pub trait NotOption {
    /// It is not.
    const IS_OPTION: bool = false;
}

impl<T> NotOption for OptionProbe<T> {}

/// A type that the engine can make by itself.
#[diagnostic::on_unimplemented(
    message = "the engine cannot make a `{Self}`",
    label = "this skill has no `Default`",
    note = "derive or implement `Default`, or write `#[skill(factory = path)]` with a `fn(&Resources) -> Result<Self, E>`, \
            or `#[skill(manual)]` and pass it with `Engine::builder().skill(value)`"
)]
pub trait MadeByDefault: Sized {
    /// Makes one.
    fn make() -> Self;
}

#[diagnostic::do_not_recommend]
impl<T: Default> MadeByDefault for T {
    fn make() -> Self {
        T::default()
    }
}

/// The factory of a skill that is made by `Default`.
pub fn make_default<T: MadeByDefault + SkillType>(
    _resources: &Resources,
) -> Result<Instance, String> {
    Ok(Arc::new(T::make()))
}

/// What a factory of `T` returns.
#[diagnostic::on_unimplemented(
    message = "a factory of `{T}` cannot return `{Self}`",
    note = "a factory is a `fn(&Resources) -> Result<{T}, E>` whose error is `Display`"
)]
pub trait Made<T> {
    /// The instance, or why there is none.
    fn made(self) -> Result<T, String>;
}

#[diagnostic::do_not_recommend]
impl<T, E: Display> Made<T> for Result<T, E> {
    fn made(self) -> Result<T, String> {
        self.map_err(|err| err.to_string())
    }
}

/// Runs the factory an author named.
pub fn make_with<T, R>(
    resources: &Resources,
    factory: impl FnOnce(&Resources) -> R,
) -> Result<Instance, String>
where
    T: SkillType,
    R: Made<T>,
{
    match factory(resources).made() {
        Ok(value) => Ok(Arc::new(value)),
        Err(err) => Err(err),
    }
}
