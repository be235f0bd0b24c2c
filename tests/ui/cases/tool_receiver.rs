use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Changes itself.
    #[skill_tool]
    fn mutable(&mut self) {}

    /// Consumes itself.
    #[skill_tool]
    fn value(self) {}

    /// Has no self.
    #[skill_tool]
    async fn none(text: String) -> String {
        text
    }

    /// Is boxed.
    #[skill_tool]
    fn boxed(self: Box<Self>) {}

    /// Is pinned.
    #[skill_tool]
    fn pinned(self: std::pin::Pin<&Self>) {}

    /// Changes itself, in full.
    #[skill_tool]
    fn spelled(self: &mut Self) {}
}

fn main() {}
