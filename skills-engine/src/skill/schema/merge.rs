//! Schemas put together: both hold, or one of them does.

use serde_json::{Map, Value};

use super::normalize::Keywords;

/// Makes `base` demand what `other` demands too. Where they disagree in a way that JSON Schema cannot say in one
/// object, `base` wins; so do its description and default.
pub(super) fn both(base: &mut Keywords, other: Keywords) {
    for (keyword, theirs) in other {
        let Some(ours) = base.get_mut(&keyword) else {
            base.insert(keyword, theirs);
            continue;
        };
        match (keyword.as_str(), ours, theirs) {
            ("properties", Value::Object(ours), Value::Object(theirs)) => {
                both_properties(ours, theirs);
            }
            ("items", Value::Object(ours), Value::Object(theirs)) => both(ours, theirs),
            ("required", Value::Array(ours), Value::Array(theirs)) => {
                for name in theirs {
                    if !ours.contains(&name) {
                        ours.push(name);
                    }
                }
            }
            ("enum", Value::Array(ours), Value::Array(theirs)) => {
                let common: Vec<_> = ours
                    .iter()
                    .filter(|value| theirs.contains(value))
                    .cloned()
                    .collect();
                if !common.is_empty() {
                    *ours = common;
                }
            }
            ("type", ours, theirs) => both_types(ours, &theirs),
            ("additionalProperties", ours, theirs)
                if *ours == Value::Bool(true) || theirs == Value::Bool(false) =>
            {
                *ours = theirs;
            }
            ("allOf", Value::Array(ours), Value::Array(theirs)) => ours.extend(theirs),
            ("anyOf", ours, theirs) if *ours != theirs => {
                let second = Map::from_iter([("anyOf".to_owned(), theirs)]);
                if let Some(Value::Array(all)) = base.get_mut("allOf") {
                    all.push(Value::Object(second));
                } else {
                    let all = Value::Array(vec![Value::Object(second)]);
                    base.insert("allOf".to_owned(), all);
                }
            }
            _ => {}
        }
    }
}

fn both_properties(ours: &mut Keywords, theirs: Keywords) {
    for (name, theirs) in theirs {
        match (ours.get_mut(&name), theirs) {
            (Some(Value::Object(ours)), Value::Object(theirs)) => both(ours, theirs),
            (Some(_), _) => {}
            (None, theirs) => {
                ours.insert(name, theirs);
            }
        }
    }
}

fn both_types(ours: &mut Value, theirs: &Value) {
    let common: Vec<_> = types(ours)
        .iter()
        .filter_map(|ours| {
            types(theirs)
                .iter()
                .find_map(|theirs| match (ours.as_str()?, theirs.as_str()?) {
                    ("number", "integer") | ("integer", "number") => Some("integer"),
                    (ours, theirs) => (ours == theirs).then_some(ours),
                })
        })
        .map(Value::from)
        .collect();
    match common.len() {
        0 => {}
        1 => *ours = common.into_iter().next().unwrap_or_default(),
        _ => *ours = Value::Array(common),
    }
}

fn types(value: &Value) -> &[Value] {
    match value {
        Value::Array(types) => types,
        other => std::slice::from_ref(other),
    }
}

/// What one of several alternatives allows, if all of them are lists of values of one type: their `enum`, and a
/// sentence with their docs.
pub(super) fn one_enum(alternatives: &[Keywords]) -> Option<(Keywords, Option<String>)> {
    let mut values: Vec<Value> = Vec::new();
    let mut docs: Vec<String> = Vec::new();
    let mut ty: Option<&Value> = None;
    for alternative in alternatives {
        let is_plain = alternative
            .keys()
            .all(|key| matches!(key.as_str(), "type" | "enum" | "description" | "deprecated"));
        let Some(Value::Array(own)) = alternative.get("enum").filter(|_| is_plain) else {
            return None;
        };
        let own_type = alternative.get("type")?;
        if *ty.get_or_insert(own_type) != own_type {
            return None;
        }
        if let Some(Value::String(doc)) = alternative.get("description") {
            docs.push(format!("{}: {}", shown_values(own), clause(doc)));
        }
        for value in own {
            if !values.contains(value) {
                values.push(value.clone());
            }
        }
    }
    let note = (!docs.is_empty()).then(|| format!("{}.", docs.join("; ")));
    let keywords = Map::from_iter([
        ("type".to_owned(), ty?.clone()),
        ("enum".to_owned(), Value::Array(values)),
    ]);
    Some((keywords, note))
}

