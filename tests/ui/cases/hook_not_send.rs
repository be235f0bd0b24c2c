use skills_engine::skill;
use skills_engine::skill::TurnRequest;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(supports)]
    async fn local(&self, request: &TurnRequest) -> bool {
        let local = std::rc::Rc::new(request.text.is_some());
        std::future::ready(()).await;
        *local
    }
}

fn main() {}
