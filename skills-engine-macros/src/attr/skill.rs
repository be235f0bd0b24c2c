use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Ident, LitStr, Path};

use super::doc::{Text, description};
use super::value::{self, SkillLevel};
use super::{HookKind, Options, SKILL};

/// The options of `#[skill]` on a struct.
#[derive(Default)]
pub(crate) struct SkillOptions {
    pub(crate) id: Option<LitStr>,
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<Text>,
    pub(crate) version: Option<LitStr>,
    pub(crate) tags: Vec<LitStr>,
    pub(crate) base_level: Option<SkillLevel>,
    pub(crate) host_only: Option<Span>,
    pub(crate) code_only: Option<Span>,
    pub(crate) required: Option<Span>,
    pub(crate) factory: Option<Path>,
    pub(crate) manual: Option<Span>,
    pub(crate) krate: Option<Path>,
}

impl Options for SkillOptions {
    const ATTRIBUTE: &'static str = SKILL;
    const KEYS: &'static [&'static str] = &[
        "id",
        "name",
        "description",
        "version",
        "tags",
        "base_level",
        "host_only",
        "code_only",
        "required",
        "factory",
        "manual",
        "crate",
    ];

    fn set(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "id" => self.id = value::string(key, input, "\"help-desk\"")?,
            "name" => self.name = value::string(key, input, "\"Help desk\"")?,
            "description" => self.description = description(key, input)?,
            "version" => self.version = value::string(key, input, "\"1.0.0\"")?,
            "tags" => self.tags = value::strings(key, input)?,
            "base_level" => self.base_level = value::level(key, input)?,
            "host_only" => self.host_only = value::flag(key, input)?,
            "code_only" => self.code_only = value::flag(key, input)?,
            "required" => self.required = value::flag(key, input)?,
            "factory" => self.factory = value::path(key, input, "Self::connect")?,
            "manual" => self.manual = value::flag(key, input)?,
            _ => self.krate = value::path(key, input, "skills_engine")?,
        }
        Ok(())
    }

    fn misplaced(key: &str) -> Option<String> {
        match key {
            _ if HookKind::WORDS.contains(&key) => Some(hook_elsewhere(key)),
            "level" => Some(
                "the level a skill starts at is `base_level`; `level` belongs to its members"
                    .to_owned(),
            ),
            _ => None,
        }
    }
}

/// The options of `#[skill]` on an impl block.
#[derive(Default)]
pub(crate) struct BlockOptions {
    pub(crate) krate: Option<Path>,
}

impl Options for BlockOptions {
    const ATTRIBUTE: &'static str = SKILL;
    const KEYS: &'static [&'static str] = &["crate"];

    fn set(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        self.krate = value::path(key, input, "skills_engine")?;
        Ok(())
    }

    fn misplaced(key: &str) -> Option<String> {
        if HookKind::WORDS.contains(&key) {
            return Some(hook_elsewhere(key));
        }
        SkillOptions::KEYS.contains(&key).then(|| {
            format!("`{key}` describes the skill; move it to the `#[skill]` on the struct")
        })
    }
}

fn hook_elsewhere(word: &str) -> String {
    format!(
        "`{word}` marks a method: write `#[{SKILL}({word})]` above it, inside a `#[{SKILL}] impl` block"
    )
}
