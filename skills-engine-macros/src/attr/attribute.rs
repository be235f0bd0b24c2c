use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::{Error, Ident, LitStr};

use super::doc::{Text, description};
use super::value::{self, Exposure, SkillLevel, Spanned};
use super::{ATTRIBUTE, Options, ToolOptions, closest};

/// The options of `#[skill_attribute]`.
#[derive(Default)]
pub(crate) struct AttributeOptions {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<Text>,
    pub(crate) level: Option<SkillLevel>,
    pub(crate) expose: Option<Exposure>,
    pub(crate) lazy: Option<Span>,
    pub(crate) timeout: Option<Spanned<u64>>,
    pub(crate) cache: Option<Spanned<Cache>>,
    pub(crate) sensitive: Option<Span>,
}

#[derive(Clone, Copy)]
pub(crate) enum Cache {
    Turn,
    Session,
    Milliseconds(u64),
}

impl Options for AttributeOptions {
    const ATTRIBUTE: &'static str = ATTRIBUTE;
    const KEYS: &'static [&'static str] = &[
        "name",
        "description",
        "level",
        "expose",
        "lazy",
        "timeout",
        "cache",
        "sensitive",
    ];

    fn set(&mut self, key: &Ident, input: ParseStream<'_>) -> syn::Result<()> {
        match key.to_string().as_str() {
            "name" => self.name = value::string(key, input, "\"open_tickets\"")?,
            "description" => self.description = description(key, input)?,
            "level" => self.level = value::level(key, input)?,
            "expose" => self.expose = value::exposure(key, input)?,
            "lazy" => self.lazy = value::flag(key, input)?,
            "timeout" => self.timeout = value::duration(key, input)?,
            "cache" => self.cache = Some(cache(key, input)?),
            _ => self.sensitive = value::flag(key, input)?,
        }
        Ok(())
    }

    fn misplaced(key: &str) -> Option<String> {
        match key {
            "return_direct" => Some(
                "`return_direct` belongs on a `#[skill_tool]`: an attribute is shown, never an answer; remove it"
                    .to_owned(),
            ),
            "read_only" => Some("an attribute is always read-only; remove `read_only`".to_owned()),
            "blocking" => Some("write `lazy`: a sync lazy attribute runs on a thread of its own".to_owned()),
            _ => ToolOptions::KEYS.contains(&key).then(|| {
                format!("`{key}` is an option of `#[skill_tool]`, not of `#[skill_attribute]`; remove it")
            }),
        }
    }
}

fn cache(key: &Ident, input: ParseStream<'_>) -> syn::Result<Spanned<Cache>> {
    value::equals(key, input, "turn")?;
    let span = input.span();
    if let Ok(text) = input.fork().parse::<LitStr>() {
        if let Some(word) = ["turn", "session"]
            .into_iter()
            .find(|word| *word == text.value())
        {
            return Err(Error::new(
                span,
                format!("write `cache = {word}`, without quotes"),
            ));
        }
        let text = value::literal(key, input, "\"30s\"")?;
        let milliseconds = value::milliseconds(key, &text)?;
        return Ok(Spanned {
            value: Cache::Milliseconds(milliseconds.value),
            span,
        });
    }
    let wrong = |advice: &str| {
        Error::new(
            span,
            format!("`cache` is `turn`, `session` or a duration such as `\"30s\"`{advice}"),
        )
    };
    let word: Ident = input.parse().map_err(|_| wrong(""))?;
    let value = match word.to_string().as_str() {
        "turn" => Cache::Turn,
        "session" => Cache::Session,
        other => {
            let advice = closest(other, &["turn", "session"])
                .map_or_else(String::new, |right| format!("; write `cache = {right}`"));
            return Err(wrong(&advice));
        }
    };
    Ok(Spanned { value, span })
}
