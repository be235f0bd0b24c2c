//! Shows the whole way once: a struct becomes a skill, a model opens it and calls its tool.
//!
//! `cargo run -p examples --example 01_quickstart`

use std::sync::atomic::{AtomicU32, Ordering};

use skills_engine::engine::ToolCall;
use skills_engine::{Engine, Principal, skill, skill_attribute, skill_tool};

/// Answers help-desk questions.
#[skill(tags = ["support"])]
#[derive(Default)]
struct Helpdesk {
    lookups: AtomicU32,
}

#[skill]
impl Helpdesk {
    /// How often the FAQ was asked.
    #[skill_attribute(level = Context)]
    fn lookups(&self) -> u32 {
        self.lookups.load(Ordering::Relaxed)
    }

    /// Looks up the FAQ entry for a ticket.
    #[skill_tool(level = Context, read_only)]
    async fn get_ticket_faq(
        &self,
        /// Ticket number, such as `T-1042`.
        ticket_id: String,
        /// Language of the answer.
        #[param(default = "en")]
        language: String,
    ) -> Result<&'static str, String> {
        self.lookups.fetch_add(1, Ordering::Relaxed);
        match (&*ticket_id, &*language) {
            ("T-1042", "en") => Ok("Restart the router, then wait two minutes."),
            _ => Err(format!("there is no entry for {ticket_id} in `{language}`")),
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Nothing is registered: the engine finds every skill that is linked into the program.
    let engine = Engine::builder().build().await?;
    let session = engine.new_session(Principal::local()).await?;
    let mut turn = session.turn("Why is T-1042 offline?").await?;

    // What a model would answer, one call per reply.
    let open = r#"{"skill_id": "helpdesk", "level": "CONTEXT", "reason": "ticket T-1042"}"#;
    let ask = r#"{"ticket_id": "T-1042"}"#;
    let replies = [
        ToolCall::new("call-1", "helpdesk__get_ticket_faq", ask),
        ToolCall::new("call-2", "psl-skill__set_skill_visibility", open),
        ToolCall::new("call-3", "helpdesk__get_ticket_faq", ask),
    ];
    for call in replies {
        let view = turn.view().await?;
        // A host gives these to its model: `view.system_prompt()` and `view.tools_json(dialect)`.
        println!("The model has {} tools.", view.tools().count());
        print!("{}{}", view.prompt().opened, view.prompt().live);
        println!("> {} {}", call.name, call.arguments);
        for result in &turn.calls([call]).await {
            println!("{}\n", result.text());
        }
    }
    turn.finish().await?;

    // The same instance, from Rust.
    let helpdesk = engine.skill::<Helpdesk>()?;
    let answer = helpdesk.get_ticket_faq("T-7".into(), "en".into());
    println!("{:?}", answer.await);
    engine.shutdown().await?; // writes down what still waits for the audit trail
    Ok(())
}
