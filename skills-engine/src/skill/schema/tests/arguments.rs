use std::collections::HashMap;

use serde_json::{Value, json};

use super::check::forbidden_in_arguments;
use super::parsed;
use super::types::{
    Adjacent, External, FlatEnums, FlatMap, Internal, Level, Nested, Newtype, Point, Tree, Untagged,
};
use crate::skill::ParamEntry;
use crate::skill::schema::{SchemaCache, SchemaFunction, SchemaSource, schema_of};

#[test]
fn arguments_of_a_type_are_one_closed_object() {
    let table: &[(&str, SchemaFunction, &str)] = &[
        (
            "struct",
            schema_of::<Point>,
            r#"{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x"],"additionalProperties":false}"#,
        ),
        (
            "tree",
            schema_of::<Tree>,
            r#"{"description":"A tree.","type":"object","properties":{"children":{"type":"array","items":{"description":"A tree.","type":"object"}},"name":{"type":"string"}},"required":["name","children"],"additionalProperties":false}"#,
        ),
        (
            "internally tagged enum",
            schema_of::<Internal>,
            r#"{"description":"One of: action \"create\" with title; action \"move\" with x; action \"stop\".","type":"object","properties":{"action":{"type":"string","enum":["create","move","stop"]},"count":{"type":"integer","minimum":0},"title":{"type":"string"},"x":{"type":"number"},"y":{"type":"number"}},"required":["action"],"additionalProperties":false}"#,
        ),
        (
            "adjacently tagged enum",
            schema_of::<Adjacent>,
            r#"{"description":"One of: t \"A\" with c; t \"B\" with c; t \"C\".","type":"object","properties":{"c":{"anyOf":[{"type":"integer","maximum":255,"minimum":0},{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}]},"t":{"type":"string","enum":["A","B","C"]}},"required":["t"],"additionalProperties":false}"#,
        ),
        (
            "two flattened enums",
            schema_of::<FlatEnums>,
            r#"{"description":"One of: action \"create\" with title; action \"move\" with x; action \"stop\". One of: t \"A\" with c; t \"B\" with c; t \"C\".","type":"object","properties":{"action":{"type":"string","enum":["create","move","stop"]},"c":{"anyOf":[{"type":"integer","maximum":255,"minimum":0},{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]}]},"count":{"type":"integer","minimum":0},"name":{"type":"string"},"t":{"type":"string","enum":["A","B","C"]},"title":{"type":"string"},"x":{"type":"number"},"y":{"type":"number"}},"required":["name","action","t"],"additionalProperties":false}"#,
        ),
    ];
    for (name, function, expected) in table {
        let text = SchemaCache::default()
            .input_schema(&SchemaSource::Function(*function))
            .expect(name);
        assert_eq!(&*text, *expected, "{name}");
        assert_eq!(forbidden_in_arguments(&parsed(&text)), [""; 0], "{name}");
    }
}

#[test]
fn arguments_that_are_no_object_are_refused_with_advice() {
    let table: &[(&str, SchemaFunction, &str)] = &[
        (
            "list",
            schema_of::<Vec<u8>>,
            "an array; make it a field of a struct",
        ),
        (
            "newtype over a list",
            schema_of::<Nested>,
            "`Nested` is an array",
        ),
        ("text", schema_of::<Newtype>, "a string"),
        ("number", schema_of::<u64>, "a number"),
        ("boolean", schema_of::<bool>, "a boolean"),
        (
            "unit",
            schema_of::<()>,
            "a unit; take a struct without fields",
        ),
        (
            "anything",
            schema_of::<Value>,
            "any JSON value; take a struct, or use `Tool::from_json`",
        ),
        ("map", schema_of::<HashMap<String, u8>>, "a map"),
        (
            "flattened map",
            schema_of::<FlatMap>,
            "without `#[serde(flatten)]`",
        ),
        ("enum with a unit", schema_of::<External>, "a string"),
        ("untagged enum", schema_of::<Untagged>, "a string"),
    ];
    for (name, function, expected) in table {
        let fault = SchemaCache::default()
            .input_schema(&SchemaSource::Function(*function))
            .expect_err(name);
        assert_eq!(fault.code, crate::skill::Code::InvalidArguments, "{name}");
        assert!(fault.message.contains(expected), "{name}: {fault}");
    }
}

