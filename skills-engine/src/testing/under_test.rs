use std::sync::Arc;

use crate::engine::EngineBuilder;
use crate::skill::{Instance, Skill, SkillType, nearest, shown};
use crate::source::{blocks_by_type, typed_skill};

/// What [`Probe`](super::Probe) and [`Harness`](super::Harness) take: a value of an annotated type, an `Arc` of one that
/// the test keeps too, or any [`Skill`], such as one of a [`SkillBuilder`](crate::skill::SkillBuilder).
///
/// `Kind` tells these apart and is always inferred.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a skill",
    note = "put `#[skill]` on the struct `{Self}`, or build the `SkillBuilder` first"
)]
pub trait SkillUnderTest<Kind> {
    #[doc(hidden)]
    fn id(&self) -> String;

    #[doc(hidden)]
    fn into_skill(self) -> Result<Arc<dyn Skill>, Vec<String>>;

    #[doc(hidden)]
    fn add_to(self, builder: EngineBuilder) -> EngineBuilder;
}

/// Values of annotated types.
#[derive(Debug)]
#[non_exhaustive]
pub struct OfType;

/// Values of annotated types that others hold too.
#[derive(Debug)]
#[non_exhaustive]
pub struct OfSharedType;

/// Skills as they are.
#[derive(Debug)]
#[non_exhaustive]
pub struct Whole;

impl<T: SkillType> SkillUnderTest<OfType> for T {
    fn id(&self) -> String {
        T::entry().id.to_owned()
    }

    fn into_skill(self) -> Result<Arc<dyn Skill>, Vec<String>> {
        skill_of_type(Arc::new(self))
    }

    fn add_to(self, builder: EngineBuilder) -> EngineBuilder {
        builder.skill(self)
    }
}

impl<T: SkillType> SkillUnderTest<OfSharedType> for Arc<T> {
    fn id(&self) -> String {
        T::entry().id.to_owned()
    }

    fn into_skill(self) -> Result<Arc<dyn Skill>, Vec<String>> {
        skill_of_type(self)
    }

    fn add_to(self, builder: EngineBuilder) -> EngineBuilder {
        builder.skill_arc(T::entry().id, self)
    }
}

impl<S: Skill> SkillUnderTest<Whole> for S {
    fn id(&self) -> String {
        self.definition().id.clone().into_owned()
    }

    fn into_skill(self) -> Result<Arc<dyn Skill>, Vec<String>> {
        Ok(Arc::new(self))
    }

    fn add_to(self, builder: EngineBuilder) -> EngineBuilder {
        builder.with_skill(self)
    }
}

fn skill_of_type<T: SkillType>(instance: Arc<T>) -> Result<Arc<dyn Skill>, Vec<String>> {
    let entry = T::entry();
    let blocks = blocks_by_type();
    let blocks = blocks
        .get(&(entry.type_id)())
        .map_or(&[][..], Vec::as_slice);
    typed_skill(entry.id.into(), entry, blocks, instance as Instance)
}

/// Says that a skill has no tool or attribute of a name, and which it has.
pub(super) fn no_such_member<'a>(
    skill: &str,
    noun: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> String {
    let name = shown(name, 64);
    if let Some(near) = nearest(&name, known.clone()) {
        return format!("`{skill}` has no {noun} `{name}`; did you mean `{near}`?");
    }
    let known: Vec<_> = known.map(|name| format!("`{name}`")).collect();
    if known.is_empty() {
        return format!(
            "`{skill}` has no {noun} `{name}`, nor any other; check what the test is given"
        );
    }
    format!(
        "`{skill}` has no {noun} `{name}`; use one of {}",
        known.join(", ")
    )
}
