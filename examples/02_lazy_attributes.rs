//! Shows attributes that are read when they are seen: a traffic light that tells more at each level.
//!
//! METADATA says which intersection it is, CONTEXT adds the lamp that is lit, COMPLETE adds the switch. One attribute
//! is too slow, which costs its own timeout and nothing else.
//!
//! `cargo run -p examples --example 02_lazy_attributes`

use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use skills_engine::engine::{ToolCall, View};
use skills_engine::skill::TurnRequest;
use skills_engine::{Engine, Level, Principal, Span, skill, skill_attribute, skill_tool};

const LAMPS: [&str; 3] = ["red", "green", "yellow"];

/// A traffic light.
#[skill(manual)]
struct TrafficLight {
    /// Where it stands.
    #[skill_attribute(level = Metadata)]
    intersection: &'static str,
    /// Its state: an ordinary field, which no model sees.
    lit: AtomicUsize,
}

#[skill]
impl TrafficLight {
    /// The lamp that is lit.
    #[skill_attribute(level = Context, lazy)]
    async fn lamp(&self) -> &'static str {
        LAMPS[self.lit.load(Ordering::Relaxed) % LAMPS.len()]
    }

    /// Cars that wait, counted by a camera that does not answer.
    #[skill_attribute(level = Context, lazy, timeout = "20ms")]
    async fn waiting_cars(&self) -> u32 {
        std::future::pending().await
    }

    /// Switches to the next lamp.
    #[skill_tool(level = Complete)]
    async fn change_switch(&self) -> String {
        let before = self.lit.fetch_add(1, Ordering::Relaxed);
        format!("switched to {}", LAMPS[(before + 1) % LAMPS.len()])
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let light = TrafficLight {
        intersection: "A-123",
        lit: AtomicUsize::new(0),
    };
    let engine = Engine::builder().skill(light).build().await?;
    let session = engine.new_session(Principal::local()).await?;

    let mut turn = session.turn(TurnRequest::empty()).await?;
    for level in Level::ALL {
        session
            .open("traffic-light", level, Span::UntilCleared, "a tour")
            .await?;
        let view = turn.view().await?;
        show(&view)?;
    }

    let call = ToolCall::new("call-1", "traffic-light__change_switch", "");
    for result in &turn.calls([call]).await {
        println!("{}", result.text());
    }
    let view = turn.view().await?;
    show(&view)?;
    turn.finish().await?;
    Ok(())
}

/// Prints what the snapshot of the traffic light holds.
fn show(view: &View) -> Result<(), Box<dyn Error>> {
    let snapshot = view.snapshot("traffic-light").ok_or("no traffic light")?;
    let snapshot: Value = serde_json::from_str(&snapshot)?;
    println!("at {}", snapshot["level"]);
    for (name, attribute) in snapshot["attributes"].as_object().into_iter().flatten() {
        print!("  {name} = {}", attribute["value"]);
        match attribute.get("status") {
            Some(status) => println!(" ({status})"),
            None => println!(),
        }
    }
    for tool in snapshot["tools"].as_array().into_iter().flatten() {
        println!("  tool {}", tool["name"]);
    }
    Ok(())
}
