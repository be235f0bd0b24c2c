//! Means of testing skills, hosts and stores without waiting and without a model.
//!
//! A [`Probe`] looks at one skill without an engine; a [`Harness`] runs it in one.

mod answer;
mod clock;
mod harness;
mod harness_error;
mod harness_session;
mod probe;
mod store_contract;
mod under_test;
mod yielding_store;

pub use self::answer::Answer;
pub use self::clock::ManualClock;
pub use self::harness::Harness;
pub use self::harness_error::HarnessError;
pub use self::harness_session::HarnessSession;
pub use self::probe::Probe;
pub use self::store_contract::visibility_store_contract;
pub use self::under_test::{OfSharedType, OfType, SkillUnderTest, Whole};
pub use self::yielding_store::YieldingStore;
