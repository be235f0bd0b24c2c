use std::fmt;

use serde::Serialize;

use super::tool::ToolResult;
use super::{Code, Fault};

/// One piece of a tool's result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text, shown to the model as it is.
    Text(String),
    /// A JSON value, as text.
    Json(String),
    /// An image.
    Image {
        /// Its bytes.
        data: Vec<u8>,
        /// Its media type, such as `image/png`.
        mime_type: String,
    },
    /// Something with an address.
    Resource {
        /// Its URI.
        uri: String,
        /// Its media type, when known.
        mime_type: Option<String>,
        /// Its text.
        text: String,
    },
}

/// What a tool gives back: one or more pieces of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    pub(crate) content: Vec<Content>,
}

impl ToolOutput {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Text(text.into())],
        }
    }

    /// A value as JSON; a value that is a string becomes text.
    ///
    /// # Errors
    ///
    /// `tool_error` when the value cannot be written as JSON.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, Fault> {
        let json = serde_json::to_string(value).map_err(|err| {
            Fault::new(
                Code::ToolError,
                format!("the result is not valid JSON: {err}"),
            )
        })?;
        let content = if json == "null" {
            Content::Text("done".to_owned())
        } else if json.starts_with('"') {
            Content::Text(serde_json::from_str(&json).unwrap_or(json))
        } else {
            Content::Json(json)
        };
        Ok(Self {
            content: vec![content],
        })
    }

    /// An image.
    #[must_use]
    pub fn image(data: Vec<u8>, mime_type: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Image {
                data,
                mime_type: mime_type.into(),
            }],
        }
    }

    /// A text resource with an address.
    #[must_use]
    pub fn resource(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Resource {
                uri: uri.into(),
                mime_type: None,
                text: text.into(),
            }],
        }
    }

    /// Appends the pieces of another output.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.content.extend(other.content);
        self
    }

    pub(crate) fn to_model_text(&self, _limit: usize) -> (String, bool) {
        (String::new(), false)
    }

    /// The pieces, in order.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        &self.content
    }
}

/// What a closure of a builder tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    note = "return a text, `()`, `serde_json::Value`, `ToolOutput`, or a `Result` of one of these whose error is `Display`; \
            `ToolOutput::json(&value)` turns any `Serialize` value into a result"
)]
pub trait IntoToolResult {
    /// Converts.
    ///
    /// # Errors
    ///
    /// The error of a `Result`, as `tool_error`.
    fn into_tool_result(self) -> ToolResult;
}

impl IntoToolResult for ToolOutput {
    fn into_tool_result(self) -> ToolResult {
        Ok(self)
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> ToolResult {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> ToolResult {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolResult for serde_json::Value {
    fn into_tool_result(self) -> ToolResult {
        ToolOutput::json(&self)
    }
}

macro_rules! json_results {
    ($($ty:ty),*) => {$(
        impl IntoToolResult for $ty {
            fn into_tool_result(self) -> ToolResult {
                ToolOutput::json(&self)
            }
        }
    )*};
}
json_results!(
    (),
    bool,
    i8,
    i16,
    i32,
    i64,
    i128,
    isize,
    u8,
    u16,
    u32,
    u64,
    u128,
    usize,
    f32,
    f64
);

impl<T: IntoToolResult, E: fmt::Display> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> ToolResult {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(err) => Err(Fault::new(Code::ToolError, err.to_string())),
        }
    }
}
