use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Code, Fault};

/// Who changes what is visible. Ordered: nobody changes what a higher actor set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(
    clippy::exhaustive_enums,
    reason = "the ranking is part of the rule, and every match must see a new rank"
)]
pub enum Actor {
    /// The model, through the control tools.
    Model,
    /// The person the session belongs to.
    User,
    /// The program that embeds the engine.
    Host,
    /// The engine itself.
    System,
}

impl Actor {
    /// All actors, lowest first.
    pub const ALL: [Self; 4] = [Self::Model, Self::User, Self::Host, Self::System];

    /// The name on the wire, in lower case.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::User => "user",
            Self::Host => "host",
            Self::System => "system",
        }
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Who owns a session: an id and the roles the host vouches for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    inner: Arc<PrincipalInner>,
}

#[derive(Debug, PartialEq, Eq)]
struct PrincipalInner {
    id: Box<str>,
    roles: Box<[Box<str>]>,
}

impl Principal {
    /// Makes a principal. Its id is checked where a session is asked for: 1 to 256 bytes, no control characters.
    #[must_use]
    pub fn new<R>(id: impl Into<String>, roles: impl IntoIterator<Item = R>) -> Self
    where
        R: Into<String>,
    {
        let roles = roles
            .into_iter()
            .map(|role| role.into().into_boxed_str())
            .collect();
        Self {
            inner: Arc::new(PrincipalInner {
                id: id.into().into_boxed_str(),
                roles,
            }),
        }
    }

    /// A principal without roles, for programs that have one user.
    #[must_use]
    pub fn local() -> Self {
        Self::new("local", [] as [&str; 0])
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// The roles, in the order given.
    pub fn roles(&self) -> impl ExactSizeIterator<Item = &str> {
        self.inner.roles.iter().map(AsRef::as_ref)
    }

    pub(crate) fn check(&self) -> Result<(), Fault> {
        let id = self.id();
        if id.is_empty() || id.len() > 256 || id.chars().any(char::is_control) {
            return Err(Fault::new(
                Code::InvalidArguments,
                "a principal's id has 1 to 256 bytes and no control characters; give another one",
            ));
        }
        Ok(())
    }
}

/// Names a session among those of its principal: `[A-Za-z0-9._-]{1,128}`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// Checks and takes an id given by the host.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when the id is empty, longer than 128 characters or holds another character than
    /// ASCII letters, digits, `.`, `_` and `-`.
    pub fn new(id: impl AsRef<str>) -> Result<Self, Fault> {
        let id = id.as_ref();
        let is_legal =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if id.is_empty() || id.len() > 128 || !id.bytes().all(is_legal) {
            return Err(Fault::new(
                Code::InvalidArguments,
                "a session id has 1 to 128 characters out of A-Z a-z 0-9 . _ -; give another one",
            ));
        }
        Ok(Self(id.into()))
    }

    /// Mints an id of 128 random bits, in lower-case hex.
    ///
    /// # Errors
    ///
    /// `store_unavailable` when the operating system gives no randomness.
    pub fn random() -> Result<Self, Fault> {
        Ok(Self(random_hex()?.into()))
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for SessionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Names a turn within its session: a count from 1.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct TurnId(pub u64);

impl fmt::Display for TurnId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

fn random_hex() -> Result<String, Fault> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|_| {
        Fault::new(
            Code::StoreUnavailable,
            "the operating system gives no randomness",
        )
    })?;
    let mut hex = String::with_capacity(32);
    for byte in bytes {
        // Writing to a string does not fail.
        let _ = write!(hex, "{byte:02x}");
    }
    Ok(hex)
}
