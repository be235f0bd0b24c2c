use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute]
    fn opaque(&self) -> impl serde::Serialize {
        1
    }

    #[skill_attribute]
    fn nested(&self) -> Vec<impl serde::Serialize> {
        vec![1]
    }

    #[skill_attribute]
    fn future(&self) -> impl Future<Output = u8> {
        async { 1 }
    }
}

fn main() {}
