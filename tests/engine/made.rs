//! Tools and skills made at run time, in few words.

use skills_engine::skill::{BuiltSkill, Level, NoArguments, SkillBuilder, Tool, ToolContext};

/// A tool without arguments, visible from METADATA on.
pub(crate) fn tool<F>(
    name: &'static str,
    act: impl Fn(ToolContext) -> F + Send + Sync + 'static,
) -> Tool
where
    F: Future<Output: skills_engine::skill::IntoToolResult> + Send + 'static,
{
    Tool::new(name, "", move |_: NoArguments, cx| act(cx)).level(Level::Metadata)
}

/// A skill with these tools.
pub(crate) fn skill(id: &'static str, tools: impl IntoIterator<Item = Tool>) -> BuiltSkill {
    tools
        .into_iter()
        .fold(SkillBuilder::new(id), SkillBuilder::tool)
        .build()
        .expect("ids and names are legal")
}
