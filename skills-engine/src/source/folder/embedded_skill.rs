use std::sync::Arc;

use serde_json::{Map, Value};

use super::embedded_folder::EmbeddedFolder;
use super::read::{
    IS_BELOW_FILE, IS_FOLDER, IS_MISSING, IS_NOT_LISTED, MOST_AT_ONCE, reason_of_form, refused,
};
use super::resources::Listing;
use super::skill::Main;
use crate::skill::{
    Attribute, BoxFuture, Fault, Origin, Resource, ResourcePart, Skill, SkillContent,
    SkillDefinition, Tool,
};

/// A skill made of a folder in the binary.
#[derive(Debug)]
pub(super) struct EmbeddedSkill {
    definition: SkillDefinition,
    main: Arc<Main>,
    body: Arc<str>,
    listing: Arc<Listing>,
    folder: &'static EmbeddedFolder,
}

impl EmbeddedSkill {
    pub(super) fn new(
        main: &Arc<Main>,
        listing: &Arc<Listing>,
        folder: &'static EmbeddedFolder,
        origin: Origin,
        unmet: Vec<String>,
    ) -> Self {
        let mut definition = main.definition(unmet);
        definition.origin = origin;
        Self {
            definition,
            // Bodies are bounded by the size of the binary, so all of them are kept.
            body: main.kept_body().unwrap_or_default(),
            main: Arc::clone(main),
            listing: Arc::clone(listing),
            folder,
        }
    }

    /// Why a path that is not listed is refused.
    fn reason(&self, path: &str) -> &'static str {
        if let Some(reason) = reason_of_form(path) {
            return reason;
        }
        let below = |path: &str, other: &str| {
            let rest = other.strip_prefix(path);
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        let files = self.folder.files.iter().map(|file| file.path);
        for file in files.chain([self.folder.main_name]) {
            if file == path {
                return IS_NOT_LISTED;
            }
            if below(path, file) {
                return IS_FOLDER;
            }
            if below(file, path) {
                return IS_BELOW_FILE;
            }
        }
        IS_MISSING
    }

    fn part(&self, path: &str, offset: u64, limit: usize) -> Result<ResourcePart, Fault> {
        let is_listed = self.listing.real_path(path).is_some();
        let mut files = self.folder.files.iter();
        let file = files.find(|file| is_listed && file.path == path);
        let file = file.ok_or_else(|| refused(path, self.reason(path)))?;
        let limit = limit.min(MOST_AT_ONCE);
        Ok(ResourcePart::of(file.bytes, offset, limit))
    }
}

impl Skill for EmbeddedSkill {
    fn definition(&self) -> &SkillDefinition {
        &self.definition
    }

    fn attributes(&self) -> &[Attribute] {
        &[]
    }

    fn tools(&self) -> &[Tool] {
        &[]
    }

    fn content(&self) -> Option<&dyn SkillContent> {
        Some(self)
    }
}

impl SkillContent for EmbeddedSkill {
    fn digest(&self) -> [u8; 32] {
        self.main.digest
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        Box::pin(async { Ok(Arc::clone(&self.body)) })
    }

    fn resources(&self) -> &[Resource] {
        &self.listing.resources
    }

    fn total_resources(&self) -> usize {
        self.listing.total
    }

    fn read<'a>(
        &'a self,
        path: &'a str,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>> {
        Box::pin(async move { self.part(path, offset, limit) })
    }

    fn argument_names(&self) -> Vec<String> {
        self.main.header.arguments.clone()
    }

    fn front_matter(&self) -> Option<&Map<String, Value>> {
        Some(&self.main.header.fields)
    }
}
