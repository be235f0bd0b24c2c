use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Has a name with a slash.
    #[skill_tool(name = "get/ticket")]
    fn one(&self) {}

    /// Has no name.
    #[skill_tool(name = "")]
    fn two(&self) {}

    /// Has a name models cannot use.
    #[skill_tool]
    fn löschen(&self) {}

    /// Has an empty title.
    #[skill_tool(title = "")]
    fn four(&self) {}
}

fn main() {}
