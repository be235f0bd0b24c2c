use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;

use super::Fault;
use super::{
    AttributeContext, BoxFuture, Expose, Instance, Level, SchemaFunction, check_tool_name,
    output_schema_of,
};

/// A type that can be an attribute's value.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the value of a skill attribute",
    note = "derive `serde::Serialize` and `schemars::JsonSchema` for it, or return a type that has both"
)]
pub trait AttributeValue: Serialize + schemars::JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + schemars::JsonSchema + ?Sized> AttributeValue for T {}

/// Why an attribute has no value this time. The message goes to logs, never to the model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct AttributeFault(pub String);

impl AttributeFault {
    /// A fault with the text of an error.
    #[must_use]
    pub fn new(err: impl fmt::Display) -> Self {
        Self(err.to_string())
    }
}

/// How often a live attribute is evaluated at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cache {
    /// Once in a turn.
    Turn,
    /// Once in a session.
    Session,
    /// Once in this time: per session when the attribute takes the context, else once for all sessions.
    For(Duration),
}

/// When an attribute is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Evaluation {
    /// Once, when the registry is built.
    Constant,
    /// In every view, in the view's own task: it must be cheap.
    Live,
    /// In every view, beside the others and under a deadline.
    Lazy,
}

/// What is known of an attribute without evaluating it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct AttributeDefinition {
    /// Name, `[a-zA-Z0-9_]{1,64}`, unique among the skill's attributes.
    pub name: Cow<'static, str>,
    /// What the value means.
    pub description: Cow<'static, str>,
    /// The level it is visible from.
    pub level: Level,
    /// When it is visible.
    pub expose: Expose,
    /// When it is evaluated.
    pub evaluation: Evaluation,
    /// How long a lazy evaluation may take; `None` is the engine's `lazy_timeout`.
    pub timeout: Option<Duration>,
    /// How long a value is kept; `None` evaluates in every view.
    pub cache: Option<Cache>,
    /// Whether the value may depend on who asks; such values are never shared between sessions.
    pub takes_context: bool,
    /// Whether its value goes to the model and nowhere else: everywhere else it is shown as redacted.
    pub sensitive: bool,
    pub(crate) schema: SchemaFunction,
}

/// A sync reader: writes the value as JSON text.
pub(crate) type SyncRead =
    dyn Fn(&AttributeContext, &mut Vec<u8>) -> Result<(), AttributeFault> + Send + Sync;
/// An async reader: gives the value as JSON text.
pub(crate) type AsyncRead = dyn Fn(AttributeContext) -> ValueFuture + Send + Sync;

/// A future of an attribute's value, as JSON text.
pub(crate) type ValueFuture = BoxFuture<'static, Result<Vec<u8>, AttributeFault>>;

/// How an attribute's value is obtained, always as JSON text.
#[derive(Clone)]
pub(crate) enum AttributeReader {
    /// A value that never changes.
    Constant(Arc<str>),
    /// A function of the context; when the attribute is lazy, it runs on a thread of the engine's pool.
    Sync(Arc<SyncRead>),
    /// A future.
    Async(Arc<AsyncRead>),
    /// A sync method of an annotated type.
    Method(
        Instance,
        fn(&Instance, &AttributeContext, &mut Vec<u8>) -> Result<(), AttributeFault>,
    ),
    /// An async method of an annotated type.
    AsyncMethod(Instance, fn(&Instance, AttributeContext) -> ValueFuture),
}

impl AttributeReader {
    /// Evaluates a constant or sync reader into `out`; `None` when the reader is a future.
    pub(crate) fn read_now(
        &self,
        cx: &AttributeContext,
        out: &mut Vec<u8>,
    ) -> Option<Result<(), AttributeFault>> {
        match self {
            Self::Constant(json) => {
                out.extend_from_slice(json.as_bytes());
                Some(Ok(()))
            }
            Self::Sync(read) => Some(read(cx, out)),
            Self::Method(instance, read) => Some(read(instance, cx, out)),
            Self::Async(_) | Self::AsyncMethod(..) => None,
        }
    }

    /// The value of a constant.
    pub(crate) fn constant(&self) -> Option<&str> {
        match self {
            Self::Constant(json) => Some(json),
            Self::Sync(_) | Self::Method(..) | Self::Async(_) | Self::AsyncMethod(..) => None,
        }
    }

    /// The future of an async reader; `None` when the reader is sync.
    pub(crate) fn future(&self, cx: &AttributeContext) -> Option<ValueFuture> {
        match self {
            Self::Async(read) => Some(read(cx.clone())),
            Self::AsyncMethod(instance, read) => Some(read(instance, cx.clone())),
            Self::Constant(_) | Self::Sync(_) | Self::Method(..) => None,
        }
    }
}

