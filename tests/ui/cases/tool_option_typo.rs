use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// One.
    #[skill_tool(readonly, return_directly, desctructive)]
    fn one(&self) {}

    /// Two.
    #[skill_tool(require_approval, time_out = "1s", xyz)]
    async fn two(&self) {}
}

fn main() {}
