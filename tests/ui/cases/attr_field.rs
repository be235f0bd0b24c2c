use skills_engine::{skill, skill_attribute};

/// Has fields.
#[skill]
#[derive(Default)]
struct Helpdesk {
    #[skill_attribute(lazy)]
    sla: u8,
    #[skill_attribute(timeout = "1s", cache = turn)]
    open: u8,
    #[skills_engine::skill_tool]
    act: u8,
}

/// Has fields without names.
#[skill]
#[derive(Default)]
struct Tuple(#[skill_attribute] u8, #[skill_attribute(name = "b", lazy)] u8);

fn main() {}
