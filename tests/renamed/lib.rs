//! A skill crate that knows the framework under another name and has no other dependency.
#![no_implicit_prelude]
#![forbid(unsafe_code)]
#![deny(missing_docs, unused_crate_dependencies)]

use ::engine::{skill, skill_attribute, skill_tool};

::engine::embed_skills!("skills", crate = ::engine);

/// Counts letters.
#[skill(crate = ::engine)]
#[derive(::std::default::Default)]
#[expect(
    missing_debug_implementations,
    reason = "a derive that is not under test"
)]
pub struct Letters {
    /// What is not counted.
    #[skill_attribute]
    ignored: ::std::string::String,
}

#[skill(crate = ::engine)]
impl Letters {
    /// Counts.
    #[skill_tool(read_only)]
    #[expect(
        clippy::unused_async,
        reason = "the glue of an async tool is under test"
    )]
    pub async fn count(&self, text: &str, cx: &::engine::skill::ToolContext) -> usize {
        text.len() - self.ignored.len() + cx.call_id().len()
    }
}

#[cfg(test)]
mod tests {
    use ::engine::__private::{EmbeddedRoot, inventory};
    use ::engine::skill::{BlockEntry, SkillType};
    use ::std::any::TypeId;
    use ::std::iter::{IntoIterator, Iterator};

    use super::Letters;

    #[test]
    fn the_skill_is_found() {
        ::std::assert_eq!(Letters::entry().id, "letters");
        ::std::assert_eq!(Letters::entry().origin.crate_name, "renamed");
        let tools = inventory::iter::<BlockEntry>
            .into_iter()
            .filter(|block| (block.type_id)() == TypeId::of::<Letters>())
            .flat_map(|block| block.tools)
            .map(|tool| tool.name);
        ::std::assert!(tools.eq(["count"]));
    }

    #[test]
    fn the_embedded_folder_is_found() {
        let mut roots = inventory::iter::<EmbeddedRoot>.into_iter();
        let root = Iterator::next(&mut roots).expect("the macro submitted it");
        ::std::assert_eq!(root.path, "skills");
        ::std::assert_eq!(root.origin.crate_name, "renamed");
        ::std::assert_eq!(root.folders[0].path, "spell");
        ::std::assert!(Iterator::next(&mut roots).is_none());
    }

    #[test]
    fn the_folder_is_a_value() {
        let source = ::engine::embedded_skills!("skills", crate = ::engine,);
        ::std::assert_eq!(::engine::source::SkillSource::name(&source), "renamed");
    }
}
