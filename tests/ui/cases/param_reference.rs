use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Takes borrowed parts.
    #[skill_tool]
    fn parts(&self, text: Option<&str>, words: Vec<&'static str>, list: &[&str], pair: (u8, &[u8])) {
        let _ = (text, words, list, pair);
    }

    /// Changes its arguments.
    #[skill_tool]
    fn mutable(&self, text: &mut str, numbers: &mut [u8], value: &mut u8) {
        let _ = (text, numbers, value);
    }

    /// Keeps its argument.
    #[skill_tool]
    fn kept(&self, text: &'static str) {
        let _ = text;
    }
}

fn main() {}
