use skills_engine::{skill, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Has mistakes.
    #[skill_tool]
    fn typos(
        &self,
        #[param(defualt = 1)] a: u8,
        #[param(default)] b: u8,
        #[param(default = )] c: u8,
        #[param] d: u8,
        #[param(sensitiv)] e: u8,
        #[param(description = "x")] f: u8,
        #[param(optional)] g: u8,
        #[param(default = 1, default = 2)] h: u8,
        #[param(default = 1)]
        #[param(default = 2)]
        i: u8,
    ) {
        let _ = (a, b, c, d, e, f, g, h, i);
    }
}

fn main() {}
