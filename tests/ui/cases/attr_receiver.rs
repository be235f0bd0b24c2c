use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute]
    fn mutable(&mut self) -> u8 {
        1
    }

    #[skill_attribute]
    fn value(self) -> u8 {
        1
    }

    #[skill_attribute]
    fn none() -> u8 {
        1
    }

    #[skill_attribute]
    fn boxed(self: Box<Self>) -> u8 {
        1
    }
}

fn main() {}
