use skills_engine::{skill, skill_tool};

struct Wrapper<T>(T);

#[skill]
impl<T> Wrapper<T> {
    /// Does it.
    #[skill_tool]
    fn act(&self) {}
}

#[skill]
impl Wrapper<u8> {}

#[skill]
impl<'a> Wrapper<&'a str> {}

fn main() {}
