use skills_engine::skill;

/// Quotes its path.
#[skill(crate = "skills_engine")]
#[derive(Default)]
struct Quoted;

/// Has a path to nowhere.
#[skill(crate = nowhere)]
#[derive(Default)]
struct Nowhere;

fn main() {}