const fn parameter(
    name: &'static str,
    description: &'static str,
    schema: SchemaFunction,
    is_option: bool,
    default: Option<fn() -> Value>,
) -> ParamEntry {
    ParamEntry {
        name,
        description,
        schema,
        sensitive: false,
        is_option,
        default,
    }
}

#[test]
fn parameters_keep_their_order_docs_and_defaults() {
    static PARAMETERS: [ParamEntry; 6] = [
        parameter(
            "zebra",
            "Stripes \"and\" all.",
            schema_of::<String>,
            false,
            None,
        ),
        parameter(
            "language",
            "",
            schema_of::<String>,
            false,
            Some(|| json!("en")),
        ),
        parameter("level", "How far to open", schema_of::<Level>, false, None),
        parameter("base", "", schema_of::<Option<Level>>, true, None),
        parameter("any", "", schema_of::<Value>, true, Some(|| Value::Null)),
        parameter("alpha", " Near. ", schema_of::<Point>, false, None),
    ];
    let text = SchemaCache::default()
        .input_schema(&SchemaSource::Parameters(&PARAMETERS))
        .expect("parameters always have a schema");
    assert_eq!(
        &*text,
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""zebra":{"description":"Stripes \"and\" all.","type":"string"},"#,
            r#""language":{"type":"string","default":"en"},"#,
            r#""level":{"description":"How far to open. METADATA: What it is; CONTEXT: What it says, in more words.","type":"string","enum":["COMPLETE","METADATA","CONTEXT"]},"#,
            r#""base":{"description":"How much is visible. METADATA: What it is; CONTEXT: What it says, in more words.","type":"string","enum":["COMPLETE","METADATA","CONTEXT"]},"#,
            r#""any":{},"#,
            r#""alpha":{"description":"Near.","type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x"]}},"#,
            r#""required":["zebra","level","alpha"],"additionalProperties":false}"#,
        )
    );
    assert_eq!(forbidden_in_arguments(&parsed(&text)), [""; 0]);
}

#[test]
fn no_parameters_are_a_closed_empty_object() {
    assert_eq!(
        SchemaCache::default().parameters_schema(&[]),
        r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
}

#[test]
fn a_hand_written_schema_passes_untouched() {
    let text = r##"{ "$ref": "#/$defs/A", "$defs": {"A": {"type": "object"}} }"##;
    let schema = SchemaCache::default().input_schema(&SchemaSource::Json(text.into()));
    assert_eq!(&*schema.expect("untouched"), text);
}

#[test]
fn a_type_is_described_once() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static CALLS: AtomicUsize = AtomicUsize::new(0);
    fn counted() -> Value {
        CALLS.fetch_add(1, Ordering::Relaxed);
        schema_of::<Point>()
    }
    static PARAMETERS: [ParamEntry; 2] = [
        parameter("a", "", counted, false, None),
        parameter("b", "", counted, false, None),
    ];
    let mut cache = SchemaCache::default();
    for _ in 0..10 {
        cache
            .input_schema(&SchemaSource::Parameters(&PARAMETERS))
            .expect("parameters always have a schema");
        cache.value_schema(counted);
    }
    assert_eq!(CALLS.load(Ordering::Relaxed), 1);
    let first = cache
        .input_schema(&SchemaSource::Function(counted))
        .expect("an object");
    let second = cache
        .input_schema(&SchemaSource::Function(counted))
        .expect("an object");
    assert!(std::sync::Arc::ptr_eq(&first, &second));
    assert_eq!(CALLS.load(Ordering::Relaxed), 2);
}
