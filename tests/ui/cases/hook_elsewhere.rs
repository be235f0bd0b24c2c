use skills_engine::skill;

/// Helps.
#[skill(supports)]
#[derive(Default)]
struct Helpdesk {
    #[skill(on_attach)]
    field: u8,
}

#[skill(tools)]
impl Helpdesk {
    fn field(&self) -> u8 {
        self.field
    }
}

impl Helpdesk {
    #[skill(instructions)]
    fn instructions(&self) -> Option<String> {
        None
    }
}

#[skill(supports)]
fn alone() {}

fn main() {}