/// An object that allows what any of the given objects allows, and a sentence that tells them apart.
pub(super) fn either_object(alternatives: &[Keywords]) -> (Keywords, String) {
    let mut properties = Keywords::new();
    let mut required: Option<Vec<Value>> = None;
    for alternative in alternatives {
        if let Some(Value::Object(own)) = alternative.get("properties") {
            for (name, schema) in own {
                match properties.get_mut(name) {
                    Some(present) => either_value(present, schema),
                    None => {
                        properties.insert(name.clone(), schema.clone());
                    }
                }
            }
        }
        let own = required_names(alternative);
        match &mut required {
            Some(required) => required.retain(|name| own.contains(name)),
            None => required = Some(own.to_vec()),
        }
    }
    let choices: Vec<_> = alternatives.iter().map(shown_choice).collect();
    let mut keywords = Map::from_iter([
        ("type".to_owned(), Value::from("object")),
        ("properties".to_owned(), Value::Object(properties)),
    ]);
    let required = required.unwrap_or_default();
    if !required.is_empty() {
        keywords.insert("required".to_owned(), Value::Array(required));
    }
    (keywords, format!("One of: {}.", choices.join("; ")))
}

fn required_names(object: &Keywords) -> &[Value] {
    match object.get("required") {
        Some(Value::Array(names)) => names,
        _ => &[],
    }
}

fn either_value(present: &mut Value, other: &Value) {
    if present == other {
        return;
    }
    if let (Value::Object(ours), Value::Object(theirs)) = (&*present, other)
        && let Some((mut keywords, note)) = one_enum(&[ours.clone(), theirs.clone()])
    {
        if let Some(note) = note {
            keywords.insert("description".to_owned(), note.into());
        }
        *present = Value::Object(keywords);
        return;
    }
    match present.get_mut("anyOf") {
        Some(Value::Array(any)) => {
            if !any.contains(other) {
                any.push(other.clone());
            }
        }
        _ => *present = serde_json::json!({ "anyOf": [present.take(), other] }),
    }
}

/// `action "create" with title` for a tagged variant, `Add` for a plain one.
fn shown_choice(object: &Keywords) -> String {
    let mut tags = Vec::new();
    let mut fields = Vec::new();
    for name in required_names(object).iter().filter_map(Value::as_str) {
        match object
            .get("properties")
            .and_then(|properties| properties.get(name)?.get("enum"))
        {
            Some(Value::Array(values)) if values.len() == 1 => {
                tags.push(format!("{name} {}", values[0]));
            }
            _ => fields.push(name),
        }
    }
    match (tags.is_empty(), fields.is_empty()) {
        (true, true) => "no required fields".to_owned(),
        (true, false) => fields.join(", "),
        (false, true) => tags.join(", "),
        (false, false) => format!("{} with {}", tags.join(", "), fields.join(", ")),
    }
}

fn shown_values(values: &[Value]) -> String {
    let shown: Vec<_> = values
        .iter()
        .map(|value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        })
        .collect();
    shown.join(", ")
}

/// A doc comment as part of a sentence: on one line, without its full stop.
fn clause(doc: &str) -> String {
    let words: Vec<_> = doc.split_whitespace().collect();
    words.join(" ").trim_end_matches('.').to_owned()
}
