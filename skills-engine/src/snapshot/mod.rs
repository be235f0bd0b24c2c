//! What a model may see: the values of attributes, and the JSON of skills at a level.

mod bounds;
mod compose;
mod constant;
mod cut;
mod live;
mod own;
mod pool;
mod slot;

pub(crate) use self::compose::{SnapshotTool, compose_snapshot};
pub(crate) use self::constant::bound_constants;
pub(crate) use self::live::{Evaluator, LiveTable, LiveValues, Viewer};
pub(crate) use self::own::{HoldsValues, OwnValues};
pub(crate) use self::pool::{BlockingPool, PoolError};
pub use self::slot::AttributeStatus;
