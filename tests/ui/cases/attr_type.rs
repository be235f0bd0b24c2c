use skills_engine::{skill, skill_attribute};

struct Opaque;

#[derive(serde::Serialize)]
struct Unschematic;

/// Helps.
#[skill]
#[derive(Default)]
struct Helpdesk;

#[skill]
impl Helpdesk {
    #[skill_attribute]
    fn opaque(&self) -> Opaque {
        Opaque
    }

    #[skill_attribute]
    fn result(&self) -> Result<Opaque, String> {
        Ok(Opaque)
    }

    #[skill_attribute]
    async fn late(&self) -> Vec<Unschematic> {
        vec![]
    }

    #[skill_attribute]
    fn error(&self) -> Result<u8, Opaque> {
        Ok(1)
    }
}

fn main() {}
