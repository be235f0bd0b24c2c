//! The skill that most tests open and close.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use skills_engine::engine::EngineBuilder;
use skills_engine::{Engine, skill, skill_attribute, skill_tool};
use tests::bare;

/// Answers help-desk questions and manages tickets.
#[skill(id = "helpdesk", name = "Helpdesk", version = "1.2.3", tags = ["support"], manual)]
pub(crate) struct Helpdesk {
    /// Default time to resolve a ticket.
    #[skill_attribute(level = Metadata)]
    default_sla: &'static str,
    /// Whoever is on duty.
    #[skill_attribute]
    on_duty: Option<String>,
    pub(crate) closed: AtomicU32,
}

#[skill]
impl Helpdesk {
    /// Tickets that wait for an answer.
    #[skill_attribute(level = Metadata)]
    fn open_tickets(&self) -> u32 {
        3_u32.saturating_sub(self.closed.load(Ordering::Relaxed))
    }

    /// Tickets that missed their SLA in the last day.
    #[skill_attribute(level = Complete, lazy)]
    async fn recent_sla_exceptions(&self) -> Vec<String> {
        vec!["T-7".to_owned()]
    }

    /// Kept from every model.
    #[skill_attribute(level = Metadata, expose = Disabled)]
    fn internal_note(&self) -> &'static str {
        "the boss is away"
    }

    /// Looks up the FAQ entry for a ticket.
    #[skill_tool(return_direct, read_only)]
    async fn get_ticket_faq(
        &self,
        /// Ticket number, such as `T-1042`.
        ticket_id: String,
    ) -> Result<String, String> {
        match ticket_id.as_str() {
            "T-1042" => Ok("Restart the router.".to_owned()),
            _ => Err(format!("there is no ticket {ticket_id}")),
        }
    }

    /// Closes a ticket.
    #[skill_tool(level = Complete, destructive)]
    pub(crate) async fn close_ticket(&self) -> u32 {
        self.closed.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Tells whether the help desk is reachable.
    #[skill_tool(level = Complete, expose = Always, read_only)]
    fn ping(&self) -> &'static str {
        "pong"
    }

    /// Deletes everything.
    #[skill_tool(level = Metadata, expose = Disabled)]
    pub(crate) fn wipe(&self) -> &'static str {
        self.closed.store(u32::MAX, Ordering::Relaxed);
        "wiped"
    }
}

pub(crate) fn helpdesk() -> Helpdesk {
    Helpdesk {
        default_sla: "24h",
        on_duty: None,
        closed: AtomicU32::new(0),
    }
}

/// Begins an engine with the help desk.
pub(crate) fn builder() -> EngineBuilder {
    bare().skill(helpdesk())
}

/// An engine with the help desk alone.
pub(crate) async fn engine() -> Engine {
    builder().build().await.expect("the engine is built")
}

/// How many tickets were closed.
pub(crate) fn closed(engine: &Engine) -> u32 {
    let helpdesk: Arc<Helpdesk> = engine.skill().expect("the engine has a help desk");
    helpdesk.closed.load(Ordering::Relaxed)
}
