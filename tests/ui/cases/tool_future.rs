use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Returns a future.
    #[skill_tool]
    fn future(&self) -> impl Future<Output = u8> + Send {
        async { 1 }
    }
}

fn main() {}
