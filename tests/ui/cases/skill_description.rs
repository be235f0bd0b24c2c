use skills_engine::skill;

#[skill]
#[derive(Default)]
struct Silent;

///
#[skill]
#[derive(Default)]
struct Blank;

#[skill(description = "")]
#[derive(Default)]
struct Empty;

fn main() {}
