use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(lazy = true)]
    fn one(&self) -> u8 {
        1
    }

    #[skill_attribute(lazy(yes))]
    fn two(&self) -> u8 {
        2
    }
}

fn main() {}
