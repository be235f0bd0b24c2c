use serde_json::Value;

use crate::skill::{Content, ToolOutput};

/// What a tool gave in a test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    output: ToolOutput,
}

impl Answer {
    pub(super) fn new(output: ToolOutput) -> Self {
        Self { output }
    }

    /// The pieces that the tool gave.
    #[must_use]
    pub fn output(&self) -> &ToolOutput {
        &self.output
    }

    /// The whole as text, as [`ToolOutput::to_model_text`] writes it, however long it is.
    #[must_use]
    pub fn text(&self) -> String {
        self.output.to_model_text(usize::MAX).0
    }

    /// The first piece as a JSON value: JSON is read, and text is a string.
    ///
    /// `null` for an image, for a resource, and for what is not the JSON it claims to be.
    #[must_use]
    pub fn json(&self) -> Value {
        match self.output.content().first() {
            Some(Content::Json(json)) => serde_json::from_str(json).unwrap_or(Value::Null),
            Some(Content::Text(text)) => Value::String(text.clone()),
            Some(Content::Image { .. } | Content::Resource { .. }) | None => Value::Null,
        }
    }
}
