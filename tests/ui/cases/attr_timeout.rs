use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(lazy, timeout = "500")]
    fn no_unit(&self) -> u8 {
        1
    }

    #[skill_attribute(lazy, timeout = 500)]
    fn number(&self) -> u8 {
        1
    }

    #[skill_attribute(lazy, timeout = "1.5s")]
    fn fraction(&self) -> u8 {
        1
    }

    #[skill_attribute(lazy, timeout = "ms")]
    fn no_number(&self) -> u8 {
        1
    }

    #[skill_attribute(lazy, timeout = "0s")]
    fn zero(&self) -> u8 {
        1
    }

    #[skill_attribute(lazy, timeout = "99999999999999999999h")]
    fn long(&self) -> u8 {
        1
    }

    #[skill_attribute(timeout = "1s")]
    fn live(&self) -> u8 {
        1
    }
}

fn main() {}
