//! The macros of `skills-engine`; use them through that crate.
//!
//! An attribute goes through four stages: `attr` parses options, `ast` models the annotated item, `check` applies the
//! rules, `expand` writes tokens. Errors are collected over all of them, and the user's item is always emitted.
#![forbid(unsafe_code)]

mod ast;
mod attr;
mod check;
mod errors;
mod expand;
mod text;

use proc_macro::TokenStream;

/// Makes a skill of a struct, or adds the annotated methods of an impl block to one.
///
/// The item itself stays as it is: an ordinary struct with ordinary methods.
///
/// On a struct:
///
/// | option | meaning | default |
/// |---|---|---|
/// | `id = "help-desk"` | identifier, `[a-z][a-z0-9-]{0,63}` | the type's name in kebab case |
/// | `name = "Help desk"` | name for people | the type's name in words |
/// | `description = "…"` | what it is for, which models decide by | the doc comment; one of both is needed |
/// | `version = "1.0.0"` | version | that of the crate |
/// | `tags = ["support"]` | labels, found by search | none |
/// | `base_level = Context` | the level every session starts at | `Metadata` |
/// | `host_only` | a model can't open it; somebody else must | |
/// | `code_only` | it is never shown to a model; in code it works as any other | |
/// | `required` | a turn fails when one of its hooks does | it is left out of the turn |
/// | `factory = path` | a `fn(&Resources) -> Result<Self, E>` that makes the instance | `Default` |
/// | `manual` | the host passes the instance | |
/// | `crate = path` | the path of `skills_engine` | `::skills_engine` |
///
/// Fields under [`#[skill_attribute]`](macro@skill_attribute) are shown to models; others never leave the process.
///
/// On an impl block, of which there may be any number in the crate, only `crate = path`. Its methods under
/// [`#[skill_tool]`](macro@skill_tool) and [`#[skill_attribute]`](macro@skill_attribute) become members of the skill.
/// At most one method each, over all blocks, looks at the request of every turn before the skill takes part in it:
///
/// | marker | method, sync or async, of `&self` or `self: Arc<Self>` |
/// |---|---|
/// | `#[skill(supports)]` | `fn(&self, request: &TurnRequest) -> bool`: whether it takes part |
/// | `#[skill(on_attach)]` | `fn(&self, request: &mut TurnRequest, cx: &AttachContext)`: what is done then |
/// | `#[skill(instructions)]` | `fn(&self, request: &TurnRequest) -> Option<String>`: what is shown from CONTEXT on |
/// | `#[skill(tools)]` | `fn(&self, request: &TurnRequest) -> ToolSelection`: which tools there are |
///
/// Each may return a `Result` of that, take a `&AttachContext`, and leave out what it does not need.
#[proc_macro_attribute]
pub fn skill(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::skill(options.into(), &item.into()).into()
}

/// Marks a field of a `#[skill]` struct, or a method in a `#[skill]` impl block, as an attribute.
///
/// A field is read once. A method takes `&self` or `self: Arc<Self>`, may take a `&AttributeContext`, and is evaluated
/// in every view; it may be `async`, which makes it lazy, and may return a `Result`. The value is any type that is
/// `Serialize` and `JsonSchema`.
///
/// | option | meaning | default |
/// |---|---|---|
/// | `name = "open_tickets"` | name, `[a-zA-Z0-9_]{1,64}` | that of the field or method |
/// | `description = "…"` | what the value means | the doc comment |
/// | `level = Metadata` | the level it is visible from: `Metadata`, `Context`, `Complete` | `Context` |
/// | `expose = Always` | `Psl` obeys the level, `Always` does not, `Disabled` is never shown | `Psl` |
/// | `lazy` | evaluated beside the others, under a deadline (methods only) | |
/// | `timeout = "500ms"` | that deadline: a whole number of ms, s, m or h | the engine's |
/// | `cache = turn` | how long a value is kept: `turn`, `session`, or a duration (methods only) | not at all |
/// | `sensitive` | its value goes to the model and nowhere else | |
#[proc_macro_attribute]
pub fn skill_attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::misplaced(attr::ATTRIBUTE, &options.into(), &item.into()).into()
}

