use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use crate::skill::SessionId;

/// Names a session in every store, cache and lock: the principal's id and the session's id.
#[derive(Clone)]
pub struct SessionKey {
    // Both ids in one memory. The last slash keeps `ab` + `c` and `a` + `bc` apart: a session's id has none.
    id: SessionId,
}

impl SessionKey {
    /// The key of a principal's session.
    #[must_use]
    pub fn new(principal_id: &str, session_id: &SessionId) -> Self {
        let ids = [principal_id, session_id.as_str()].join("/");
        Self {
            id: SessionId::in_name(ids.into()),
        }
    }

    /// The id of the principal that owns the session.
    #[must_use]
    pub fn principal_id(&self) -> &str {
        self.parts().0
    }

    /// The session's id, unique among those of its principal.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.parts().1
    }

    /// Both ids as one text, another one for every key.
    pub(crate) fn as_str(&self) -> &str {
        self.id.key()
    }

    /// The session's id, in the key's own memory.
    pub(crate) fn shared_session_id(&self) -> SessionId {
        self.id.clone()
    }

    /// The key that an id shares its memory with.
    pub(crate) fn sharing(id: &SessionId) -> Self {
        Self { id: id.clone() }
    }

    fn parts(&self) -> (&str, &str) {
        let ids = self.as_str();
        ids.rsplit_once('/').unwrap_or(("", ids))
    }
}

impl PartialEq for SessionKey {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for SessionKey {}

impl PartialOrd for SessionKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SessionKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for SessionKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SessionKey")
            .field("principal_id", &self.principal_id())
            .field("session_id", &self.session_id())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_when_either_id_differs() {
        let key =
            |principal, session| SessionKey::new(principal, &SessionId::new(session).unwrap());
        let (left, right) = (key("ab", "c"), key("a", "bc"));
        assert_ne!(left, right);
        assert_eq!((left.principal_id(), left.session_id()), ("ab", "c"));
        assert_eq!((right.principal_id(), right.session_id()), ("a", "bc"));
        assert_eq!(left, key("ab", "c"));
        let slashes = key("a/b/", "c");
        assert_eq!(
            (slashes.principal_id(), slashes.session_id()),
            ("a/b/", "c")
        );
        assert_eq!(SessionKey::sharing(&left.shared_session_id()), left);
    }
}
