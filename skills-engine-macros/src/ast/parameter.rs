use proc_macro2::Span;
use syn::ext::IdentExt as _;
use syn::spanned::Spanned as _;
use syn::{Meta, Pat, PatType, Type, TypeReference};

use crate::attr::{
    PARAM, ParamOptions, Text, doc_of, is_cfg, last_segment, mentions, parse_options,
};
use crate::errors::Errors;

/// A parameter of an annotated method.
#[derive(Clone)]
pub(crate) struct Parameter {
    /// Its name without `r#`; `None` for a pattern.
    pub(crate) name: Option<String>,
    pub(crate) span: Span,
    /// Without the groups that `macro_rules` leaves.
    pub(crate) ty: Type,
    pub(crate) kind: ParameterKind,
    pub(crate) doc: Option<Text>,
    pub(crate) default: Option<syn::Expr>,
    pub(crate) is_sensitive: bool,
    /// Where `#[param]` stands, if it does.
    pub(crate) marker: Option<Span>,
}

#[derive(Clone)]
pub(crate) enum ParameterKind {
    /// `&T`.
    Context(Type),
    /// `&str`, taken as `String`.
    Text,
    /// `&[T]`, taken as `Vec<T>`.
    Slice(Type),
    /// Anything else, taken as it is.
    Owned,
}

impl Parameter {
    /// Models a parameter, and removes its documentation and `#[param]`.
    pub(crate) fn take(typed: &mut PatType, errors: &mut Errors) -> Self {
        let doc = doc_of(&typed.attrs);
        let mut options = ParamOptions::default();
        let mut marker = None;
        typed.attrs.retain(|attr| {
            let is_conditional = is_cfg(attr);
            let hides_param = mentions(attr, PARAM);
            if is_conditional || hides_param {
                errors.add(
                    attr.path().span(),
                    "a parameter of a tool cannot be conditional; write two methods, each with its `#[cfg]`",
                );
                return !hides_param;
            }
            if attr.path().is_ident("doc") {
                return false;
            }
            if last_segment(attr.path()) != PARAM {
                return true;
            }
            if marker.replace(attr.path().span()).is_some() {
                errors.add(attr.span(), "`#[param]` is given twice; keep one");
                return false;
            }
            match &attr.meta {
                Meta::List(list) => options = parse_options(list.tokens.clone(), errors),
                Meta::Path(_) | Meta::NameValue(_) => errors.add(
                    attr.span(),
                    "`#[param]` says something of a parameter: `#[param(default = 10)]`, `#[param(sensitive)]`",
                ),
            }
            false
        });
        let ty = plain(&typed.ty).clone();
        Self {
            name: match &*typed.pat {
                Pat::Ident(pat) if pat.subpat.is_none() && pat.by_ref.is_none() => {
                    Some(pat.ident.unraw().to_string())
                }
                _ => None,
            },
            span: typed.pat.span(),
            kind: ParameterKind::of(&ty),
            ty,
            doc,
            default: options.default,
            is_sensitive: options.sensitive.is_some(),
            marker,
        }
    }

    /// Whether it is a `&mut T`.
    pub(crate) fn is_mutable(&self) -> bool {
        matches!(&self.ty, Type::Reference(reference) if reference.mutability.is_some())
    }

    pub(crate) fn is_context(&self) -> bool {
        matches!(self.kind, ParameterKind::Context(_))
    }
}

impl ParameterKind {
    fn of(ty: &Type) -> Self {
        let Type::Reference(TypeReference { elem, .. }) = ty else {
            return Self::Owned;
        };
        match plain(elem) {
            Type::Path(path) if path.qself.is_none() && path.path.is_ident("str") => Self::Text,
            Type::Slice(slice) => Self::Slice((*slice.elem).clone()),
            inner => Self::Context(inner.clone()),
        }
    }
}

/// A type without parentheses, and without the invisible groups of `macro_rules` fragments.
pub(crate) fn plain(mut ty: &Type) -> &Type {
    loop {
        match ty {
            Type::Group(group) => ty = &group.elem,
            Type::Paren(paren) => ty = &paren.elem,
            _ => return ty,
        }
    }
}
