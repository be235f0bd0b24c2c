use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote_spanned};
use syn::spanned::Spanned as _;

use super::glue::{Private, at};
use super::parts::{self, place};
use super::{attribute, hook, tool};
use crate::ast::{Block, MemberOptions};
use crate::attr::last_segment;

/// What stands beside an impl block.
pub(super) fn glue(block: &Block) -> TokenStream {
    let self_ty = &block.self_ty;
    let user = self_ty.span();
    let source = Private {
        krate: block.options.krate.as_ref(),
    };
    let private = source.at(user);
    let type_name = last_segment(self_ty);
    let place = place(&private);
    let mut attributes = Vec::new();
    let mut tools = Vec::new();
    let mut hooks = Vec::new();
    for member in &block.members {
        match &member.options {
            MemberOptions::Attribute(options) => {
                attributes.push(attribute::method(member, options, block, &source));
            }
            MemberOptions::Tool(options) => {
                tools.push(tool::entry(member, options, block, &source));
            }
            MemberOptions::Hook(kind) => hooks.push(hook::method(member, *kind, block, &source)),
        }
    }
    let probes = probes(block);
    let self_ty = self_ty.to_token_stream();
    quote_spanned! {at(user)=>
        #[allow(deprecated, reason = "what is deprecated works as long as it is there")]
        const _: () = {
            #[allow(unused_imports, reason = "a block need not use all of them")]
            use #private::{FailedPlain as _, NoSchema as _, NotOption as _, OutputPlain as _, ReturnedPlain as _, TypeOfPlain as _};
            static __ATTRIBUTES: &[#private::AttributeEntry] = &[#(#attributes),*];
            static __TOOLS: &[#private::ToolEntry] = &[#(#tools),*];
            static __HOOKS: &[#private::HookMethod] = &[#(#hooks),*];
            #private::inventory::submit! {
                #private::BlockEntry {
                    type_id: #private::skill_type_id::<#self_ty>,
                    type_name: #type_name,
                    place: #place,
                    attributes: __ATTRIBUTES,
                    tools: __TOOLS,
                    hooks: __HOOKS,
                }
            }
            #probes
        };
    }
}

/// The uses of our attributes on methods.
pub(super) fn probes(block: &Block) -> TokenStream {
    let members = block.members.iter();
    parts::probes(members.map(|member| (&member.marker, &*member.conditions)))
}
