use skills_engine::skill;

/// Has empty texts.
#[skill(name = "", version = " ", tags = ["", "a", "a", 5])]
#[derive(Default)]
struct Helpdesk;

/// Has empty tags.
#[skill(tags = ["", "a", "a"])]
#[derive(Default)]
struct Tagged;

fn main() {}
