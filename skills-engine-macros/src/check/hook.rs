use syn::spanned::Spanned as _;

use super::method;
use crate::ast::{Member, Method, Parameter, ParameterKind};
use crate::attr::HookKind;
use crate::errors::Errors;

/// The rules of a method under `#[skill(..)]`; `seen` has the kinds that came before it.
pub(super) fn hook(member: &Member, kind: HookKind, seen: &mut Vec<HookKind>, errors: &mut Errors) {
    let method = &member.method;
    let word = kind.word();
    method::receiver(method, "a hook", errors);
    method::not_generic(
        method,
        "the engine calls a hook by itself, so it cannot be generic; write the types",
        errors,
    );
    method::callable(method, "a hook", errors);
    let mut has_changed = false;
    for parameter in &method.parameters {
        self::parameter(parameter, kind, &mut has_changed, errors);
    }
    output(method, kind, errors);
    // A conditional one may be the other half of another one, so only the engine can judge it.
    if !member.conditions.is_empty() {
        return;
    }
    if seen.contains(&kind) {
        errors.add(
            member.marker.span,
            format!(
                "two methods are marked `#[skill({word})]`; keep one, which may call the other"
            ),
        );
    }
    seen.push(kind);
}

fn parameter(parameter: &Parameter, kind: HookKind, has_changed: &mut bool, errors: &mut Errors) {
    if let Some(marker) = parameter.marker {
        errors.add(
            marker,
            "`#[param]` says something of an argument of a tool, and a hook has none; remove it",
        );
    }
    let is_attach = kind == HookKind::OnAttach;
    match &parameter.kind {
        ParameterKind::Context(_) if !parameter.is_mutable() => {}
        ParameterKind::Context(_) if !is_attach => errors.add(
            parameter.ty.span(),
            "only `#[skill(on_attach)]` may change the request; write `&TurnRequest`, \
             or move what changes it to a method marked so",
        ),
        ParameterKind::Context(_) => {
            if *has_changed {
                errors.add(
                    parameter.ty.span(),
                    "there is one request to change; keep one parameter of type `&mut TurnRequest`",
                );
            }
            *has_changed = true;
        }
        ParameterKind::Text | ParameterKind::Slice(_) | ParameterKind::Owned => {
            let request = if is_attach {
                "&mut TurnRequest"
            } else {
                "&TurnRequest"
            };
            errors.add(
                parameter.ty.span(),
                format!(
                    "a hook is given the request and its session; write `request: {request}`, or `cx: &AttachContext`"
                ),
            );
        }
    }
}

fn output(method: &Method, kind: HookKind, errors: &mut Errors) {
    if let Some(ty) = &method.output {
        method::tool_type(ty, errors);
        return;
    }
    let (says, ty) = match kind {
        HookKind::OnAttach => return,
        HookKind::Supports => ("whether the skill takes part in a turn", "bool"),
        HookKind::Instructions => ("what is shown of the skill in a turn", "Option<String>"),
        HookKind::Tools => ("which tools there are in a turn", "ToolSelection"),
    };
    let name = method.name();
    errors.add(
        method.ident.span(),
        format!(
            "`#[skill({})]` says {says}; return it: `fn {name}(&self, request: &TurnRequest) -> {ty}`",
            kind.word()
        ),
    );
}
