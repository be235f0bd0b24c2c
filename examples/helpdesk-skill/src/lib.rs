//! A skill in a crate of its own, with its own state: a help desk and its tickets. A second one is text alone, the folder
//! `skills/escalate`, which is compiled into the crate.
//!
//! A program takes it in with `helpdesk-skill` in its `Cargo.toml` and one line, `skills_engine::link!(helpdesk_skill);`.
//! Nothing registers them: the engine finds them.
#![forbid(unsafe_code)]

mod tickets;

use std::sync::Arc;

use skills_engine::{skill, skill_attribute, skill_tool};

pub use self::tickets::{Ticket, TicketError, Tickets};

skills_engine::embed_skills!("skills");

/// Answers help-desk questions and manages tickets.
#[skill(tags = ["support"])]
#[derive(Debug)]
pub struct Helpdesk {
    /// Time within which a ticket is resolved.
    #[skill_attribute(level = Metadata)]
    default_sla: &'static str,
    tickets: Arc<Tickets>,
}

impl Helpdesk {
    /// A help desk for these tickets.
    #[must_use]
    pub fn new(tickets: Arc<Tickets>) -> Self {
        Self {
            default_sla: "24 hours",
            tickets,
        }
    }
}

/// With a few tickets to try things with. A host that has its own passes `Helpdesk::new(tickets)` to the builder.
impl Default for Helpdesk {
    fn default() -> Self {
        Self::new(Arc::new(Tickets::sample()))
    }
}

#[skill]
impl Helpdesk {
    /// How many tickets wait to be resolved.
    #[skill_attribute]
    fn open_tickets(&self) -> usize {
        self.tickets.count_open()
    }

    /// Numbers of the tickets that were not resolved in time.
    #[skill_attribute(level = Complete, lazy)]
    fn recent_sla_exceptions(&self) -> Vec<String> {
        self.tickets.overdue()
    }

    /// Looks up the FAQ entry for a ticket.
    #[skill_tool(return_direct, read_only)]
    fn get_ticket_faq(
        &self,
        /// Ticket number, such as `T-1042`.
        ticket_id: &str,
        /// Language of the answer, `en` or `de`.
        #[param(default = "en")]
        language: &str,
    ) -> Result<&'static str, TicketError> {
        let ticket = self.tickets.get(ticket_id)?;
        Ok(match (ticket.topic, language) {
            ("network", "de") => "Den Router neu starten, dann zwei Minuten warten.",
            ("network", _) => "Restart the router, then wait two minutes.",
            (_, "de") => "Es gibt noch keinen Eintrag.",
            (_, _) => "There is no entry yet.",
        })
    }

    /// Reads a ticket.
    #[skill_tool(read_only)]
    fn get_ticket(
        &self,
        /// Ticket number, such as `T-1042`.
        ticket_id: &str,
    ) -> Result<Ticket, TicketError> {
        self.tickets.get(ticket_id)
    }

    /// Resolves a ticket. The user is told.
    #[skill_tool(level = Complete, destructive, idempotent)]
    fn resolve_ticket(
        &self,
        /// Ticket number, such as `T-1042`.
        ticket_id: &str,
    ) -> Result<Ticket, TicketError> {
        self.tickets.resolve(ticket_id)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use skills_engine::skill::Code;
    use skills_engine::testing::{Harness, HarnessError, Probe};
    use skills_engine::{Engine, Level};

    use super::*;

    // A skill is an ordinary component: its methods are tested as such.
    #[test]
    fn a_resolved_ticket_is_no_longer_open() {
        let helpdesk = Helpdesk::default();
        let before = helpdesk.open_tickets();
        let ticket = helpdesk.resolve_ticket("T-1042").unwrap();
        assert!(ticket.is_resolved);
        assert_eq!(helpdesk.open_tickets(), before - 1);
    }

    // What a model sees and is answered needs no engine either.
    #[tokio::test]
    async fn levels_show_what_they_should() {
        let probe = Probe::new(Helpdesk::default()).unwrap();
        assert!(probe.tools(Level::Metadata).is_empty());
        let context = ["helpdesk__get_ticket_faq", "helpdesk__get_ticket"];
        assert_eq!(probe.tools(Level::Context), context);
        assert_eq!(probe.tools(Level::Complete).len(), 3);
        let overdue = probe.attribute("recent_sla_exceptions").await;
        assert_eq!(overdue, Ok(json!(["T-1041", "T-1043"])));
    }

    #[tokio::test]
    async fn an_unknown_ticket_is_named() {
        let probe = Probe::new(Helpdesk::default()).unwrap();
        let answer = probe.call("get_ticket_faq", json!({ "ticket_id": "T-0" }));
        let fault = answer.await.unwrap_err();
        assert_eq!(fault.message, "there is no ticket `T-0`; check the number");
    }

    // A folder is tested as a program finds it.
    #[tokio::test]
    async fn the_folder_is_embedded_without_a_fault() {
        let engine = Engine::builder().build().await.unwrap();
        assert_eq!(engine.report().diagnostics, []);
        let registry = engine.registry();
        let part = registry.read_resource("escalate", "references/teams.md", 0, 1 << 10);
        let teams = String::from_utf8(part.await.unwrap().bytes).unwrap();
        assert!(teams.contains("| printer | facilities |"), "{teams}");
    }

    // An engine, a session and a turn: what a model really gets.
    #[tokio::test]
    async fn the_answer_is_english_unless_asked_otherwise() -> Result<(), HarnessError> {
        let helpdesk = Harness::with(Helpdesk::default()).open(Level::Context);
        let arguments = json!({ "ticket_id": "T-1042" });
        let faq = helpdesk.call("get_ticket_faq", arguments).await?;
        assert_eq!(faq.text(), "Restart the router, then wait two minutes.");
        Ok(())
    }

    #[tokio::test]
    async fn resolving_needs_all_of_the_skill() -> Result<(), HarnessError> {
        let helpdesk = Harness::with(Helpdesk::default()).open(Level::Context);
        let mut session = helpdesk.start().await?;
        let arguments = json!({ "ticket_id": "T-1042" });
        let refused = session.call("resolve_ticket", arguments.clone()).await;
        assert_eq!(refused.unwrap_err().code(), Some(Code::Hidden));
        session.open(Level::Complete).await?;
        let ticket = session.call("resolve_ticket", arguments).await?;
        assert_eq!(ticket.json()["is_resolved"], true);
        Ok(())
    }
}
