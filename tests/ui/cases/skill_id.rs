use skills_engine::skill;

/// Has blanks.
#[skill(id = "Help Desk")]
#[derive(Default)]
struct Blanks;

/// Begins with a digit.
#[skill(id = "2nd-level")]
#[derive(Default)]
struct Digit;

/// Is empty.
#[skill(id = "")]
#[derive(Default)]
struct Empty;

/// Is long.
#[skill(id = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")]
#[derive(Default)]
struct Long;

/// Cannot be derived.
#[skill]
#[derive(Default)]
struct Größe;

fn main() {}
