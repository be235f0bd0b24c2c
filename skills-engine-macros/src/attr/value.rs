//! The kinds of value an option may have.

use proc_macro2::Span;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Error, Ident, LitStr, Path, Token, bracketed};

use super::{closest, listed};

/// A value and where it stands.
pub(crate) struct Spanned<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

#[derive(Clone, Copy)]
pub(crate) enum SkillLevel {
    Metadata,
    Context,
    Complete,
}

#[derive(Clone, Copy)]
pub(crate) enum Exposure {
    Psl,
    Always,
    Disabled,
}

/// A word that is right by being there.
pub(crate) fn flag(key: &Ident, input: ParseStream<'_>) -> syn::Result<Option<Span>> {
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(Some(key.span()));
    }
    Err(input.error(format!("`{key}` takes no value; write `{key}` alone")))
}

/// Steps over the `=` of an option that has a value.
pub(crate) fn equals(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<()> {
    if input.peek(Token![=]) {
        input.parse::<Token![=]>()?;
        if !input.is_empty() && !input.peek(Token![,]) {
            return Ok(());
        }
    }
    Err(Error::new(
        key.span(),
        format!("`{key}` needs a value: `{key} = {example}`"),
    ))
}

pub(crate) fn string(
    key: &Ident,
    input: ParseStream<'_>,
    example: &str,
) -> syn::Result<Option<LitStr>> {
    equals(key, input, example)?;
    literal(key, input, example).map(Some)
}

pub(crate) fn literal(key: &Ident, input: ParseStream<'_>, example: &str) -> syn::Result<LitStr> {
    let span = input.span();
    input.parse().map_err(|_| {
        Error::new(
            span,
            format!("`{key}` takes a text in quotes: `{key} = {example}`"),
        )
    })
}

pub(crate) fn level(key: &Ident, input: ParseStream<'_>) -> syn::Result<Option<SkillLevel>> {
    let word = word(key, input, &["Metadata", "Context", "Complete"])?;
    Ok(Some(match word {
        "Metadata" => SkillLevel::Metadata,
        "Context" => SkillLevel::Context,
        _ => SkillLevel::Complete,
    }))
}

pub(crate) fn exposure(key: &Ident, input: ParseStream<'_>) -> syn::Result<Option<Exposure>> {
    let word = word(key, input, &["Psl", "Always", "Disabled"])?;
    Ok(Some(match word {
        "Psl" => Exposure::Psl,
        "Always" => Exposure::Always,
        _ => Exposure::Disabled,
    }))
}

/// One of a few bare words.
fn word(key: &Ident, input: ParseStream<'_>, words: &[&'static str]) -> syn::Result<&'static str> {
    equals(key, input, words[1])?;
    let span = input.span();
    let wrong = |given: &str| {
        let advice = match closest(given, words) {
            Some(right) => format!("write `{key} = {right}`"),
            None => format!("`{key}` is one of {}", listed(words)),
        };
        Error::new(
            span,
            format!("`{given}` is not a value of `{key}`; {advice}"),
        )
    };
    if let Ok(text) = input.fork().parse::<LitStr>() {
        return Err(wrong(&text.value()));
    }
    let Ok(path) = input.call(Path::parse_mod_style) else {
        return Err(Error::new(
            span,
            format!("`{key}` is one of {}", listed(words)),
        ));
    };
    let segments: Vec<_> = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    let last = segments.last().map_or("", String::as_str);
    match words.iter().find(|word| **word == last) {
        Some(word) if segments.len() == 1 => Ok(word),
        Some(word) => Err(Error::new(
            span,
            format!("write the bare word: `{key} = {word}`"),
        )),
        None => Err(wrong(last)),
    }
}

pub(crate) fn path(
    key: &Ident,
    input: ParseStream<'_>,
    example: &str,
) -> syn::Result<Option<Path>> {
    equals(key, input, example)?;
    let span = input.span();
    if let Ok(text) = input.fork().parse::<LitStr>() {
        return Err(Error::new(
            span,
            format!(
                "`{key}` takes a path without quotes: `{key} = {}`",
                text.value()
            ),
        ));
    }
    let path: Path = input
        .parse()
        .map_err(|_| Error::new(span, format!("`{key}` takes a path: `{key} = {example}`")))?;
    if input.peek(syn::token::Paren) {
        return Err(input.error(format!(
            "`{key}` takes a path: write it without the call, such as `{key} = {example}`"
        )));
    }
    Ok(Some(path))
}

pub(crate) fn strings(key: &Ident, input: ParseStream<'_>) -> syn::Result<Vec<LitStr>> {
    const EXAMPLE: &str = r#"["support", "tickets"]"#;
    equals(key, input, EXAMPLE)?;
    let span = input.span();
    let wrong = |span| {
        Error::new(
            span,
            format!("`{key}` takes texts in brackets: `{key} = {EXAMPLE}`"),
        )
    };
    if !input.peek(syn::token::Bracket) {
        return Err(wrong(span));
    }
    let content;
    bracketed!(content in input);
    let inner = content.span();
    Punctuated::<LitStr, Token![,]>::parse_terminated(&content)
        .map(|texts| texts.into_iter().collect())
        .map_err(|err| {
            wrong(if content.is_empty() {
                inner
            } else {
                err.span()
            })
        })
}

/// A text such as `500ms`, in milliseconds.
pub(crate) fn duration(key: &Ident, input: ParseStream<'_>) -> syn::Result<Option<Spanned<u64>>> {
    equals(key, input, r#""500ms""#)?;
    let text = literal(key, input, r#""500ms""#)?;
    milliseconds(key, &text).map(Some)
}

pub(crate) fn milliseconds(key: &Ident, text: &LitStr) -> syn::Result<Spanned<u64>> {
    let given = text.value();
    let wrong = |advice: &str| {
        Error::new(
            text.span(),
            format!("`{given}` is not a duration for `{key}`; {advice}"),
        )
    };
    let digits = given.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = given.split_at(digits);
    let factor = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => {
            return Err(wrong(
                r#"write a whole number and ms, s, m or h, such as "500ms" or "30s""#,
            ));
        }
    };
    if number.is_empty() {
        return Err(wrong(
            r#"write a whole number before the unit, such as "500ms" or "30s""#,
        ));
    }
    let value = number
        .parse::<u64>()
        .ok()
        .and_then(|number| number.checked_mul(factor))
        .filter(|value| *value <= i64::MAX.unsigned_abs())
        .ok_or_else(|| wrong("it is too long"))?;
    if value == 0 {
        return Err(wrong(&format!(
            "leave `{key}` out, or make it longer than 0"
        )));
    }
    Ok(Spanned {
        value,
        span: text.span(),
    })
}
