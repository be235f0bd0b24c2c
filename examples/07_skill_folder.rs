//! Shows a skill from a folder next to one in Rust: recorded chat replies load both, read a file and call a tool.
//!
//! ```sh
//! cargo run -p examples --example 07_skill_folder
//! ```
//!
//! The `console` takes folders, too: there a person loads them, as the model with `load` or as the user with `/refund`.
//!
//! ```sh
//! cargo run -p examples --example console -- examples/skills
//! ```

use std::error::Error;
use std::path::Path;

use examples::{Message, Reply};
use skills_engine::engine::ToolCall;
use skills_engine::skill::{Actor, TurnRequest};
use skills_engine::source::SkillFolders;
use skills_engine::{Engine, Principal};

skills_engine::link!(helpdesk_skill);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Where the examples lie is another place on every machine.
    let print = |text: &str| println!("{}", text.replace(env!("CARGO_MANIFEST_DIR"), "examples"));

    let engine = Engine::builder()
        .expect_crate("helpdesk-skill")
        .source(
            SkillFolders::new()
                .project(here.join("skills"), here)
                .required(),
        )
        .build()
        .await?;
    for diagnostic in &engine.report().diagnostics {
        print(&diagnostic.to_string());
    }
    let registry = engine.registry();
    for file in registry.resources("refund") {
        print(&format!("refund has {} ({} bytes)", file.path, file.size));
    }

    let session = engine.session(Principal::local(), "ada").await?;
    let request = TurnRequest::user("I paid 20 euros for T-1042 and want them back.");
    let mut turn = session.turn(request).await?;
    let replies: Vec<Reply> =
        serde_json::from_str(include_str!("recordings/07_skill_folder.json"))?;
    for message in replies.into_iter().flat_map(|reply| reply.choices) {
        let view = turn.view().await?;
        let tools = view.tools().map(|tool| tool.name());
        let tools: Vec<_> = tools
            .filter(|name| !name.starts_with("psl-skill"))
            .collect();
        println!("\nThe model sees {tools:?}");
        let Message {
            content,
            tool_calls,
        } = message.message;
        if let Some(text) = content {
            print(&text);
        }
        let calls = tool_calls.into_iter().map(|call| {
            println!("> {} {}", call.function.name, call.function.arguments);
            ToolCall::from(call)
        });
        for result in &turn.calls(calls).await {
            print(&format!("< {}", result.text()));
        }
    }
    turn.finish().await?;

    println!("\nThe user may begin:");
    for skill in session.invocable(Actor::User).await? {
        let hint = skill.argument_hint.unwrap_or_default();
        println!("/{} {hint}: {}", skill.skill, skill.description);
    }
    println!("\nThe audit trail:");
    for line in examples::audit_lines(&engine).await {
        println!("{line}");
    }
    session.end("the recording is over").await?;
    Ok(())
}
