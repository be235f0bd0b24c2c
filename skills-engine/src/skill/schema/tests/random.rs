//! Whatever schema comes in, nothing that providers refuse comes out.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Value, json};

use super::check::{forbidden, forbidden_in_arguments};
use crate::skill::schema::{normalize_schema, root, write};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-c\u{202e}\"\\\\]{0,3}".prop_map(Value::from),
    ]
}

/// Values under keywords that mean something, well-formed or not, with references to two definitions and the root.
fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        scalar(),
        Just(json!({})),
        Just(json!({ "type": "null" })),
        Just(json!({ "type": "string", "title": "T" })),
        Just(json!({ "type": ["integer", "null"], "format": "uint32", "minimum": 0 })),
        Just(json!({ "const": "a", "description": "doc", "type": "string" })),
        Just(json!({ "const": null })),
        prop::collection::vec(scalar(), 0..4).prop_map(|values| json!({ "enum": values })),
        prop::sample::select(vec!["#", "#/$defs/A", "#/$defs/B", "#/gone"])
            .prop_map(|reference| json!({ "$ref": reference })),
        Just(json!({ "$ref": "#/$defs/A", "description": "beside", "default": null })),
    ];
    leaf.prop_recursive(5, 96, 5, |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..4);
        let map =
            || prop::collection::btree_map("[a-c$]{1,2}|type|title|\\$ref", inner.clone(), 0..4);
        let member = prop_oneof![
            ("oneOf|anyOf|allOf|prefixItems|items", list())
                .prop_map(|(key, list)| (key, json!(list))),
            (
                "properties|patternProperties|\\$defs|definitions|dependentSchemas",
                map()
            )
                .prop_map(|(key, map)| (key, json!(map))),
            (
                "items|additionalProperties|not|if|then|contains|unevaluatedProperties|x-other",
                inner.clone()
            )
                .prop_map(|(key, schema)| (key, schema)),
            (
                "type",
                prop::sample::select(vec!["object", "array", "string", "null"])
            )
                .prop_map(|(key, ty)| (key, json!(ty))),
            ("required", Just(json!(["a", "b"]))),
            (
                "title|description|format|\\$id|\\$comment|default|type|minimum",
                scalar()
            ),
        ];
        prop::collection::vec(member, 0..5)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    })
}

fn rooted() -> impl Strategy<Value = Value> {
    (schema(), schema(), schema()).prop_map(|(mut root, a, b)| {
        if let Value::Object(keywords) = &mut root {
            keywords.insert("$defs".to_owned(), json!({ "A": a, "B": b }));
        }
        root
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 500,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(500),
        ..ProptestConfig::default()
    })]

    #[test]
    fn no_forbidden_construct_is_left(schema in rooted()) {
        let text = normalize_schema(&schema);
        let result: Value = serde_json::from_str(&text).expect("a schema is JSON");
        prop_assert_eq!(forbidden(&result), [""; 0], "{}", text);
        prop_assert!(text.len() < (64 << 10) + 4 * schema.to_string().len());
    }

    #[test]
    fn arguments_are_closed_objects_or_refused(schema in rooted()) {
        if let Ok(keywords) = root::arguments_schema(&schema) {
            let mut text = String::new();
            write::write_schema(&keywords, &mut text);
            let result: Value = serde_json::from_str(&text).expect("a schema is JSON");
            prop_assert_eq!(forbidden_in_arguments(&result), [""; 0], "{}", text);
        }
    }
}
