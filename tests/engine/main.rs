//! Black-box tests of the engine, one file per subject.
#![allow(
    clippy::unwrap_used,
    reason = "what tests share stops at the first surprise too"
)]

mod audit_outage;
mod audit_trail;
mod changes;
mod contention;
mod hostile;
mod layers;
mod session;
#[allow(dead_code, reason = "the binary `memory` uses the rest")]
mod stage;
mod turn_end;
