use skills_engine::skill;
use skills_engine::skill::AttachContext;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(on_attach)]
    fn on_attach(&self, cx: &mut AttachContext) {
        cx.set_state(1_u8);
    }
}

fn main() {}
