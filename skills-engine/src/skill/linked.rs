//! What the macros leave behind in a binary, and what factories are given.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use super::attribute::ValueFuture;
use super::{
    Annotations, AttachContext, AttributeContext, AttributeFault, Cache, Call, Evaluation, Expose,
    HookCall, Instance, Level, SchemaFunction, ToolContext, ToolSelection, TurnRequest,
};

/// A place in source code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Place {
    /// The file, as the compiler was given it.
    pub file: &'static str,
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1.
    pub column: u32,
}

impl Place {
    /// Names a place.
    #[must_use]
    pub const fn new(file: &'static str, line: u32, column: u32) -> Self {
        Self { file, line, column }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// Where a skill was defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The package; empty for a skill made at run time.
    pub crate_name: &'static str,
    /// The package's version.
    pub crate_version: &'static str,
    /// The Rust type; empty for a skill without one.
    pub type_name: &'static str,
    /// The place of the definition.
    pub place: Place,
}

impl Origin {
    /// Names an origin.
    #[must_use]
    pub const fn new(
        crate_name: &'static str,
        crate_version: &'static str,
        type_name: &'static str,
        place: Place,
    ) -> Self {
        Self {
            crate_name,
            crate_version,
            type_name,
            place,
        }
    }
}

/// What the host gives to factories: values by type, and other skills.
#[derive(Clone, Default)]
pub struct Resources {
    values: Arc<Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>>,
    skills: Option<Arc<SkillSource>>,
}

/// Makes or finds the instance of a type, whose skill has this id.
type SkillSource = dyn Fn(TypeId, &'static str) -> Result<Instance, String> + Send + Sync;

impl Resources {
    /// Puts a value, replacing an earlier one of its type.
    pub fn put<T: Send + Sync + 'static>(&self, value: T) {
        self.put_shared(Arc::new(value));
    }

    /// Puts a value that the host keeps too, replacing an earlier one of its type.
    pub fn put_shared<T: Send + Sync + 'static>(&self, value: Arc<T>) {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let earlier = values.insert(TypeId::of::<T>(), value);
        drop(values);
        drop(earlier);
    }

    /// The value of a type, if the host put one.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        values.get(&TypeId::of::<T>()).cloned()?.downcast().ok()
    }

    /// The value of a type.
    ///
    /// # Errors
    ///
    /// When the host put none; says how to put one.
    pub fn require<T: Send + Sync + 'static>(&self) -> Result<Arc<T>, MissingResource> {
        self.get()
            .ok_or(MissingResource::Value(std::any::type_name::<T>()))
    }

    /// Another skill, which is made first if need be.
    ///
    /// # Errors
    ///
    /// When there is no such skill, when it cannot be made, or when it needs this one itself: the message names
    /// the chain.
    pub fn skill<T: SkillType>(&self) -> Result<Arc<T>, MissingResource> {
        let Some(skills) = &self.skills else {
            return Err(MissingResource::Skill(format!(
                "no skill `{}`: no engine is being built",
                T::entry().id
            )));
        };
        let instance = skills(TypeId::of::<T>(), T::entry().id).map_err(MissingResource::Skill)?;
        instance.downcast().map_err(|_| {
            MissingResource::Skill(format!("skill `{}` is of another type", T::entry().id))
        })
    }

    pub(crate) fn with_skills(&self, skills: Arc<SkillSource>) -> Self {
        Self {
            values: Arc::clone(&self.values),
            skills: Some(skills),
        }
    }
}

impl fmt::Debug for Resources {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Resources")
    }
}

/// What a factory asked for and did not get.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MissingResource {
    /// A value of a type.
    #[error("no resource of type `{0}`; put one with `Engine::builder().resource(value)`")]
    Value(&'static str),
    /// A skill.
    #[error("{0}")]
    Skill(String),
}

/// How the instance of a linked skill is made.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Make {
    /// By a function: `Default::default`, or the factory the author named. The error is the factory's text.
    Factory(fn(&Resources) -> Result<Instance, String>),
    /// The host passes it.
    Manual,
}

impl fmt::Debug for Make {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Factory(_) => "Factory",
            Self::Manual => "Manual",
        })
    }
}

/// An annotated struct.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct SkillEntry {
    /// The type.
    pub type_id: fn() -> TypeId,
    /// The skill's id.
    pub id: &'static str,
    /// Name for people.
    pub name: &'static str,
    /// What the skill is for.
    pub description: &'static str,
    /// Version.
    pub version: &'static str,
    /// Labels.
    pub tags: &'static [&'static str],
    /// The level every session starts at.
    pub base_level: Level,
    /// Whether a model cannot open it.
    pub host_only: bool,
    /// Whether it is never shown to a model.
    pub code_only: bool,
    /// Whether a turn fails when one of its hooks does.
    pub required: bool,
    /// How its instance is made.
    pub make: Make,
    /// Its annotated fields.
    pub attributes: &'static [AttributeEntry],
    /// Where it was defined.
    pub origin: Origin,
}

