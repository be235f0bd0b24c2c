use proc_macro2::Span;
use syn::{Attribute, ImplItem, ItemImpl, Path, Type};

use super::Method;
use crate::attr::{
    AttributeOptions, BlockOptions, HookKind, Marker, Role, ToolOptions, conditions_of, hook_kind,
    parse_options, take_markers,
};
use crate::errors::Errors;

/// An impl block under `#[skill]`.
pub(crate) struct Block {
    pub(crate) options: BlockOptions,
    pub(crate) self_ty: Path,
    pub(crate) members: Vec<Member>,
}

/// A method under one of our attributes.
pub(crate) struct Member {
    /// Which item of the block the method is.
    pub(crate) position: usize,
    pub(crate) method: Method,
    pub(crate) options: MemberOptions,
    pub(crate) marker: Marker,
    pub(crate) conditions: Vec<Attribute>,
}

impl Member {
    /// The name models use, and where it stands.
    pub(crate) fn name(&self) -> (String, Span) {
        let given = match &self.options {
            MemberOptions::Attribute(options) => options.name.as_ref(),
            MemberOptions::Tool(options) => options.name.as_ref(),
            MemberOptions::Hook(_) => None,
        };
        match given {
            Some(name) => (name.value(), name.span()),
            None => (self.method.name(), self.method.ident.span()),
        }
    }
}

pub(crate) enum MemberOptions {
    Attribute(Box<AttributeOptions>),
    Tool(Box<ToolOptions>),
    Hook(HookKind),
}

impl Block {
    /// Models the block, and removes our attributes from it; `None` when it cannot belong to a skill at all.
    pub(crate) fn take(
        options: BlockOptions,
        item: &mut ItemImpl,
        errors: &mut Errors,
    ) -> Option<Self> {
        let mut members = Vec::new();
        for (position, part) in item.items.iter_mut().enumerate() {
            if let ImplItem::Fn(function) = part {
                let markers = take_markers(&mut function.attrs, errors);
                if markers.is_empty() {
                    continue;
                }
                let method = Method::take(function, errors);
                for marker in markers {
                    let tokens = marker.options.clone();
                    let options = match marker.role {
                        Role::Attribute => {
                            MemberOptions::Attribute(Box::new(parse_options(tokens, errors)))
                        }
                        Role::Tool => MemberOptions::Tool(Box::new(parse_options(tokens, errors))),
                        Role::Hook => match hook_kind(tokens, marker.span, errors) {
                            Some(kind) => MemberOptions::Hook(kind),
                            None => continue,
                        },
                    };
                    members.push(Member {
                        position,
                        method: method.clone(),
                        options,
                        conditions: conditions_of(&function.attrs, &marker),
                        marker,
                    });
                }
            }
        }
        let self_ty = self_path(&item.self_ty)?;
        Some(Self {
            options,
            self_ty,
            members,
        })
    }
}

fn self_path(ty: &Type) -> Option<Path> {
    match ty {
        Type::Group(group) => self_path(&group.elem),
        Type::Paren(paren) => self_path(&paren.elem),
        Type::Path(path) if path.qself.is_none() => Some(path.path.clone()),
        _ => None,
    }
}
