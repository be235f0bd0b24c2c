use skills_engine::skill;

/// Has no values.
#[skill(id, name = , version, tags, base_level)]
#[derive(Default)]
struct Missing;

/// Has values of the wrong kind.
#[skill(id = helpdesk, name = 5, version = 1.0, tags = "support", base_level = "context")]
#[derive(Default)]
struct Wrong;

/// Has no comma, and no key.
#[skill(id = "a" name = "A", "text", manual = true)]
#[derive(Default)]
struct Punctuation;

fn main() {}
