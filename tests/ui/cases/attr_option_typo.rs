use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(lasy)]
    fn one(&self) -> u8 {
        1
    }

    #[skill_attribute(levle = Context, descripton = "x", timout = "1s")]
    fn two(&self) -> u8 {
        2
    }
}

fn main() {}
