use std::sync::Arc;

use crate::skill::{BoxFuture, Fault, Skill};

/// Where skills come from that may change while the engine runs: a database, a remote list, a folder.
///
/// It is asked when the engine is built, and each time the engine is refreshed.
pub trait SkillSource: Send + Sync + 'static {
    /// Names the source in reports, such as `database`.
    fn name(&self) -> &str;

    /// All skills the source has now.
    ///
    /// # Errors
    ///
    /// Says in its message why there is no answer. A refresh then keeps what the source gave before.
    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>>;
}
