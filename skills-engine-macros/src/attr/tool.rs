use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Ident, LitStr};

use super::doc::{Text, description};
use super::value::{self, Exposure, SkillLevel, Spanned};
use super::{AttributeOptions, Options, TOOL};

/// The options of `#[skill_tool]`.
#[derive(Default)]
pub(crate) struct ToolOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) title: Option<LitStr>,
    pub(crate) description: Option<Text>,
    pub(crate) level: Option<SkillLevel>,
    pub(crate) expose: Option<Exposure>,
    pub(crate) return_direct: Option<Span>,
    pub(crate) timeout: Option<Spanned<u64>>,
    pub(crate) blocking: Option<Span>,
    pub(crate) read_only: Option<Span>,
    pub(crate) destructive: Option<Span>,
    pub(crate) idempotent: Option<Span>,
    pub(crate) open_world: Option<Span>,
    pub(crate) requires_approval: Option<Span>,
}

impl Options for ToolOptions {
    const ATTRIBUTE: &'static str = TOOL;
    const KEYS: &'static [&'static str] = &[
        "name",
        "title",
        "description",
        "level",
        "expose",
        "return_direct",
        "timeout",
        "blocking",
        "read_only",
        "destructive",
        "idempotent",
        "open_world",
        "requires_approval",
    ];

    fn set(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "name" => self.name = value::string(key, input, "\"get_ticket\"")?,
            "title" => self.title = value::string(key, input, "\"Get a ticket\"")?,
            "description" => self.description = description(key, input)?,
            "level" => self.level = value::level(key, input)?,
            "expose" => self.expose = value::exposure(key, input)?,
            "return_direct" => self.return_direct = value::flag(key, input)?,
            "timeout" => self.timeout = value::duration(key, input)?,
            "blocking" => self.blocking = value::flag(key, input)?,
            "read_only" => self.read_only = value::flag(key, input)?,
            "destructive" => self.destructive = value::flag(key, input)?,
            "idempotent" => self.idempotent = value::flag(key, input)?,
            "open_world" => self.open_world = value::flag(key, input)?,
            _ => self.requires_approval = value::flag(key, input)?,
        }
        Ok(())
    }

    fn misplaced(key: &str) -> Option<String> {
        match key {
            "default" => Some(
                "a default belongs on the parameter: `#[param(default = 10)] limit: u32`".to_owned(),
            ),
            "sensitive" => Some(
                "what is sensitive is a parameter: `#[param(sensitive)] token: String`".to_owned(),
            ),
            _ => AttributeOptions::KEYS.contains(&key).then(|| {
                format!("`{key}` is an option of `#[skill_attribute]`, not of `#[skill_tool]`; remove it")
            }),
        }
    }
}