/// An annotated impl block.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct BlockEntry {
    /// The type it belongs to.
    pub type_id: fn() -> TypeId,
    /// The type's name, for messages.
    pub type_name: &'static str,
    /// Where the block stands; blocks are sorted by it.
    pub place: Place,
    /// Its attributes, in order.
    pub attributes: &'static [AttributeEntry],
    /// Its tools, in order.
    pub tools: &'static [ToolEntry],
    /// Its methods that look at requests, in order.
    pub hooks: &'static [HookMethod],
}

/// An annotated method that looks at requests.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct HookMethod {
    /// Name of the method.
    pub name: &'static str,
    /// What it is for, and how it is begun.
    pub entry: HookEntry,
}

/// What a hook is for, and how it is begun.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum HookEntry {
    /// Whether the skill takes part.
    Supports(AskEntry<bool>),
    /// What is done when it does.
    OnAttach(for<'a> fn(&Instance, &'a mut TurnRequest, &'a AttachContext) -> HookCall<'a, ()>),
    /// The turn's own instructions.
    Instructions(AskEntry<Option<String>>),
    /// The turn's selection of tools.
    Tools(AskEntry<ToolSelection>),
}

/// Begins a hook that only reads the request.
type AskEntry<T> = for<'a> fn(&Instance, &'a TurnRequest, &'a AttachContext) -> HookCall<'a, T>;

impl HookEntry {
    /// The marker of its method, as in `#[skill(supports)]`.
    #[must_use]
    pub const fn marker(&self) -> &'static str {
        match self {
            Self::Supports(_) => "supports",
            Self::OnAttach(_) => "on_attach",
            Self::Instructions(_) => "instructions",
            Self::Tools(_) => "tools",
        }
    }
}

/// How an annotated attribute is read.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum ReadEntry {
    /// A field or a sync method.
    Sync(fn(&Instance, &AttributeContext, &mut Vec<u8>) -> Result<(), AttributeFault>),
    /// An async method.
    Async(fn(&Instance, AttributeContext) -> ValueFuture),
}

impl fmt::Debug for ReadEntry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Sync(_) => "Sync",
            Self::Async(_) => "Async",
        })
    }
}

/// An annotated field or method that observes.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct AttributeEntry {
    /// Name.
    pub name: &'static str,
    /// What the value means.
    pub description: &'static str,
    /// The level it is visible from.
    pub level: Level,
    /// When it is visible.
    pub expose: Expose,
    /// When it is evaluated.
    pub evaluation: Evaluation,
    /// Milliseconds a lazy evaluation may take.
    pub timeout_ms: Option<u64>,
    /// How long a value is kept.
    pub cache: Option<Cache>,
    /// Whether the method takes the context.
    pub takes_context: bool,
    /// Whether its value is for the model alone.
    pub sensitive: bool,
    /// The schema of its value.
    pub schema: SchemaFunction,
    /// How it is read.
    pub read: ReadEntry,
}

/// An annotated method that acts.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct ToolEntry {
    /// Name.
    pub name: &'static str,
    /// Name for people.
    pub title: Option<&'static str>,
    /// What it does.
    pub description: &'static str,
    /// The level it is visible from.
    pub level: Level,
    /// When it is visible.
    pub expose: Expose,
    /// Whether its result is the answer.
    pub return_direct: bool,
    /// Milliseconds it may take.
    pub timeout_ms: Option<u64>,
    /// Its effects.
    pub annotations: Annotations,
    /// Whether each call needs an approval.
    pub requires_approval: bool,
    /// Its parameters, in order.
    pub parameters: &'static [ParamEntry],
    /// Begins a call.
    pub call: fn(&Instance, &[u8], &ToolContext) -> Call,
}

/// A parameter of an annotated method.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::exhaustive_structs, reason = "macro-made code constructs it")]
pub struct ParamEntry {
    /// Name, without `r#`.
    pub name: &'static str,
    /// What it means.
    pub description: &'static str,
    /// The schema of its type.
    pub schema: SchemaFunction,
    /// Whether its value is for the tool alone.
    pub sensitive: bool,
    /// Whether its type is an `Option`.
    pub is_option: bool,
    /// The default, as JSON, when there is one.
    pub default: Option<fn() -> serde_json::Value>,
}

/// A type annotated with `#[skill]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a skill",
    note = "put `#[skill]` on the struct `{Self}`; a skill without a type is made with `SkillBuilder`"
)]
pub trait SkillType: Send + Sync + Sized + 'static {
    /// What the annotation says.
    fn entry() -> &'static SkillEntry;
}

inventory::collect!(SkillEntry);
inventory::collect!(BlockEntry);
