use skills_engine::skill;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk {
    #[skill_attribute]
    sla: u8,
}

#[skill]
impl Helpdesk {
    /// Does it.
    #[skill_tool]
    fn act(&self) {}
}

fn main() {}
