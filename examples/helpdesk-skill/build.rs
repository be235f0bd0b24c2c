//! Has a build look for files that came: `embed_skills!` cannot say by itself that it looks at a folder.

fn main() {
    println!("cargo::rerun-if-changed=skills");
}
