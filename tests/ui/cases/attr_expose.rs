use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(expose = Allways)]
    fn one(&self) -> u8 {
        1
    }

    #[skill_attribute(expose = never)]
    fn two(&self) -> u8 {
        2
    }

    #[skill_attribute(expose = Expose::Always)]
    fn three(&self) -> u8 {
        3
    }
}

fn main() {}
