use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Has a parameter that may not be there.
    #[skill_tool]
    fn maybe(&self, #[cfg(test)] a: u8, #[cfg_attr(test, param(default = 1))] b: u8) {
        let _ = b;
    }
}

fn main() {}