impl fmt::Debug for AttributeReader {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Constant(_) => "Constant",
            Self::Sync(_) | Self::Method(..) => "Sync",
            Self::Async(_) | Self::AsyncMethod(..) => "Async",
        })
    }
}

/// An observation a skill offers: a definition and how its value is obtained.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Attribute {
    /// What is known without evaluating.
    pub definition: AttributeDefinition,
    pub(crate) reader: AttributeReader,
}

impl Attribute {
    pub(crate) fn from_parts(definition: AttributeDefinition, reader: AttributeReader) -> Self {
        Self { definition, reader }
    }

    fn new<T: AttributeValue>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        evaluation: Evaluation,
        takes_context: bool,
        reader: AttributeReader,
    ) -> Self {
        let definition = AttributeDefinition {
            name: name.into(),
            description: description.into(),
            level: Level::Context,
            expose: Expose::Psl,
            evaluation,
            timeout: None,
            cache: None,
            takes_context,
            sensitive: false,
            schema: output_schema_of::<T>,
        };
        Self { definition, reader }
    }

    /// A value that never changes.
    ///
    /// # Errors
    ///
    /// When the value cannot be written as JSON.
    pub fn constant<T: AttributeValue>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        value: &T,
    ) -> Result<Self, AttributeFault> {
        let json = serde_json::to_string(value).map_err(|err| AttributeFault(err.to_string()))?;
        Ok(Self::new::<T>(
            name,
            description,
            Evaluation::Constant,
            false,
            AttributeReader::Constant(json.into()),
        ))
    }

    /// A value read in every view, in the view's own task: the closure must be cheap.
    pub fn live<T: AttributeValue + 'static>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        read: impl Fn(&AttributeContext) -> T + Send + Sync + 'static,
    ) -> Self {
        let reader = move |cx: &AttributeContext, out: &mut Vec<u8>| write_json(&read(cx), out);
        Self::new::<T>(
            name,
            description,
            Evaluation::Live,
            true,
            AttributeReader::Sync(Arc::new(reader)),
        )
    }

    /// A value awaited in every view, beside the others and under a deadline.
    ///
    /// The future is first polled in the view's own task, so it must not block its thread; what does belongs into
    /// [`blocking`](Self::blocking).
    pub fn lazy<T, F>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        read: impl Fn(AttributeContext) -> F + Send + Sync + 'static,
    ) -> Self
    where
        T: AttributeValue + 'static,
        F: Future<Output = Result<T, AttributeFault>> + Send + 'static,
    {
        let reader = move |cx: AttributeContext| -> BoxFuture<'static, _> {
            let value = read(cx);
            Box::pin(async move {
                let mut out = Vec::new();
                write_json(&value.await?, &mut out)?;
                Ok(out)
            })
        };
        Self::new::<T>(
            name,
            description,
            Evaluation::Lazy,
            true,
            AttributeReader::Async(Arc::new(reader)),
        )
    }

    /// A value computed by blocking code, on a thread of the engine's pool and under a deadline.
    pub fn blocking<T: AttributeValue + 'static>(
        name: impl Into<Cow<'static, str>>,
        description: impl Into<Cow<'static, str>>,
        read: impl Fn(&AttributeContext) -> Result<T, AttributeFault> + Send + Sync + 'static,
    ) -> Self {
        let reader = move |cx: &AttributeContext, out: &mut Vec<u8>| write_json(&read(cx)?, out);
        Self::new::<T>(
            name,
            description,
            Evaluation::Lazy,
            true,
            AttributeReader::Sync(Arc::new(reader)),
        )
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

    /// Sets how long a lazy evaluation may take.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.definition.timeout = Some(timeout);
        self
    }

    /// Sets how long a value is kept.
    #[must_use]
    pub fn cache(mut self, cache: Cache) -> Self {
        self.definition.cache = Some(cache);
        self
    }

    /// Says that the value is the same for every session, so that it may be shared between them.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.definition.takes_context = false;
        self
    }

    /// Says that its value goes to the model and nowhere else: everywhere else it is shown as redacted.
    #[must_use]
    pub fn sensitive(mut self) -> Self {
        self.definition.sensitive = true;
        self
    }

    pub(crate) fn check(&self) -> Result<(), Fault> {
        check_tool_name(&self.definition.name)
    }
}

pub(crate) fn write_json<T: Serialize + ?Sized>(
    value: &T,
    out: &mut Vec<u8>,
) -> Result<(), AttributeFault> {
    let start = out.len();
    serde_json::to_writer(&mut *out, value).map_err(|err| {
        out.truncate(start);
        AttributeFault(err.to_string())
    })
}
