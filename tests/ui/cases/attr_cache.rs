use skills_engine::{skill, skill_attribute};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute(cache = "turn")]
    fn quoted(&self) -> u8 {
        1
    }

    #[skill_attribute(cache = sesion)]
    fn typo(&self) -> u8 {
        1
    }

    #[skill_attribute(cache = forever)]
    fn unknown(&self) -> u8 {
        1
    }

    #[skill_attribute(cache = "30 s")]
    fn blank(&self) -> u8 {
        1
    }

    #[skill_attribute(cache = 30)]
    fn number(&self) -> u8 {
        1
    }

    #[skill_attribute(cache)]
    fn nothing(&self) -> u8 {
        1
    }
}

fn main() {}
