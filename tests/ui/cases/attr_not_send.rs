use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute]
    async fn local(&self) -> u8 {
        let local = std::rc::Rc::new(1);
        std::future::ready(()).await;
        *local
    }
}

fn main() {}
