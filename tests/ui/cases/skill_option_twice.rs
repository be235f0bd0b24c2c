use skills_engine::skill;

/// Has two ids.
#[skill(id = "a", name = "A", id = "b", name = "B")]
#[derive(Default)]
struct Helpdesk;

fn main() {}
