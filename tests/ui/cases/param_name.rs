use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Has a name models cannot use.
    #[skill_tool]
    fn name(&self, größe: u8) {
        let _ = größe;
    }
}

fn main() {}
