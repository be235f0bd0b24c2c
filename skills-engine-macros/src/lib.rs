//! The attribute macros of `skills-engine`; use them through that crate.
//!
//! An attribute goes through four stages: `attr` parses options, `ast` models the annotated item, `check` applies the
//! rules, `expand` writes tokens. Errors are collected over all of them, and the user's item is always emitted.
#![forbid(unsafe_code)]

mod ast;
mod attr;
mod check;
mod errors;
mod expand;
mod text;

use proc_macro::TokenStream;

/// Makes a skill of a struct, or adds the annotated methods of an impl block to one.
///
/// On a struct: `id`, `name`, `description`, `version`, `tags`, `base_level`, `factory` or `manual`, `crate`.
/// On an impl block: `crate`.
#[proc_macro_attribute]
pub fn skill(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::skill(options.into(), &item.into()).into()
}

/// Marks a field of a `#[skill]` struct, or a method in a `#[skill]` impl block, as an attribute.
///
/// Options: `name`, `description`, `level`, `expose`, and for methods `lazy`, `timeout`, `cache`.
#[proc_macro_attribute]
pub fn skill_attribute(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::misplaced(attr::ATTRIBUTE, &options.into(), &item.into()).into()
}

/// Marks a method in a `#[skill]` impl block as a tool.
///
/// Options: `name`, `title`, `description`, `level`, `expose`, `return_direct`, `timeout`, `blocking`, `read_only`,
/// `destructive`, `idempotent`, `open_world`, `requires_approval`. Parameters take `#[param(default = …)]`.
#[proc_macro_attribute]
pub fn skill_tool(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::misplaced(attr::TOOL, &options.into(), &item.into()).into()
}
