//! A program whose attribute and tool hang for ever, each on a thread of the engine; it must exit all the same.
#![allow(
    clippy::unused_self,
    reason = "a skill's members are methods, however little they do"
)]

use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

use skills_engine::engine::ToolCall;
use skills_engine::skill::{Level, TurnRequest};
use skills_engine::{Engine, Principal, skill, skill_attribute, skill_tool};

/// Looks at something that never answers.
#[skill(id = "silent")]
#[derive(Default)]
struct Silent;

#[skill]
impl Silent {
    /// Never known.
    #[skill_attribute(level = Metadata, lazy, timeout = "1ms")]
    fn reading(&self) -> u32 {
        wait_for_ever()
    }

    /// Never done.
    #[skill_tool(level = Metadata, blocking, timeout = "1ms")]
    fn act(&self) -> u32 {
        wait_for_ever()
    }
}

fn wait_for_ever() -> u32 {
    let (_keep, never) = mpsc::channel::<u32>();
    never.recv_timeout(Duration::MAX).unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let engine = Engine::builder().build().await?;
    let session = engine.new_session(Principal::local()).await?;
    let mut turn = session.turn(TurnRequest::empty()).await?;
    let view = turn.view().await?;
    assert_eq!(view.level("silent"), Some(Level::Metadata));
    let snapshot = view.snapshot("silent").unwrap_or_default();
    assert!(snapshot.contains(r#""status":"timeout""#), "{snapshot}");
    let results = turn.calls([ToolCall::new("1", "silent__act", "")]).await;
    assert!(results.iter().all(|result| result.outcome.is_err()));
    turn.finish().await?;
    Ok(())
}
