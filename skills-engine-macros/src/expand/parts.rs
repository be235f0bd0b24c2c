//! Pieces that several expansions share.

use proc_macro2::{Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::{Attribute, LitStr};

use super::glue::at;
use crate::attr::{Exposure, Marker, SkillLevel, Spanned, Text};

/// What tells our own attribute that it stands on nothing.
pub(super) const PROBE: &str = "__resolve_only";

pub(super) fn level(private: &TokenStream, level: Option<SkillLevel>) -> TokenStream {
    match level.unwrap_or(SkillLevel::Context) {
        SkillLevel::Metadata => quote!(#private::Level::Metadata),
        SkillLevel::Context => quote!(#private::Level::Context),
        SkillLevel::Complete => quote!(#private::Level::Complete),
    }
}

pub(super) fn expose(private: &TokenStream, expose: Option<Exposure>) -> TokenStream {
    match expose.unwrap_or(Exposure::Psl) {
        Exposure::Psl => quote!(#private::Expose::Psl),
        Exposure::Always => quote!(#private::Expose::Always),
        Exposure::Disabled => quote!(#private::Expose::Disabled),
    }
}

pub(super) fn milliseconds(timeout: Option<&Spanned<u64>>) -> TokenStream {
    match timeout {
        Some(timeout) => {
            let value = timeout.value;
            quote!(::core::option::Option::Some(#value))
        }
        None => none(),
    }
}

pub(super) fn none() -> TokenStream {
    quote!(::core::option::Option::None)
}

/// The description, from the option or else from the doc comment.
pub(super) fn description(option: Option<&Text>, doc: Option<&Text>) -> TokenStream {
    if let Some(text) = option.or(doc) {
        quote!(#text)
    } else {
        quote!("")
    }
}

pub(super) fn text_or(given: Option<&LitStr>, default: &str) -> LitStr {
    given
        .cloned()
        .unwrap_or_else(|| LitStr::new(default, Span::call_site()))
}

/// The place of the whole expansion.
pub(super) fn place(private: &TokenStream) -> TokenStream {
    quote!(#private::Place::new(::core::file!(), ::core::line!(), ::core::column!()))
}

/// Empty items under the attributes that were taken away, so that the names in them are resolved: one that is not
/// imported is reported as any other attribute, and one that is counts as used.
pub(super) fn probes<'a>(
    markers: impl Iterator<Item = (&'a Marker, &'a [Attribute])>,
) -> TokenStream {
    let mut seen = Vec::new();
    let mut out = TokenStream::new();
    let word = proc_macro2::Ident::new(PROBE, Span::call_site());
    for (marker, conditions) in markers {
        let path = &marker.path;
        let key = quote!(#(#conditions)* #path).to_string();
        if !seen.contains(&key) {
            seen.push(key);
            let span = at(marker.span);
            out.extend(quote_spanned! {span=>
                #(#conditions)*
                #[#path(#word)]
                const _: () = ();
            });
        }
    }
    out
}
