//! Typed, governed skills for LLM agents: each session sees only what it has opened.
#![forbid(unsafe_code)]

pub mod skill;

pub mod source;

pub mod registry;

pub mod session;

pub mod snapshot;

pub mod store;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

#[cfg(any(test, feature = "testing"))]
pub mod testing;
