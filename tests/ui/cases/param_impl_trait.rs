use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Takes anything.
    #[skill_tool]
    fn any(&self, text: impl Into<String>, list: Vec<impl Into<u8>>) {
        let _ = (text.into(), list);
    }
}

fn main() {}
