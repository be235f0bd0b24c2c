use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Blocks and waits.
    #[skill_tool(blocking)]
    async fn both(&self) {}
}

fn main() {}
