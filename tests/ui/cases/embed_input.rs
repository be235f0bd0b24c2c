use skills_engine::{embed_skills, embedded_skills};

embed_skills!();
embed_skills!(skills);
embed_skills!("skills", strict);
embed_skills!("skills", "more");
embed_skills!("skills" "more");
embed_skills!(concat!("skills", "/more"));

fn main() {
    let _ = embedded_skills!();
    let _ = embedded_skills!("skills", crate);
}
