use skills_engine::{skill, skill_tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Unwritten;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Has defaults of the wrong type.
    #[skill_tool]
    fn wrong(&self, #[param(default = "x")] number: u8, #[param(default = 1)] text: String) {
        let _ = (number, text);
    }

    /// Has a default that cannot be shown.
    #[skill_tool]
    fn unwritten(&self, #[param(default = Unwritten)] value: Unwritten) {
        let _ = value;
    }

    /// Has a default that is not there.
    #[skill_tool]
    fn missing(&self, a: u8, #[param(default = a)] b: u8) {
        let _ = (a, b);
    }
}

fn main() {}
