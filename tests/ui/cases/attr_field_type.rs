use skills_engine::{skill, skill_attribute};

#[derive(Default)]
struct Opaque;

#[derive(Default, serde::Serialize)]
struct Unschematic;

/// Has fields that cannot be shown.
#[skill]
#[derive(Default)]
struct Helpdesk {
    #[skill_attribute]
    opaque: Opaque,
    #[skill_attribute]
    unschematic: Vec<Unschematic>,
}

fn main() {}
