//! Black-box tests of the engine, one file per subject.

mod contention;
mod layers;
mod session;
mod stage;
mod turn_end;
