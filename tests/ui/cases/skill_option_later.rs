use skills_engine::skill;

/// Has options that do not exist.
#[skill(host_only, code_only, required, level = Context)]
#[derive(Default)]
struct Helpdesk;

fn main() {}
