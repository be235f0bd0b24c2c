use proc_macro2::TokenStream;
use quote::quote_spanned;
use syn::spanned::Spanned as _;

use super::attribute::receiver_of_shared;
use super::glue::{Private, at, local, outside};
use crate::ast::{Block, Member, Method, ParameterKind, Receiver};
use crate::attr::HookKind;

/// The entry of a method that looks at requests.
pub(super) fn method(
    member: &Member,
    kind: HookKind,
    block: &Block,
    source: &Private<'_>,
) -> TokenStream {
    let method = &member.method;
    let user = method
        .output
        .as_ref()
        .map_or_else(|| method.ident.span(), syn::spanned::Spanned::span);
    let span = at(user);
    let private = source.at(user);
    let variant = match kind {
        HookKind::Supports => quote_spanned!(span=> Supports),
        HookKind::OnAttach => quote_spanned!(span=> OnAttach),
        HookKind::Instructions => quote_spanned!(span=> Instructions),
        HookKind::Tools => quote_spanned!(span=> Tools),
    };
    let name = method.name();
    let begin = begin(method, kind, block, source, &private, span);
    let conditions = &member.conditions;
    quote_spanned! {span=>
        #(#conditions)*
        #private::HookMethod { name: #name, entry: #private::HookEntry::#variant(#begin) }
    }
}

/// The function that begins it.
fn begin(
    method: &Method,
    kind: HookKind,
    block: &Block,
    source: &Private<'_>,
    private: &TokenStream,
    span: proc_macro2::Span,
) -> TokenStream {
    let self_ty = &block.self_ty;
    let name = &method.ident;
    let answer = match kind {
        HookKind::Supports => quote_spanned!(span=> SupportsAnswer),
        HookKind::OnAttach => quote_spanned!(span=> AttachAnswer),
        HookKind::Instructions => quote_spanned!(span=> InstructionsAnswer),
        HookKind::Tools => quote_spanned!(span=> ToolsAnswer),
    };
    let [instance, request, cx] =
        ["instance", "request", "cx"].map(|name| local(name, method.ident.span()));
    let Passed {
        values,
        takes_request,
        takes_context,
    } = passed(method, kind, block, source);
    let pattern = |is_taken: bool, ident| {
        if is_taken {
            quote_spanned!(span=> #ident)
        } else {
            quote_spanned!(span=> _)
        }
    };
    let request = pattern(takes_request, &request);
    let cx = pattern(takes_context, &cx);
    if method.is_async {
        let receiver = receiver_of_shared(method, &instance);
        return quote_spanned! {span=>
            |#instance, #request, #cx| {
                let #instance = #private::instance::<#self_ty>(#instance);
                #private::pending_hook(async move {
                    #private::hook_answer::<#private::#answer, _>(<#self_ty>::#name(#receiver #values).await)
                })
            }
        };
    }
    let receiver = match method.receiver {
        Receiver::Shared => quote_spanned!(span=> #private::instance::<#self_ty>(#instance)),
        Receiver::SharedReference => {
            quote_spanned!(span=> &#private::instance::<#self_ty>(#instance))
        }
        _ => quote_spanned!(span=> #private::instance_ref::<#self_ty>(#instance)),
    };
    quote_spanned! {span=>
        |#instance, #request, #cx| {
            #private::HookCall::Ready(#private::hook_answer::<#private::#answer, _>(<#self_ty>::#name(#receiver #values)))
        }
    }
}

/// What is passed to the method after `self`, with a comma before each.
struct Passed {
    values: TokenStream,
    takes_request: bool,
    takes_context: bool,
}

fn passed(method: &Method, kind: HookKind, block: &Block, source: &Private<'_>) -> Passed {
    let [request, cx] = ["request", "cx"].map(|name| local(name, method.ident.span()));
    let changes = method
        .parameters
        .iter()
        .any(crate::ast::Parameter::is_mutable);
    let mut out = Passed {
        values: TokenStream::new(),
        takes_request: false,
        takes_context: false,
    };
    for parameter in &method.parameters {
        let user = parameter.ty.span();
        let span = at(user);
        let private = source.at(user);
        // The checks let nothing else through.
        let ParameterKind::Context(ty) = &parameter.kind else {
            continue;
        };
        let ty = outside(ty, &block.self_ty);
        out.values.extend(if parameter.is_mutable() {
            out.takes_request = true;
            quote_spanned!(span=> , #private::changed_request::<#ty>(#request))
        } else if changes {
            out.takes_context = true;
            quote_spanned!(span=> , #private::attach_context::<#ty>(#cx))
        } else {
            (out.takes_request, out.takes_context) = (true, true);
            let shared = (kind == HookKind::OnAttach).then(|| quote_spanned!(span=> &*));
            quote_spanned!(span=> , #private::hook_parameter::<#ty>(#shared #request, #cx))
        });
    }
    out
}
