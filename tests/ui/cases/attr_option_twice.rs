use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(lazy, level = Context, lazy, level = Complete)]
    fn one(&self) -> u8 {
        1
    }
}

fn main() {}
