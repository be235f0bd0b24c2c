use skills_engine::{skill, skill_tool};

struct Opaque;

#[derive(serde::Deserialize)]
struct Unschematic;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Takes what cannot be read.
    #[skill_tool]
    fn opaque(&self, value: Opaque) {
        drop(value);
    }

    /// Takes what has no schema.
    #[skill_tool]
    async fn unschematic(&self, values: Vec<Unschematic>) {
        drop(values);
    }

    /// Takes what has no schema, borrowed.
    #[skill_tool]
    fn slice(&self, values: &[Unschematic]) {
        let _ = values;
    }

    /// Takes the context by value.
    #[skill_tool]
    fn context(&self, cx: skills_engine::skill::ToolContext) {
        drop(cx);
    }
}

fn main() {}
