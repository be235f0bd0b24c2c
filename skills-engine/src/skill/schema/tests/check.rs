//! A checker for the shape that providers accept, and a validator for the part of JSON Schema that is left.

use serde_json::Value;

const ALLOWED: [&str; 31] = [
    "type",
    "description",
    "enum",
    "format",
    "default",
    "examples",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "contentEncoding",
    "contentMediaType",
    "items",
    "minItems",
    "maxItems",
    "uniqueItems",
    "properties",
    "required",
    "additionalProperties",
    "minProperties",
    "maxProperties",
    "anyOf",
    "allOf",
    "not",
    "deprecated",
    "readOnly",
    "writeOnly",
];

/// What a provider would refuse in a schema, with the place; empty when nothing.
pub(super) fn forbidden(schema: &Value) -> Vec<String> {
    let mut found = Vec::new();
    walk(schema, "", &mut found);
    found
}

/// As [`forbidden`], for the schema of a tool's arguments.
pub(super) fn forbidden_in_arguments(schema: &Value) -> Vec<String> {
    let mut found = forbidden(schema);
    if schema["type"] != "object" {
        found.push("the root is no object".to_owned());
    }
    if schema["additionalProperties"] != false {
        found.push("the root is open".to_owned());
    }
    if !schema["properties"].is_object() {
        found.push("the root has no properties".to_owned());
    }
    for keyword in ["anyOf", "allOf", "enum", "not"] {
        if schema.get(keyword).is_some() {
            found.push(format!("{keyword} at the root"));
        }
    }
    found
}

fn walk(schema: &Value, place: &str, found: &mut Vec<String>) {
    let Value::Object(keywords) = schema else {
        found.push(format!("{place}: not an object"));
        return;
    };
    for (keyword, value) in keywords {
        let place = format!("{place}/{keyword}");
        if !ALLOWED.contains(&keyword.as_str()) {
            found.push(place.clone());
        }
        match (keyword.as_str(), value) {
            ("type", Value::Array(types)) if types.len() < 2 || types.contains(&"null".into()) => {
                found.push(format!("{place}: {value}"));
            }
            ("format", Value::String(name)) if name.contains("int") || name == "double" => {
                found.push(format!("{place}: {name}"));
            }
            ("properties", Value::Object(properties)) => {
                for (name, schema) in properties {
                    walk(schema, &format!("{place}/{name}"), found);
                }
            }
            ("additionalProperties", Value::Bool(_)) => {}
            ("items" | "additionalProperties" | "not", schema) => walk(schema, &place, found),
            ("anyOf" | "allOf", Value::Array(schemas)) => {
                if schemas.is_empty() {
                    found.push(format!("{place}: empty"));
                }
                for (index, schema) in schemas.iter().enumerate() {
                    if schemas.len() > 1 && schema["type"] == "null" {
                        found.push(format!("{place}: null"));
                    }
                    walk(schema, &format!("{place}/{index}"), found);
                }
            }
            ("default", Value::Null) => found.push(place),
            ("required", Value::Array(names)) if names.is_empty() => found.push(place),
            _ => {}
        }
    }
}

/// Whether a value is valid, by the keywords the normalizer writes.
pub(super) fn accepts(schema: &Value, value: &Value) -> bool {
    let list = |keyword: &str| schema[keyword].as_array().map_or(&[][..], Vec::as_slice);
    let is_type = |name: &Value| match name.as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        _ => false,
    };
    let type_holds = match &schema["type"] {
        Value::Null => true,
        Value::Array(types) => types.iter().any(is_type),
        name => is_type(name),
    };
    let enum_holds = schema["enum"].is_null() || list("enum").contains(value);
    let any_holds =
        schema["anyOf"].is_null() || list("anyOf").iter().any(|any| accepts(any, value));
    let all_hold = list("allOf").iter().all(|all| accepts(all, value));
    let not_holds = schema["not"].is_null() || !accepts(&schema["not"], value);
    let number = |keyword: &str| schema[keyword].as_f64();
    let bounds_hold = value.as_f64().is_none_or(|value| {
        number("minimum").is_none_or(|minimum| value >= minimum)
            && number("maximum").is_none_or(|maximum| value <= maximum)
    });
    let items_hold = value.as_array().is_none_or(|items| {
        let length = items.len() as u64;
        let count = |keyword: &str| schema[keyword].as_u64();
        count("minItems").is_none_or(|least| length >= least)
            && count("maxItems").is_none_or(|most| length <= most)
            && (schema["items"].is_null()
                || items.iter().all(|item| accepts(&schema["items"], item)))
    });
    let fields_hold = value.as_object().is_none_or(|fields| {
        list("required")
            .iter()
            .all(|name| name.as_str().is_some_and(|name| fields.contains_key(name)))
            && fields.iter().all(|(name, value)| {
                match (&schema["properties"][name], &schema["additionalProperties"]) {
                    (Value::Null, Value::Bool(false)) => false,
                    (Value::Null, Value::Null | Value::Bool(true)) => true,
                    (Value::Null, additional) => accepts(additional, value),
                    (property, _) => accepts(property, value),
                }
            })
    });
    type_holds
        && enum_holds
        && any_holds
        && all_hold
        && not_holds
        && bounds_hold
        && items_hold
        && fields_hold
}
