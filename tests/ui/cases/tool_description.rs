use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_tool]
    fn silent(&self) {}

    ///
    #[skill_tool]
    fn blank(&self) {}

    #[skill_tool(description = " ")]
    fn empty(&self) {}
}

fn main() {}
