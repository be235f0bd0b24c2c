use skills_engine::skill;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill(suports)]
    fn a(&self) -> bool {
        true
    }

    #[skill(attach)]
    fn b(&self) {}

    #[skill(before)]
    fn c(&self) {}

    #[skill]
    fn d(&self) {}

    #[skill(supports = true)]
    fn e(&self) -> bool {
        true
    }

    #[skill(instructions, tools)]
    fn f(&self) {}

    #[skill(tool)]
    fn g(&self) {}

    #[skill(attribute)]
    fn h(&self) -> u8 {
        1
    }

    #[skill(required)]
    fn i(&self) {}

    #[skill = "supports"]
    fn j(&self) {}

    #[skill("supports")]
    fn k(&self) {}
}

fn main() {}
