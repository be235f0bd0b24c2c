use skills_engine::{skill, skill::ToolContext, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute]
    fn wrong(&self, _cx: &ToolContext) -> u8 {
        1
    }

    #[skill_attribute]
    async fn wrong_late(&self, _cx: &ToolContext) -> u8 {
        1
    }
}

fn main() {}
