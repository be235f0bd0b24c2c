//! Skills with a body and files: `SKILL.md` folders, and what a host hands over in their place.

mod content;
