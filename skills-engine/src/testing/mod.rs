//! Means of testing skills, hosts and stores without waiting and without a model.

mod clock;
mod store_contract;
mod yielding_store;

pub use self::clock::ManualClock;
pub use self::store_contract::visibility_store_contract;
pub use self::yielding_store::YieldingStore;
