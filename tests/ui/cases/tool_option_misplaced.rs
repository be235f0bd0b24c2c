use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// One.
    #[skill_tool(lazy, cache = turn)]
    fn one(&self) {}

    /// Two.
    #[skill_tool(default = 10, sensitive)]
    fn two(&self, limit: u32) {
        let _ = limit;
    }
}

fn main() {}
