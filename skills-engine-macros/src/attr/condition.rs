//! Finds our attributes, also inside `cfg_attr`, and the conditions they stand under.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::quote;
use syn::parse::Parser as _;
use syn::spanned::Spanned as _;
use syn::{Attribute, Meta, Path};

use super::{ATTRIBUTE, SKILL, TOOL};
use crate::errors::Errors;

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Attribute,
    Tool,
    Hook,
}

/// One of our attributes on a member.
pub(crate) struct Marker {
    pub(crate) role: Role,
    /// As the user wrote it.
    pub(crate) path: Path,
    pub(crate) options: TokenStream,
    /// The predicates of the `cfg_attr` around it.
    pub(crate) predicates: Vec<TokenStream>,
    pub(crate) span: Span,
}

/// Removes our attributes from a member.
pub(crate) fn take_markers(attrs: &mut Vec<Attribute>, errors: &mut Errors) -> Vec<Marker> {
    let mut markers = Vec::new();
    attrs.retain_mut(
        |attr| match take(&attr.meta, &mut Vec::new(), &mut markers, errors) {
            Taken::Nothing => true,
            Taken::All => false,
            Taken::Some(rest) => {
                attr.meta = *rest;
                true
            }
        },
    );
    markers
}

enum Taken {
    Nothing,
    All,
    Some(Box<Meta>),
}

fn take(
    meta: &Meta,
    predicates: &mut Vec<TokenStream>,
    markers: &mut Vec<Marker>,
    errors: &mut Errors,
) -> Taken {
    if let Some(role) = role_of(meta.path()) {
        let options = match meta {
            Meta::Path(_) => TokenStream::new(),
            Meta::List(list) => list.tokens.clone(),
            Meta::NameValue(_) => {
                let name = last_segment(meta.path());
                let example = match role {
                    Role::Attribute | Role::Tool => "level = Context",
                    Role::Hook => "supports",
                };
                errors.add(
                    meta.span(),
                    format!("options stand in parentheses: `#[{name}({example})]`"),
                );
                TokenStream::new()
            }
        };
        markers.push(Marker {
            role,
            path: meta.path().clone(),
            options,
            predicates: predicates.clone(),
            span: meta.path().span(),
        });
        return Taken::All;
    }
    let Meta::List(list) = meta else {
        return Taken::Nothing;
    };
    if !list.path.is_ident("cfg_attr") {
        return Taken::Nothing;
    }
    let mut parts = split_at_commas(list.tokens.clone()).into_iter();
    let Some(predicate) = parts.next() else {
        return Taken::Nothing;
    };
    let before = markers.len();
    predicates.push(predicate.clone());
    let mut rest = Vec::new();
    for part in parts {
        match syn::parse2::<Meta>(part.clone()) {
            Ok(inner) => match take(&inner, predicates, markers, errors) {
                Taken::Nothing => rest.push(part),
                Taken::All => {}
                Taken::Some(inner) => rest.push(quote!(#inner)),
            },
            Err(_) => rest.push(part),
        }
    }
    predicates.pop();
    if markers.len() == before {
        return Taken::Nothing;
    }
    if rest.is_empty() {
        return Taken::All;
    }
    let mut list = list.clone();
    list.tokens = quote!(#predicate, #(#rest),*);
    Taken::Some(Box::new(Meta::List(list)))
}

fn role_of(path: &Path) -> Option<Role> {
    match last_segment(path).as_str() {
        ATTRIBUTE => Some(Role::Attribute),
        TOOL => Some(Role::Tool),
        SKILL => Some(Role::Hook),
        _ => None,
    }
}

pub(crate) fn last_segment(path: &Path) -> String {
    path.segments
        .last()
        .map(|segment| segment.ident.to_string())
        .unwrap_or_default()
}

fn split_at_commas(tokens: TokenStream) -> Vec<TokenStream> {
    let mut parts = vec![TokenStream::new()];
    for token in tokens {
        match &token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => parts.push(TokenStream::new()),
            _ => {
                if let Some(part) = parts.last_mut() {
                    part.extend([token]);
                }
            }
        }
    }
    parts.retain(|part| !part.is_empty());
    parts
}

/// Whether an attribute makes its item come and go.
pub(crate) fn is_cfg(attr: &Attribute) -> bool {
    attr.path().is_ident("cfg") || mentions(attr, "cfg")
}

/// Whether an attribute is a `cfg_attr` around one called `name`.
pub(crate) fn mentions(attr: &Attribute, name: &str) -> bool {
    is_around(&attr.meta, name)
}

fn is_around(meta: &Meta, name: &str) -> bool {
    let Meta::List(list) = meta else {
        return false;
    };
    list.path.is_ident("cfg_attr")
        && split_at_commas(list.tokens.clone())
            .into_iter()
            .skip(1)
            .any(|part| {
                syn::parse2::<Meta>(part)
                    .is_ok_and(|inner| inner.path().is_ident(name) || is_around(&inner, name))
            })
}

/// The conditions under which a member is there, and under which it has this marker, as `#[cfg]` attributes.
pub(crate) fn conditions_of(attrs: &[Attribute], marker: &Marker) -> Vec<Attribute> {
    let mut conditions: Vec<Attribute> =
        attrs.iter().filter(|attr| is_cfg(attr)).cloned().collect();
    for predicate in &marker.predicates {
        let parsed = Attribute::parse_outer.parse2(quote!(#[cfg(#predicate)]));
        conditions.extend(parsed.into_iter().flatten());
    }
    conditions
}
