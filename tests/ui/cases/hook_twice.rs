use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn one(&self) -> bool {
        true
    }

    #[skill(supports)]
    async fn two(&self) -> bool {
        true
    }

    /// Acts.
    #[skill_tool]
    #[skill(on_attach)]
    fn act(&self) {}

    #[skill(tools)]
    #[skill(instructions)]
    fn select(&self) -> String {
        String::new()
    }
}

fn main() {}
