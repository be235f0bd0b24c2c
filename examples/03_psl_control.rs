//! Shows how a model opens, uses and closes skills: recorded chat replies drive two sessions, each with its own view.
//!
//! The recording is JSON: a list of `{"session", "user"}`, which begins a turn, and `{"session", "reply"}`, a reply in
//! the shape of `OpenAI`'s chat completions. It is read from a file, or from standard input:
//!
//! ```sh
//! cargo run -p examples --example 03_psl_control
//! cargo run -p examples --example 03_psl_control -- examples/recordings/03_psl_control.json
//! cargo run -p examples --example 03_psl_control -- - < examples/recordings/03_psl_control.json
//! ```

use std::collections::BTreeMap;
use std::error::Error;

use examples::{Message, Reply};
use serde::Deserialize;
use skills_engine::audit::{Coverage, verify};
use skills_engine::engine::{ToolCall, View};
use skills_engine::skill::TurnRequest;
use skills_engine::{Engine, Principal, Session, Turn};

skills_engine::link!(helpdesk_skill);

/// One line of the recording.
#[derive(Deserialize)]
struct Step {
    session: String,
    user: Option<String>,
    reply: Option<Reply>,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let steps: Vec<Step> = serde_json::from_str(&recording()?)?;
    let engine = Engine::builder()
        .expect_crate("helpdesk-skill")
        .build()
        .await?;

    let mut sessions: BTreeMap<String, Session> = BTreeMap::new();
    let mut turns: BTreeMap<String, Turn> = BTreeMap::new();
    for Step {
        session: id,
        user,
        reply,
    } in steps
    {
        if let Some(text) = user {
            println!("\n{id} asks: {text}");
            let session = engine
                .session(Principal::new(&*id, ["support"]), &id)
                .await?;
            let turn = session.turn(TurnRequest::user(text)).await?;
            if let Some(before) = turns.insert(id.clone(), turn) {
                before.finish().await?;
            }
            sessions.insert(id.clone(), session);
        }
        let turn = turns.get_mut(&id).ok_or("the session has no turn yet")?;
        for choice in reply.into_iter().flat_map(|reply| reply.choices) {
            answer(turn, &id, choice.message).await?;
        }
    }
    for turn in turns.into_values() {
        turn.finish().await?;
    }
    for session in sessions.into_values() {
        session.end("the recording is over").await?;
    }

    println!("\nThe audit trail:");
    for line in examples::audit_lines(&engine).await {
        println!("{line}");
    }
    let records = engine.audit_ring().map(|ring| ring.records());
    verify(&records.unwrap_or_default(), None, &[], Coverage::Complete)?;
    println!("No record was edited, dropped or moved.");
    Ok(())
}

/// Shows what the model of a session saw, and carries out what it replied.
async fn answer(turn: &mut Turn, session: &str, message: Message) -> Result<(), Box<dyn Error>> {
    let view = turn.view().await?;
    println!("{session} sees helpdesk at {}", seen(&view));
    if let Some(text) = message.content {
        println!("{session} is told: {text}");
    }
    let calls = message.tool_calls.into_iter().map(|call| {
        println!(
            "{session} > {} {}",
            call.function.name, call.function.arguments
        );
        ToolCall::from(call)
    });
    let results = turn.calls(calls).await;
    for result in &results {
        println!("{session} < {}", result.text());
    }
    if results.return_direct() {
        println!("{session} is told this as it is");
    }
    Ok(())
}

fn seen(view: &View) -> String {
    let level = view
        .level("helpdesk")
        .map_or("no level", |level| level.as_str());
    let tools: Vec<_> = view
        .tools()
        .filter(|tool| tool.skill() == "helpdesk")
        .map(|tool| tool.name())
        .collect();
    format!("{level}, tools {tools:?}")
}

/// The text of the file that is named, of standard input for `-`, or of the recording beside this program.
fn recording() -> Result<String, std::io::Error> {
    match std::env::args().nth(1).as_deref() {
        None => Ok(include_str!("recordings/03_psl_control.json").to_owned()),
        Some("-") => std::io::read_to_string(std::io::stdin()),
        Some(path) => std::fs::read_to_string(path),
    }
}
