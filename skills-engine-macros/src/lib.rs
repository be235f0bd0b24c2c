//! The attribute macros of `skills-engine`; use them through that crate.
#![forbid(unsafe_code)]
