use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Is unsafe.
    #[skill_tool]
    unsafe fn dangerous(&self) {}
}

fn main() {}
