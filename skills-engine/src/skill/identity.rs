use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Code, Fault, naming};

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
///
/// What a role lets its principals see is set with `builder.role(..)`. Two roles are built in: `observer` may look
/// into sessions of other principals, and `operator` may also change what is open there.
#[derive(Clone)]
pub struct Principal {
    // May be the name of a session of it, or of another of its sessions: see `naming`.
    name: Arc<str>,
}

impl Principal {
    /// Makes a principal. Its id is checked where a session is asked for: 1 to 256 bytes, no control characters.
    #[must_use]
    pub fn new<R>(id: impl Into<String>, roles: impl IntoIterator<Item = R>) -> Self
    where
        R: Into<String>,
    {
        let mut all = String::new();
        for role in roles {
            naming::add_role(&mut all, &role.into());
        }
        Self {
            name: naming::name(&id.into(), "", &all),
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
        let key = naming::key(&self.name);
        key.rsplit_once('/').map_or(key, |(id, _)| id)
    }

    /// The roles, in the order given.
    pub fn roles(&self) -> impl Iterator<Item = &str> {
        let mut rest = naming::roles(&self.name);
        std::iter::from_fn(move || {
            let (role, others) = naming::next_role(rest)?;
            rest = others;
            Some(role)
        })
    }

    /// The same principal and a session of it, in one memory.
    pub(crate) fn with_session(&self, id: &SessionId) -> (Self, SessionId) {
        let roles = naming::roles(&self.name);
        let name = naming::name(self.id(), id.as_str(), roles);
        let id = SessionId::in_name(Arc::clone(&name));
        (Self { name }, id)
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

impl fmt::Debug for Principal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Principal")
            .field("id", &self.id())
            .field("roles", &self.roles().collect::<Vec<_>>())
            .finish()
    }
}

impl PartialEq for Principal {
    fn eq(&self, other: &Self) -> bool {
        self.id() == other.id() && naming::roles(&self.name) == naming::roles(&other.name)
    }
}

impl Eq for Principal {}

/// Names a session among those of its principal: `[A-Za-z0-9._-]{1,128}`.
#[derive(Clone)]
pub struct SessionId {
    // The id alone, or a whole name that it is part of: see `naming`.
    name: Arc<str>,
}

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
        Ok(Self { name: id.into() })
    }

    /// Mints an id of 128 random bits, in lower-case hex.
    ///
    /// # Errors
    ///
    /// `store_unavailable` when the operating system gives no randomness.
    pub fn random() -> Result<Self, Fault> {
        Ok(Self {
            name: random_hex()?.into(),
        })
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        let key = self.key();
        key.rsplit_once('/').map_or(key, |(_, id)| id)
    }

    /// The id of the session that a name is of: shares it.
    pub(crate) fn in_name(name: Arc<str>) -> Self {
        Self { name }
    }

    /// What tells the session from all others, where the id is part of a name.
    pub(crate) fn key(&self) -> &str {
        naming::key(&self.name)
    }
}

impl PartialEq for SessionId {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for SessionId {}

impl PartialOrd for SessionId {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SessionId {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for SessionId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Serialize for SessionId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("SessionId")
            .field(&self.as_str())
            .finish()
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

/// 128 random bits, in lower-case hex.
pub(crate) fn random_hex() -> Result<String, Fault> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_principal_keeps_its_parts_apart() {
        let rows: [(&str, &[&str]); 5] = [
            ("ada", &[]),
            ("ada", &["support", "ops"]),
            ("3:ada", &["", "7:support", "1:"]),
            ("", &["größe/量", "\0"]),
            ("a:b/c", &[":", "/"]),
        ];
        for (id, roles) in rows {
            let principal = Principal::new(id, roles.iter().copied());
            assert_eq!(principal.id(), id);
            assert_eq!(principal.roles().collect::<Vec<_>>(), roles);
        }
        assert_ne!(Principal::new("a", ["b", "c"]), Principal::new("a", ["bc"]));
        let shown = format!("{:?}", Principal::new("ada", ["ops"]));
        assert_eq!(shown, "Principal { id: \"ada\", roles: [\"ops\"] }");
    }

    #[test]
    fn an_id_is_the_same_whatever_stands_before_it() {
        let alone = SessionId::new("s1").unwrap();
        let part = SessionId::in_name("a/da/s1".into());
        assert_eq!(alone, part);
        let ada = Principal::new("a/da", ["ops/x"]);
        let (same, part) = ada.with_session(&part);
        assert_eq!(same, ada);
        assert_eq!((same.id(), part.key()), ("a/da", "a/da/s1"));
        assert!(Arc::ptr_eq(&same.name, &part.name));
        assert_eq!(alone, part);
        assert_eq!(part.to_string(), "s1");
        assert_eq!(format!("{part:?}"), format!("{alone:?}"));
        assert!(part < SessionId::new("s2").unwrap());
    }
}
