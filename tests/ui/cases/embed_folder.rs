use skills_engine::{embed_skills, embedded_skills};

embed_skills!("");
embed_skills!("/etc");
embed_skills!("../skills");
embed_skills!("no-such-folder");
embed_skills!("Cargo.toml");

fn main() {
    let _ = embedded_skills!("no-such-folder");
}
