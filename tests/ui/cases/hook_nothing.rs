use skills_engine::skill;
use skills_engine::skill::TurnRequest;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn is_for(&self, request: &TurnRequest) {
        let _ = request;
    }

    #[skill(instructions)]
    async fn instructions(&self) {}

    #[skill(tools)]
    fn tools(&self) {}
}

fn main() {}
