//! JSON Schemas in the shape that model providers accept.
//!
//! A schema of a type is brought into this shape:
//!
//! - Definitions stand where they are used: no `$ref`, no `$defs`. A type that contains itself ends in an open form
//!   of what it is, for an object `{"type":"object"}`, with its description; so does what would go past 64 KiB or
//!   64 levels.
//! - What may be `null` is written as what it is otherwise; calls accept `null` all the same.
//! - Unit enums are one `enum`, the docs of their variants in the description. Other enums are `anyOf`, never
//!   `oneOf`. `const` is an `enum` of one.
//! - A tuple is an array of fixed length whose `items` is any of its parts; the description says their order.
//!   `prefixItems` is refused by several providers.
//! - A map with patterned keys is `additionalProperties`, the pattern in the description.
//! - `title`, `format` of numbers and keywords that providers do not take are left out. That only widens: a call is
//!   checked by the type itself.
//! - The schema of a tool's arguments is one closed object: `additionalProperties` is false, and there is no `anyOf`
//!   or `allOf` at its root. An enum there becomes one object with the fields of all variants.

mod cache;
mod merge;
mod normalize;
mod root;
#[cfg(test)]
mod tests;
mod write;

use std::sync::Arc;

use serde_json::Value;

pub(crate) use self::cache::SchemaCache;
use super::ParamEntry;

/// Gives the schema of a type, as schemars writes it.
pub type SchemaFunction = fn() -> Value;

/// The schema of a type, as schemars writes it.
#[must_use]
pub fn schema_of<T: schemars::JsonSchema + ?Sized>() -> Value {
    schemars::SchemaGenerator::default()
        .into_root_schema_for::<T>()
        .to_value()
}

/// The schema of what a type is written as, as schemars writes it; [`schema_of`] gives that of what it is read from.
#[must_use]
pub fn output_schema_of<T: schemars::JsonSchema + ?Sized>() -> Value {
    schemars::generate::SchemaSettings::default()
        .for_serialize()
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// Where a schema comes from.
#[derive(Clone, Debug)]
pub(crate) enum SchemaSource {
    /// A type.
    Function(SchemaFunction),
    /// Declared parameters.
    Parameters(&'static [ParamEntry]),
    /// A hand-written text.
    Json(Arc<str>),
}

/// Brings the schema of a value into the shape that providers accept, as compact JSON text.
///
/// References are followed inside `schema` only; one that leads elsewhere allows anything. Inlining stops at 64 KiB, so
/// the text is never much longer than that and `schema` together.
#[must_use]
pub fn normalize_schema(schema: &Value) -> String {
    let mut text = String::new();
    write::write_schema(&normalize::normalize(schema).into_keywords(), &mut text);
    text
}
