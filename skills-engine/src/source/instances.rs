use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use super::{SkillSource, blocks_by_type, typed_skill};
use crate::skill::{BoxFuture, Code, Fault, Skill, SkillType, check_skill_id, lock};

/// Skills that a program adds and drops while its engine runs. Clones are the same skills.
///
/// What was inserted or removed counts from the next turn on that begins; turns that run go on with what they have.
///
/// # Examples
///
/// ```
/// use skills_engine::skill::SkillBuilder;
/// use skills_engine::source::{Instances, Linked};
/// use skills_engine::{Engine, Principal};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let instances = Instances::new();
/// let engine = Engine::builder()
///     .linked(Linked::None)
///     .source(instances.clone())
///     .build()
///     .await?;
/// let session = engine.session(Principal::local(), "s").await?;
///
/// instances.insert(SkillBuilder::new("notes").description("Takes notes.").build()?);
/// let mut turn = session.turn("Note this.").await?;
/// assert!(turn.view().await?.system_prompt().contains("Takes notes."));
/// # Ok(())
/// # }
/// # tokio::runtime::Builder::new_current_thread()
/// #     .enable_all()
/// #     .build()
/// #     .unwrap()
/// #     .block_on(example())
/// #     .unwrap();
/// ```
#[derive(Clone, Default)]
pub struct Instances {
    inner: Arc<Inner>,
}

#[derive(Default)]
struct Inner {
    skills: Mutex<BTreeMap<String, Arc<dyn Skill>>>,
    revision: AtomicU64,
}

impl Instances {
    /// A source without a skill.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a skill, in place of one with the same id; gives that one.
    pub fn insert(&self, skill: impl Skill) -> Option<Arc<dyn Skill>> {
        self.insert_arc(Arc::new(skill))
    }

    /// The same for a skill that is shared.
    pub fn insert_arc(&self, skill: Arc<dyn Skill>) -> Option<Arc<dyn Skill>> {
        let id = skill.definition().id.clone().into_owned();
        let before = lock(&self.inner.skills).insert(id, skill);
        self.changed();
        before
    }

    /// Adds an instance of an annotated type, under the type's own id.
    ///
    /// # Errors
    ///
    /// As [`insert_type_as`](Self::insert_type_as).
    pub fn insert_type<T: SkillType>(&self, value: T) -> Result<Option<Arc<dyn Skill>>, Fault> {
        self.insert_type_as(T::entry().id, value)
    }

    /// Adds an instance of an annotated type under an id of its own, in place of a skill with that id; gives that one.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for an id that is none, and for a type whose members do not go together.
    pub fn insert_type_as<T: SkillType>(
        &self,
        id: impl Into<Cow<'static, str>>,
        value: T,
    ) -> Result<Option<Arc<dyn Skill>>, Fault> {
        let (id, entry) = (id.into(), T::entry());
        check_skill_id(&id)?;
        let blocks = blocks_by_type();
        let blocks = blocks.get(&(entry.type_id)());
        let blocks = blocks.map_or(&[][..], Vec::as_slice);
        let skill = typed_skill(id, entry, blocks, Arc::new(value))
            .map_err(|problems| Fault::new(Code::InvalidArguments, problems.join("; ")))?;
        Ok(self.insert_arc(skill))
    }

    /// Drops the skill with an id; gives it, if there was one.
    #[expect(clippy::must_use_candidate, reason = "it was to go, and it went")]
    pub fn remove(&self, id: &str) -> Option<Arc<dyn Skill>> {
        let removed = lock(&self.inner.skills).remove(id);
        if removed.is_some() {
            self.changed();
        }
        removed
    }

    fn changed(&self) {
        self.inner.revision.fetch_add(1, Ordering::AcqRel);
    }
}

impl SkillSource for Instances {
    fn name(&self) -> &'static str {
        "instances"
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        Box::pin(async { Ok(lock(&self.inner.skills).values().cloned().collect()) })
    }

    fn revision(&self) -> u64 {
        self.inner.revision.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Instances {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let skills = lock(&self.inner.skills);
        formatter.debug_set().entries(skills.keys()).finish()
    }
}
