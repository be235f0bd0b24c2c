use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::audit::SecretDigest;
use crate::prompt::{Profile, PromptComposer, StandardComposer, TokenBudget};
use crate::snapshot::{Redactor, SnapshotComposer};
use crate::tools::ExportOptions;

/// How the skills of a registry are told of: the standard way, but for what the host has of its own.
#[derive(Clone)]
pub(crate) struct Telling {
    pub(crate) prompts: Option<Arc<dyn PromptComposer>>,
    pub(crate) snapshots: Option<Arc<dyn SnapshotComposer>>,
    pub(crate) redactor: Option<Arc<dyn Redactor>>,
    /// The form in which skills are listed.
    pub(crate) profile: Profile,
    /// What the list of them may take.
    pub(crate) budget: TokenBudget,
    /// What stands before the descriptions of listed tools.
    pub(crate) export: ExportOptions,
}

/// What the list of skills takes of a prompt at most, unless the host says otherwise.
pub(super) const CATALOGUE_TOKENS: usize = 20_000;

impl Telling {
    /// The standard way.
    pub(crate) fn standard() -> Self {
        Self {
            prompts: None,
            snapshots: None,
            redactor: None,
            profile: Profile::psl(),
            budget: TokenBudget::new(CATALOGUE_TOKENS),
            export: ExportOptions::default(),
        }
    }

    /// Whether the host has a part in it: then texts are made when they are first shown, so that nothing is handed to
    /// its code that nobody sees, and digests cover what came out.
    pub(crate) fn is_own(&self) -> bool {
        self.prompts.is_some() || self.snapshots.is_some() || self.redactor.is_some()
    }

    pub(crate) fn composer(&self) -> Arc<dyn PromptComposer> {
        match &self.prompts {
            Some(own) => Arc::clone(own),
            None => Arc::new(StandardComposer::default()),
        }
    }
}

/// For whom a prompt is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// The model.
    Model,
    /// Others: whoever reads the audit trail, or looks on. Without the values of sensitive attributes.
    Others,
}

/// Adds a rendered text to the digest of a view. One that holds sensitive values goes in by a keyed digest, so that
/// nobody can find them out by hashing guesses.
pub(crate) fn cover(digest: &mut Sha256, secrets: &SecretDigest, text: &str, is_secret: bool) {
    digest.update([u8::from(is_secret)]);
    digest.update((text.len() as u64).to_le_bytes());
    if is_secret {
        digest.update(secrets.digest(text.as_bytes()));
    } else {
        digest.update(text);
    }
}
