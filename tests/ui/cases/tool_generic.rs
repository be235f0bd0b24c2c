use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Has a type parameter.
    #[skill_tool]
    fn of_type<T: Into<String>>(&self, text: T) -> String {
        text.into()
    }

    /// Has a size.
    #[skill_tool]
    fn of_size<const N: usize>(&self) -> usize {
        N
    }
}

fn main() {}
