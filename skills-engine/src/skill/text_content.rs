use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::{BoxFuture, Code, Fault, Resource, ResourcePart, SkillContent, shown};

/// A body and files that are held in memory: of a skill that comes from a database, or stands in code.
///
/// What it is made of does not change. When the text in the database does, the source gives a skill with another
/// `TextContent`.
///
/// # Examples
///
/// ```
/// use skills_engine::skill::{SkillBuilder, TextContent};
///
/// let content = TextContent::new("Deploy $service as `references/hosts.md` says, then send `assets/done.png`.\n")
///     .argument_names(["service"])
///     .file("references/hosts.md", "- staging: 10.0.0.7\n".as_bytes())?
///     .file("assets/done.png", *b"\x89PNG\r\n\x1a\n")?;
/// let skill = SkillBuilder::new("deploy")
///     .description("Deploys services.")
///     .argument_hint("[service]")
///     .content(content)
///     .build()?;
/// # Ok::<(), skills_engine::skill::Fault>(())
/// ```
///
/// A body alone is set by [`SkillBuilder::body`](super::SkillBuilder::body).
#[derive(Clone)]
#[must_use]
pub struct TextContent {
    body: Arc<str>,
    digest: [u8; 32],
    /// By path in byte order.
    resources: Vec<Resource>,
    /// What the files hold, each at the position of its resource.
    files: Vec<Arc<[u8]>>,
    argument_names: Vec<String>,
}

impl TextContent {
    /// A body without files: the text that a model is to follow, in which places for arguments are filled.
    pub fn new(body: impl Into<Arc<str>>) -> Self {
        let body = body.into();
        Self {
            digest: Sha256::digest(body.as_bytes()).into(),
            body,
            resources: Vec::new(),
            files: Vec::new(),
            argument_names: Vec::new(),
        }
    }

    /// Adds a file, text or not, under its path below the skill, such as `references/hosts.md`. What lies below `scripts/`
    /// is read from COMPLETE on, all others from CONTEXT on.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for a path that does not lead from the skill down to a file (one that is empty, begins or ends
    /// with `/`, or has an empty part, `.`, `..`, a backslash or a NUL in it), and for one that another file has.
    pub fn file(
        mut self,
        path: impl Into<Arc<str>>,
        bytes: impl Into<Arc<[u8]>>,
    ) -> Result<Self, Fault> {
        let (path, bytes) = (path.into(), bytes.into());
        check_path(&path)?;
        let Err(place) = self.place(&path) else {
            return Err(refused(&path, "is the path of two files. Rename one"));
        };
        let resource = Resource::new(path, bytes.len() as u64);
        self.resources.insert(place, resource);
        self.files.insert(place, bytes);
        Ok(self)
    }

    /// Sets the names of arguments, in their order, in place of earlier ones: `$name` in the body stands for one.
    pub fn argument_names(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.argument_names = names.into_iter().map(Into::into).collect();
        self
    }

    /// Where a file stands, or would.
    fn place(&self, path: &str) -> Result<usize, usize> {
        let by_path = |resource: &Resource| (*resource.path).cmp(path);
        self.resources.binary_search_by(by_path)
    }

    fn part(&self, path: &str, offset: u64, limit: usize) -> Result<ResourcePart, Fault> {
        let place = self.place(path).map_err(|_| {
            refused(
                path,
                "is not one of the skill's files. Give the path of a file from the skill's list, as it stands there",
            )
        })?;
        Ok(ResourcePart::of(&self.files[place], offset, limit))
    }
}

fn check_path(path: &str) -> Result<(), Fault> {
    let problem = if path.is_empty() {
        "is empty"
    } else if path.starts_with('/') {
        "is not relative"
    } else if path.contains('\\') {
        "has a backslash in it"
    } else if path.contains('\0') {
        "has a NUL in it"
    } else if path.split('/').any(str::is_empty) {
        "has an empty part"
    } else if path.split('/').any(|part| matches!(part, "." | "..")) {
        "has `.` or `..` in it"
    } else {
        return Ok(());
    };
    let advice = "Give the path below the skill with `/`, such as `references/hosts.md`";
    Err(refused(path, &format!("{problem}. {advice}")))
}

fn refused(path: &str, reason: &str) -> Fault {
    let message = format!("`{}` {reason}", shown(path, 200));
    Fault::new(Code::InvalidArguments, message)
}

/// Neither the body nor what the files hold.
impl fmt::Debug for TextContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TextContent")
            .field("body", &self.body.len())
            .field("resources", &self.resources)
            .field("argument_names", &self.argument_names)
            .finish_non_exhaustive()
    }
}

impl SkillContent for TextContent {
    fn digest(&self) -> [u8; 32] {
        self.digest
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        Box::pin(async { Ok(Arc::clone(&self.body)) })
    }

    fn resources(&self) -> &[Resource] {
        &self.resources
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
        self.argument_names.clone()
    }
}
