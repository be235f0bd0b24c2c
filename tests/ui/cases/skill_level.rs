use skills_engine::skill;

/// Starts nowhere.
#[skill(base_level = Contxt)]
#[derive(Default)]
struct Typo;

/// Starts at a path.
#[skill(base_level = Level::Context)]
#[derive(Default)]
struct Path;

/// Starts at a number.
#[skill(base_level = 2)]
#[derive(Default)]
struct Number;

/// Starts at something else.
#[skill(base_level = Everything)]
#[derive(Default)]
struct Unknown;

fn main() {}
