use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::document::{MOST_BYTES, read_document};
use super::handle::OpenError;
use super::read::{Home, open_main, read_whole, unreadable};
use super::resources::Listing;
use super::{Diagnostic, Header};
use crate::skill::{
    Attribute, BlockingPool, BoxFuture, Code, Fault, PoolError, Resource, ResourcePart, Skill,
    SkillContent, SkillDefinition, Tool,
};

/// A skill made of a folder with a `SKILL.md`.
#[derive(Debug)]
pub struct FolderSkill {
    main: Arc<Main>,
    definition: SkillDefinition,
    listing: Arc<Listing>,
    place: Arc<Place>,
    files: BlockingPool,
}

/// What a main file says.
#[derive(Debug)]
pub(super) struct Main {
    pub(super) header: Header,
    /// Of the body.
    pub(super) digest: [u8; 32],
    body: Option<KeptBody>,
    /// What should be known about the file: warnings.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What a strict source tells beside them.
    pub(super) strict_diagnostics: Vec<Diagnostic>,
}

/// Where a skill lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The folder, as it was reached.
    pub(super) path: PathBuf,
    /// Its name: that of a link, where one led to it.
    pub(super) name: String,
    pub(super) home: Home,
    /// The folder of the main file without links, and its name there.
    pub(super) main: (PathBuf, OsString),
    /// The main file as diagnostics call it.
    pub(super) shown: String,
}

/// A body in memory, counted as long as anybody holds it.
#[derive(Debug)]
struct KeptBody {
    text: Arc<str>,
    room: Arc<AtomicUsize>,
}

impl KeptBody {
    /// Takes a body into memory where there is room for it.
    fn new(text: &str, room: &Arc<AtomicUsize>) -> Option<Self> {
        let take = |room: usize| room.checked_sub(text.len());
        room.fetch_update(Ordering::AcqRel, Ordering::Acquire, take)
            .ok()?;
        Some(Self {
            text: text.into(),
            room: Arc::clone(room),
        })
    }
}

impl Drop for KeptBody {
    fn drop(&mut self) {
        self.room.fetch_add(self.text.len(), Ordering::AcqRel);
    }
}

impl Main {
    /// Reads the bytes of a main file. The body stays in memory while `room` has bytes for it.
    pub(super) fn read(
        bytes: &[u8],
        folder: &str,
        shown: &str,
        room: &Arc<AtomicUsize>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let document = read_document(bytes, folder, shown)?;
        let body = document.body_in(bytes);
        Ok(Self {
            digest: Sha256::digest(body.as_bytes()).into(),
            body: KeptBody::new(&body, room),
            diagnostics: document.diagnostics,
            strict_diagnostics: document.strict_diagnostics,
            header: document.header,
        })
    }

    /// The body, where it stays in memory.
    pub(super) fn kept_body(&self) -> Option<Arc<str>> {
        self.body.as_ref().map(|body| Arc::clone(&body.text))
    }

    /// What a skill with this main file is, given what the machine lacks of what it needs.
    pub(super) fn definition(&self, unmet: Vec<String>) -> SkillDefinition {
        let header = &self.header;
        let mut definition = SkillDefinition::new(header.name.clone());
        definition.name = Cow::Owned(header.name.clone());
        definition.description = Cow::Owned(header.description.clone());
        if let Some(version) = header.metadata.get("version") {
            definition.version = Cow::Owned(version.clone());
        }
        definition.model_invocable = !header.disable_model_invocation;
        definition.user_invocable = header.user_invocable;
        definition.argument_hint = header.argument_hint.clone().map(Cow::Owned);
        definition.allowed_tools.clone_from(&header.allowed_tools);
        definition.unmet = unmet;
        definition
    }
}

impl FolderSkill {
    pub(super) fn new(
        main: Arc<Main>,
        listing: Arc<Listing>,
        place: Arc<Place>,
        unmet: Vec<String>,
        files: BlockingPool,
    ) -> Self {
        Self {
            definition: main.definition(unmet),
            main,
            listing,
            place,
            files,
        }
    }

    /// What the header says.
    #[must_use]
    pub fn header(&self) -> &Header {
        &self.main.header
    }

    /// The folder: an absolute path, by way of the links that led to it.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Whether it would come out the same.
    pub(super) fn is_of(
        &self,
        main: &Arc<Main>,
        listing: &Arc<Listing>,
        place: &Arc<Place>,
        unmet: &[String],
    ) -> bool {
        Arc::ptr_eq(&self.main, main)
            && Arc::ptr_eq(&self.listing, listing)
            && Arc::ptr_eq(&self.place, place)
            && self.definition.unmet == unmet
    }

    /// Does work with files, away from what waits for it.
    async fn file_work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        match self.files.run(work).await {
            Ok(result) => result,
            Err(PoolError::Full) => Err(Fault::new(
                Code::LimitExceeded,
                "too many files are being read. Try again in a moment",
            )),
            Err(PoolError::Panicked) => Err(Fault::new(
                Code::ToolError,
                "reading the file failed. Try another one",
            )),
        }
    }
}

impl Skill for FolderSkill {
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

impl SkillContent for FolderSkill {
    fn digest(&self) -> [u8; 32] {
        self.main.digest
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        if let Some(text) = self.main.kept_body() {
            return Box::pin(async { Ok(text) });
        }
        let place = Arc::clone(&self.place);
        let digest = self.main.digest;
        Box::pin(self.file_work(move || body_again(&place, digest)))
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
        let place = Arc::clone(&self.place);
        let path = path.to_owned();
        let listing = Arc::clone(&self.listing);
        Box::pin(self.file_work(move || match listing.real_path(&path) {
            Some(real) => place.home.read(&path, real, offset, limit),
            None => Err(place.home.refusal(&path)),
        }))
    }

    fn base_dir(&self) -> Option<&str> {
        self.place.path.to_str()
    }

    fn argument_names(&self) -> Vec<String> {
        self.main.header.arguments.clone()
    }

    fn front_matter(&self) -> Option<&Map<String, Value>> {
        Some(&self.main.header.fields)
    }
}

/// Reads a body that was not kept, if it is still the one that was listed.
fn body_again(place: &Place, digest: [u8; 32]) -> Result<Arc<str>, Fault> {
    let changed = || {
        let name = &place.shown;
        Fault::new(
            Code::Conflict,
            format!("`{name}` changed since it was listed. Refresh the skills, then load it again"),
        )
    };
    let (folder, name) = &place.main;
    let file = match open_main(folder, name) {
        Ok(file) => file,
        Err(OpenError::Io(error)) => return Err(unreadable(&format!("`{}`", place.shown), &error)),
        Err(OpenError::Missing | OpenError::Is(_)) => return Err(changed()),
    };
    let bytes = read_whole(file, MOST_BYTES)
        .map_err(|error| unreadable(&format!("`{}`", place.shown), &error))?
        .ok_or_else(changed)?;
    let document = read_document(&bytes, &place.name, &place.shown).map_err(|_| changed())?;
    let body = document.body_in(&bytes);
    let found: [u8; 32] = Sha256::digest(body.as_bytes()).into();
    if found == digest {
        Ok(Arc::from(body))
    } else {
        Err(changed())
    }
}
