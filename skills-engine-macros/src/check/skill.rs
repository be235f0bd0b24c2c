use proc_macro2::TokenStream;
use syn::LitStr;
use syn::spanned::Spanned as _;

use super::{Names, attribute, description, name};
use crate::ast::SkillStruct;
use crate::attr::{HookKind, call_site};
use crate::errors::Errors;
use crate::text::kebab_case;

/// The rules of a struct under `#[skill]`.
pub(crate) fn skill(skill: &SkillStruct, errors: &mut Errors) {
    let ident = skill.ident.to_string();
    let options = &skill.options;
    if !skill.generics.params.is_empty() {
        errors.add(
            skill.generics.span(),
            format!(
                "a skill is one type with one id, so it cannot have parameters; \
                 write `struct {ident}` with owned fields of fixed types"
            ),
        );
    }
    name::skill_id(
        options.id.as_ref(),
        &kebab_case(&ident),
        skill.ident.span(),
        errors,
    );
    let missing = format!(
        "`{ident}` has no description, which models decide by; \
         write a doc comment above it: `/// What it is for.`"
    );
    description(
        options.description.as_ref(),
        skill.doc.as_ref(),
        Some((skill.ident.span(), missing)),
        errors,
    );
    not_blank("name", options.name.as_ref(), errors);
    not_blank("version", options.version.as_ref(), errors);
    tags(&options.tags, errors);
    if let (Some(factory), Some(manual)) = (&options.factory, options.manual) {
        errors.add(
            manual,
            format!(
                "`manual` and `factory` contradict each other; keep `manual` if the host passes the instance, \
                 or `factory = {}` if the engine makes it",
                path_text(factory)
            ),
        );
    }
    let mut names = Names::new("attribute");
    for field in &skill.fields {
        attribute::field(field, &mut names, errors);
    }
}

fn tags(tags: &[LitStr], errors: &mut Errors) {
    let mut seen = Vec::new();
    for tag in tags {
        let value = tag.value();
        if value.trim().is_empty() {
            errors.add(tag.span(), "a tag is empty; remove it");
        } else if seen.contains(&value) {
            errors.add(
                tag.span(),
                format!("the tag `{value}` is given twice; keep one"),
            );
        }
        seen.push(value);
    }
}

pub(super) fn not_blank(key: &str, text: Option<&LitStr>, errors: &mut Errors) {
    if let Some(text) = text.filter(|text| text.value().trim().is_empty()) {
        errors.add(
            text.span(),
            format!("`{key}` is empty; write a text, or leave `{key}` out"),
        );
    }
}

fn path_text(path: &syn::Path) -> String {
    let segments: Vec<_> = path
        .segments
        .iter()
        .map(|segment| segment.ident.to_string())
        .collect();
    segments.join("::")
}

/// `#[skill]` on something that is neither a struct nor an impl block.
pub(crate) fn not_a_skill(item: &syn::Item, options: &TokenStream, errors: &mut Errors) {
    let word = options.to_string();
    if matches!(item, syn::Item::Fn(_)) && HookKind::WORDS.contains(&word.as_str()) {
        errors.add(
            call_site(),
            format!("`#[skill({word})]` belongs on a method inside a `#[skill] impl` block; write `#[skill]` above the `impl`"),
        );
        return;
    }
    let (span, noun) = match item {
        syn::Item::Enum(item) => (item.enum_token.span(), "an enum"),
        syn::Item::Union(item) => (item.union_token.span(), "a union"),
        syn::Item::Trait(item) => (item.trait_token.span(), "a trait"),
        syn::Item::Fn(item) => (item.sig.ident.span(), "a function"),
        syn::Item::Mod(item) => (item.mod_token.span(), "a module"),
        syn::Item::Type(item) => (item.type_token.span(), "a type alias"),
        _ => (call_site(), "this"),
    };
    let advice = match item {
        syn::Item::Enum(_) | syn::Item::Union(_) => "; put it in a field of a struct",
        syn::Item::Fn(_) => {
            "; a tool is a method, marked `#[skill_tool]`, in a `#[skill] impl` block"
        }
        _ => "",
    };
    errors.add(
        span,
        format!("`#[skill]` belongs on a struct or an impl block, not on {noun}{advice}"),
    );
}
