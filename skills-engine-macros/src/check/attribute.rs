use syn::LitStr;

use super::{Names, description, method, name};
use crate::ast::{FieldAttribute, Member, ParameterKind};
use crate::attr::AttributeOptions;
use crate::errors::Errors;

/// The rules of a field under `#[skill_attribute]`.
pub(super) fn field(field: &FieldAttribute, names: &mut Names, errors: &mut Errors) {
    let options = &field.options;
    let rust_name = match &field.member {
        syn::Member::Named(ident) => syn::ext::IdentExt::unraw(ident).to_string(),
        syn::Member::Unnamed(_) if options.name.is_none() => {
            errors.add(
                field.marker.span,
                "this field has no name; write `#[skill_attribute(name = \"…\")]`",
            );
            return constant_only(field, "value", errors);
        }
        syn::Member::Unnamed(_) => String::new(),
    };
    name::member(options.name.as_ref(), &rust_name, field.marker.span, errors);
    let shown = options.name.as_ref().map_or(rust_name, LitStr::value);
    names.check(
        &shown,
        field.marker.span,
        !field.conditions.is_empty(),
        errors,
    );
    description(options.description.as_ref(), None, None, errors);
    constant_only(field, &shown, errors);
}

/// A field is read once, so it has nothing that bounds a reading.
fn constant_only(field: &FieldAttribute, name: &str, errors: &mut Errors) {
    let options = &field.options;
    let keys = [
        ("lazy", options.lazy),
        (
            "timeout",
            options.timeout.as_ref().map(|timeout| timeout.span),
        ),
        ("cache", options.cache.as_ref().map(|cache| cache.span)),
    ];
    for (key, span) in keys {
        if let Some(span) = span {
            errors.add(
                span,
                format!(
                    "a field is read once, so `{key}` belongs on a method; make `{name}` a `fn {name}(&self)`"
                ),
            );
        }
    }
}

/// The rules of a method under `#[skill_attribute]`.
pub(super) fn method(
    member: &Member,
    options: &AttributeOptions,
    names: &mut Names,
    errors: &mut Errors,
) {
    let method = &member.method;
    method::receiver(method, "an attribute", errors);
    method::signature(method, "an attribute", errors);
    name::member(
        options.name.as_ref(),
        &method.name(),
        method.ident.span(),
        errors,
    );
    let (shown, span) = member.name();
    names.check(&shown, span, !member.conditions.is_empty(), errors);
    description(options.description.as_ref(), None, None, errors);
    for parameter in &method.parameters {
        match &parameter.kind {
            ParameterKind::Context(_) => method::no_mutable_reference(parameter, errors),
            ParameterKind::Text | ParameterKind::Slice(_) | ParameterKind::Owned => errors.add(
                parameter.span,
                "an attribute takes no arguments, only `&self` and `&AttributeContext`; \
                 make it a `#[skill_tool]`, or remove the parameter",
            ),
        }
    }
    match &method.output {
        None => errors.add(
            method.ident.span(),
            format!(
                "an attribute observes something; return its value: `fn {}(&self) -> u32`",
                method.name()
            ),
        ),
        Some(ty) => method::attribute_type(ty, errors),
    }
    let is_lazy = options.lazy.is_some() || method.is_async;
    if let Some(timeout) = options.timeout.as_ref().filter(|_| !is_lazy) {
        errors.add(
            timeout.span,
            "`timeout` bounds a lazy evaluation; add `lazy`, or remove `timeout`",
        );
    }
}
