use std::fmt;

use serde_json::Value;

/// What a tool asks the person its session belongs to.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The question, in words for a person.
    pub text: String,
    /// A JSON Schema of the reply, for whoever makes a form of it. The reply is not checked against it.
    pub schema: Option<Value>,
}

impl Question {
    /// A question in words, for any reply.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            schema: None,
        }
    }

    /// Says what the reply should look like, as a JSON Schema.
    #[must_use]
    pub fn schema(mut self, schema: Value) -> Self {
        self.schema = Some(schema);
        self
    }
}

impl From<&str> for Question {
    fn from(text: &str) -> Self {
        Self::new(text)
    }
}

impl From<String> for Question {
    fn from(text: String) -> Self {
        Self::new(text)
    }
}

/// Without its text, which may quote what nobody else is to see.
impl fmt::Debug for Question {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Question").finish_non_exhaustive()
    }
}
