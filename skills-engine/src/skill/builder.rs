use std::borrow::Cow;
use std::sync::Arc;

use super::{
    AttachContext, Attribute, Code, Fault, HookAnswer, Hooks, Level, Skill, SkillContent,
    SkillDefinition, TextContent, Tool, ToolSelection, TurnRequest, check_skill_id,
};

/// Makes a skill without a Rust type.
///
/// # Examples
///
/// ```
/// use skills_engine::skill::{NoArguments, SkillBuilder, Tool, ToolContext};
///
/// let clock = SkillBuilder::new("clock")
///     .description("Tells the time.")
///     .tool(Tool::new("now", "The time of day.", |_: NoArguments, _cx: ToolContext| async { "noon" }))
///     .build()?;
/// # Ok::<(), skills_engine::skill::Fault>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct SkillBuilder {
    definition: SkillDefinition,
    attributes: Vec<Attribute>,
    tools: Vec<Tool>,
    instructions: Option<String>,
    content: Option<Arc<dyn SkillContent>>,
    hooks: Hooks,
}

impl SkillBuilder {
    /// Begins a skill; the name is the id in words until one is set.
    pub fn new(id: impl Into<Cow<'static, str>>) -> Self {
        let definition = SkillDefinition::new(id);
        Self {
            definition,
            attributes: Vec::new(),
            tools: Vec::new(),
            instructions: None,
            content: None,
            hooks: Hooks::new(),
        }
    }

