use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(level = context)]
    fn one(&self) -> u8 {
        1
    }

    #[skill_attribute(level = "COMPLETE")]
    fn two(&self) -> u8 {
        2
    }

    #[skill_attribute(level)]
    fn three(&self) -> u8 {
        3
    }
}

fn main() {}
