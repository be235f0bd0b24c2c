use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::attribute;
use super::glue::{Private, at, path_outside};
use super::parts::{self, description, place, text_or};
use crate::ast::SkillStruct;
use crate::attr::SkillLevel;
use crate::text::{in_words, kebab_case};

/// What stands beside a struct.
pub(super) fn glue(skill: &SkillStruct) -> TokenStream {
    let ident = &skill.ident;
    let options = &skill.options;
    let span = at(ident.span());
    let source = Private {
        krate: options.krate.as_ref(),
    };
    let private = source.at(ident.span());
    let rust_name = syn::ext::IdentExt::unraw(ident).to_string();
    let id = text_or(options.id.as_ref(), &kebab_case(&rust_name));
    let name = text_or(options.name.as_ref(), &in_words(&rust_name));
    let description = description(options.description.as_ref(), skill.doc.as_ref());
    let version = if let Some(version) = &options.version {
        quote!(#version)
    } else {
        quote!(::core::env!("CARGO_PKG_VERSION"))
    };
    let tags = &options.tags;
    let base_level = options.base_level.unwrap_or(SkillLevel::Metadata);
    let base_level = parts::level(&private, Some(base_level));
    let host_only = options.host_only.is_some();
    let code_only = options.code_only.is_some();
    let required = options.required.is_some();
    let make = make(skill, &source);
    let attributes = skill
        .fields
        .iter()
        .map(|field| attribute::field(field, ident, &source));
    let place = place(&private);
    let probes = probes(skill);
    quote_spanned! {span=>
        #[allow(deprecated, reason = "what is deprecated works as long as it is there")]
        const _: () = {
            static __ENTRY: #private::SkillEntry = #private::SkillEntry {
                type_id: #private::skill_type_id::<#ident>,
                id: #id,
                name: #name,
                description: #description,
                version: #version,
                tags: &[#(#tags),*],
                base_level: #base_level,
                host_only: #host_only,
                code_only: #code_only,
                required: #required,
                make: #make,
                attributes: &[#(#attributes),*],
                origin: #private::Origin::new(
                    ::core::env!("CARGO_PKG_NAME"),
                    ::core::env!("CARGO_PKG_VERSION"),
                    #rust_name,
                    #place,
                ),
            };
            #[automatically_derived]
            impl #private::SkillType for #ident {
                fn entry() -> &'static #private::SkillEntry {
                    &__ENTRY
                }
            }
            #private::inventory::submit! { __ENTRY }
            #probes
        };
    }
}

/// The uses of our attributes on fields.
pub(super) fn probes(skill: &SkillStruct) -> TokenStream {
    let fields = skill.fields.iter();
    parts::probes(fields.map(|field| (&field.marker, &*field.conditions)))
}

fn make(skill: &SkillStruct, source: &Private<'_>) -> TokenStream {
    let ident = &skill.ident;
    if let Some(manual) = skill.options.manual {
        let private = source.at(manual);
        return quote_spanned!(at(manual)=> #private::Make::Manual);
    }
    if let Some(factory) = &skill.options.factory {
        let user = syn::spanned::Spanned::span(factory);
        let private = source.at(user);
        let factory = path_outside(factory, ident);
        quote_spanned! {at(user)=>
            #private::Make::Factory(|resources| #private::make_with::<#ident, _>(resources, #factory))
        }
    } else {
        let private = source.at(ident.span());
        quote_spanned!(at(ident.span())=> #private::Make::Factory(#private::make_default::<#ident>))
    }
}

/// Lets code that uses the type as a skill compile, so that only the real mistakes are reported. A type with parameters
/// may not meet the bounds, so it gets none.
pub(super) fn stub(skill: &SkillStruct) -> Option<TokenStream> {
    if !skill.generics.params.is_empty() {
        return None;
    }
    let ident = &skill.ident;
    let source = Private {
        krate: skill.options.krate.as_ref(),
    };
    let private = source.at(ident.span());
    Some(quote_spanned! {at(ident.span())=>
        #[automatically_derived]
        impl #private::SkillType for #ident {
            fn entry() -> &'static #private::SkillEntry {
                ::core::unreachable!()
            }
        }
    })
}
