//! What the attribute macros leave behind, and how it behaves when it is called.
#![allow(
    clippy::unwrap_used,
    clippy::items_after_statements,
    clippy::needless_arbitrary_self_type,
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    clippy::unused_async,
    clippy::unnecessary_literal_bound,
    clippy::unnecessary_wraps,
    clippy::unused_self,
    missing_docs,
    missing_debug_implementations,
    unreachable_pub,
    unused_qualifications,
    reason = "tests; names in full are part of what is tested"
)]

mod arguments;
mod conditions;
mod helpdesk;
mod hooks;
mod hygiene;
mod lints;
mod options;
mod paths;
mod places;
mod results;
mod support;
