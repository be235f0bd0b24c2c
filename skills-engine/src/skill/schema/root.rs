//! The rules for the root of a tool's arguments.

use serde_json::Value;

use super::merge::{both, either_object};
use super::normalize::{Keywords, append_sentence, normalize};
use crate::skill::{Code, Fault};

/// The schema of a type as that of a tool's arguments: one closed object.
pub(super) fn arguments_schema(schema: &Value) -> Result<Keywords, Fault> {
    one_object(normalize(schema).into_keywords())
        .map(|mut keywords| {
            keywords
                .entry("properties")
                .or_insert_with(|| Value::Object(Keywords::new()));
            keywords.insert("additionalProperties".to_owned(), false.into());
            keywords
        })
        .map_err(|found| {
            let name = schema.get("title").and_then(Value::as_str).unwrap_or("it");
            let shown: String = name.chars().take(80).flat_map(char::escape_debug).collect();
            Fault::new(
                Code::InvalidArguments,
                format!(
                    "the arguments of a tool are an object with known fields, but `{shown}` is {}; {}",
                    found.what, found.advice
                ),
            )
        })
}

/// What the root is instead of an object with known fields.
struct NotAnObject {
    what: &'static str,
    advice: &'static str,
}

/// What may stand at the root beside `additionalProperties`.
const AT_ROOT: [&str; 6] = [
    "description",
    "type",
    "properties",
    "required",
    "default",
    "examples",
];

const WRAP: &str = "make it a field of a struct and take that struct";

/// Puts alternatives and parts at the root together into one object.
fn one_object(mut keywords: Keywords) -> Result<Keywords, NotAnObject> {
    let any = keywords.remove("anyOf");
    let all = keywords.remove("allOf");
    let is_composed = any.is_some() || all.is_some();
    if let Some(any) = any {
        let (object, note) = either_object(&objects(any)?);
        both(&mut keywords, object);
        describe(&mut keywords, &note);
    }
    if let Some(all) = all {
        for mut object in objects(all)? {
            if let Some(Value::String(description)) = object.remove("description") {
                describe(&mut keywords, &description);
            }
            both(&mut keywords, object);
        }
    }
    check_object(&keywords, is_composed)?;
    keywords.insert("type".to_owned(), "object".into());
    keywords.retain(|keyword, _| AT_ROOT.contains(&keyword.as_str()));
    Ok(keywords)
}

fn describe(keywords: &mut Keywords, sentence: &str) {
    let mut description = match keywords.remove("description") {
        Some(Value::String(description)) => description,
        _ => String::new(),
    };
    append_sentence(&mut description, sentence);
    keywords.insert("description".to_owned(), description.into());
}

fn objects(schemas: Value) -> Result<Vec<Keywords>, NotAnObject> {
    let Value::Array(schemas) = schemas else {
        return Ok(Vec::new());
    };
    schemas
        .into_iter()
        .map(|schema| match schema {
            Value::Object(keywords) => one_object(keywords),
            _ => Ok(Keywords::new()),
        })
        .collect()
}

fn check_object(keywords: &Keywords, is_composed: bool) -> Result<(), NotAnObject> {
    let what = match keywords.get("type").map(Value::as_str) {
        Some(Some("object")) => {
            let is_open = keywords
                .get("additionalProperties")
                .is_some_and(|additional| *additional != Value::Bool(false));
            if !is_open {
                return Ok(());
            }
            return Err(NotAnObject {
                what: "a map, or has a flattened one",
                advice: "make the map a field of a struct, without `#[serde(flatten)]`",
            });
        }
        None if is_composed || keywords.contains_key("properties") => return Ok(()),
        None => {
            return Err(NotAnObject {
                what: "any JSON value",
                advice: "take a struct, or use `Tool::from_json` with a schema of your own",
            });
        }
        Some(Some("null")) => {
            return Err(NotAnObject {
                what: "a unit",
                advice: "take a struct without fields, such as `struct NoArguments {}`",
            });
        }
        Some(Some("array")) => "an array",
        Some(Some("string")) => "a string",
        Some(Some("integer" | "number")) => "a number",
        Some(Some("boolean")) => "a boolean",
        Some(_) => "of several types",
    };
    Err(NotAnObject { what, advice: WRAP })
}
