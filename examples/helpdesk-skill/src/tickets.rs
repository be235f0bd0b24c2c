use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use schemars::JsonSchema;
use serde::Serialize;

/// A ticket of the help desk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Ticket {
    /// Number.
    pub id: String,
    /// What it is about.
    pub topic: &'static str,
    /// Whether the time to resolve it has passed.
    pub is_overdue: bool,
    /// Whether it is done.
    pub is_resolved: bool,
}

/// Why a ticket was not found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TicketError {
    /// There is none with this number.
    #[error("there is no ticket `{0}`; check the number")]
    Unknown(String),
}

/// All tickets, by number: the state of the skill. Shared by every session.
#[derive(Debug, Default)]
pub struct Tickets {
    by_id: Mutex<BTreeMap<String, Ticket>>,
}

impl Tickets {
    /// Three tickets to try things with.
    #[must_use]
    pub fn sample() -> Self {
        let tickets = Self::default();
        for (id, topic, is_overdue) in [
            ("T-1041", "printer", true),
            ("T-1042", "network", false),
            ("T-1043", "network", true),
        ] {
            tickets.lock().insert(
                id.to_owned(),
                Ticket {
                    id: id.to_owned(),
                    topic,
                    is_overdue,
                    is_resolved: false,
                },
            );
        }
        tickets
    }

    pub(crate) fn get(&self, id: &str) -> Result<Ticket, TicketError> {
        self.lock()
            .get(id)
            .cloned()
            .ok_or_else(|| TicketError::Unknown(id.to_owned()))
    }

    pub(crate) fn resolve(&self, id: &str) -> Result<Ticket, TicketError> {
        let mut tickets = self.lock();
        let ticket = tickets
            .get_mut(id)
            .ok_or_else(|| TicketError::Unknown(id.to_owned()))?;
        ticket.is_resolved = true;
        Ok(ticket.clone())
    }

    pub(crate) fn count_open(&self) -> usize {
        self.lock()
            .values()
            .filter(|ticket| !ticket.is_resolved)
            .count()
    }

    pub(crate) fn overdue(&self) -> Vec<String> {
        self.lock()
            .values()
            .filter(|ticket| ticket.is_overdue && !ticket.is_resolved)
            .map(|ticket| ticket.id.clone())
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Ticket>> {
        self.by_id.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
