use skills_engine::skill;
use skills_engine::skill::TurnRequest;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    fn supports<T: Default>(&self, request: &TurnRequest) -> bool {
        request.text.is_some()
    }

    #[skill(on_attach)]
    unsafe fn on_attach(&self) {}

    #[skill(instructions)]
    fn instructions(&self) -> impl Future<Output = Option<String>> {
        std::future::ready(None)
    }
}

fn main() {}
