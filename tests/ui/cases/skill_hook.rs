use skills_engine::skill;

/// Has hooks.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn supports(&self) -> bool {
        true
    }

    #[skill]
    fn other(&self) {}
}

fn main() {}
