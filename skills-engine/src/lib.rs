//! Typed, governed skills for LLM agents: each session sees only what it has opened.
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

#[cfg(feature = "macros")]
pub use skills_engine_macros::{skill, skill_attribute, skill_tool};

pub use self::engine::{Engine, Session, Turn};
pub use self::skill::{Level, Principal, Span};
