use skills_engine::{skill, skill_tool};

struct Opaque;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    /// Returns what cannot be written.
    #[skill_tool]
    fn opaque(&self) -> Opaque {
        Opaque
    }

    /// Returns a result of what cannot be written.
    #[skill_tool]
    async fn late(&self) -> Result<Vec<Opaque>, String> {
        Ok(vec![])
    }

    /// Has an error without words.
    #[skill_tool]
    fn error(&self) -> Result<u8, Opaque> {
        Ok(1)
    }
}

fn main() {}
