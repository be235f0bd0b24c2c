use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::normalize::{append_sentence, normalize};
use super::root::arguments_schema;
use super::write::{write_data, write_members, write_schema, write_string};
use super::{SchemaFunction, SchemaSource};
use crate::skill::{Fault, ParamEntry};

/// Schemas as JSON text, each type's made once.
///
/// Keys are addresses of functions. Two functions with one address run the same code, so they give the same schema.
#[derive(Debug, Default)]
pub(crate) struct SchemaCache {
    values: HashMap<SchemaFunction, ValueSchema>,
    arguments: HashMap<SchemaFunction, Result<Arc<str>, Fault>>,
}

/// The schema of a type, ready to become that of a parameter.
#[derive(Debug)]
struct ValueSchema {
    /// The whole schema.
    text: Arc<str>,
    /// Its members but description and default, without the braces.
    members: Box<str>,
    description: String,
    notes: Vec<String>,
    default: Option<Value>,
}

impl SchemaCache {
    /// The input schema of a tool.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when the type of the arguments is not an object with known fields.
    pub(crate) fn input_schema(&mut self, source: &SchemaSource) -> Result<Arc<str>, Fault> {
        match source {
            SchemaSource::Parameters(parameters) => Ok(self.parameters_schema(parameters).into()),
            SchemaSource::Json(json) => Ok(Arc::clone(json)),
            SchemaSource::Function(function) => self
                .arguments
                .entry(*function)
                .or_insert_with(|| {
                    let mut text = String::new();
                    write_schema(&arguments_schema(&function())?, &mut text);
                    Ok(text.into())
                })
                .clone(),
        }
    }

    /// The schema of a value, such as that of an attribute.
    pub(crate) fn value_schema(&mut self, function: SchemaFunction) -> Arc<str> {
        Arc::clone(&self.value(function).text)
    }

    /// The input schema of declared parameters, properties in their order.
    pub(crate) fn parameters_schema(&mut self, parameters: &[ParamEntry]) -> String {
        let mut out = String::with_capacity(96 + 128 * parameters.len());
        out.push_str(r#"{"type":"object","properties":{"#);
        for (index, parameter) in parameters.iter().enumerate() {
            if index > 0 {
                out.push(',');
            }
            write_string(parameter.name, &mut out);
            out.push(':');
            self.write_parameter(parameter, &mut out);
        }
        out.push('}');
        let mut required = parameters
            .iter()
            .filter(|parameter| !parameter.is_option && parameter.default.is_none())
            .map(|parameter| parameter.name)
            .peekable();
        if required.peek().is_some() {
            out.push_str(r#","required":["#);
            for (index, name) in required.enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(name, &mut out);
            }
            out.push(']');
        }
        out.push_str(r#","additionalProperties":false}"#);
        out
    }

    fn write_parameter(&mut self, parameter: &ParamEntry, out: &mut String) {
        let schema = self.value(parameter.schema);
        let description = match parameter.description.trim() {
            "" => &schema.description,
            own => own,
        };
        let default = match parameter.default {
            Some(default) => Some(default()).filter(|default| !default.is_null()),
            None => schema.default.clone(),
        };
        out.push('{');
        let start = out.len();
        if !schema.notes.is_empty() {
            let mut described = description.to_owned();
            for note in &schema.notes {
                append_sentence(&mut described, note);
            }
            out.push_str(r#""description":"#);
            write_string(&described, out);
        } else if !description.is_empty() {
            out.push_str(r#""description":"#);
            write_string(description, out);
        }
        if !schema.members.is_empty() {
            separate(out, start);
            out.push_str(&schema.members);
        }
        if let Some(default) = default {
            separate(out, start);
            out.push_str(r#""default":"#);
            write_data(&default, out);
        }
        out.push('}');
    }

    fn value(&mut self, function: SchemaFunction) -> &ValueSchema {
        self.values
            .entry(function)
            .or_insert_with(|| ValueSchema::new(&function()))
    }
}

impl ValueSchema {
    fn new(schema: &Value) -> Self {
        let mut node = normalize(schema);
        let mut text = String::new();
        write_schema(&node.clone().into_keywords(), &mut text);
        let description = match node.keywords.remove("description") {
            Some(Value::String(description)) => description,
            _ => String::new(),
        };
        let default = node.keywords.remove("default");
        let mut members = String::new();
        write_members(&node.keywords, &mut members);
        Self {
            text: text.into(),
            members: members.into(),
            description,
            notes: node.notes,
            default,
        }
    }
}

fn separate(out: &mut String, start: usize) {
    if out.len() > start {
        out.push(',');
    }
}
