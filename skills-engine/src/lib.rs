//! Typed, governed skills for LLM agents: each session sees only what it has opened.
#![forbid(unsafe_code)]

pub mod skill;

pub mod source;

pub mod registry;

pub mod snapshot;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;
