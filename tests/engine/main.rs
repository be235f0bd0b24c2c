//! Black-box tests of the engine, one file per subject.

mod audit_trail;
mod contention;
mod layers;
mod session;
mod stage;
mod turn_end;
