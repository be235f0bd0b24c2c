use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::registry::RegisteredSkill;
use crate::skill::SkillContent;

/// A body that a model was given, and with which arguments.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::engine) struct Given {
    pub(in crate::engine) skill: Arc<str>,
    /// With the list of its files.
    body: [u8; 32],
    /// All zeros without arguments.
    arguments: [u8; 32],
}

impl Given {
    pub(super) fn new(
        skill: &RegisteredSkill,
        content: &dyn SkillContent,
        arguments: &str,
    ) -> Self {
        Self {
            skill: Arc::clone(&skill.id),
            body: skill.content_digest(content),
            arguments: if arguments.is_empty() {
                [0; 32]
            } else {
                Sha256::digest(arguments).into()
            },
        }
    }

    /// Whether it is this body, whatever the arguments.
    pub(in crate::engine) fn is_body(&self, skill: &str, digest: &[u8; 32]) -> bool {
        *self.skill == *skill && self.body == *digest
    }
}
