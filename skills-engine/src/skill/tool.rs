use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use serde::Serialize;

use super::arguments::{check_names, decode_whole};
use super::output::IntoToolResult;
use super::schema::{SchemaCache, SchemaFunction, SchemaSource};
use super::{
    Argument, BoxFuture, Code, Expose, Fault, Instance, Level, ParamEntry, ToolContext, ToolOutput,
    check_tool_name, schema_of,
};

/// What a handler gives back.
pub type ToolResult = Result<ToolOutput, Fault>;

/// A call that was begun: finished already, a future, or work for a thread.
///
/// Everything in it is owned, so that the engine can drop it, or let it finish after its caller has gone.
#[non_exhaustive]
pub enum Call {
    /// Finished.
    Ready(ToolResult),
    /// Finishes when awaited; dropping it cancels the call.
    Pending(BoxFuture<'static, ToolResult>),
    /// Blocks: the engine runs it on a thread of its own pool.
    Blocking(Box<dyn FnOnce() -> ToolResult + Send>),
    /// Was not begun: it was only asked whether its arguments are good, and they are.
    Checked,
}

impl fmt::Debug for Call {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready(result) => formatter.debug_tuple("Ready").field(result).finish(),
            Self::Pending(_) => formatter.write_str("Pending"),
            Self::Blocking(_) => formatter.write_str("Blocking"),
            Self::Checked => formatter.write_str("Checked"),
        }
    }
}

/// What a tool's author says of its effects, with the words of MCP's tool annotations. Hints, not guarantees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the four hints of MCP, each independent of the others"
)]
pub struct Annotations {
    /// It changes nothing.
    #[serde(rename = "readOnlyHint")]
    pub read_only: bool,
    /// It may destroy something.
    #[serde(rename = "destructiveHint")]
    pub destructive: bool,
    /// Calling it twice with the same arguments does what calling it once does.
    #[serde(rename = "idempotentHint")]
    pub idempotent: bool,
    /// It reaches things outside the program, such as the web.
    #[serde(rename = "openWorldHint")]
    pub open_world: bool,
}

impl Annotations {
    /// All four hints, in the order of the fields.
    #[must_use]
    #[expect(
        clippy::fn_params_excessive_bools,
        reason = "macro-made code calls it; people use the builder methods"
    )]
    pub const fn new(
        read_only: bool,
        destructive: bool,
        idempotent: bool,
        open_world: bool,
    ) -> Self {
        Self {
            read_only,
            destructive,
            idempotent,
            open_world,
        }
    }
}

/// Where a tool's input schema comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum InputSchema {
    /// Declared parameters of an annotated method.
    #[doc(hidden)]
    Parameters(&'static [ParamEntry]),
    /// The type of the arguments; normalized so that providers accept it.
    Type(fn() -> serde_json::Value),
    /// A hand-written schema, passed through untouched.
    Json(Arc<str>),
}

/// What is known of a tool without calling it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolDefinition {
    /// Name, `[a-zA-Z0-9_]{1,64}`, unique among the skill's tools.
    pub name: Cow<'static, str>,
    /// Name for people.
    pub title: Option<Cow<'static, str>>,
    /// What the tool does.
    pub description: Cow<'static, str>,
    /// The level it is visible from.
    pub level: Level,
    /// When it is visible.
    pub expose: Expose,
    /// Whether its result is the answer, without another model call.
    pub return_direct: bool,
    /// How long it may take; `None` is the engine's `tool_timeout`.
    pub timeout: Option<Duration>,
    /// What its author says of its effects.
    pub annotations: Annotations,
    /// Whether a person must approve each call; where nobody can be asked, calls are refused as `approval_required`.
    pub requires_approval: bool,
    /// Names of the arguments whose values are for the tool alone: never in the audit trail, logs, or errors.
    pub sensitive: Vec<Cow<'static, str>>,
    /// Where the input schema comes from.
    pub input_schema: InputSchema,
}

/// A closure that begins a call from its arguments, as JSON text.
pub(crate) type CallClosure = dyn Fn(&[u8], &ToolContext, Quoting) -> Call + Send + Sync;

/// Whether errors about arguments may quote them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    Allowed,
    /// At least one of the arguments is sensitive.
    Forbidden,
}

/// The arguments of a tool of a builder that takes none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[non_exhaustive]
pub struct NoArguments {}

