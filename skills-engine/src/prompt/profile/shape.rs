use thiserror::Error;

/// Where the catalogue of skills is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CataloguePlace {
    /// In the system prompt.
    SystemPrompt,
    /// In the description of the tool that loads a skill.
    LoadTool,
    /// In a message of its own that reminds of it.
    Reminder,
}

/// How the catalogue of skills is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CatalogueFormat {
    /// As [`StandardComposer`](crate::prompt::StandardComposer) does, `<skill id="…" name="…" level="METADATA">` inside
    /// `<skills>`.
    Skills,
    /// `<skill>` with `<name>` and `<description>` inside `<available_skills>`; `<location>` and `<argument-hint>` where
    /// there are any.
    AvailableSkills,
    /// `<skill name="…">description</skill>` inside `<skill_list>`.
    SkillList,
    /// A line `- **name**: description`.
    BoldLines,
    /// A line `- name: description`.
    Lines,
}

/// Up to how many skills the catalogue says how much, whatever its budget has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct CatalogueTiers {
    /// Up to so many skills, descriptions are shown.
    pub described: usize,
    /// Up to so many, names are shown; of more, none.
    pub named: usize,
}

impl CatalogueTiers {
    /// Descriptions up to the first number of skills, names up to the second.
    #[must_use]
    pub fn new(described: usize, named: usize) -> Self {
        Self { described, named }
    }
}

impl Default for CatalogueTiers {
    /// 30 with descriptions, 100 with names.
    fn default() -> Self {
        Self::new(30, 100)
    }
}

/// A tool that a profile names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProfileTool {
    /// Loads a skill.
    Load,
    /// Reads a file of a skill.
    ReadResource,
    /// Lists all skills.
    List,
    /// Finds skills by words.
    Search,
}

/// A parameter that a profile names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProfileParameter {
    /// The skill that is loaded.
    LoadSkill,
    /// What the skill that is loaded is to work on.
    LoadArguments,
    /// The skill that a file belongs to.
    ResourceSkill,
    /// The file's path.
    ResourcePath,
}

/// Why a profile cannot have a value.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ProfileError {
    /// The text has no place for the list.
    #[error(
        "the catalogue text has no `{{skills}}`. write `{{skills}}` where the list of skills belongs"
    )]
    NoSkills,
    /// The text has more than one place for the list.
    #[error("the catalogue text has `{{skills}}` {count} times. keep one of them")]
    ManySkills {
        /// How many.
        count: usize,
    },
    /// A name that providers do not take.
    #[error(
        "`{name}` cannot be the name of a tool or parameter. use 1 to 64 letters, digits, `_` or `-`"
    )]
    Name {
        /// The name, with what is invisible made visible, cut.
        name: String,
    },
    /// A name that something else has.
    #[error(
        "`{name}` is already the name of another tool or parameter of the profile. use another name"
    )]
    Taken {
        /// The name.
        name: String,
    },
}
