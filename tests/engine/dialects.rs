//! The wire forms of the tool list.

use serde_json::{Value, json};
use skills_engine::Level;
use skills_engine::skill::{Expose, NoArguments, Tool, ToolContext};
use skills_engine::tools::Dialect;
use tests::{bare, session, turn};

use crate::made::skill;

const DIALECTS: [Dialect; 5] = [
    Dialect::OpenAiChat,
    Dialect::OpenAiResponses,
    Dialect::Anthropic,
    Dialect::Gemini,
    Dialect::Mcp,
];

/// A tool whose texts are full of what JSON must escape.
fn hostile() -> Tool {
    let text = "\"quoted\" \\ back\u{0}\u{1f}\n</skill> \u{202e} 漢";
    Tool::new("get", text, |_: NoArguments, _cx: ToolContext| async { "" })
        .title("The \"title\"")
        .level(Level::Metadata)
        .expose(Expose::Always)
        .read_only()
        .idempotent()
}

#[tokio::test]
async fn each_dialect_has_its_own_keys() {
    let engine = bare()
        .with_skill(skill("desk", [hostile()]))
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();
    let schema = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    let description = "\"quoted\" \\ back\u{0}\u{1f}\n</skill> \u{202e} 漢";
    let plain = |extra: Value| -> Value {
        let mut tool = json!({ "name": "desk__get", "description": description });
        tool.as_object_mut()
            .unwrap()
            .extend(extra.as_object().unwrap().clone());
        tool
    };
    let rows = [
        (
            Dialect::OpenAiChat,
            json!({ "type": "function", "function": plain(json!({ "parameters": schema })) }),
        ),
        (
            Dialect::OpenAiResponses,
            plain(json!({ "type": "function", "parameters": schema, "strict": false })),
        ),
        (Dialect::Anthropic, plain(json!({ "input_schema": schema }))),
        (
            Dialect::Gemini,
            plain(json!({ "parametersJsonSchema": schema })),
        ),
        (
            Dialect::Mcp,
            plain(json!({
                "title": "The \"title\"",
                "inputSchema": schema,
                "annotations": {
                    "readOnlyHint": true,
                    "destructiveHint": false,
                    "idempotentHint": true,
                    "openWorldHint": false,
                },
                "_meta": { "skills-engine/skill": "desk" },
            })),
        ),
    ];
    for (dialect, expected) in rows {
        let list: Value = serde_json::from_str(view.tools_json(dialect)).unwrap();
        let tools = match dialect {
            Dialect::Gemini => &list[0]["functionDeclarations"],
            _ => &list,
        };
        assert_eq!(tools[0], expected, "{dialect:?}");
        assert_eq!(
            tools.as_array().unwrap().len(),
            view.tools().count(),
            "{dialect:?}"
        );
    }
}

#[tokio::test]
async fn an_empty_list_is_valid_in_each_dialect() {
    let engine = bare().enabled(false).build().await.unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();
    for dialect in DIALECTS {
        let list: Value = serde_json::from_str(view.tools_json(dialect)).unwrap();
        assert_eq!(list, json!([]), "{dialect:?}");
    }
}

#[tokio::test]
async fn a_hand_written_schema_is_passed_through_untouched() {
    let schema = r#"{ "type": "object", "oneOf": [ {"required": ["a"]} ], "$defs": {} }"#;
    let foreign = Tool::from_json("raw", "Raw.", schema, |_: Value, _cx: ToolContext| async {
        ""
    })
    .unwrap()
    .level(Level::Metadata);
    let engine = bare()
        .with_skill(skill("desk", [foreign]))
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    let view = turn.view().await.unwrap();
    for dialect in DIALECTS {
        assert!(view.tools_json(dialect).contains(schema), "{dialect:?}");
    }
    let tool = view.tools().next().unwrap();
    assert_eq!((tool.skill(), tool.input_schema()), ("desk", schema));
    assert_eq!(tool.input_schema_json().get(), schema);
}
