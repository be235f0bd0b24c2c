use std::sync::{Arc, Mutex, OnceLock};

use tokio::sync::OnceCell;

use super::{SearchIndex, SearchQuery, Searched, SkillSearch};
use crate::engine::epoch::Epoch;
use crate::registry::SkillIndex;
use crate::skill::{BlockingPool, Code, Fault, PoolError, lock};

/// The index of a registry, made when it is first searched and shared by all sessions.
///
/// Not before: a refresh need not pay for it, and an index that nobody asks is never made.
#[derive(Default)]
pub(in crate::engine) struct KeptIndex(Mutex<Option<Arc<Indexed>>>);

/// An index of skills of a registry, made or to be made.
pub(in crate::engine) struct Indexed {
    /// The skills it is over, in their order.
    skills: Box<[SkillIndex]>,
    index: OnceLock<Box<dyn SearchIndex>>,
    /// So that one task has the index made, and others wait for it.
    making: OnceCell<()>,
}

impl KeptIndex {
    /// An index over all skills that are known to whoever searches. `known` is by their index.
    pub(in crate::engine) async fn get(
        epoch: &Arc<Epoch>,
        known: &[bool],
        search: &Arc<dyn SkillSearch>,
        pool: &BlockingPool,
    ) -> Result<Arc<Indexed>, Fault> {
        let indexed = epoch.search_index.covering(epoch, known);
        indexed.make(epoch, search, pool).await?;
        Ok(indexed)
    }

    fn covering(&self, epoch: &Epoch, known: &[bool]) -> Arc<Indexed> {
        let mut latest = lock(&self.0);
        // A redactor is handed no text before someone may see it, so its index grows with those who search.
        let is_redacted = epoch.words.redaction().is_some();
        if let Some(latest) = &*latest
            && (!is_redacted || latest.covers(known))
        {
            return Arc::clone(latest);
        }
        let belongs = |skill: SkillIndex| {
            let before = latest.as_ref();
            if is_redacted {
                is_known(known, skill) || before.is_some_and(|before| before.holds(skill))
            } else {
                let registered = epoch.registry.skill(skill);
                !registered.definition().code_only && !registered.is_built_in()
            }
        };
        let skills = (0..).zip(&epoch.registry.skills).map(|(index, _)| index);
        let skills = skills.filter(|skill| belongs(*skill)).collect();
        let indexed = Arc::new(Indexed {
            skills,
            index: OnceLock::new(),
            making: OnceCell::new(),
        });
        *latest = Some(Arc::clone(&indexed));
        indexed
    }
}

impl Indexed {
    fn holds(&self, skill: SkillIndex) -> bool {
        self.skills.binary_search(&skill).is_ok()
    }

    fn covers(&self, known: &[bool]) -> bool {
        (0..)
            .zip(known)
            .all(|(skill, is_known)| !is_known || self.holds(skill))
    }

    async fn make(
        self: &Arc<Self>,
        epoch: &Arc<Epoch>,
        search: &Arc<dyn SkillSearch>,
        pool: &BlockingPool,
    ) -> Result<(), Fault> {
        let made = self.making.get_or_try_init(|| {
            let (indexed, epoch) = (Arc::clone(self), Arc::clone(epoch));
            let search = Arc::clone(search);
            // What a task that is gone began is not lost: the next one finds it made, or waits for it.
            pool.run(move || {
                indexed
                    .index
                    .get_or_init(|| indexed.build(&epoch, &*search));
            })
        });
        made.await.copied().map_err(|error| match error {
            PoolError::Full => Fault::new(
                Code::LimitExceeded,
                "skills cannot be searched now, as all threads are busy. Try again later",
            ),
            PoolError::Panicked => Fault::new(
                Code::Panic,
                "skills cannot be searched: their index could not be made. Go by the list of skills instead",
            ),
        })
    }

    fn build(&self, epoch: &Epoch, search: &dyn SkillSearch) -> Box<dyn SearchIndex> {
        let searched: Vec<_> = self
            .skills
            .iter()
            .map(|skill| {
                let shown = epoch.words.skill(&epoch.registry, *skill);
                Searched::new(
                    &epoch.registry.skill(*skill).id,
                    &shown.name,
                    &shown.description,
                    &shown.tags,
                )
            })
            .collect();
        search.index(&searched)
    }

    /// The skills that are found, each once, best first; none that is not known, whatever the index says.
    pub(in crate::engine) fn search(
        &self,
        text: &str,
        most: usize,
        known: &[bool],
    ) -> Vec<SkillIndex> {
        let Some(index) = self.index.get() else {
            return Vec::new();
        };
        let skills = self.skills.iter();
        let mut known: Vec<bool> = skills.map(|skill| is_known(known, *skill)).collect();
        let found = index.search(&SearchQuery::new(text, most, &known));
        found
            .into_iter()
            .filter(|at| known.get_mut(*at).is_some_and(std::mem::take))
            .filter_map(|at| self.skills.get(at).copied())
            .take(most)
            .collect()
    }
}

fn is_known(known: &[bool], skill: SkillIndex) -> bool {
    known.get(skill as usize).copied().unwrap_or(false)
}
