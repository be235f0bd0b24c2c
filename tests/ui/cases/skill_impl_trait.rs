use skills_engine::{skill, skill_tool};

/// Has a trait.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl std::fmt::Display for Helpdesk {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("helpdesk")
    }
}

trait Act {
    fn act(&self);
}

#[skill]
impl Act for Helpdesk {
    /// Does it.
    #[skill_tool]
    fn act(&self) {}
}

fn main() {}
