use std::fmt::Write as _;

use serde_json::Value;

use super::normalize::Keywords;

/// Keywords in the order a reader wants them; others follow.
const ORDER: [&str; 9] = [
    "description",
    "type",
    "format",
    "enum",
    "items",
    "properties",
    "required",
    "additionalProperties",
    "anyOf",
];

/// Writes a schema as compact JSON.
pub(super) fn write_schema(keywords: &Keywords, out: &mut String) {
    out.push('{');
    write_members(keywords, out);
    out.push('}');
}

/// Writes the members of a schema without the braces.
pub(super) fn write_members(keywords: &Keywords, out: &mut String) {
    let first = ORDER
        .iter()
        .filter_map(|name| Some((*name, keywords.get(*name)?)));
    let rest = keywords
        .iter()
        .filter(|(name, _)| !ORDER.contains(&name.as_str()))
        .map(|(name, value)| (name.as_str(), value));
    for (index, (name, value)) in first.chain(rest).enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        match (name, value) {
            ("properties", Value::Object(properties)) => write_properties(properties, out),
            ("items" | "additionalProperties" | "not", Value::Object(schema)) => {
                write_schema(schema, out);
            }
            ("anyOf" | "allOf", Value::Array(schemas)) => write_schemas(schemas, out),
            _ => write_data(value, out),
        }
    }
}

fn write_properties(properties: &Keywords, out: &mut String) {
    out.push('{');
    for (index, (name, schema)) in properties.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(name, out);
        out.push(':');
        match schema {
            Value::Object(schema) => write_schema(schema, out),
            other => write_data(other, out),
        }
    }
    out.push('}');
}

fn write_schemas(schemas: &[Value], out: &mut String) {
    out.push('[');
    for (index, schema) in schemas.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        match schema {
            Value::Object(schema) => write_schema(schema, out),
            other => write_data(other, out),
        }
    }
    out.push(']');
}

/// Writes a value that is no schema.
pub(super) fn write_data(value: &Value, out: &mut String) {
    // Writing into a `String` does not fail.
    let _ = write!(out, "{value}");
}

/// Writes a text as a JSON string.
pub(super) fn write_string(text: &str, out: &mut String) {
    match serde_json::to_string(text) {
        Ok(json) => out.push_str(&json),
        Err(_) => unreachable!("a `str` is always valid JSON text"),
    }
}
