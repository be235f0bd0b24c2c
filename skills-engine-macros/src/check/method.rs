//! The rules of signatures.

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::{GenericParam, Safety, Type, TypeImplTrait, TypeParamBound};

use crate::ast::{Method, Parameter, ParameterKind, Receiver};
use crate::attr::last_segment;
use crate::errors::Errors;

/// A member is called on a shared instance.
pub(super) fn receiver(method: &Method, noun: &str, errors: &mut Errors) {
    match method.receiver {
        Receiver::Reference | Receiver::Shared | Receiver::SharedReference => {}
        Receiver::Mutable(span) => errors.add(
            span,
            format!(
                "a skill is shared between sessions, so {noun} takes `&self`; \
                 keep what changes in a `Mutex` or an atomic"
            ),
        ),
        Receiver::Value(span) => errors.add(
            span,
            format!("a skill is shared between sessions, so {noun} takes `&self`, not `self`"),
        ),
        Receiver::Other(span) => {
            errors.add(span, format!("{noun} takes `&self` or `self: Arc<Self>`"));
        }
        Receiver::Missing => errors.add(
            method.ident.span(),
            format!("{noun} is a method; write `fn {}(&self, …)`", method.name()),
        ),
    }
}

/// What no member can be.
pub(super) fn signature(method: &Method, noun: &str, errors: &mut Errors) {
    let message =
        format!("{noun} has one schema, so it cannot be generic; write a type, such as `String`");
    not_generic(method, &message, errors);
    callable(method, noun, errors);
}

pub(super) fn not_generic(method: &Method, message: &str, errors: &mut Errors) {
    for parameter in &method.signature.generics.params {
        match parameter {
            // A call's lifetimes are all the same to the glue.
            GenericParam::Lifetime(_) => {}
            GenericParam::Type(_) | GenericParam::Const(_) => {
                errors.add(parameter.span(), message);
            }
        }
    }
}

/// What the engine can call by itself.
pub(super) fn callable(method: &Method, noun: &str, errors: &mut Errors) {
    let signature = &method.signature;
    if let Safety::Unsafe(_) = &signature.safety {
        errors.add(
            signature.safety.span(),
            format!("the engine calls {noun} by itself, so it cannot be `unsafe`; check inside it what must hold"),
        );
    }
    if let Some(variadic) = &signature.variadic {
        errors.add(
            variadic.span(),
            format!("{noun} cannot be variadic; take a `Vec<T>`"),
        );
    }
}

pub(super) fn no_mutable_reference(parameter: &Parameter, errors: &mut Errors) {
    let Type::Reference(reference) = &parameter.ty else {
        return;
    };
    if reference.mutability.is_none() {
        return;
    }
    let inner = type_text(&reference.elem.to_token_stream());
    let is_value =
        matches!(parameter.kind, ParameterKind::Context(_)) && !inner.ends_with("Context");
    let right = if is_value { inner } else { format!("&{inner}") };
    errors.add(
        parameter.ty.span(),
        format!("nobody sees what a call changes in its arguments; write `{right}`"),
    );
}

/// An argument is read from JSON, for one call.
pub(super) fn argument_type(parameter: &Parameter, errors: &mut Errors) {
    let ty = &parameter.ty;
    if let Some(opaque) = impl_trait(ty) {
        errors.add(
            opaque.span(),
            "an argument has one schema, so its type must be named; write the type, such as `String` or `Vec<u32>`",
        );
        return;
    }
    let inner = match (&parameter.kind, ty) {
        (ParameterKind::Context(_), _) => return,
        (ParameterKind::Owned, _) | (_, Type::Paren(_)) => ty.to_token_stream(),
        (ParameterKind::Text | ParameterKind::Slice(_), Type::Reference(reference)) => {
            if reference.mutability.is_some() {
                no_mutable_reference(parameter, errors);
                return;
            }
            if let Some(lifetime) = reference
                .lifetime
                .as_ref()
                .filter(|lifetime| lifetime.ident == "static")
            {
                errors.add(
                    lifetime.span(),
                    "an argument lives as long as its call; leave `'static` out",
                );
                return;
            }
            reference.elem.to_token_stream()
        }
        _ => return,
    };
    if let Some(span) = reference_in(inner) {
        let owned = owned_text(&ty.to_token_stream());
        errors.add(span, format!("an argument owns its parts; write `{owned}`"));
    }
}

