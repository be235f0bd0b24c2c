//! What the attribute macros leave behind, and how it behaves when it is called.
#![allow(
    clippy::unwrap_used,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    reason = "tests"
)]

mod helpdesk;
mod support;
