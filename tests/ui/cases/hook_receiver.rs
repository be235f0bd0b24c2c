use skills_engine::skill;
use skills_engine::skill::TurnRequest;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn supports(&mut self, request: &TurnRequest) -> bool {
        request.text.is_some()
    }

    #[skill(on_attach)]
    async fn on_attach(self) {}

    #[skill(instructions)]
    fn instructions(request: &TurnRequest) -> Option<String> {
        request.text.clone()
    }
}

fn main() {}
