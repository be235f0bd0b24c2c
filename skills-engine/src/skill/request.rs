use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{Principal, Progress, SessionId};

/// A message of the conversation, as a skill may look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Message {
    /// `user`, `assistant` or `tool`.
    pub role: String,
    /// Its text.
    pub text: String,
}

/// Whose request it is.
#[derive(Clone, Debug)]
pub(crate) struct Asker {
    /// The session's owner, with the roles it has now.
    pub(crate) principal: Principal,
    pub(crate) session: SessionId,
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
    /// Lists of patterns that the turn sees at most, in all of which a member must be.
    pub(crate) lists: Vec<Vec<String>>,
    /// The roles that the session's principal has from this turn on.
    pub(crate) roles: Option<Vec<String>>,
    pub(crate) progress: Option<Arc<dyn Fn(Progress) + Send + Sync>>,
    /// Set once a turn begins.
    pub(crate) asker: Option<Asker>,
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

    /// Who asks, with the roles that count when the turn begins; `None` before.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.asker.as_ref().map(|asker| &asker.principal)
    }

    /// The session that asks, once a turn of it begins; `None` before.
    #[must_use]
    pub fn session_id(&self) -> Option<&SessionId> {
        self.asker.as_ref().map(|asker| &asker.session)
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

    /// Lets the turn see no more than a list of patterns names: `skill` or `skill/*`, `skill/member`, or `*`. An empty
    /// list allows nothing. Lists are read before hooks run: one that a hook adds has no effect.
    ///
    /// Lists add up to less: what is to be seen must be in each of them, and in those of the session. An agent adds
    /// its own to what a request brings. What is no pattern is an error when the turn begins.
    #[must_use]
    pub fn allow<P: Into<String>>(mut self, patterns: impl IntoIterator<Item = P>) -> Self {
        self.lists
            .push(patterns.into_iter().map(Into::into).collect());
        self
    }

    /// Gives the session's principal the roles that whoever asks has now. They count from this turn on.
    #[must_use]
    pub fn roles<R: Into<String>>(mut self, roles: impl IntoIterator<Item = R>) -> Self {
        self.roles = Some(roles.into_iter().map(Into::into).collect());
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
            lists,
            roles,
            progress: _,
            asker: _,
        } = self;
        formatter
            .debug_struct("TurnRequest")
            .field("text", text)
            .field("messages", messages)
            .field("attributes", attributes)
            .field("lists", lists)
            .field("roles", roles)
            .finish_non_exhaustive()
    }
}
