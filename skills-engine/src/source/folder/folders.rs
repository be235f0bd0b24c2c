use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Semaphore;

use super::discover::Cancelled;
use super::root::{ScopePrecedence, SkillRoot};
use super::settle::{Job, Shared};
use super::skill::FolderSkill;
#[cfg(feature = "watch")]
use super::watch::Watch;
use super::{Diagnostic, DiagnosticKind};
use crate::skill::{BoxFuture, Clock, Code, Fault, PoolError, Skill, SystemClock};
use crate::source::{FailedSkill, Loaded, Precedence, ShadowedSkill, SkillSource};

/// Bytes of bodies that stay in memory unless told otherwise.
const KEPT_BODIES: usize = 32 << 20;

/// A source of skills: folders that hold a `SKILL.md`, below any number of roots.
///
/// It keeps to the Agent Skills standard and is lenient as the standard's guide for clients asks: whatever is odd about a
/// file is told as a [`Diagnostic`], and only what cannot be used is left out. No bad file stops the rest.
///
/// A skill's id is the name its header gives, or its folder's name where there is none. Of two skills with one name, that
/// of the project goes before that of the user, and within one scope that of the root added first.
///
#[doc = include_str!("../../docs/skill-folders.md")]
///
/// # Examples
///
/// ```no_run
/// use skills_engine::Engine;
/// use skills_engine::source::SkillFolders;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let folders = SkillFolders::new().user("/home/ada/.agents/skills").project(".agents/skills", ".");
/// let engine = Engine::builder().source(folders).build().await?;
/// for diagnostic in &engine.report().diagnostics {
///     println!("{diagnostic}");
/// }
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct SkillFolders {
    name: Cow<'static, str>,
    roots: Vec<SkillRoot>,
    scopes: ScopePrecedence,
    kept_bodies: usize,
    is_required: bool,
    is_strict: bool,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared>,
    turnstile: Arc<Semaphore>,
    #[cfg(feature = "watch")]
    watch: Option<Arc<Watch>>,
}

impl Default for SkillFolders {
    fn default() -> Self {
        Self::new()
    }
}

impl SkillFolders {
    /// Begins a source without roots.
    pub fn new() -> Self {
        Self {
            name: Cow::Borrowed("folders"),
            roots: Vec::new(),
            scopes: ScopePrecedence::default(),
            kept_bodies: KEPT_BODIES,
            is_required: false,
            is_strict: false,
            clock: Arc::new(SystemClock::default()),
            shared: Arc::new(Shared::new()),
            turnstile: Arc::new(Semaphore::new(1)),
            #[cfg(feature = "watch")]
            watch: None,
        }
    }

    /// Names the source in reports, as `folders` unless told otherwise.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Adds a root with skills of the user's own.
    pub fn user(self, path: impl Into<PathBuf>) -> Self {
        self.root(SkillRoot::user(path))
    }

    /// Adds a root with the skills of a project that the user trusts. No `SKILL.md` may lie outside of `project_root`.
    pub fn project(self, path: impl Into<PathBuf>, project_root: impl Into<PathBuf>) -> Self {
        self.root(SkillRoot::project(path, project_root))
    }

    /// Adds a root.
    pub fn root(mut self, root: SkillRoot) -> Self {
        self.roots.push(root);
        self
    }

    /// Sets which scope goes first where two skills have one name.
    pub fn precedence_of_scopes(mut self, scopes: ScopePrecedence) -> Self {
        self.scopes = scopes;
        self
    }

    /// Makes a root that does not exist, or is no folder, a failure of the whole source: an engine is then not built.
    pub fn required(mut self) -> Self {
        self.is_required = true;
        self
    }

