use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// One.
    #[skill_tool]
    fn get(&self) {}

    /// Two.
    #[skill_tool(name = "get")]
    fn fetch(&self) {}

    /// Three.
    #[skill_tool(name = "get")]
    fn load(&self) {}
}

fn main() {}
