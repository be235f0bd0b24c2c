//! Means of testing skills, hosts and stores without waiting and without a model.

mod clock;

pub use self::clock::ManualClock;