    /// Sets the name for people.
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.definition.name = name.into();
        self
    }

    /// Sets what the skill is for.
    pub fn description(mut self, description: impl Into<Cow<'static, str>>) -> Self {
        self.definition.description = description.into();
        self
    }

    /// Sets the version.
    pub fn version(mut self, version: impl Into<Cow<'static, str>>) -> Self {
        self.definition.version = version.into();
        self
    }

    /// Adds a label.
    pub fn tag(mut self, tag: impl Into<Cow<'static, str>>) -> Self {
        self.definition.tags.push(tag.into());
        self
    }

    /// Sets the level every session starts at.
    pub fn base_level(mut self, level: Level) -> Self {
        self.definition.base_level = level;
        self
    }

    /// Keeps models from opening it: somebody else must.
    pub fn host_only(mut self) -> Self {
        self.definition.host_only = true;
        self
    }

    /// Never shows it to a model; in code it works as any other.
    pub fn code_only(mut self) -> Self {
        self.definition.code_only = true;
        self
    }

    /// Says whether a model may load it by itself, as it may unless told otherwise.
    pub fn model_invocable(mut self, may: bool) -> Self {
        self.definition.model_invocable = may;
        self
    }

    /// Says whether a user may invoke it by name, as they may unless told otherwise.
    pub fn user_invocable(mut self, may: bool) -> Self {
        self.definition.user_invocable = may;
        self
    }

    /// Sets what a user may write after its name, such as `[file] [language]`.
    pub fn argument_hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.definition.argument_hint = Some(hint.into());
        self
    }

    /// Makes a turn fail when one of its hooks does, instead of leaving it out of the turn.
    pub fn required(mut self) -> Self {
        self.definition.required = true;
        self
    }

    /// Sets the text shown from CONTEXT on.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the body, without files: [`content`](Self::content) with a [`TextContent`]. A model loads it when it needs it.
    ///
    /// ```
    /// use skills_engine::skill::SkillBuilder;
    ///
    /// let skill = SkillBuilder::new("review")
    ///     .description("Reviews a change.")
    ///     .body("Read the whole change first. Then review $ARGUMENTS.\n")
    ///     .build()?;
    /// # Ok::<(), skills_engine::skill::Fault>(())
    /// ```
    pub fn body(self, text: impl Into<Arc<str>>) -> Self {
        self.content(TextContent::new(text))
    }

    /// Sets a body and files, as a `SKILL.md` folder has them; [`TextContent`] holds them in memory.
    pub fn content(mut self, content: impl SkillContent) -> Self {
        self.content = Some(Arc::new(content));
        self
    }

    /// Sets what says whether the skill takes part in a turn; see [`Hooks`].
    pub fn supports<R: HookAnswer<bool>>(
        mut self,
        hook: impl Fn(&TurnRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        self.hooks = self.hooks.supports(hook);
        self
    }

    /// Sets what is done when the skill takes part in a turn; see [`Hooks`].
    pub fn on_attach<R: HookAnswer<()>>(
        mut self,
        hook: impl Fn(&mut TurnRequest, &AttachContext) -> R + Send + Sync + 'static,
    ) -> Self {
        self.hooks = self.hooks.on_attach(hook);
        self
    }

    /// Sets what gives a turn's own instructions, shown from CONTEXT on after those of every turn; see [`Hooks`].
    pub fn dynamic_instructions<R: HookAnswer<Option<String>>>(
        mut self,
        hook: impl Fn(&TurnRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        self.hooks = self.hooks.instructions(hook);
        self
    }

    /// Sets what selects the tools of a turn; see [`Hooks`].
    pub fn dynamic_tools<R: HookAnswer<ToolSelection>>(
        mut self,
        hook: impl Fn(&TurnRequest) -> R + Send + Sync + 'static,
    ) -> Self {
        self.hooks = self.hooks.tools(hook);
        self
    }

    /// Sets all hooks at once, in place of earlier ones: for those that wait.
    pub fn hooks(mut self, hooks: Hooks) -> Self {
        self.hooks = hooks;
        self
    }

    /// Adds an attribute.
    pub fn attribute(mut self, attribute: Attribute) -> Self {
        self.attributes.push(attribute);
        self
    }

    /// Adds a tool.
    pub fn tool(mut self, tool: Tool) -> Self {
        self.tools.push(tool);
        self
    }

    /// Checks the whole and makes the skill.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for an illegal id or name, and for a name used twice.
    pub fn build(self) -> Result<BuiltSkill, Fault> {
        let Self {
            definition,
            attributes,
            tools,
            instructions,
            content,
            hooks,
        } = self;
        check_skill_id(&definition.id)?;
        for attribute in &attributes {
            attribute.check()?;
        }
        for tool in &tools {
            tool.check()?;
        }
        check_unique(
            &definition.id,
            "attribute",
            attributes
                .iter()
                .map(|attribute| &*attribute.definition.name),
        )?;
        check_unique(
            &definition.id,
            "tool",
            tools.iter().map(|tool| &*tool.definition.name),
        )?;
        Ok(BuiltSkill {
            definition,
            attributes,
            tools,
            instructions,
            content,
            hooks,
        })
    }
}

fn check_unique<'a>(
    skill: &str,
    noun: &str,
    names: impl Iterator<Item = &'a str>,
) -> Result<(), Fault> {
    let mut seen = std::collections::HashSet::new();
    for name in names {
        if !seen.insert(name) {
            return Err(Fault::new(
                Code::InvalidArguments,
                format!("skill `{skill}` has two {noun}s named `{name}`; rename one"),
            ));
        }
    }
    Ok(())
}

/// A skill made by [`SkillBuilder`].
#[derive(Clone, Debug)]
pub struct BuiltSkill {
    definition: SkillDefinition,
    attributes: Vec<Attribute>,
    tools: Vec<Tool>,
    instructions: Option<String>,
    content: Option<Arc<dyn SkillContent>>,
    hooks: Hooks,
}

impl Skill for BuiltSkill {
    fn definition(&self) -> &SkillDefinition {
        &self.definition
    }

    fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    fn tools(&self) -> &[Tool] {
        &self.tools
    }

    fn instructions(&self) -> Option<&str> {
        self.instructions.as_deref()
    }

    fn content(&self) -> Option<&dyn SkillContent> {
        self.content.as_deref()
    }

    fn hooks(&self) -> Option<&Hooks> {
        (!self.hooks.is_empty()).then_some(&self.hooks)
    }
}
