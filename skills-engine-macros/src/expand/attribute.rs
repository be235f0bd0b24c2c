use proc_macro2::{Ident, TokenStream};
use quote::{quote, quote_spanned};
use syn::LitStr;
use syn::spanned::Spanned as _;

use super::glue::{Private, at, local, outside};
use super::parts::{description, expose, level, milliseconds, none};
use crate::ast::{Block, FieldAttribute, Member, Method, ParameterKind, Receiver};
use crate::attr::{AttributeOptions, Cache};

/// The entry of a field.
pub(super) fn field(field: &FieldAttribute, self_ty: &Ident, source: &Private<'_>) -> TokenStream {
    let user = field.ty.span();
    let private = source.at(user);
    let member = &field.member;
    let self_path = syn::Path::from(self_ty.clone());
    let ty = outside(&field.ty, &self_path);
    let name = match member {
        syn::Member::Named(ident) => syn::ext::IdentExt::unraw(ident).to_string(),
        syn::Member::Unnamed(_) => String::new(),
    };
    let entry = Entry {
        name: &name,
        options: &field.options,
        description: description(field.options.description.as_ref(), field.doc.as_ref()),
        evaluation: quote!(Constant),
        takes_context: false,
        schema: quote_spanned!(at(user)=> #private::attribute_schema::<#ty>),
        read: quote_spanned! {at(user)=>
            Sync(|instance, _, out| #private::write_attribute::<#ty>(&#private::instance_ref::<#self_ty>(instance).#member, out))
        },
    };
    let entry = entry.tokens(&private, at(user));
    let conditions = &field.conditions;
    quote!(#(#conditions)* #entry)
}

/// The entry of a method.
pub(super) fn method(
    member: &Member,
    options: &AttributeOptions,
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
    let self_ty = &block.self_ty;
    let output = method
        .output
        .as_ref()
        .map_or_else(|| quote!(()), |ty| outside(ty, self_ty));
    let is_lazy = options.lazy.is_some() || method.is_async;
    let entry = Entry {
        name: &method.name(),
        options,
        description: description(options.description.as_ref(), method.doc.as_ref()),
        evaluation: if is_lazy { quote!(Lazy) } else { quote!(Live) },
        takes_context: !method.parameters.is_empty(),
        schema: quote_spanned!(span=> || #private::TypeOf::<#output>::new().schema()),
        read: read(method, block, source, user),
    };
    let entry = entry.tokens(&private, span);
    let conditions = &member.conditions;
    quote!(#(#conditions)* #entry)
}

fn read(
    method: &Method,
    block: &Block,
    source: &Private<'_>,
    user: proc_macro2::Span,
) -> TokenStream {
    let span = at(user);
    let private = source.at(user);
    let self_ty = &block.self_ty;
    let name = &method.ident;
    let instance = local("instance", user);
    let cx = local("cx", user);
    let contexts = method.parameters.iter().map(|parameter| {
        let ParameterKind::Context(ty) = &parameter.kind else {
            return TokenStream::new();
        };
        let private = source.at(ty.span());
        let ty = outside(ty, self_ty);
        let reference = if method.is_async { quote!(&) } else { TokenStream::new() };
        quote_spanned!(at(parameter.ty.span())=> , #private::attribute_context::<#ty>(#reference #cx))
    });
    let contexts: TokenStream = contexts.collect();
    if method.is_async {
        let receiver = receiver_of_shared(method, &instance);
        return quote_spanned! {span=>
            Async(|instance, #cx| {
                let #instance = #private::instance::<#self_ty>(instance);
                #private::lazy_value(async move {
                    match #private::Returned(<#self_ty>::#name(#receiver #contexts).await).attribute_value() {
                        ::core::result::Result::Ok(value) => #private::written(&value),
                        ::core::result::Result::Err(fault) => ::core::result::Result::Err(fault),
                    }
                })
            })
        };
    }
    let cx_pattern = if method.parameters.is_empty() {
        quote!(_)
    } else {
        quote!(#cx)
    };
    let receiver = match method.receiver {
        Receiver::Shared => quote_spanned!(span=> #private::instance::<#self_ty>(instance)),
        Receiver::SharedReference => {
            quote_spanned!(span=> &#private::instance::<#self_ty>(instance))
        }
        _ => quote_spanned!(span=> #private::instance_ref::<#self_ty>(instance)),
    };
    quote_spanned! {span=>
        Sync(|instance, #cx_pattern, out| {
            match #private::Returned(<#self_ty>::#name(#receiver #contexts)).attribute_value() {
                ::core::result::Result::Ok(value) => #private::write_attribute(&value, out),
                ::core::result::Result::Err(fault) => ::core::result::Result::Err(fault),
            }
        })
    }
}

/// How a method takes an owned `Arc` of its skill.
pub(super) fn receiver_of_shared(method: &Method, instance: &Ident) -> TokenStream {
    let span = at(method.ident.span());
    match method.receiver {
        Receiver::Shared => quote_spanned!(span=> #instance),
        Receiver::SharedReference => quote_spanned!(span=> &#instance),
        _ => quote_spanned!(span=> &*#instance),
    }
}

/// What all attributes have.
struct Entry<'a> {
    name: &'a str,
    options: &'a AttributeOptions,
    description: TokenStream,
    evaluation: TokenStream,
    takes_context: bool,
    schema: TokenStream,
    read: TokenStream,
}

impl Entry<'_> {
    fn tokens(self, private: &TokenStream, span: proc_macro2::Span) -> TokenStream {
        let Self {
            name,
            options,
            description,
            evaluation,
            takes_context,
            schema,
            read,
        } = self;
        let name = match &options.name {
            Some(name) => name.clone(),
            None => LitStr::new(name, span),
        };
        let level = level(private, options.level);
        let expose = expose(private, options.expose);
        let timeout = milliseconds(options.timeout.as_ref());
        let sensitive = options.sensitive.is_some();
        let cache = match options.cache.as_ref().map(|cache| cache.value) {
            None => none(),
            Some(Cache::Turn) => quote!(::core::option::Option::Some(#private::Cache::Turn)),
            Some(Cache::Session) => quote!(::core::option::Option::Some(#private::Cache::Session)),
            Some(Cache::Milliseconds(value)) => quote! {
                ::core::option::Option::Some(#private::Cache::For(::core::time::Duration::from_millis(#value)))
            },
        };
        quote_spanned! {span=>
            #private::AttributeEntry {
                name: #name,
                description: #description,
                level: #level,
                expose: #expose,
                evaluation: #private::Evaluation::#evaluation,
                timeout_ms: #timeout,
                cache: #cache,
                takes_context: #takes_context,
                sensitive: #sensitive,
                schema: #schema,
                read: #private::ReadEntry::#read,
            }
        }
    }
}
