use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(name = "open tickets")]
    fn one(&self) -> u8 {
        1
    }

    #[skill_attribute(name = "a-b")]
    fn two(&self) -> u8 {
        1
    }

    #[skill_attribute]
    fn größe(&self) -> u8 {
        1
    }

    #[skill_attribute(description = "")]
    fn empty(&self) -> u8 {
        1
    }
}

fn main() {}
