use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::Progress;

/// A message of the conversation, as a skill may look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// Its text.
    pub text: String,
}

/// What a turn is about. A protocol request without a user's words has no text.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct TurnRequest {
    /// The user's words.
    pub text: Option<String>,
    /// The conversation before them, oldest first.
    pub messages: Vec<Message>,
    /// Values the host attaches for skills to read, such as a tenant.
    pub attributes: BTreeMap<String, Value>,
    pub(crate) progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
}

impl TurnRequest {
    /// A turn for what a user said.
    pub fn user(text: impl Into<String>) -> Self {
        Self {
            text: Some(text.into()),
            ..Self::default()
        }
    }

    /// A turn without a user's words.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// Attaches a value for skills to read.
    #[must_use]
    pub fn attribute(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.attributes.insert(name.into(), value.into());
        self
    }

    /// Adds an earlier message of the conversation.
    #[must_use]
    pub fn message(mut self, role: impl Into<String>, text: impl Into<String>) -> Self {
        self.messages.push(Message {
            role: role.into(),
            text: text.into(),
        });
        self
    }

    /// Receives the progress that tools of this turn report. The closure is called from the tools' tasks and must not block.
    #[must_use]
    pub fn on_progress(mut self, receive: impl Fn(Progress) + Send + Sync + 'static) -> Self {
        self.progress = Some(Arc::new(receive));
        self
    }
}

impl From<&str> for TurnRequest {
    fn from(text: &str) -> Self {
        Self::user(text)
    }
}

impl From<String> for TurnRequest {
    fn from(text: String) -> Self {
        Self::user(text)
    }
}

impl fmt::Debug for TurnRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            text,
            messages,
            attributes,
            progress: _,
        } = self;
        formatter
            .debug_struct("TurnRequest")
            .field("text", text)
            .field("messages", messages)
            .field("attributes", attributes)
            .finish_non_exhaustive()
    }
}
