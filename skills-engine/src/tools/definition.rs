use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use super::Dialect;
use super::export::{ExportOptions, OWNER_KEY};
use crate::skill::Annotations;
use crate::snapshot::ToolWords;

/// A tool that is listed, with its name on the wire and the id of its skill.
#[derive(Clone, Copy)]
pub(crate) struct Listed<'a> {
    pub(crate) skill: &'a str,
    pub(crate) name: &'a str,
    pub(crate) tool: ToolWords<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    #[serde(skip_serializing_if = "Option::is_none", rename = "type")]
    kind: Option<&'a str>,
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    description: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "inputSchema")]
    mcp_schema: Option<&'a RawValue>,
    #[serde(
        skip_serializing_if = "Option::is_none",
        rename = "parametersJsonSchema"
    )]
    gemini_schema: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Annotations>,
    #[serde(skip_serializing_if = "Option::is_none", rename = "_meta")]
    meta: Option<Meta<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    strict: Option<bool>,
}

/// Names the owner.
struct Meta<'a>(&'a str);

impl Serialize for Meta<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(OWNER_KEY, self.0)])
    }
}

#[derive(Serialize)]
struct Wrapped<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    function: Function<'a>,
}

/// Writes the definition of a tool in a dialect.
pub(super) fn write_definition(
    listed: Listed<'_>,
    dialect: Dialect,
    export: ExportOptions,
    out: &mut Vec<u8>,
) {
    let Listed { skill, name, tool } = listed;
    let description = export.description(skill, tool.definition);
    let schema = serde_json::from_str(tool.input_schema).unwrap_or(RawValue::NULL);
    let plain = Function {
        kind: None,
        name,
        title: None,
        description: &description,
        parameters: None,
        input_schema: None,
        mcp_schema: None,
        gemini_schema: None,
        annotations: None,
        meta: None,
        strict: None,
    };
    let written = match dialect {
        Dialect::OpenAiChat => {
            let function = Function {
                parameters: Some(schema),
                ..plain
            };
            serde_json::to_writer(
                out,
                &Wrapped {
                    kind: "function",
                    function,
                },
            )
        }
        Dialect::OpenAiResponses => serde_json::to_writer(
            out,
            &Function {
                kind: Some("function"),
                parameters: Some(schema),
                // Left out, it would be true there, and every optional argument a required one.
                strict: Some(false),
                ..plain
            },
        ),
        Dialect::Anthropic => serde_json::to_writer(
            out,
            &Function {
                input_schema: Some(schema),
                ..plain
            },
        ),
        Dialect::Gemini => serde_json::to_writer(
            out,
            &Function {
                gemini_schema: Some(schema),
                ..plain
            },
        ),
        Dialect::Mcp => serde_json::to_writer(
            out,
            &Function {
                title: tool.definition.title.as_deref(),
                mcp_schema: Some(schema),
                annotations: Some(tool.definition.annotations),
                meta: Some(Meta(skill)),
                ..plain
            },
        ),
    };
    debug_assert!(
        written.is_ok(),
        "texts and checked JSON are all there is to write"
    );
}
