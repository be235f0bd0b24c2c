use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute]
    fn argument(&self, id: u8) -> u8 {
        id
    }

    #[skill_attribute]
    fn text(&self, id: &str) -> usize {
        id.len()
    }

    #[skill_attribute]
    fn mutable(&self, _cx: &mut skills_engine::skill::AttributeContext) -> u8 {
        1
    }
}

fn main() {}
