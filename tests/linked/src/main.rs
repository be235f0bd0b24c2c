//! Says which skills arrived in it: one of its two skill crates is linked, the other one is only listed.

skills_engine::link!(helpdesk_skill);

use std::error::Error;

use skills_engine::Engine;

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
        match Engine::builder().expect_crate("renamed").build().await {
            Ok(_) => println!("`renamed` arrived"),
            Err(err) => println!("{err}"),
        }
        Ok(())
    })
}
