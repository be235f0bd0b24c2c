use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use super::check::{accepts, forbidden};
use super::parsed;
use super::types::{
    Adjacent, Date, Defaults, Expression, External, Flat, FlatEnums, FlatMap, Internal, Level,
    Many, Nested, Newtype, Ping, Plain, Point, Tree, Untagged, Wrapper,
};
use crate::skill::schema::{SchemaCache, SchemaFunction, normalize_schema, schema_of};

fn value_text(function: SchemaFunction) -> String {
    let text = SchemaCache::default().value_schema(function).to_string();
    assert_eq!(text, normalize_schema(&function()));
    text
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one table, a row for each kind of type"
)]
fn values_have_the_shape_providers_accept() {
    let table: &[(&str, SchemaFunction, &str)] = &[
        ("text", schema_of::<String>, r#"{"type":"string"}"#),
        ("borrowed text", schema_of::<&str>, r#"{"type":"string"}"#),
        ("newtype", schema_of::<Newtype>, r#"{"type":"string"}"#),
        ("u64", schema_of::<u64>, r#"{"type":"integer","minimum":0}"#),
        ("i32", schema_of::<i32>, r#"{"type":"integer"}"#),
        (
            "u8",
            schema_of::<u8>,
            r#"{"type":"integer","maximum":255,"minimum":0}"#,
        ),
        ("f64", schema_of::<f64>, r#"{"type":"number"}"#),
        (
            "usize",
            schema_of::<usize>,
            r#"{"type":"integer","minimum":0}"#,
        ),
        ("unit", schema_of::<()>, r#"{"type":"null"}"#),
        ("anything", schema_of::<Value>, "{}"),
        (
            "date",
            schema_of::<Date>,
            r#"{"type":"string","format":"date-time"}"#,
        ),
        (
            "option",
            schema_of::<Option<String>>,
            r#"{"type":"string"}"#,
        ),
        (
            "option of option",
            schema_of::<Option<Option<String>>>,
            r#"{"type":"string"}"#,
        ),
        (
            "option of option of a struct",
            schema_of::<Option<Option<Point>>>,
            r#"{"type":"object","properties":{"x":{"type":"number"},"y":{"type":"number"}},"required":["x"]}"#,
        ),
        (
            "list of options",
            schema_of::<Vec<Option<u64>>>,
            r#"{"type":"array","items":{"type":"integer","minimum":0}}"#,
        ),
        (
            "map",
            schema_of::<HashMap<String, Vec<bool>>>,
            r#"{"type":"object","additionalProperties":{"type":"array","items":{"type":"boolean"}}}"#,
        ),
        (
            "map of anything",
            schema_of::<HashMap<String, Value>>,
            r#"{"type":"object","additionalProperties":true}"#,
        ),
        (
            "map with numbers as keys",
            schema_of::<BTreeMap<u32, bool>>,
            r#"{"description":"Names match `^\\d+$`.","type":"object","additionalProperties":{"type":"boolean"}}"#,
        ),
        (
            "even tuple",
            schema_of::<(f64, f64)>,
            r#"{"type":"array","items":{"type":"number"},"maxItems":2,"minItems":2}"#,
        ),
        (
            "mixed tuple",
            schema_of::<(String, bool)>,
            r#"{"description":"In this order: string, boolean.","type":"array","items":{"anyOf":[{"type":"string"},{"type":"boolean"}]},"maxItems":2,"minItems":2}"#,
        ),
        (
            "unit enum",
            schema_of::<Plain>,
            r#"{"type":"string","enum":["A","B"]}"#,
        ),
        (
            "option of a unit enum",
            schema_of::<Option<Plain>>,
            r#"{"type":"string","enum":["A","B"]}"#,
        ),
        (
            "documented enum",
            schema_of::<Level>,
            r#"{"description":"How much is visible. METADATA: What it is; CONTEXT: What it says, in more words.","type":"string","enum":["COMPLETE","METADATA","CONTEXT"]}"#,
        ),
        (
            "defaults, an enum inside",
            schema_of::<Defaults>,
            r#"{"type":"object","properties":{"level":{"description":"How much is visible. METADATA: What it is; CONTEXT: What it says, in more words.","type":"string","enum":["COMPLETE","METADATA","CONTEXT"]},"other":{"description":"Documented here. METADATA: What it is; CONTEXT: What it says, in more words.","type":"string","enum":["COMPLETE","METADATA","CONTEXT"]},"tags":{"type":"array","items":{"type":"string"},"default":[]}},"required":["other"],"additionalProperties":false}"#,
        ),
        (
            "internally tagged enum",
            schema_of::<Internal>,
            r#"{"anyOf":[{"type":"object","properties":{"action":{"type":"string","enum":["create"]},"count":{"type":"integer","minimum":0},"title":{"type":"string"}},"required":["action","title"]},{"type":"object","properties":{"action":{"type":"string","enum":["move"]},"x":{"type":"number"},"y":{"type":"number"}},"required":["action","x"]},{"type":"object","properties":{"action":{"type":"string","enum":["stop"]}},"required":["action"]}]}"#,
        ),
        (
            "adjacently tagged enum",
            schema_of::<Adjacent>,
            r#"{"anyOf":[{"type":"object","properties":{"c":{"type":"integer","maximum":255,"minimum":0},"t":{"type":"string","enum":["A"]}},"required":["t","c"]},{"type":"object","properties":{"c":{"type":"object","properties":{"x":{"type":"number"}},"required":["x"]},"t":{"type":"string","enum":["B"]}},"required":["t","c"]},{"type":"object","properties":{"t":{"type":"string","enum":["C"]}},"required":["t"]}]}"#,
        ),
        (
            "externally tagged enum",
            schema_of::<External>,
            r#"{"anyOf":[{"type":"string","enum":["Nothing"]},{"type":"object","properties":{"Number":{"type":"number"}},"required":["Number"],"additionalProperties":false},{"type":"object","properties":{"Text":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}},"required":["Text"],"additionalProperties":false}]}"#,
        ),
        (
            "untagged enum",
            schema_of::<Option<Untagged>>,
            r#"{"anyOf":[{"type":"string"},{"type":"integer"}]}"#,
        ),
        (
            "flattened struct",
            schema_of::<Flat>,
            r#"{"type":"object","properties":{"name":{"type":"string"},"x":{"type":"number"},"y":{"type":"number"}},"required":["name","x"]}"#,
        ),
        (
            "generic",
            schema_of::<Wrapper<Vec<Wrapper<u8>>>>,
            r#"{"type":"object","properties":{"value":{"type":"array","items":{"type":"object","properties":{"value":{"type":"integer","maximum":255,"minimum":0}},"required":["value"]}}},"required":["value"]}"#,
        ),
        (
            "tree",
            schema_of::<Tree>,
            r#"{"description":"A tree.","type":"object","properties":{"children":{"type":"array","items":{"description":"A tree.","type":"object"}},"name":{"type":"string"}},"required":["name","children"]}"#,
        ),
        (
            "recursive list",
            schema_of::<Nested>,
            r#"{"type":"array","items":{"type":"array","items":{}}}"#,
        ),
        (
            "recursive enum",
            schema_of::<Expression>,
            r#"{"description":"An expression.","anyOf":[{"type":"string","enum":["Zero"]},{"type":"object","properties":{"Number":{"type":"number"}},"required":["Number"],"additionalProperties":false},{"type":"object","properties":{"Add":{"type":"array","items":{"description":"An expression.","anyOf":[{"type":"string"},{"type":"object"}]},"maxItems":2,"minItems":2}},"required":["Add"],"additionalProperties":false}]}"#,
        ),
        (
            "mutual recursion",
            schema_of::<Ping>,
            r#"{"type":"object","properties":{"pong":{"description":"The other one.","type":"object","properties":{"ping":{"type":"object"}}}}}"#,
        ),
    ];
    for (name, function, expected) in table {
        let text = value_text(*function);
        assert_eq!(text, *expected, "{name}");
        assert_eq!(forbidden(&parsed(&text)), [""; 0], "{name}");
    }
}

#[test]
fn what_a_type_takes_its_schema_takes() {
    let table: &[(&str, SchemaFunction, Value, bool)] = &[
        (
            "internal",
            schema_of::<Internal>,
            json!({"action": "move", "x": 1.5}),
            true,
        ),
        (
            "internal, no tag",
            schema_of::<Internal>,
            json!({"x": 1.5}),
            false,
        ),
        (
            "adjacent",
            schema_of::<Adjacent>,
            json!({"t": "A", "c": 7}),
            true,
        ),
        (
            "adjacent, too large",
            schema_of::<Adjacent>,
            json!({"t": "A", "c": 700}),
            false,
        ),
        (
            "external unit",
            schema_of::<External>,
            json!("Nothing"),
            true,
        ),
        (
            "external",
            schema_of::<External>,
            json!({"Text": {"text": "a"}}),
            true,
        ),
        (
            "tuple",
            schema_of::<(String, bool)>,
            json!(["a", true]),
            true,
        ),
        (
            "tuple, short",
            schema_of::<(String, bool)>,
            json!(["a"]),
            false,
        ),
        (
            "tree",
            schema_of::<Tree>,
            json!({"name": "a", "children": [{"name": "b", "children": []}]}),
            true,
        ),
        ("recursive list", schema_of::<Nested>, json!([[[[]]]]), true),
        (
            "recursive enum",
            schema_of::<Expression>,
            json!({"Add": ["Zero", {"Add": [{"Number": 1}, "Zero"]}]}),
            true,
        ),
        (
            "keyed map",
            schema_of::<BTreeMap<u32, bool>>,
            json!({"7": true}),
            true,
        ),
        (
            "two flattened enums",
            schema_of::<FlatEnums>,
            json!({"name": "n", "action": "stop", "t": "B", "c": {"x": 0.5}}),
            true,
        ),
        (
            "two flattened enums, one missing",
            schema_of::<FlatEnums>,
            json!({"name": "n", "action": "stop"}),
            false,
        ),
        (
            "flattened map",
            schema_of::<FlatMap>,
            json!({"name": "n", "seven": 7}),
            true,
        ),
        ("u64 over 2^53", schema_of::<u64>, json!(u64::MAX), true),
    ];
    for (name, function, value, taken) in table {
        let schema = parsed(&value_text(*function));
        assert_eq!(accepts(&schema, value), *taken, "{name}: {schema}");
    }
}

#[test]
fn a_type_that_refers_to_itself_many_ways_stays_small() {
    let text = value_text(schema_of::<Many>);
    assert!(text.len() > 32 << 10, "inlined {} bytes only", text.len());
    assert!(text.len() < 96 << 10, "inlined {} bytes", text.len());
    assert_eq!(forbidden(&parsed(&text)), [""; 0]);
}

#[test]
fn a_schema_nested_without_end_is_cut() {
    let mut schema = json!({ "type": "string" });
    for _ in 0..100 {
        schema = json!({ "type": "array", "items": schema });
    }
    let text = normalize_schema(&schema);
    assert_eq!(text.matches("\"items\"").count(), 65);
    assert!(text.contains(r#""items":{"type":"array","items":{}}"#));
}

#[test]
fn references_that_lead_nowhere_allow_anything() {
    for reference in ["#/$defs/Gone", "https://example.com/schema", "#x", ""] {
        let schema = json!({ "properties": { "a": { "$ref": reference } } });
        assert_eq!(normalize_schema(&schema), r#"{"properties":{"a":{}}}"#);
    }
    let escaped = json!({
        "$defs": { "A/B C~": { "type": "string" } },
        "items": { "$ref": "#/$defs/A~1B%20C~0" },
    });
    assert_eq!(normalize_schema(&escaped), r#"{"items":{"type":"string"}}"#);
    let circle = json!({ "$defs": { "A": { "$ref": "#/$defs/B" }, "B": { "$ref": "#/$defs/A" } }, "$ref": "#/$defs/A" });
    assert_eq!(normalize_schema(&circle), r#"{"type":"object"}"#);
}
