use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Gives its context a default.
    #[skill_tool]
    fn default(&self, #[param(default = 1)] cx: &skills_engine::skill::ToolContext) {
        let _ = cx;
    }

    /// Changes its context.
    #[skill_tool]
    fn mutable(&self, cx: &mut skills_engine::skill::ToolContext) {
        let _ = cx;
    }
}

fn main() {}
