use skills_engine::skill;

#[skill]
impl [u8] {}

#[skill]
impl &str {}

fn main() {}
