use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// One.
    #[skill_tool(read_only = true, blocking = "yes", title = Title, description = 5)]
    fn one(&self) {}

    /// Two.
    #[skill_tool = "two"]
    fn two(&self) {}
}

fn main() {}
