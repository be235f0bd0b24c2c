use std::fmt;
use std::sync::Arc;

use crate::skill::SessionId;

/// Names a session in every store, cache and lock: the principal's id and the session's id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    // Both ids in one allocation. The last slash keeps `ab` + `c` and `a` + `bc` apart: a session's id has none.
    ids: Arc<str>,
}

impl SessionKey {
    /// The key of a principal's session.
    #[must_use]
    pub fn new(principal_id: &str, session_id: &SessionId) -> Self {
        let ids = [principal_id, session_id.as_str()].join("/");
        Self { ids: ids.into() }
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
        &self.ids
    }

    /// The session's id, in the key's own memory.
    pub(crate) fn shared_session_id(&self) -> SessionId {
        SessionId::last_part_of(Arc::clone(&self.ids))
    }

    /// The key that an id shares its memory with.
    pub(crate) fn sharing(id: &SessionId) -> Self {
        Self {
            ids: Arc::clone(id.text()),
        }
    }

    fn parts(&self) -> (&str, &str) {
        self.ids.rsplit_once('/').unwrap_or(("", &self.ids))
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
