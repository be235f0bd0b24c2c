use std::sync::Arc;

use super::Loaded;
use crate::skill::{BoxFuture, Fault, Skill};

/// Where skills come from that may change while the engine runs: a database, a remote list, a folder.
///
/// It is asked when the engine is built, and each time the engine is refreshed. A skill that did not change is best
/// given as the same `Arc`, which is seen without a comparison.
///
/// [`Instances`](super::Instances) is one for skills that the program itself adds and drops.
#[cfg_attr(
    feature = "folders",
    doc = "The guide has [one over a database](super::SkillFolders#skills-from-elsewhere)."
)]
pub trait SkillSource: Send + Sync + 'static {
    /// Names the source in reports, such as `database`.
    fn name(&self) -> &str;

    /// All skills the source has now.
    ///
    /// # Errors
    ///
    /// Says in its message why there is no answer. A refresh then keeps what the source gave before.
    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>>;

    /// All skills the source has now, and what it could not give. This is what an engine calls; a source that has
    /// nothing to tell leaves it as it is.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    fn load_and_tell(&self) -> BoxFuture<'_, Result<Loaded, Fault>> {
        Box::pin(async move { self.load().await.map(Loaded::from) })
    }

    /// Counts the changes that the source knows of. A turn that finds another number at its beginning has the source
    /// asked anew; a source that knows of none by itself leaves it at 0, and is asked when the engine is refreshed.
    ///
    /// It is asked before each turn, so it must be cheap.
    fn revision(&self) -> u64 {
        0
    }

    /// Completes once something changed after the source was asked last; `None` for a source that does not tell.
    ///
    /// An engine then refreshes by itself, when none of its sources has told of another change for
    /// [`refresh_debounce`](crate::skill::Limits::refresh_debounce), so that one change of many files is one. It calls this
    /// again and again meanwhile, and drops what has not completed: the next one must then complete for a change that was
    /// not told. A source that tells of one until it is asked is asked after four times as long, as one that never rests.
    fn changed(&self) -> Option<BoxFuture<'static, ()>> {
        None
    }

    /// What becomes of a skill whose id a skill of another source has, too.
    fn precedence(&self) -> Precedence {
        Precedence::Equal
    }
}

/// What becomes of a skill of a source whose id another skill has, too. Skills that the host passes to the builder, and
/// those of linked crates, go before all sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Precedence {
    /// It is refused, as a mistake.
    #[default]
    Equal,
    /// It is left out and reported as shadowed: by one of an equal source, or of one like this that was added earlier.
    External,
    /// The same, but one of an external source goes before it, too, whenever that was added.
    Builtin,
}
