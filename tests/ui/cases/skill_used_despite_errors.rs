use skills_engine::{skill, skill::SkillType};

/// Has one mistake, and is used.
#[skill(id = "Help")]
#[derive(Default)]
struct Helpdesk;

fn uses() -> &'static str {
    let helpdesk = Helpdesk::default();
    drop(helpdesk);
    Helpdesk::entry().id
}

fn main() {}
