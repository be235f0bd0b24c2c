use syn::{Attribute, Field, Generics, Ident, Index, ItemStruct, Type};

use crate::attr::{
    AttributeOptions, Marker, Role, SkillOptions, Text, conditions_of, doc_of, parse_options,
    take_markers,
};
use crate::errors::Errors;

/// A struct under `#[skill]`.
pub(crate) struct SkillStruct {
    pub(crate) ident: Ident,
    pub(crate) generics: Generics,
    pub(crate) options: SkillOptions,
    pub(crate) doc: Option<Text>,
    pub(crate) fields: Vec<FieldAttribute>,
}

/// A field under `#[skill_attribute]`.
pub(crate) struct FieldAttribute {
    pub(crate) member: syn::Member,
    pub(crate) ty: Type,
    pub(crate) options: AttributeOptions,
    pub(crate) doc: Option<Text>,
    pub(crate) marker: Marker,
    pub(crate) conditions: Vec<Attribute>,
}

impl SkillStruct {
    /// Models the struct, and removes our attributes from it.
    pub(crate) fn take(options: SkillOptions, item: &mut ItemStruct, errors: &mut Errors) -> Self {
        let mut fields = Vec::new();
        for (index, field) in item.fields.iter_mut().enumerate() {
            take_field(index, field, &mut fields, errors);
        }
        Self {
            ident: item.ident.clone(),
            generics: item.generics.clone(),
            options,
            doc: doc_of(&item.attrs),
            fields,
        }
    }
}

fn take_field(
    index: usize,
    field: &mut Field,
    fields: &mut Vec<FieldAttribute>,
    errors: &mut Errors,
) {
    for marker in take_markers(&mut field.attrs, errors) {
        let mistake = match marker.role {
            Role::Attribute => None,
            Role::Tool => Some(
                "a field is not an action; write a method in a `#[skill] impl` block, \
                 or mark the field `#[skill_attribute]`",
            ),
            Role::Hook => {
                Some("`#[skill]` belongs on the struct; mark the field `#[skill_attribute]`")
            }
        };
        if let Some(mistake) = mistake {
            errors.add(marker.span, mistake);
            continue;
        }
        let member = match &field.ident {
            Some(ident) => syn::Member::Named(ident.clone()),
            None => syn::Member::Unnamed(Index::from(index)),
        };
        fields.push(FieldAttribute {
            member,
            ty: field.ty.clone(),
            options: parse_options(marker.options.clone(), errors),
            doc: doc_of(&field.attrs),
            conditions: conditions_of(&field.attrs, &marker),
            marker,
        });
    }
}
