use skills_engine::skill;

use std::sync::Arc;

/// Cannot be made.
#[skill]
struct Helpdesk {
    tickets: Arc<[u8]>,
    url: &'static std::path::Path,
}

/// Neither can this.
#[skill(id = "other")]
struct Other(std::net::IpAddr);

fn main() {}
