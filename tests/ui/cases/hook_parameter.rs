use skills_engine::skill;
use skills_engine::skill::TurnRequest;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn supports(&self, request: TurnRequest) -> bool {
        request.text.is_some()
    }

    #[skill(on_attach)]
    fn on_attach(&self, text: &str) {
        let _ = text;
    }

    #[skill(instructions)]
    fn instructions(&self, #[param(default = 1)] request: &TurnRequest) -> Option<String> {
        request.text.clone()
    }
}

fn main() {}
