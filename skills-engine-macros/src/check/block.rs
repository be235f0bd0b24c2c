use syn::ItemImpl;
use syn::spanned::Spanned as _;

use super::{Names, attribute, hook, tool};
use crate::ast::{Block, Member, MemberOptions};
use crate::attr::last_segment;
use crate::errors::Errors;

/// The rules of an impl block under `#[skill]`. `block` is `None` when its type is no path.
pub(crate) fn block(item: &ItemImpl, block: Option<&Block>, errors: &mut Errors) {
    let type_name = block.map_or_else(|| "Type".to_owned(), |block| last_segment(&block.self_ty));
    if let Some((path, _)) = &item.trait_ {
        let name = last_segment(path);
        errors.add(
            path.span(),
            format!(
                "`#[skill]` belongs on an inherent impl block; write `impl {type_name}`, \
                 whose methods may call those of `{name}`"
            ),
        );
    }
    if !item.generics.params.is_empty() {
        errors.add(
            item.generics.span(),
            format!(
                "a skill is one type with one id, so its impl block cannot have parameters; write `impl {type_name}`"
            ),
        );
    }
    let Some(block) = block else {
        errors.add(
            item.self_ty.span(),
            "`#[skill]` belongs on the impl block of a struct; write `impl Type` with the name of a `#[skill]` struct",
        );
        return;
    };
    if item.generics.params.is_empty()
        && let Some(last) = block.self_ty.segments.last()
        && !last.arguments.is_empty()
    {
        errors.add(
            last.arguments.span(),
            format!(
                "a skill is one type with one id, so it cannot have parameters; write `impl {}`",
                last.ident
            ),
        );
    }
    let mut attributes = Names::new("attribute");
    let mut tools = Names::new("tool");
    let mut hooks = Vec::new();
    for (index, member) in block.members.iter().enumerate() {
        if is_marked_again(member, &block.members[..index]) {
            errors.add(
                member.marker.span,
                format!(
                    "`{}` is marked twice; keep one of `#[skill_tool]`, `#[skill_attribute]` and `#[skill(…)]`",
                    member.method.name()
                ),
            );
            continue;
        }
        match &member.options {
            MemberOptions::Attribute(options) => {
                attribute::method(member, options, &mut attributes, errors);
            }
            MemberOptions::Tool(options) => tool::tool(member, options, &mut tools, errors),
            MemberOptions::Hook(kind) => hook::hook(member, *kind, &mut hooks, errors),
        }
    }
}

/// One method is one member, unless conditions decide which.
fn is_marked_again(member: &Member, earlier: &[Member]) -> bool {
    earlier.iter().any(|earlier| {
        earlier.position == member.position
            && (earlier.marker.predicates.is_empty() || member.marker.predicates.is_empty())
    })
}
