use skills_engine::{skill, skill::Resources};

/// Is not made of a result.
#[skill(factory = Self::new)]
struct Plain;

impl Plain {
    fn new(_: &Resources) -> Self {
        Self
    }
}

/// Takes nothing.
#[skill(factory = make_nothing)]
struct Nothing;

fn make_nothing() -> Result<Nothing, String> {
    Ok(Nothing)
}

/// Is something else.
#[skill(factory = make_other)]
struct Something;

fn make_other(_: &Resources) -> Result<u8, String> {
    Ok(1)
}

/// Has an error without words.
#[skill(factory = make_wordless)]
struct Wordless;

fn make_wordless(_: &Resources) -> Result<Wordless, ()> {
    Err(())
}

fn main() {}
