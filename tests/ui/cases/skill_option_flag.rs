use skills_engine::skill;

/// Gives flags a value, and one that belongs elsewhere.
#[skill(host_only = true, code_only(false), requird, level = Context)]
#[derive(Default)]
struct Helpdesk;

fn main() {}
