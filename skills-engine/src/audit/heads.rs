use std::collections::HashMap;
use std::sync::{Arc, Weak};

use crate::skill::{LastRecord, SessionScope};

/// The last record of every chain of one sink.
pub(super) struct Heads {
    engine: Option<LastRecord>,
    sessions: Sessions,
}

/// Where those of sessions are remembered.
enum Sessions {
    /// In the sessions themselves, which have room for one sink's.
    Within,
    /// Beside them, by incarnation.
    Beside(HashMap<u64, LastRecord>),
}

/// A session whose end could not be recorded.
pub(super) enum LostEnd {
    Within(Weak<SessionScope>),
    Beside(u64),
}

impl LostEnd {
    /// For the sink with an index.
    pub(super) fn new(sink: usize, scope: &Arc<SessionScope>) -> Self {
        if sink == 0 {
            // Not held: what the session carries must not wait for a sink.
            Self::Within(Arc::downgrade(scope))
        } else {
            Self::Beside(scope.incarnation)
        }
    }
}

impl Heads {
    /// For the sink with an index.
    pub(super) fn new(sink: usize) -> Self {
        Self {
            engine: None,
            sessions: if sink == 0 {
                Sessions::Within
            } else {
                Sessions::Beside(HashMap::new())
            },
        }
    }

    /// The last record of a session's chain; without a session, of the engine's.
    pub(super) fn get(&self, scope: Option<&SessionScope>) -> Option<LastRecord> {
        match (scope, &self.sessions) {
            (None, _) => self.engine,
            (Some(scope), Sessions::Within) => scope.audit_chain.last(),
            (Some(scope), Sessions::Beside(last)) => last.get(&scope.incarnation).copied(),
        }
    }

    pub(super) fn set(&mut self, scope: Option<&SessionScope>, record: Option<LastRecord>) {
        match (scope, &mut self.sessions) {
            (None, _) => self.engine = record,
            (Some(scope), Sessions::Within) => scope.audit_chain.set_last(record),
            (Some(scope), Sessions::Beside(last)) => {
                match record {
                    Some(record) => last.insert(scope.incarnation, record),
                    None => last.remove(&scope.incarnation),
                };
            }
        }
    }

    /// Lets go of a session whose end is stored.
    pub(super) fn ended(&mut self, scope: &SessionScope) {
        if let Sessions::Beside(last) = &mut self.sessions {
            last.remove(&scope.incarnation);
        }
    }

    /// Lets go of a session whose end was lost: its chain ends with the last record there is.
    pub(super) fn lost(&mut self, end: &LostEnd) {
        match (end, &mut self.sessions) {
            (LostEnd::Within(scope), _) => {
                if let Some(scope) = scope.upgrade()
                    && let Some(last) = scope.audit_chain.last()
                {
                    let is_end = true;
                    scope
                        .audit_chain
                        .set_last(Some(LastRecord { is_end, ..last }));
                }
            }
            (LostEnd::Beside(incarnation), Sessions::Beside(last)) => {
                last.remove(incarnation);
            }
            (LostEnd::Beside(_), Sessions::Within) => {}
        }
        self.shrink();
    }

    pub(super) fn shrink(&mut self) {
        if let Sessions::Beside(last) = &mut self.sessions
            && last.capacity() > 256
            && last.len() < last.capacity() / 8
        {
            last.shrink_to(last.len() * 2);
        }
    }

    /// How many it remembers beside the sessions, and for how many it has room.
    #[cfg(test)]
    pub(super) fn beside(&self) -> (usize, usize) {
        match &self.sessions {
            Sessions::Within => (0, 0),
            Sessions::Beside(last) => (last.len(), last.capacity()),
        }
    }
}
