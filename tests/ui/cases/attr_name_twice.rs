use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute]
    fn one(&self) -> u8 {
        1
    }

    #[skill_attribute(name = "one")]
    fn two(&self) -> u8 {
        1
    }
}

fn main() {}