/// Written by hand: derived, the type's documentation would be the description of every such schema.
impl schemars::JsonSchema for NoArguments {
    fn schema_name() -> Cow<'static, str> {
        Cow::Borrowed("NoArguments")
    }

    fn json_schema(_generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "object", "properties": {} })
    }
}

/// How a tool is called.
#[derive(Clone)]
pub(crate) enum ToolHandler {
    /// A closure.
    Closure(Arc<CallClosure>, Quoting),
    /// A method of an annotated type.
    Method(Instance, fn(&Instance, &[u8], &ToolContext) -> Call),
}

impl ToolHandler {
    /// Begins a call. `arguments` is JSON text.
    pub(crate) fn call(&self, arguments: &[u8], cx: &ToolContext) -> Call {
        match self {
            Self::Closure(call, quoting) => call(arguments, cx, *quoting),
            Self::Method(instance, call) => call(instance, arguments, cx),
        }
    }

    /// Whether the arguments of a call are good, as far as that can be told without running it.
    pub(crate) fn check(&self, arguments: &[u8]) -> Result<(), Fault> {
        let cx = ToolContext::checking();
        let checked = catch_unwind(AssertUnwindSafe(|| self.call(arguments, &cx)));
        match checked {
            Ok(Call::Ready(Err(fault))) => Err(fault),
            Ok(_) => Ok(()),
            Err(_) => Err(Fault::new(
                Code::Panic,
                "the tool failed at its arguments. Do not repeat the call; try another way",
            )),
        }
    }
}

impl fmt::Debug for ToolHandler {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Closure(..) => "Closure",
            Self::Method(..) => "Method",
        })
    }
}

/// An action a skill offers: a definition and how it is called.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Tool {
    /// What is known without calling.
    pub definition: ToolDefinition,
    pub(crate) handler: ToolHandler,
}

impl Tool {
    pub(crate) fn from_parts(definition: ToolDefinition, handler: ToolHandler) -> Self {
        Self {
            definition,
            handler,
        }
    }

    fn with_handler(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        input_schema: InputSchema,
        handler: Arc<CallClosure>,
    ) -> Self {
        let definition = ToolDefinition {
            name: name.into(),
            title: None,
            description: description.into(),
            level: Level::Context,
            expose: Expose::Psl,
            return_direct: false,
            timeout: None,
            annotations: Annotations::default(),
            requires_approval: false,
            sensitive: Vec::new(),
            input_schema,
        };
        Self {
            definition,
            handler: ToolHandler::Closure(handler, Quoting::Allowed),
        }
    }

    /// A tool from an async closure over typed arguments; their type, a struct with named fields, gives the input
    /// schema. A tool without arguments takes [`NoArguments`].
    ///
    /// # Examples
    ///
    /// ```
    /// use skills_engine::skill::{Tool, ToolContext};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Add {
    ///     left: i64,
    ///     right: i64,
    /// }
    ///
    /// let add = Tool::new("add", "Adds two numbers.", |add: Add, _cx: ToolContext| async move {
    ///     add.left.checked_add(add.right).ok_or("the sum is too large")
    /// });
    /// assert_eq!(add.definition.name, "add");
    /// ```
    pub fn new<A, F>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        call: impl Fn(A, ToolContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: Argument,
        F: Future<Output: IntoToolResult> + Send + 'static,
    {
        let known = OnceLock::new();
        let handler = move |arguments: &[u8], cx: &ToolContext, quoting| {
            let known = known.get_or_init(|| property_names(schema_of::<A>));
            let guard = (quoting == Quoting::Forbidden).then_some(&**known);
            match check_names(arguments, known).and_then(|()| decode_whole::<A>(arguments, guard)) {
                Ok(_) if cx.only_checks() => Call::Checked,
                Ok(arguments) => {
                    let future = call(arguments, cx.clone());
                    Call::Pending(Box::pin(async move { future.await.into_tool_result() }))
                }
                Err(fault) => Call::Ready(Err(fault)),
            }
        };
        Self::with_handler(
            name,
            description,
            InputSchema::Type(schema_of::<A>),
            Arc::new(handler),
        )
    }

    /// Takes a foreign tool in: a JSON Schema text, passed through untouched, and an async closure over JSON.
    ///
    /// Arguments are not checked against the schema: the closure must do that.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when `input_schema` is not a JSON object that says `"type": "object"`.
    pub fn from_json<F>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        input_schema: &str,
        call: impl Fn(serde_json::Value, ToolContext) -> F + Send + Sync + 'static,
    ) -> Result<Self, Fault>
    where
        F: Future<Output: IntoToolResult> + Send + 'static,
    {
        let name = name.into();
        let parsed =
            serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(input_schema);
        if let Ok(schema) = &parsed
            && schema.get("type").and_then(serde_json::Value::as_str) != Some("object")
        {
            return Err(Fault::new(
                Code::InvalidArguments,
                format!(
                    "the input schema of `{name}` does not say `\"type\": \"object\"`; arguments are always an object"
                ),
            ));
        }
        if let Err(err) = parsed {
            return Err(Fault::new(
                Code::InvalidArguments,
                format!(
                    "the input schema of `{name}` is not a JSON object ({err}); give a JSON Schema of type object"
                ),
            ));
        }
        let handler = move |arguments: &[u8], cx: &ToolContext, _| match decode_whole::<
            serde_json::Value,
        >(arguments, None)
        {
            Ok(_) if cx.only_checks() => Call::Checked,
            Ok(arguments) => {
                let future = call(arguments, cx.clone());
                Call::Pending(Box::pin(async move { future.await.into_tool_result() }))
            }
            Err(fault) => Call::Ready(Err(fault)),
        };
        Ok(Self::with_handler(
            name,
            description,
            InputSchema::Json(input_schema.into()),
            Arc::new(handler),
        ))
    }

