//! JSON Schemas in the shape that model providers accept.

use std::sync::Arc;

use serde_json::{Value, json};

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

/// Brings a schema into the shape that providers accept.
#[must_use]
pub fn normalize_schema(schema: Value) -> Value {
    schema
}

/// The input schema of declared parameters.
pub(crate) fn parameters_schema(parameters: &[ParamEntry]) -> Value {
    json!({ "type": "object", "properties": parameters.len(), "additionalProperties": false })
}

#[derive(Default)]
pub(crate) struct SchemaCache;
impl SchemaCache {
    pub(crate) fn input_schema(&mut self, _s: &SchemaSource) -> Result<Arc<str>, super::Fault> {
        Ok("{}".into())
    }
    pub(crate) fn value_schema(&mut self, _s: &SchemaSource) -> Arc<str> {
        "{}".into()
    }
}
