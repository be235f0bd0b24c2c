use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Takes its arguments apart.
    #[skill_tool]
    fn apart(&self, (x, y): (u8, u8), _: u8) -> u8 {
        x + y
    }
}

fn main() {}
