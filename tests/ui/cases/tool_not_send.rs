use skills_engine::{skill, skill_tool};

static LOCK: std::sync::Mutex<()> = std::sync::Mutex::new(());

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Holds what stays on its thread.
    #[skill_tool]
    async fn local(&self, text: String) -> usize {
        let local = std::rc::Rc::new(text);
        std::future::ready(()).await;
        local.len()
    }

    /// Holds a lock.
    #[skill_tool]
    async fn locked(&self, cx: &skills_engine::skill::ToolContext) -> u8 {
        let guard = LOCK.lock();
        cx.cancelled().await;
        drop(guard);
        1
    }
}

fn main() {}
