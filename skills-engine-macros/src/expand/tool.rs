use proc_macro2::{Ident, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::spanned::Spanned as _;
use syn::{Expr, ExprLit, Lit, LitStr};

use super::attribute::receiver_of_shared;
use super::glue::{Private, at, expression_outside, local, outside};
use super::parts::{description, expose, level, milliseconds, none, text_or};
use crate::ast::{Block, Member, Method, Parameter, ParameterKind, Receiver};
use crate::attr::ToolOptions;

/// The entry of a tool: a block with its parameters and the function that begins a call.
pub(super) fn entry(
    member: &Member,
    options: &ToolOptions,
    block: &Block,
    source: &Private<'_>,
) -> TokenStream {
    let method = &member.method;
    let user = method.ident.span();
    let span = at(user);
    let private = source.at(user);
    let arguments = arguments(method, block, source);
    let parameters = arguments.iter().map(|argument| &argument.entry);
    let defaults = arguments.iter().map(|argument| &argument.default);
    let call = call(method, options, block, source, &arguments);
    let name = text_or(options.name.as_ref(), &method.name());
    let title = match &options.title {
        Some(title) => quote!(::core::option::Option::Some(#title)),
        None => none(),
    };
    let description = description(options.description.as_ref(), method.doc.as_ref());
    let level = level(&private, options.level);
    let expose = expose(&private, options.expose);
    let return_direct = options.return_direct.is_some();
    let timeout = milliseconds(options.timeout.as_ref());
    let read_only = options.read_only.is_some();
    let destructive = options.destructive.is_some();
    let idempotent = options.idempotent.is_some();
    let open_world = options.open_world.is_some();
    let requires_approval = options.requires_approval.is_some();
    let conditions = &member.conditions;
    quote_spanned! {span=>
        #(#conditions)*
        {
            static __PARAMETERS: &[#private::ParamEntry] = &[#(#parameters),*];
            #(#defaults)*
            #call
            #private::ToolEntry {
                name: #name,
                title: #title,
                description: #description,
                level: #level,
                expose: #expose,
                return_direct: #return_direct,
                timeout_ms: #timeout,
                annotations: #private::Annotations::new(#read_only, #destructive, #idempotent, #open_world),
                requires_approval: #requires_approval,
                parameters: __PARAMETERS,
                call: __call,
            }
        }
    }
}

/// What the arguments of a method become.
struct Argument {
    variable: Ident,
    entry: TokenStream,
    /// The constant that gives the default, if there is one.
    default: Option<TokenStream>,
    take: TokenStream,
}

fn arguments(method: &Method, block: &Block, source: &Private<'_>) -> Vec<Argument> {
    method
        .parameters
        .iter()
        .filter(|parameter| !parameter.is_context())
        .enumerate()
        .map(|(index, parameter)| argument(index, parameter, block, source))
        .collect()
}

fn argument(index: usize, parameter: &Parameter, block: &Block, source: &Private<'_>) -> Argument {
    let user = parameter.ty.span();
    let span = at(user);
    let private = source.at(user);
    let ty = match &parameter.kind {
        ParameterKind::Text => quote_spanned!(span=> ::std::string::String),
        ParameterKind::Slice(element) => {
            let element = outside(element, &block.self_ty);
            quote_spanned!(span=> ::std::vec::Vec<#element>)
        }
        ParameterKind::Owned | ParameterKind::Context(_) => outside(&parameter.ty, &block.self_ty),
    };
    let variable = local(&format!("argument_{index}"), user);
    let arguments = local("arguments", user);
    let default_name = format_ident!("__DEFAULT_{index}", span = span);
    let name = parameter.name.as_deref().unwrap_or_default();
    let name = LitStr::new(name, parameter.span);
    let description = description(None, parameter.doc.as_ref());
    let (default, default_json, take) = match &parameter.default {
        None => (
            None,
            none(),
            quote_spanned!(span=> #arguments.required::<#ty>(#index)),
        ),
        Some(expression) => (
            Some(default(
                &default_name,
                &ty,
                parameter,
                expression,
                block,
                source,
            )),
            quote_spanned! {span=>
                ::core::option::Option::Some(|| #private::default_json::<#ty>(&#default_name()))
            },
            quote_spanned!(span=> #arguments.defaulted::<#ty>(#index, #default_name)),
        ),
    };
    let is_sensitive = parameter.is_sensitive;
    let entry = quote_spanned! {span=>
        #private::ParamEntry {
            name: #name,
            description: #description,
            schema: #private::ArgumentSchema::<#ty>::FUNCTION,
            sensitive: #is_sensitive,
            is_option: #private::OptionProbe::<#ty>::IS_OPTION,
            default: #default_json,
        }
    };
    Argument {
        variable,
        entry,
        default,
        take,
    }
}

fn default(
    name: &Ident,
    ty: &TokenStream,
    parameter: &Parameter,
    expression: &Expr,
    block: &Block,
    source: &Private<'_>,
) -> TokenStream {
    let user = expression.span();
    let value = expression_outside(expression, &block.self_ty);
    let value = match literal_kind(parameter, expression) {
        LiteralKind::Text => {
            let private = source.at(user);
            quote_spanned!(at(user)=> #private::text_default::<#ty>(#value))
        }
        LiteralKind::Array => quote_spanned!(at(user)=> ::core::convert::Into::into(#value)),
        LiteralKind::Other => value,
    };
    // A function would be subject to lints that are not the user's to heed.
    quote_spanned!(at(user)=> const #name: fn() -> #ty = || #value;)
}

/// What a default needs to become what its parameter takes.
enum LiteralKind {
    /// Any type that is made of texts.
    Text,
    /// The list of a slice.
    Array,
    Other,
}

fn literal_kind(parameter: &Parameter, expression: &Expr) -> LiteralKind {
    match expression {
        Expr::Lit(ExprLit {
            lit: Lit::Str(_), ..
        }) => LiteralKind::Text,
        Expr::Array(_) if matches!(parameter.kind, ParameterKind::Slice(_)) => LiteralKind::Array,
        Expr::Group(group) => literal_kind(parameter, &group.expr),
        _ => LiteralKind::Other,
    }
}

fn call(
    method: &Method,
    options: &ToolOptions,
    block: &Block,
    source: &Private<'_>,
    arguments: &[Argument],
) -> TokenStream {
    let user = method.ident.span();
    let span = at(user);
    let private = source.at(user);
    let variable = local("arguments", user);
    let cx = local("cx", user);
    let instance = local("instance", user);
    let names: Vec<_> = arguments
        .iter()
        .map(|argument| &argument.variable)
        .collect();
    let takes = arguments.iter().map(|argument| &argument.take);
    let mutable = (!arguments.is_empty()).then(|| quote_spanned!(span=> mut));
    let run = run(method, options, block, source, arguments);
    quote_spanned! {span=>
        fn __call(#instance: &#private::Instance, json: &[u8], #cx: &#private::ToolContext) -> #private::Call {
            let #mutable #variable = #private::Arguments::parse(json, __PARAMETERS);
            #(let #names = #takes;)*
            match (#private::finish(#variable, #cx), #(#names),*) {
                (::core::result::Result::Ok(()), #(::core::option::Option::Some(#names)),*) => #run,
                (finished, ..) => #private::refuse(finished),
            }
        }
    }
}

/// The call itself, once all arguments are there.
fn run(
    method: &Method,
    options: &ToolOptions,
    block: &Block,
    source: &Private<'_>,
    arguments: &[Argument],
) -> TokenStream {
    let user = method
        .output
        .as_ref()
        .map_or_else(|| method.ident.span(), syn::spanned::Spanned::span);
    let span = at(user);
    let private = source.at(user);
    let self_ty = &block.self_ty;
    let instance = local("instance", method.ident.span());
    let is_owned = method.is_async || options.blocking.is_some();
    let values = values(method, block, source, arguments, is_owned);
    let name = &method.ident;
    let receiver = match method.receiver {
        _ if is_owned => receiver_of_shared(method, &instance),
        Receiver::Shared => quote_spanned!(span=> #private::instance::<#self_ty>(#instance)),
        Receiver::SharedReference => {
            quote_spanned!(span=> &#private::instance::<#self_ty>(#instance))
        }
        _ => quote_spanned!(span=> #private::instance_ref::<#self_ty>(#instance)),
    };
    let wait = method.is_async.then(|| quote_spanned!(span=> .await));
    let result = quote_spanned! {span=>
        match #private::Returned(<#self_ty>::#name(#receiver #values) #wait).tool_value() {
            ::core::result::Result::Ok(value) => #private::Output(value).tool_result(),
            ::core::result::Result::Err(err) => ::core::result::Result::Err(#private::Failed(err).fault()),
        }
    };
    let own = own(method, block, source, user);
    if method.is_async {
        quote_spanned!(span=> { #own #private::pending(async move { #result }) })
    } else if options.blocking.is_some() {
        quote_spanned!(span=> { #own #private::blocking(move || #result) })
    } else {
        quote_spanned!(span=> #private::Call::Ready(#result))
    }
}

/// Makes what a call outlives its caller with.
fn own(method: &Method, block: &Block, source: &Private<'_>, user: Span) -> TokenStream {
    let span = at(user);
    let private = source.at(user);
    let self_ty = &block.self_ty;
    let instance = local("instance", method.ident.span());
    let cx = local("cx", method.ident.span());
    let context = method
        .parameters
        .iter()
        .any(Parameter::is_context)
        .then(|| quote_spanned!(span=> let #cx = ::core::clone::Clone::clone(#cx);));
    quote_spanned! {span=>
        let #instance = #private::instance::<#self_ty>(#instance);
        #context
    }
}

/// What is passed to the method after `self`, with a comma before each.
fn values(
    method: &Method,
    block: &Block,
    source: &Private<'_>,
    arguments: &[Argument],
    is_owned: bool,
) -> TokenStream {
    let mut arguments = arguments.iter();
    let cx = local("cx", method.ident.span());
    let mut out = TokenStream::new();
    for parameter in &method.parameters {
        let span = at(parameter.ty.span());
        out.extend(match &parameter.kind {
            ParameterKind::Context(ty) => {
                let private = source.at(parameter.ty.span());
                let ty = outside(ty, &block.self_ty);
                let reference = is_owned.then(|| quote_spanned!(span=> &));
                quote_spanned!(span=> , #private::tool_context::<#ty>(#reference #cx))
            }
            kind => {
                let variable = arguments.next().map(|argument| &argument.variable);
                let reference =
                    (!matches!(kind, ParameterKind::Owned)).then(|| quote_spanned!(span=> &));
                quote_spanned!(span=> , #reference #variable)
            }
        });
    }
    out
}
