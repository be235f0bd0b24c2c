use skills_engine::{skill, skill::AttributeContext, skill_tool};

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Takes the wrong context.
    #[skill_tool]
    fn wrong(&self, cx: &AttributeContext) {
        let _ = cx;
    }

    /// Takes a borrowed value.
    #[skill_tool]
    fn string(&self, text: &String) {
        let _ = text;
    }

    /// Takes a borrowed number.
    #[skill_tool]
    async fn number(&self, number: &u8) {
        let _ = number;
    }
}

fn main() {}
