use skills_engine::skill;
use skills_engine::skill::TurnRequest;

/// Has no text.
pub struct NoText;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn supports(&self, request: &TurnRequest) -> Option<bool> {
        request.text.as_ref().map(String::is_empty)
    }

    #[skill(on_attach)]
    async fn on_attach(&self) -> bool {
        true
    }

    #[skill(instructions)]
    fn instructions(&self) -> Result<String, NoText> {
        Err(NoText)
    }

    #[skill(tools)]
    fn tools(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

fn main() {}
