//! Says which skills arrived in it: one of its two skill crates is linked, the other one is only listed.

skills_engine::link!(helpdesk_skill);

use std::error::Error;

use skills_engine::source::Linked;
use skills_engine::{Engine, engine::EngineBuilder};

#[expect(
    clippy::print_stdout,
    reason = "what it prints is what the test compares"
)]
fn main() -> Result<(), Box<dyn Error>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(async {
        let engine = Engine::builder()
            .expect_crate("helpdesk-skill")
            .build()
            .await?;
        for skill in engine.skills() {
            println!("{}: {} tools", skill.definition().id, skill.tools().len());
        }
        for linked in &engine.report().crates {
            println!("{}: {}", linked.name, linked.skills.join(", "));
        }
        let report = engine.refresh().await?;
        println!(
            "changed: {}",
            report.changed.len() + report.added.len() + report.removed.len()
        );
        show(
            "only it",
            Engine::builder().linked(Linked::Only(&["helpdesk-skill"])),
        )
        .await?;
        show(
            "only another",
            Engine::builder().linked(Linked::Only(&["renamed"])),
        )
        .await?;
        show("without", Engine::builder().without("escalate")).await?;
        match Engine::builder().without("escalates").build().await {
            Ok(_) => println!("`escalates` is there"),
            Err(err) => println!("{err}"),
        }
        match Engine::builder().expect_crate("renamed").build().await {
            Ok(_) => println!("`renamed` arrived"),
            Err(err) => println!("{err}"),
        }
        Ok(())
    })
}

#[expect(
    clippy::print_stdout,
    reason = "what it prints is what the test compares"
)]
async fn show(what: &str, builder: EngineBuilder) -> Result<(), Box<dyn Error>> {
    let engine = builder.build().await?;
    let skills = engine.skills();
    let ids = skills.iter().map(|skill| skill.definition().id.to_string());
    println!("{what}: {}", ids.collect::<Vec<_>>().join(", "));
    Ok(())
}
