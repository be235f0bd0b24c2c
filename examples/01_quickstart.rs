//! Shows the whole way once: a struct becomes a skill, a session opens it, the model calls its tool.
//!
//! `cargo run -p examples --example 01_quickstart`

use skills_engine::engine::ToolCall;
use skills_engine::skill::TurnRequest;
use skills_engine::{Engine, Level, Principal, Span, skill, skill_attribute, skill_tool};

/// Answers help-desk questions and manages tickets.
#[skill(id = "helpdesk", tags = ["support"])]
#[derive(Default)]
struct Helpdesk {
    /// Hours within which a ticket is answered.
    #[skill_attribute(level = Metadata)]
    default_sla_hours: u32,
}

#[skill]
impl Helpdesk {
    /// Tickets that wait for an answer.
    #[skill_attribute]
    fn open_tickets(&self) -> u32 {
        3
    }

    /// Looks up the FAQ entry for a ticket.
    #[skill_tool(read_only)]
    async fn get_ticket_faq(
        &self,
        /// Ticket number, such as `T-1042`.
        ticket_id: String,
        /// Language of the answer.
        #[param(default = "en")]
        language: String,
    ) -> Result<String, String> {
        match (&*ticket_id, &*language) {
            ("T-1042", "en") => Ok("Restart the router, then wait two minutes.".to_owned()),
            _ => Err(format!("there is no entry for {ticket_id} in `{language}`")),
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let engine = Engine::builder()
        .skill(Helpdesk {
            default_sla_hours: 24,
        })
        .build()
        .await?;
    let session = engine
        .session(Principal::new("ada", ["support"]), "s1")
        .await?;

    let mut turn = session
        .turn(TurnRequest::user("Why is T-1042 offline?"))
        .await?;
    let names = |view: &skills_engine::engine::TurnView| -> Vec<String> {
        view.tools().map(|tool| tool.name().to_owned()).collect()
    };
    println!("at first:  {:?}", names(&turn.view().await?));

    session
        .open(
            "helpdesk",
            Level::Context,
            Span::UntilCleared,
            "ticket T-1042",
        )
        .await?;
    let view = turn.view().await?;
    println!("opened:    {:?}", names(&view));
    println!("{}", view.system_prompt());
    println!("{}", view.snapshot("helpdesk").unwrap());

    let call = ToolCall::new(
        "call-1",
        "helpdesk__get_ticket_faq",
        r#"{"ticket_id": "T-1042"}"#,
    );
    for result in turn.calls([call]).await.iter() {
        println!("result:    {}", result.text());
    }
    let call = ToolCall::new(
        "call-2",
        "psl-skill__set_skill_visibility",
        r#"{"skill_id": "helpdesk", "level":"COMPLETE", "ephemeral": true}"#,
    );
    for result in turn.calls([call]).await.iter() {
        println!("result:    {}", result.text());
    }
    println!(
        "{}",
        turn.view()
            .await?
            .tools_json(skills_engine::tools::Dialect::Anthropic)
    );
    turn.finish().await?;
    Ok(())
}
