use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill(id = "helpdesk", tags = ["support"])]
impl Helpdesk {
    /// Does it.
    #[skill_tool]
    fn act(&self) {}
}

fn main() {}