    /// Sets the level it is visible from. The default is CONTEXT.
    #[must_use]
    pub fn level(mut self, level: Level) -> Self {
        self.definition.level = level;
        self
    }

    /// Sets when it is visible.
    #[must_use]
    pub fn expose(mut self, expose: Expose) -> Self {
        self.definition.expose = expose;
        self
    }

    /// Sets the name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<Cow<'static, str>>) -> Self {
        self.definition.title = Some(title.into());
        self
    }

    /// Makes its result the answer, without another model call.
    #[must_use]
    pub fn return_direct(mut self) -> Self {
        self.definition.return_direct = true;
        self
    }

    /// Sets how long it may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout = Some(timeout);
        self
    }

    /// Says that it changes nothing.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.definition.annotations.read_only = true;
        self
    }

    /// Says that it may destroy something.
    #[must_use]
    pub fn destructive(mut self) -> Self {
        self.definition.annotations.destructive = true;
        self
    }

    /// Says that calling it twice does what calling it once does.
    #[must_use]
    pub fn idempotent(mut self) -> Self {
        self.definition.annotations.idempotent = true;
        self
    }

    /// Says that it reaches things outside the program.
    #[must_use]
    pub fn open_world(mut self) -> Self {
        self.definition.annotations.open_world = true;
        self
    }

    /// Says that a person must approve each call, through the host's
    /// [handler](crate::engine::EngineBuilder::approvals). Where nobody can be asked, calls are refused as
    /// `approval_required`.
    #[must_use]
    pub fn requires_approval(mut self) -> Self {
        self.definition.requires_approval = true;
        self
    }

    /// Says of an argument that its value is for the tool alone: never in the audit trail, logs, or errors about the
    /// arguments.
    #[must_use]
    pub fn sensitive(mut self, argument: impl Into<Cow<'static, str>>) -> Self {
        self.definition.sensitive.push(argument.into());
        self
    }

    /// How it is called, with what its definition says of its arguments.
    pub(crate) fn registered_handler(&self) -> ToolHandler {
        match &self.handler {
            ToolHandler::Closure(call, _) if !self.definition.sensitive.is_empty() => {
                ToolHandler::Closure(Arc::clone(call), Quoting::Forbidden)
            }
            handler => handler.clone(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), Fault> {
        check_tool_name(&self.definition.name)
    }

    pub(crate) fn schema_source(&self) -> SchemaSource {
        match &self.definition.input_schema {
            InputSchema::Parameters(parameters) => SchemaSource::Parameters(parameters),
            InputSchema::Type(schema) => SchemaSource::Function(*schema),
            InputSchema::Json(json) => SchemaSource::Json(Arc::clone(json)),
        }
    }
}

/// Names of the arguments that the schema of a type allows; none when it has no such schema, which a registry refuses.
fn property_names(schema: SchemaFunction) -> Vec<String> {
    let Ok(text) = SchemaCache::default().input_schema(&SchemaSource::Function(schema)) else {
        return Vec::new();
    };
    let schema: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let properties = schema["properties"].as_object();
    properties.map_or_else(Vec::new, |properties| properties.keys().cloned().collect())
}

#[cfg(test)]
mod tests;
