use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// The first.
    #[skill_tool(levle = Context)]
    fn first(&self) {}

    /// The second.
    #[skill_tool]
    fn second(&mut self) {}

    #[skill_tool]
    fn third(&self) {}
}

fn main() {}
