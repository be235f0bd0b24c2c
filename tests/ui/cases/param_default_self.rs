use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk(u8);

#[skill]
impl Helpdesk {
    /// Has a default of the instance.
    #[skill_tool]
    fn own(&self, #[param(default = self.0 + 1)] a: u8, #[param(default = vec![self.0])] b: Vec<u8>) {
        let _ = (a, b);
    }
}

fn main() {}
