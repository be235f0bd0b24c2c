use skills_engine::skill;

/// Has typos.
#[skill(idd = "helpdesk", nmae = "Helpdesk", tag = ["support"], baselevel = Context)]
#[derive(Default)]
struct Helpdesk;

/// Has an option that means nothing.
#[skill(colour = "red")]
#[derive(Default)]
struct Colored;

fn main() {}