/// Marks a method in a `#[skill]` impl block as a tool.
///
/// It takes `&self` or `self: Arc<Self>`, and may be `async`. Its parameters are the arguments a model gives: types
/// that are `Deserialize` and `JsonSchema`, `&str` and `&[T]`. Their doc comments are their descriptions. An
/// `Option<T>`, or a parameter under `#[param(default = …)]`, may be left out. A `&ToolContext`, at any position, is
/// no argument. The value of one under `#[param(sensitive)]` is kept out of the audit trail, logs, and errors. It returns anything that is `Serialize`, `()`, `ToolOutput`, or a `Result` of these.
///
/// | option | meaning | default |
/// |---|---|---|
/// | `name = "get_ticket"` | name, `[a-zA-Z0-9_]{1,64}` | that of the method |
/// | `title = "Get a ticket"` | name for people | none |
/// | `description = "…"` | what it does, which models decide by | the doc comment; one of both is needed |
/// | `level = Complete` | the level it is visible from: `Metadata`, `Context`, `Complete` | `Context` |
/// | `expose = Always` | `Psl` obeys the level, `Always` does not, `Disabled` is never shown | `Psl` |
/// | `return_direct` | its result is the answer, without another model call | |
/// | `timeout = "10s"` | how long an async or blocking tool may take: a whole number of ms, s, m or h | the engine's |
/// | `blocking` | it blocks, so it runs on a thread of the engine's pool | |
/// | `read_only` | it changes nothing | |
/// | `destructive` | it may destroy something | |
/// | `idempotent` | calling it twice does what calling it once does | |
/// | `open_world` | it reaches things outside the program | |
/// | `requires_approval` | a person must approve each call | |
#[proc_macro_attribute]
pub fn skill_tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::misplaced(attr::TOOL, &options.into(), &item.into()).into()
}

/// Embeds the skills in a folder of the crate: every folder in it with a `SKILL.md`, and all files beside that. It is an
/// item. An engine finds the skills wherever the crate is linked, as it finds annotated types.
///
/// ```
/// # macro_rules! skill_crate { ($($rest:tt)*) => {} }
/// # skill_crate! {
/// skills_engine::embed_skills!("skills");
/// # }
/// ```
///
/// The path is below the folder of the crate's `Cargo.toml`. Each file is embedded by `include_bytes!`, so an edit is seen
/// by the next build. For a file that comes, the crate needs a `build.rs`, since a macro cannot say that it looks at a
/// folder:
///
/// ```no_run
/// println!("cargo::rerun-if-changed=skills"); // all that `main` of the `build.rs` does
/// ```
///
/// What a `SKILL.md` says is read when an engine is built, by the same rules as that of a folder on a disk; what is wrong
/// with it stands in `Engine::report`. A file without a skill is not embedded. Symbolic links are refused, and so are
/// more than 2,000 files, a file of more than 16 MiB, and more than 64 MiB together.
///
/// `embed_skills!("skills", crate = path)` gives the path of `skills_engine`, as [`#[skill]`](macro@skill) does.
#[proc_macro]
pub fn embed_skills(input: TokenStream) -> TokenStream {
    expand::embed::linked(input.into()).into()
}

/// The skills in a folder of the crate as a value, an `EmbeddedSkills`, for `builder.source(..)`. Nothing is found that is
/// not passed. All else is as [`embed_skills!`] has it.
///
/// ```
/// # macro_rules! program { ($($rest:tt)*) => {} }
/// # program! {
/// let builder = Engine::builder().source(skills_engine::embedded_skills!("skills").strict());
/// # }
/// ```
#[proc_macro]
pub fn embedded_skills(input: TokenStream) -> TokenStream {
    expand::embed::value(input.into()).into()
}
