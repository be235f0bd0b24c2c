use proc_macro2::{Span, TokenStream};
use syn::ext::IdentExt as _;
use syn::parse::{ParseStream, Parser as _};
use syn::{Error, Ident};

use super::{ATTRIBUTE, Options as _, SKILL, SkillOptions, TOOL, closest};
use crate::errors::Errors;

/// What a method under `#[skill(..)]` is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum HookKind {
    Supports,
    OnAttach,
    Instructions,
    Tools,
}

impl HookKind {
    /// The words that mark one.
    pub(crate) const WORDS: &'static [&'static str] =
        &["supports", "on_attach", "instructions", "tools"];

    /// The word that marks it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Supports => "supports",
            Self::OnAttach => "on_attach",
            Self::Instructions => "instructions",
            Self::Tools => "tools",
        }
    }
}

/// Reads what stands in `#[skill(..)]` on a method; `None` when that is wrong.
pub(crate) fn hook_kind(tokens: TokenStream, place: Span, errors: &mut Errors) -> Option<HookKind> {
    let parsed = (|input: ParseStream<'_>| {
        if input.is_empty() {
            return Err(Error::new(
                place,
                format!(
                    "`#[{SKILL}]` on a method says what it does when a turn begins: {}; \
                     a tool is marked `#[{TOOL}]`, an attribute `#[{ATTRIBUTE}]`",
                    all_markers()
                ),
            ));
        }
        let word = input
            .call(Ident::parse_any)
            .map_err(|err| Error::new(err.span(), format!("write {}", all_markers())))?;
        let kind = kind_of(&word)?;
        if !input.is_empty() {
            let word = kind.word();
            let rest = input.error(format!("`{word}` stands alone: `#[{SKILL}({word})]`"));
            input.parse::<TokenStream>()?;
            return Err(rest);
        }
        Ok(kind)
    })
    .parse2(tokens);
    parsed.map_err(|err| errors.push(err)).ok()
}

fn kind_of(word: &Ident) -> syn::Result<HookKind> {
    let name = word.to_string();
    let message = match name.as_str() {
        "supports" => return Ok(HookKind::Supports),
        "on_attach" => return Ok(HookKind::OnAttach),
        "instructions" => return Ok(HookKind::Instructions),
        "tools" => return Ok(HookKind::Tools),
        "tool" => format!(
            "a tool is marked `#[{TOOL}]`; `#[{SKILL}(tools)]` marks the method that selects the tools of a turn"
        ),
        "attribute" => format!("an attribute is marked `#[{ATTRIBUTE}]`"),
        _ if SkillOptions::KEYS.contains(&name.as_str()) => {
            format!("`{name}` describes the skill; move it to the `#[{SKILL}]` on the struct")
        }
        _ => match closest(&name, HookKind::WORDS) {
            Some(right) => {
                format!("`#[{SKILL}({name})]` marks nothing; did you mean `#[{SKILL}({right})]`?")
            }
            None => format!(
                "`#[{SKILL}({name})]` marks nothing; write {}",
                all_markers()
            ),
        },
    };
    Err(Error::new(word.span(), message))
}

fn all_markers() -> String {
    let [rest @ .., last] = HookKind::WORDS else {
        return String::new();
    };
    let rest: Vec<_> = rest
        .iter()
        .map(|word| format!("`#[{SKILL}({word})]`"))
        .collect();
    format!("{} or `#[{SKILL}({last})]`", rest.join(", "))
}
