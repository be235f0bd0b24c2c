use skills_engine::{skill, skill_attribute};

use std::rc::Rc;

/// Cannot be shared.
#[skill]
#[derive(Default)]
struct Local {
    #[skill_attribute]
    name: String,
    shared: Rc<u8>,
}

fn main() {}
