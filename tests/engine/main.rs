//! Black-box tests of the engine, one file per subject.

mod layers;
mod session;
