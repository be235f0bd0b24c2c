use skills_engine::{skill, skill_attribute, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Is both.
    #[skill_tool]
    #[skill_attribute]
    fn both(&self) -> u8 {
        1
    }

    /// Is it twice.
    #[skill_tool]
    #[skill_tool]
    fn twice(&self) {}
}

fn main() {}
