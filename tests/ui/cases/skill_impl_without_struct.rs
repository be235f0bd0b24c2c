use skills_engine::{skill, skill_tool};

struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Does it.
    #[skill_tool]
    fn act(&self) {}
}

fn main() {}
