//! The last stage: tokens. And the ways in, which go through all stages.

mod attribute;
mod block;
pub(crate) mod embed;
mod glue;
mod hook;
mod parts;
mod skill;
mod tool;

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Item, ItemImpl, ItemStruct};

use crate::ast::{Block, SkillStruct};
use crate::attr::{SKILL, call_site, parse_options};
use crate::check;
use crate::errors::Errors;

/// `#[skill]`.
pub(crate) fn skill(options: TokenStream, item: &TokenStream) -> TokenStream {
    if options.to_string() == parts::PROBE {
        return TokenStream::new();
    }
    let mut errors = Errors::default();
    match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Struct(item)) => on_struct(options, item, errors),
        Ok(Item::Impl(item)) => on_block(options, item, errors),
        Ok(other) => {
            check::not_a_skill(&other, &options, &mut errors);
            with_errors(item, errors, None)
        }
        Err(err) => {
            errors.push(err);
            with_errors(item, errors, None)
        }
    }
}

fn on_struct(options: TokenStream, mut item: ItemStruct, mut errors: Errors) -> TokenStream {
    let options = parse_options(options, &mut errors);
    let skill = SkillStruct::take(options, &mut item, &mut errors);
    check::skill(&skill, &mut errors);
    let item = item.into_token_stream();
    if errors.is_empty() {
        let glue = skill::glue(&skill);
        return quote!(#item #glue);
    }
    let (stub, probes) = (skill::stub(&skill), skill::probes(&skill));
    with_errors(&item, errors, Some(&quote!(#stub #probes)))
}

fn on_block(options: TokenStream, mut item: ItemImpl, mut errors: Errors) -> TokenStream {
    let options = parse_options(options, &mut errors);
    let block = Block::take(options, &mut item, &mut errors);
    check::block(&item, block.as_ref(), &mut errors);
    let item = item.into_token_stream();
    match block {
        Some(block) if errors.is_empty() => {
            let glue = block::glue(&block);
            quote!(#item #glue)
        }
        block => with_errors(&item, errors, block.as_ref().map(block::probes).as_ref()),
    }
}

/// The item, what is wrong, and what keeps the compiler from complaining of more.
fn with_errors(item: &TokenStream, errors: Errors, rest: Option<&TokenStream>) -> TokenStream {
    let errors = errors.finish();
    quote!(#item #errors #rest)
}

/// `#[skill_tool]` or `#[skill_attribute]` where no `#[skill]` has taken it away.
pub(crate) fn misplaced(attribute: &str, options: &TokenStream, item: &TokenStream) -> TokenStream {
    if options.to_string() == parts::PROBE {
        return TokenStream::new();
    }
    let mut errors = Errors::default();
    errors.add(
        call_site(),
        format!("`#[{attribute}]` belongs on a method inside a `#[{SKILL}] impl` block; write `#[{SKILL}]` above the `impl`"),
    );
    with_errors(item, errors, None)
}
