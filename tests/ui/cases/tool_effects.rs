use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Contradicts itself.
    #[skill_tool(read_only, destructive)]
    fn act(&self) {}
}

fn main() {}
