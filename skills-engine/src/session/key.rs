use std::fmt;
use std::sync::Arc;

use crate::skill::SessionId;

/// Names a session in every store, cache and lock: the principal's id and the session's id.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    // Both ids in one allocation. The length keeps `ab` + `c` and `a` + `bc` apart.
    ids: Arc<str>,
    principal_length: usize,
}

impl SessionKey {
    /// The key of a principal's session.
    #[must_use]
    pub fn new(principal_id: &str, session_id: &SessionId) -> Self {
        let mut ids = String::with_capacity(principal_id.len() + session_id.as_str().len());
        ids.push_str(principal_id);
        ids.push_str(session_id.as_str());
        Self {
            ids: ids.into(),
            principal_length: principal_id.len(),
        }
    }

    /// The id of the principal that owns the session.
    #[must_use]
    pub fn principal_id(&self) -> &str {
        &self.ids[..self.principal_length]
    }

    /// The session's id, unique among those of its principal.
    #[must_use]
    pub fn session_id(&self) -> &str {
        &self.ids[self.principal_length..]
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
    }
}
