//! What a skill is: the [`Skill`] trait, its definitions, and what its members are given.

mod allowed_tools;
mod arguments;
mod attach;
mod attribute;
mod builder;
mod chain;
mod clock;
mod content;
mod context;
mod fault;
pub mod gates;
mod hooks;
mod identity;
mod level;
mod limits;
mod link;
mod linked;
mod lock;
mod name;
mod naming;
mod note;
mod output;
mod pool;
mod question;
mod request;
mod requirements;
mod schema;
mod text;
mod text_content;
mod tool;
mod values;
mod visibility;
mod waits;

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

pub use self::allowed_tools::{AllowedTools, ToolPattern};
pub use self::arguments::{Argument, Arguments};
pub use self::attach::AttachContext;
pub use self::attribute::{
    Attribute, AttributeDefinition, AttributeFault, AttributeValue, Cache, Evaluation,
};
pub(crate) use self::attribute::{AttributeReader, write_json};
pub use self::builder::{BuiltSkill, SkillBuilder};
pub(crate) use self::chain::LastRecord;
pub(crate) use self::clock::within;
pub use self::clock::{Clock, SystemClock, Timestamp};
pub use self::content::{Resource, ResourceKind, ResourcePart, SkillContent};
pub use self::context::{AttributeContext, Progress, SessionScope, ToolContext};
pub(crate) use self::context::{TurnScope, Viewpoint};
pub use self::fault::{Code, Fault};
pub use self::hooks::{HookAnswer, HookCall, HookFault, Hooks, ToolSelection};
pub(crate) use self::identity::random_hex;
pub use self::identity::{Actor, Principal, SessionId, TurnId};
pub use self::level::{Expose, Level, UnknownLevel};
pub use self::limits::Limits;
pub use self::linked::{
    AttributeEntry, BlockEntry, HookEntry, HookMethod, Make, MissingResource, Origin, ParamEntry,
    Place, ReadEntry, Resources, SkillEntry, SkillType, ToolEntry,
};
pub(crate) use self::lock::lock;
pub use self::name::{check_skill_id, check_tool_name, words_of};
pub(crate) use self::note::{Author, Notebook, check_data};
pub use self::output::{Content, IntoToolResult, ToolOutput};
pub(crate) use self::pool::{BlockingPool, PoolError};
pub use self::question::Question;
pub(crate) use self::request::Asker;
pub use self::request::{Message, TurnRequest};
pub use self::requirements::Requirements;
pub(crate) use self::schema::SchemaCache;
pub use self::schema::{SchemaFunction, normalize_schema, output_schema_of, schema_of};
#[cfg(not(feature = "folders"))]
pub(crate) use self::text::{folded, is_combining};
pub(crate) use self::text::{is_hidden, is_spaceless, nearest, printable, push_visible, shown};
pub use self::text_content::TextContent;
pub(crate) use self::tool::ToolHandler;
pub use self::tool::{
    Annotations, Call, InputSchema, NoArguments, Tool, ToolDefinition, ToolResult,
};
#[cfg(any(test, feature = "testing"))]
pub(crate) use self::visibility::no_turn;
pub use self::visibility::{
    Cleared, SetVisibility, SkillMatch, SkillVisibility, Span, StandingGrant, Visibility,
    VisibilityChange,
};
pub(crate) use self::visibility::{TurnAccess, sealed};

/// An instance of a skill type, as the engine holds it.
pub type Instance = Arc<dyn Any + Send + Sync>;

/// A boxed, `Send` future; every asynchronous trait method here returns one.
pub type BoxFuture<'a, T> = futures_util::future::BoxFuture<'a, T>;

/// One skill, wherever it comes from: an annotated Rust type, a [`SkillBuilder`], a folder.
///
/// The engine reads definitions once, when it builds its registry; what a skill returns must therefore not
/// change during its life. What changes from request to request belongs into attributes.
pub trait Skill: Send + Sync + 'static {
    /// Identity and texts of the skill.
    fn definition(&self) -> &SkillDefinition;

    /// The observations the skill offers.
    fn attributes(&self) -> &[Attribute];

    /// The actions the skill offers.
    fn tools(&self) -> &[Tool];

    /// Text shown to the model from CONTEXT on, if the skill has any.
    fn instructions(&self) -> Option<&str> {
        None
    }

    /// What the skill has to say about each request before it takes part in a turn; `None` when nothing.
    fn hooks(&self) -> Option<&Hooks> {
        None
    }

    /// The body and the files of the skill; `None` when it has only members.
    fn content(&self) -> Option<&dyn SkillContent> {
        None
    }

    /// The Rust value behind the skill, for `engine.skill::<T>()`; `None` when there is none.
    fn instance(&self) -> Option<Instance> {
        None
    }
}

impl fmt::Debug for dyn Skill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Skill")
            .field("id", &self.definition().id)
            .finish_non_exhaustive()
    }
}

/// Identity and texts of a skill.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent claims, as its author makes them"
)]
pub struct SkillDefinition {
    /// Identifier, unique in a registry. For Rust skills `[a-z][a-z0-9-]{0,63}`.
    pub id: Cow<'static, str>,
    /// Name for people.
    pub name: Cow<'static, str>,
    /// What the skill is for: what a model decides by.
    pub description: Cow<'static, str>,
    /// Version of the skill, by default that of the crate that defines it.
    pub version: Cow<'static, str>,
    /// Free labels, found by search.
    pub tags: Vec<Cow<'static, str>>,
    /// The level every session starts at.
    pub base_level: Level,
    /// Whether a model cannot open it: somebody else must have before it sees more than the base level.
    pub host_only: bool,
    /// Whether it is never shown to a model; in code it works as any other.
    pub code_only: bool,
    /// Whether a model may load it by itself; when not, it is told to ask the user.
    pub model_invocable: bool,
    /// Whether a user may invoke it by name; when not, it stands in no list of theirs.
    pub user_invocable: bool,
    /// What a user may write after its name, such as `[file] [language]`.
    pub argument_hint: Option<Cow<'static, str>>,
    /// The tools that its author lists for it, if they list any.
    pub allowed_tools: Option<AllowedTools>,
    /// What it needs and this machine lacks, each in words such as "the program `jq`". With any, it is never shown to a
    /// model, and not loaded.
    pub unmet: Vec<String>,
    /// Whether a turn fails when one of its hooks does; the hooks of other skills leave out that skill alone.
    pub required: bool,
    /// The crate the skill was defined in.
    pub origin: Origin,
    /// Whether the skill stands under another id than its type was annotated with.
    pub(crate) is_alias: bool,
    /// Whether it is no skill to tell of, but holds tools of the engine's own, which go by their bare names.
    pub(crate) is_built_in: bool,
}

impl SkillDefinition {
    /// A skill made at run time, for implementations of [`Skill`]; its name is the id in words until one is set.
    #[must_use]
    pub fn new(id: impl Into<Cow<'static, str>>) -> Self {
        let id = id.into();
        Self {
            name: words_of(&id).into(),
            id,
            description: Cow::Borrowed(""),
            version: Cow::Borrowed("0.0.0"),
            tags: Vec::new(),
            base_level: Level::Metadata,
            host_only: false,
            code_only: false,
            model_invocable: true,
            user_invocable: true,
            argument_hint: None,
            allowed_tools: None,
            unmet: Vec::new(),
            required: false,
            origin: Origin::default(),
            is_alias: false,
            is_built_in: false,
        }
    }
}
