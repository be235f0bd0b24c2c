use quote::ToTokens as _;

use super::{Names, description, method, name, skill};
use crate::ast::{Member, Parameter, ParameterKind};
use crate::attr::ToolOptions;
use crate::errors::Errors;

/// The rules of a method under `#[skill_tool]`.
pub(super) fn tool(member: &Member, options: &ToolOptions, names: &mut Names, errors: &mut Errors) {
    let method = &member.method;
    method::receiver(method, "a tool", errors);
    method::signature(method, "a tool", errors);
    let rust_name = method.name();
    let span = method.ident.span();
    name::member(options.name.as_ref(), &rust_name, span, errors);
    let (shown, name_span) = member.name();
    names.check(&shown, name_span, !member.conditions.is_empty(), errors);
    skill::not_blank("title", options.title.as_ref(), errors);
    let missing = format!(
        "the tool `{rust_name}` has no description, which models decide by; \
         write a doc comment above it: `/// What it does.`"
    );
    description(
        options.description.as_ref(),
        method.doc.as_ref(),
        Some((span, missing)),
        errors,
    );
    contradictions(member, options, errors);
    for parameter in &method.parameters {
        self::parameter(parameter, errors);
    }
    if let Some(ty) = &method.output {
        method::tool_type(ty, errors);
    }
}

fn contradictions(member: &Member, options: &ToolOptions, errors: &mut Errors) {
    let is_async = member.method.is_async;
    if let (Some(_), Some(destructive)) = (options.read_only, options.destructive) {
        errors.add(
            destructive,
            "a tool that is `read_only` destroys nothing; keep one of `read_only` and `destructive`",
        );
    }
    if let Some(blocking) = options.blocking.filter(|_| is_async) {
        errors.add(
            blocking,
            "an `async fn` must not block; remove `blocking`, or make it a `fn` that may block",
        );
    }
    if let Some(timeout) = &options.timeout
        && !is_async
        && options.blocking.is_none()
    {
        errors.add(
            timeout.span,
            "nothing can stop a sync tool once it runs; make it an `async fn`, add `blocking`, or remove `timeout`",
        );
    }
}

fn parameter(parameter: &Parameter, errors: &mut Errors) {
    if let Some(marker) = parameter.marker.filter(|_| parameter.is_context()) {
        errors.add(
            marker,
            "`&T` is a context, which no caller passes; remove `#[param]`, or take an owned `T`",
        );
    }
    match &parameter.kind {
        ParameterKind::Context(_) => {
            method::no_mutable_reference(parameter, errors);
            return;
        }
        ParameterKind::Text | ParameterKind::Slice(_) | ParameterKind::Owned => {}
    }
    match &parameter.name {
        Some(name) => name::parameter(name, parameter.span, errors),
        None => errors.add(
            parameter.span,
            "an argument needs a name; write `point: (u32, u32)` and take it apart in the body",
        ),
    }
    method::argument_type(parameter, errors);
    if let Some(default) = &parameter.default
        && let Some(span) = method::self_in(default.to_token_stream())
    {
        errors.add(
            span,
            "a default is the same for every instance; write a constant, or take an `Option<T>` and use `self` in the body",
        );
    }
}
