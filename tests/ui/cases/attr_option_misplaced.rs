use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(return_direct, read_only, title = "One", destructive)]
    fn one(&self) -> u8 {
        1
    }

    #[skill_attribute(requires_approval, blocking)]
    fn two(&self) -> u8 {
        2
    }
}

fn main() {}
