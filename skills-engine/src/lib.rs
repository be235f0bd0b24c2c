//! Typed, governed skills for LLM agents: each session sees only what it has opened.
//!
//! - A **skill** is an ordinary struct under [`#[skill]`](macro@skill): a unit of knowledge and actions, found by the
//!   engine wherever it is linked.
//! - An **attribute** of it ([`#[skill_attribute]`](macro@skill_attribute)) is a fact that a model reads: a field once, a
//!   method in every view.
//! - A **tool** of it ([`#[skill_tool]`](macro@skill_tool)) is an action that a model calls: a method.
//! - A **level** says how much of a skill is open, [`Level::Metadata`] `<` [`Level::Context`] `<` [`Level::Complete`], and
//!   each member says from which level on it is visible.
//! - A [`Session`] is one conversation of a [`Principal`]. It has its own level of every skill, changed by the host
//!   ([`Session::open`]), capped by it ([`Session::limit`]), and changed by the model through the built-in `psl-skill`.
//! - A [`Turn`] is one unit of work of a session: a user's request with all its model calls.
//! - A [view](engine::View) is what one model call may see: a prompt, a tool list, snapshots. It never changes.
//!
//! One [rule](session::decide) decides what is visible: prompts, tool lists, search, calls and
//! [explanations](Session::explain) all go by it. What happens is written to the [audit trail](audit).
//!
//! # Examples
//!
//! ```standalone_crate
//! use skills_engine::engine::ToolCall;
//! use skills_engine::skill::TurnRequest;
//! use skills_engine::{Engine, Level, Principal, Span, skill, skill_attribute, skill_tool};
//!
//! /// Controls the lamp in the hall.
//! #[skill]
//! #[derive(Default)]
//! struct Lamp {
//!     /// Where it hangs.
//!     #[skill_attribute(level = Metadata)]
//!     place: String,
//! }
//!
//! #[skill]
//! impl Lamp {
//!     /// Switches the lamp.
//!     #[skill_tool(level = Context, idempotent)]
//!     fn switch(&self, is_on: bool) -> &'static str {
//!         if is_on { "on" } else { "off" }
//!     }
//! }
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lamp = Lamp { place: "hall".to_owned() };
//! let engine = Engine::builder().skill(lamp).build().await?;
//! let session = engine.session(Principal::new("ada", ["home"]), "s1").await?;
//! session.open("lamp", Level::Context, Span::UntilCleared, "it is dark").await?;
//!
//! let mut turn = session.turn(TurnRequest::user("Light, please")).await?;
//! let view = turn.view().await?; // before every model call
//! assert!(view.system_prompt().contains("- place = \"hall\": Where it hangs."));
//! assert!(view.tools().any(|tool| tool.name() == "lamp__switch"));
//!
//! // The calls of the model's reply.
//! let results = turn.calls([ToolCall::new("call-1", "lamp__switch", r#"{"is_on": true}"#)]).await;
//! assert_eq!(results.iter().next().unwrap().text(), "on");
//! turn.finish().await?;
//! # Ok(())
//! # }
//! ```
//!
//! Skills in crates of their own are described at [`link!`].
//!
//! # Features
//!
//! | feature | gives |
//! |---|---|
//! | `macros` (default) | `#[skill]`, `#[skill_attribute]`, `#[skill_tool]`; with `folders` also `embed_skills!` |
//! | `settings` (default) | [`Settings`](engine::settings) from TOML files and variables |
//! | `folders` (default) | reading of skills in folders with a `SKILL.md`; search without regard to accents |
//! | `watch` | an engine that refreshes by itself when folders of skills change |
//! | `tokens` | a tokenizer (`prompt::Tokenizer`) for budgets, in place of characters |
//! | `testing` | a probe and a harness for tests of skills, a manual clock, and a contract suite for stores of others |
#![forbid(unsafe_code)]

pub mod skill;

pub mod audit;

pub mod source;

pub mod registry;

pub mod session;

pub mod snapshot;

pub mod prompt;

pub mod tools;

pub mod store;

pub mod engine;

#[cfg(any(test, feature = "testing"))]
pub mod testing;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[cfg(all(feature = "macros", feature = "folders"))]
pub use skills_engine_macros::{embed_skills, embedded_skills};
#[cfg(feature = "macros")]
pub use skills_engine_macros::{skill, skill_attribute, skill_tool};

pub use self::engine::{Engine, Session, Turn};
pub use self::skill::{Level, Principal, Span};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
