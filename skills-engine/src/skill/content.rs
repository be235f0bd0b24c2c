use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::{BoxFuture, Fault, Level};

/// What a skill holds beside its definition and members: a body of instructions, and files.
///
/// A skill made of a `SKILL.md` folder has it. Nothing of it is shown before a session opens the skill: the body and
/// the list of files from CONTEXT on, files below `scripts/` from COMPLETE on. Whoever calls these methods keeps that
/// order; they themselves ask nobody.
///
/// As with the definition, what the digest and the list say does not change during the life of a skill. What changed
/// is another skill, which the source gives at its next load.
pub trait SkillContent: Send + Sync + 'static {
    /// SHA-256 of the body's UTF-8 bytes, as [`body`](Self::body) gives them.
    fn digest(&self) -> [u8; 32];

    /// The text a model is to follow, without the header; empty when there is none.
    ///
    /// # Errors
    ///
    /// `conflict` when it is no longer the body the digest was made of, and `tool_error` when it cannot be read.
    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>>;

    /// The files that [`read`](Self::read) gives, by path in byte order.
    fn resources(&self) -> &[Resource] {
        &[]
    }

    /// How many files there are, those counted that were left out of [`resources`](Self::resources) because they are
    /// too many.
    fn total_resources(&self) -> usize {
        self.resources().len()
    }

    /// A part of a listed file: at most `limit` bytes from the byte `offset` on; none when that is the end or beyond.
    ///
    /// # Errors
    ///
    /// `invalid_arguments`, with the reason, for a path that is not one of [`resources`](Self::resources);
    /// `conflict` when what stands under the path is no longer the file that was listed; `tool_error` when it cannot
    /// be read.
    fn read<'a>(
        &'a self,
        path: &'a str,
        offset: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>>;

    /// The absolute path of the skill's folder, if it lies in one.
    fn base_dir(&self) -> Option<&str> {
        None
    }

    /// The names of arguments, in their order: `$name` in the body stands for one. Those that the header declares as
    /// `arguments`, a text or a list, unless the content says otherwise.
    fn argument_names(&self) -> Vec<String> {
        let declared = self.front_matter().and_then(|it| it.get("arguments"));
        let texts: Vec<_> = match declared {
            Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(text)) => vec![text.as_str()],
            _ => Vec::new(),
        };
        let words = texts
            .into_iter()
            .flat_map(|text| text.split(|it: char| it == ',' || it.is_whitespace()));
        let words = words.filter(|word| !word.is_empty());
        words.map(str::to_owned).collect()
    }

    /// The header as JSON, with numbers and booleans by the core schema of YAML 1.2 (section 10.3), if there is one.
    fn front_matter(&self) -> Option<&Map<String, Value>> {
        None
    }
}

impl fmt::Debug for dyn SkillContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SkillContent")
            .field("resources", &self.total_resources())
            .finish_non_exhaustive()
    }
}

/// A file of a skill.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Resource {
    /// Its path below the skill's folder, with `/`.
    pub path: Arc<str>,
    /// Its size in bytes when it was listed.
    pub size: u64,
    /// What it is for, by the folder it lies in.
    pub kind: ResourceKind,
    /// Whether its owner may execute it, where the file system says such a thing.
    pub is_executable: bool,
}

impl Resource {
    /// A file that is not executable; its kind follows from the path.
    #[must_use]
    pub fn new(path: impl Into<Arc<str>>, size: u64) -> Self {
        let path = path.into();
        Self {
            kind: ResourceKind::of(&path),
            path,
            size,
            is_executable: false,
        }
    }

    /// Says whether its owner may execute it.
    #[must_use]
    pub fn executable(mut self, is_executable: bool) -> Self {
        self.is_executable = is_executable;
        self
    }

    /// Whether it lies below `scripts/`.
    #[must_use]
    pub fn is_script(&self) -> bool {
        self.kind == ResourceKind::Script
    }

    /// The level it may be read from: COMPLETE for scripts, CONTEXT for everything else.
    #[must_use]
    pub fn level(&self) -> Level {
        if self.is_script() {
            Level::Complete
        } else {
            Level::Context
        }
    }
}

/// What a file of a skill is for, by the folder it lies in, as the Agent Skills standard names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResourceKind {
    /// Below `scripts/`: code to be run.
    Script,
    /// Below `references/`: text to be read when it is needed.
    Reference,
    /// Below `assets/`: templates, pictures, data.
    Asset,
    /// Anywhere else.
    Other,
}

impl ResourceKind {
    /// The kind of a file with a path below the skill's folder.
    #[must_use]
    pub fn of(path: &str) -> Self {
        match path.split_once('/') {
            Some(("scripts", _)) => Self::Script,
            Some(("references", _)) => Self::Reference,
            Some(("assets", _)) => Self::Asset,
            _ => Self::Other,
        }
    }
}

/// A part of a file, as it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourcePart {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The position of the first of them.
    pub offset: u64,
    /// The size of the whole file.
    pub total: u64,
}

impl ResourcePart {
    /// A part of a file of `total` bytes that begins at the byte `offset`.
    #[must_use]
    pub fn new(bytes: Vec<u8>, offset: u64, total: u64) -> Self {
        Self {
            bytes,
            offset,
            total,
        }
    }

    /// At most `limit` bytes of a file that is held in memory, from the byte `offset` on.
    #[must_use]
    pub fn of(file: &[u8], offset: u64, limit: usize) -> Self {
        let total = file.len();
        let start = usize::try_from(offset).map_or(total, |offset| offset.min(total));
        let end = start.saturating_add(limit).min(total);
        Self::new(file[start..end].to_vec(), offset, total as u64)
    }

    /// Where the next part begins; `None` when this one reaches the end.
    #[must_use]
    pub fn next_offset(&self) -> Option<u64> {
        let next = self.offset.saturating_add(self.bytes.len() as u64);
        (next < self.total).then_some(next)
    }
}
