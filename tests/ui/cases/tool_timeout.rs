use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Cannot be stopped.
    #[skill_tool(timeout = "1s")]
    fn sync(&self) {}

    /// Has no duration.
    #[skill_tool(timeout = "soon")]
    async fn soon(&self) {}
}

fn main() {}
