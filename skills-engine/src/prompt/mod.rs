//! How it is said: the text that tells a model which skills there are and what is open.

mod budget;
mod catalogue;
mod composer;
mod envelope;
mod escape;
mod profile;
mod standard;
mod template;
#[cfg(feature = "tokens")]
mod tokenizer;
mod words;

pub use self::budget::{TokenBudget, TokenCounter};
pub use self::catalogue::{Catalogue, CatalogueCut, CatalogueEntry, CatalogueList, Shown};
pub use self::composer::{
    AttributeText, CatalogueText, LiveText, OpenText, PromptComposer, RestatedText, SkillText,
    ToolText, TurnText,
};
pub(crate) use self::envelope::name_as_told;
pub use self::envelope::{EnvelopeForm, LoadedSkill};
pub use self::escape::{
    escape_attribute, escape_instructions, escape_json_text, escape_line, escape_terminal,
    escape_text, escape_text_below,
};
pub use self::profile::{
    CatalogueFormat, CataloguePlace, CatalogueTiers, Profile, ProfileError, ProfileParameter,
    ProfileTool,
};
pub use self::standard::StandardComposer;
pub use self::template::{ArgumentBase, Expanded, Template, TemplateError};
#[cfg(feature = "tokens")]
pub use self::tokenizer::Tokenizer;
