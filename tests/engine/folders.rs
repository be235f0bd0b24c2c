//! Skills with a body and files: `SKILL.md` folders, and what a host hands over in their place.

mod allowed_tools;
mod cases;
mod changes;
mod content;
mod embedded;
mod generated;
mod loading;
mod needs;
mod reads;
mod refresh;
mod review;
mod review_again;
mod review_use;
mod roots;
pub(crate) mod scratch;
mod watched;
