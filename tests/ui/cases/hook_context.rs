use skills_engine::skill;
use skills_engine::skill::{ToolContext, TurnRequest};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn supports(&self, cx: &ToolContext) -> bool {
        cx.is_cancelled()
    }

    #[skill(on_attach)]
    fn on_attach(&self, request: &mut TurnRequest, before: &TurnRequest) {
        request.text = before.text.clone();
    }

    #[skill(instructions)]
    async fn instructions(&self, text: &Option<String>) -> Option<String> {
        text.clone()
    }
}

fn main() {}
