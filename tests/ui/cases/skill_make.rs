use skills_engine::skill;

/// Is made in two ways.
#[skill(manual, factory = Helpdesk::new)]
struct Helpdesk;

/// Quotes its factory.
#[skill(factory = "Self::new")]
struct Quoted;

/// Calls its factory.
#[skill(factory = Self::new())]
struct Called;

fn main() {}
