use skills_engine::skill;
use skills_engine::skill::TurnRequest;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn supports(&self, request: &mut TurnRequest) -> bool {
        request.text.take().is_some()
    }

    #[skill(on_attach)]
    fn on_attach(&self, request: &mut TurnRequest, other: &mut TurnRequest) {
        request.text = other.text.take();
    }
}

fn main() {}
