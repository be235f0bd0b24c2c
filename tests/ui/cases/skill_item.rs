use skills_engine::skill;

/// One of two.
#[skill]
enum Either {
    Left,
    Right,
}

/// Both.
#[skill]
union Both {
    left: u8,
    right: u8,
}

/// A trait.
#[skill]
trait Able {}

/// A function.
#[skill]
fn act() {}

/// A module.
#[skill]
mod inner {}

/// An alias.
#[skill]
type Alias = u8;

fn main() {}
