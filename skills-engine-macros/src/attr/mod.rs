//! The first stage: what stands in the attributes.

mod attribute;
mod condition;
mod doc;
mod embed;
mod hook;
mod param;
mod skill;
mod suggest;
mod tool;
mod value;

use proc_macro2::{Span, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Ident, Token};

pub(crate) use self::attribute::{AttributeOptions, Cache};
pub(crate) use self::condition::{
    Marker, Role, conditions_of, is_cfg, last_segment, mentions, take_markers,
};
pub(crate) use self::doc::{Text, doc_of};
pub(crate) use self::embed::{EmbedInput, embed_input};
pub(crate) use self::hook::{HookKind, hook_kind};
pub(crate) use self::param::ParamOptions;
pub(crate) use self::skill::{BlockOptions, SkillOptions};
pub(crate) use self::suggest::closest;
pub(crate) use self::tool::ToolOptions;
pub(crate) use self::value::{Exposure, SkillLevel, Spanned};
use crate::errors::Errors;

pub(crate) const SKILL: &str = "skill";
pub(crate) const ATTRIBUTE: &str = "skill_attribute";
pub(crate) const TOOL: &str = "skill_tool";
pub(crate) const PARAM: &str = "param";

/// The options of one attribute.
pub(crate) trait Options: Default {
    /// How the attribute is written.
    const ATTRIBUTE: &'static str;
    /// All its options.
    const KEYS: &'static [&'static str];

    /// Reads the value of `key`, which is one of `KEYS`.
    fn set(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()>;

    /// What to say of an option that belongs elsewhere; `None` for one that nobody knows.
    fn misplaced(key: &str) -> Option<String>;
}

/// Reads options, going on after every mistake.
pub(crate) fn parse_options<O: Options>(tokens: TokenStream, errors: &mut Errors) -> O {
    let mut options = O::default();
    let mut seen = Vec::new();
    let parsed = (|input: ParseStream<'_>| {
        while !input.is_empty() {
            if let Err(err) = parse_option(&mut options, &mut seen, input) {
                errors.push(err);
                skip_to_comma(input)?;
            } else if !input.is_empty() && !input.peek(Token![,]) {
                errors.add(input.span(), "expected `,` between two options");
                skip_to_comma(input)?;
            }
            input.parse::<Option<Token![,]>>()?;
        }
        Ok(())
    })
    .parse2(tokens);
    if let Err(err) = parsed {
        errors.push(err);
    }
    options
}

fn parse_option<O: Options>(
    options: &mut O,
    seen: &mut Vec<String>,
    input: ParseStream<'_>,
) -> syn::Result<()> {
    if !input.peek(Ident::peek_any) {
        return Err(input.error(format!(
            "expected the name of an option of `#[{}]`: {}",
            O::ATTRIBUTE,
            listed(O::KEYS)
        )));
    }
    let key = input.call(Ident::parse_any)?;
    let name = key.to_string();
    if !O::KEYS.contains(&name.as_str()) {
        return Err(Error::new(key.span(), unknown::<O>(&name)));
    }
    if seen.contains(&name) {
        return Err(Error::new(
            key.span(),
            format!("`{name}` is given twice; keep one"),
        ));
    }
    seen.push(name);
    options.set(&key, input)
}

fn unknown<O: Options>(name: &str) -> String {
    let attribute = O::ATTRIBUTE;
    if let Some(message) = O::misplaced(name) {
        return message;
    }
    match closest(name, O::KEYS) {
        Some(right) => {
            format!("`#[{attribute}]` has no option `{name}`; did you mean `{right}`?")
        }
        None if O::KEYS.len() == 1 => format!(
            "`#[{attribute}]` has no option `{name}`; its only option is {}",
            listed(O::KEYS)
        ),
        None => format!(
            "`#[{attribute}]` has no option `{name}`; its options are {}",
            listed(O::KEYS)
        ),
    }
}

fn skip_to_comma(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

/// Names in prose.
pub(crate) fn listed(names: &[&str]) -> String {
    let quoted: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
        None => "none".to_owned(),
    }
}

/// The place of the whole attribute, for what is missing from it.
pub(crate) fn call_site() -> Span {
    Span::call_site()
}
