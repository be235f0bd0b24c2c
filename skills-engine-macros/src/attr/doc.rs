//! Descriptions: doc comments, or the option of that name.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::spanned::Spanned as _;
use syn::{Attribute, Expr, ExprLit, Ident, Lit, LitStr, Macro, Meta};

use super::value;
use crate::text::unwrap_paragraphs;

/// A text known to the macro, or an expression that the compiler makes a text of.
#[derive(Clone)]
pub(crate) enum Text {
    Literal {
        value: String,
        span: Span,
    },
    Macro(Macro),
    /// Doc lines of which at least one is an expression.
    Lines(Vec<Expr>),
}

impl Text {
    /// Where it begins.
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Literal { span, .. } => *span,
            Self::Macro(call) => call.path.span(),
            Self::Lines(lines) => lines
                .first()
                .map_or_else(Span::call_site, syn::spanned::Spanned::span),
        }
    }

    /// Known to be without content.
    pub(crate) fn is_blank(&self) -> bool {
        match self {
            Self::Literal { value, .. } => value.trim().is_empty(),
            Self::Macro(_) | Self::Lines(_) => false,
        }
    }
}

impl ToTokens for Text {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Self::Literal { value, span } => LitStr::new(value, *span).to_tokens(tokens),
            Self::Macro(call) => call.to_tokens(tokens),
            Self::Lines(lines) => tokens.extend(quote!(::core::concat!(#(#lines, "\n"),*))),
        }
    }
}

/// The value of the option `description`.
pub(crate) fn description(key: &Ident, input: ParseStream<'_>) -> syn::Result<Option<Text>> {
    const EXAMPLE: &str = "\"What it does.\"";
    value::equals(key, input, EXAMPLE)?;
    let span = input.span();
    if let Ok(call) = input.fork().parse::<Macro>() {
        input.parse::<Macro>()?;
        return Ok(Some(Text::Macro(call)));
    }
    let literal = value::literal(key, input, EXAMPLE)?;
    Ok(Some(Text::Literal {
        value: literal.value(),
        span,
    }))
}

/// The text of the doc comments, if there are any.
pub(crate) fn doc_of(attrs: &[Attribute]) -> Option<Text> {
    let lines: Vec<&Expr> = attrs
        .iter()
        .filter(|attr| attr.path().is_ident("doc"))
        .filter_map(|attr| match &attr.meta {
            Meta::NameValue(doc) => Some(ungrouped(&doc.value)),
            Meta::Path(_) | Meta::List(_) => None,
        })
        .collect();
    let literals: Option<Vec<&LitStr>> = lines.iter().map(|line| literal_of(line)).collect();
    let Some(literals) = literals else {
        return Some(Text::Lines(lines.into_iter().cloned().collect()));
    };
    let span = literals.first()?.span();
    let raw: Vec<String> = literals.into_iter().map(LitStr::value).collect();
    let text = Text::Literal {
        value: unwrap_paragraphs(&raw.join("\n")),
        span,
    };
    (!text.is_blank()).then_some(text)
}

fn literal_of(line: &Expr) -> Option<&LitStr> {
    match line {
        Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) => Some(text),
        _ => None,
    }
}

/// A value that came through a `macro_rules` fragment stands in an invisible group.
fn ungrouped(mut expr: &Expr) -> &Expr {
    while let Expr::Group(group) = expr {
        expr = &group.expr;
    }
    expr
}