/// An attribute has one schema.
pub(super) fn attribute_type(ty: &Type, errors: &mut Errors) {
    if let Some(opaque) = impl_trait(ty) {
        errors.add(opaque.span(), future_advice(opaque).unwrap_or_else(|| {
            "an attribute has one schema, so its type must be named; write the type, such as `String` or `Vec<u32>`"
                .to_owned()
        }));
    }
}

/// A tool may return anything that can be written, but no future.
pub(super) fn tool_type(ty: &Type, errors: &mut Errors) {
    if let Some(opaque) = impl_trait(ty)
        && let Some(message) = future_advice(opaque)
    {
        errors.add(opaque.span(), message);
    }
}

fn future_advice(opaque: &TypeImplTrait) -> Option<String> {
    let is_future = opaque.bounds.iter().any(|bound| match bound {
        TypeParamBound::Trait(bound) => last_segment(&bound.path) == "Future",
        _ => false,
    });
    is_future.then(|| "write `async fn` and the type the future gives".to_owned())
}

/// The first `impl Trait` in a type.
fn impl_trait(ty: &Type) -> Option<&TypeImplTrait> {
    use syn::{GenericArgument, PathArguments};
    match ty {
        Type::ImplTrait(opaque) => Some(opaque),
        Type::Group(group) => impl_trait(&group.elem),
        Type::Paren(paren) => impl_trait(&paren.elem),
        Type::Reference(reference) => impl_trait(&reference.elem),
        Type::Slice(slice) => impl_trait(&slice.elem),
        Type::Array(array) => impl_trait(&array.elem),
        Type::Tuple(tuple) => tuple.elems.iter().find_map(impl_trait),
        Type::Path(path) => path.path.segments.iter().find_map(|segment| {
            let PathArguments::AngleBracketed(arguments) = &segment.arguments else {
                return None;
            };
            arguments.args.iter().find_map(|argument| match argument {
                GenericArgument::Type(ty) => impl_trait(ty),
                _ => None,
            })
        }),
        _ => None,
    }
}

fn reference_in(tokens: TokenStream) -> Option<Span> {
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Punct(punct) if punct.as_char() == '&' => Some(punct.span()),
        TokenTree::Group(group) => reference_in(group.stream()),
        TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => None,
    })
}

/// Where an expression uses `self`, other than as the beginning of a path.
pub(super) fn self_in(tokens: TokenStream) -> Option<Span> {
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(ident) if ident == "self" => {
                let is_path = matches!(
                    tokens.peek(),
                    Some(TokenTree::Punct(punct)) if punct.as_char() == ':'
                );
                if !is_path {
                    return Some(ident.span());
                }
            }
            TokenTree::Group(group) => {
                if let Some(span) = self_in(group.stream()) {
                    return Some(span);
                }
            }
            TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
    None
}

/// The type with its references replaced by what owns, for a message.
fn owned_text(ty: &TokenStream) -> String {
    let text = type_text(ty).replace("&'static ", "&");
    let (outer, inner) = match text.strip_prefix('&') {
        Some(inner) => ("&", inner),
        None => ("", text.as_str()),
    };
    let mut owned = inner.replace("&str", "String");
    while let Some(start) = owned.find("&[") {
        let mut depth = 0_i32;
        let length = owned[start..].find(|letter| {
            depth += i32::from(letter == '[') - i32::from(letter == ']');
            letter == ']' && depth == 0
        });
        let Some(end) = length.map(|length| start + length) else {
            break;
        };
        owned.replace_range(end..=end, ">");
        owned.replace_range(start..start + 2, "Vec<");
    }
    format!("{outer}{}", owned.replace('&', ""))
}

/// A type as people write it.
fn type_text(ty: &TokenStream) -> String {
    [
        (" < ", "<"),
        (" <", "<"),
        ("< ", "<"),
        (" > ", ">"),
        (" >", ">"),
        (" ,", ","),
        (" :: ", "::"),
        ("& ", "&"),
    ]
    .into_iter()
    .fold(ty.to_string(), |text, (from, to)| text.replace(from, to))
}
