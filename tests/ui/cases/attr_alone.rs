use skills_engine::{skill_attribute, skill_tool};

struct Helpdesk;

impl Helpdesk {
    #[skill_attribute]
    fn open(&self) -> u8 {
        1
    }

    /// Does it.
    #[skill_tool(level = Context)]
    fn act(&self) {}
}

#[skill_tool]
fn free() {}

fn main() {}