    /// Leaves out whatever a validator that follows the prose of the specification refuses, as failed. Keys that clients
    /// know and the specification does not have are told as `extension-field`.
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }

    /// Watches the roots: an engine then refreshes by itself when something changed below them, once nothing did for
    /// [`refresh_debounce`](crate::skill::Limits::refresh_debounce). A root that is missing is watched for, and one that goes
    /// may come back.
    ///
    /// Watched are the folders that were searched, and the names that lead to them, links among them. Nothing is watched of
    /// a project that the user does not trust. Where the system cannot watch, or not so many folders, a
    /// [diagnostic](DiagnosticKind::NotWatched) says so, and a refresh of the engine finds what changed.
    #[cfg(feature = "watch")]
    pub fn watch(mut self) -> Self {
        self.watch.get_or_insert_default();
        self
    }

    /// Sets how many bytes of bodies stay in memory, 32 MiB unless told otherwise. Others are read when they are needed,
    /// and must then be what they were when they were listed.
    pub fn kept_bodies(mut self, bytes: usize) -> Self {
        self.kept_bodies = bytes;
        self
    }

    /// Sets the clock that says how old files are, in place of the system's: for tests.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Searches the roots now and tells all there is to tell: what [`load`](SkillSource::load) gives, with the skills as
    /// what they are. One scan runs at a time; dropping the future ends the scan.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for a root that is required and not there, `limit_exceeded` when no thread can be had.
    pub async fn scan(&self) -> Result<FolderReport, Fault> {
        let permit = Arc::clone(&self.turnstile).acquire_owned().await;
        let cancelled = CancelOnDrop(Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&cancelled.0);
        let job = Job {
            source: self.name.clone().into_owned(),
            roots: self.ordered_roots(),
            kept_bodies: self.kept_bodies,
            is_strict: self.is_strict,
            now: self.clock.now(),
            shared: Arc::clone(&self.shared),
        };
        #[cfg(feature = "watch")]
        let watch = self.watch.clone();
        let result = self.shared.files.run(move || {
            // Held until the scan has ended, also when nobody waits for it any more.
            let _permit = permit;
            #[cfg(feature = "watch")]
            if let Some(watch) = watch {
                return watch.scan(&job, &flag);
            }
            job.run(&flag, |_| ())
        });
        let report = match result.await {
            Ok(Ok(report)) => report,
            Ok(Err(Cancelled)) => {
                return Err(Fault::new(
                    Code::Cancelled,
                    "the scan was given up. Scan again",
                ));
            }
            Err(PoolError::Full) => {
                return Err(Fault::new(
                    Code::LimitExceeded,
                    "no thread can be had to read folders. Try again in a moment",
                ));
            }
            Err(PoolError::Panicked) => {
                return Err(Fault::new(
                    Code::Panic,
                    "the scan panicked. Please report it",
                ));
            }
        };
        let is_root_problem = |found: &&Diagnostic| {
            matches!(
                found.kind,
                DiagnosticKind::RootMissing | DiagnosticKind::RootNotDirectory
            )
        };
        let missing: Vec<String> = report
            .diagnostics
            .iter()
            .filter(is_root_problem)
            .map(ToString::to_string)
            .collect();
        if self.is_required && !missing.is_empty() {
            return Err(Fault::new(Code::InvalidArguments, missing.join("; ")));
        }
        Ok(report)
    }

    /// The roots, those whose skills go first at the head.
    fn ordered_roots(&self) -> Vec<SkillRoot> {
        let mut roots = self.roots.clone();
        let is_project_first = self.scopes == ScopePrecedence::ProjectFirst;
        roots.sort_by_key(|root| root.is_of_project() != is_project_first);
        roots
    }
}

impl fmt::Debug for SkillFolders {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SkillFolders")
            .field("name", &self.name)
            .field("roots", &self.roots)
            .finish_non_exhaustive()
    }
}

impl SkillSource for SkillFolders {
    fn name(&self) -> &str {
        &self.name
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        Box::pin(async { Ok(self.load_and_tell().await?.skills) })
    }

    fn load_and_tell(&self) -> BoxFuture<'_, Result<Loaded, Fault>> {
        Box::pin(async { Ok(self.scan().await?.into()) })
    }

    fn precedence(&self) -> Precedence {
        Precedence::External
    }

    #[cfg(feature = "watch")]
    fn changed(&self) -> Option<BoxFuture<'static, ()>> {
        Some(self.watch.as_ref()?.changed())
    }
}

/// What a scan of [`SkillFolders`] found.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FolderReport {
    /// The skills, those of the roots that go first at the head; the last good version of a broken one among them.
    pub skills: Vec<Arc<FolderSkill>>,
    /// Folders that could not be taken in.
    pub failed: Vec<FailedSkill>,
    /// Skills left out because another one has their name.
    pub shadowed: Vec<ShadowedSkill>,
    /// All that was found, warnings and errors.
    pub diagnostics: Vec<Diagnostic>,
}

impl From<FolderReport> for Loaded {
    fn from(report: FolderReport) -> Self {
        let FolderReport {
            skills,
            failed,
            shadowed,
            diagnostics,
        } = report;
        Self {
            skills: skills
                .into_iter()
                .map(|skill| skill as Arc<dyn Skill>)
                .collect(),
            failed,
            shadowed,
            diagnostics,
        }
    }
}

/// Tells a scan that nobody waits for it.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
