use std::borrow::Cow;
use std::fmt;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};

use super::embedded_folder::{EmbeddedFolder, EmbeddedRoot};
use super::embedded_skill::EmbeddedSkill;
use super::findings::{left_out, main_not_file, other_case};
use super::intake::{Intake, judge};
use super::needs::Machine;
use super::resources::{Listing, list_given};
use super::skill::Main;
use super::{Diagnostic, MAIN};
use crate::skill::{BlockingPool, BoxFuture, Code, Fault, PoolError, Skill, lock};
use crate::source::{Loaded, Precedence, SkillSource};

/// A source of skills: folders that were compiled into the program, as a value.
///
/// [`embedded_skills!`](macro@crate::embedded_skills) gives it; the folders that [`embed_skills!`](macro@crate::embed_skills)
/// embeds are taken in by engines without it. All that holds of [`SkillFolders`](super::SkillFolders) holds here, too,
/// but that skills have no [`base_dir`](crate::skill::SkillContent::base_dir), and that any other skill of the same name
/// goes first.
///
/// # Examples
///
/// ```no_run
/// use skills_engine::Engine;
/// use skills_engine::source::EmbeddedSkills;
///
/// # async fn run(skills: EmbeddedSkills) -> Result<(), Box<dyn std::error::Error>> {
/// // let skills = skills_engine::embedded_skills!("skills");
/// let engine = Engine::builder().source(skills.strict()).build().await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct EmbeddedSkills {
    name: Cow<'static, str>,
    root: &'static EmbeddedRoot,
    is_strict: bool,
    known: Arc<Mutex<Vec<Known>>>,
    thread: BlockingPool,
}

/// A folder as it was read, and the last skill that was made of it.
struct Known {
    read: Result<Arc<Main>, Vec<Diagnostic>>,
    listing: Arc<Listing>,
    skill: Option<Arc<EmbeddedSkill>>,
}

impl EmbeddedSkills {
    // Not public API: what the macros call.
    #[doc(hidden)]
    pub fn new(root: &'static EmbeddedRoot) -> Self {
        Self {
            name: Cow::Borrowed(root.origin.crate_name),
            root,
            is_strict: false,
            known: Arc::default(),
            thread: BlockingPool::new(1),
        }
    }

    /// Names the source in reports, after its package unless told otherwise.
    pub fn named(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// Leaves out whatever a validator that follows the prose of the specification refuses, as failed. Keys that clients
    /// know and the specification does not have are told as `extension-field`.
    pub fn strict(mut self) -> Self {
        self.is_strict = true;
        self
    }
}

/// The ids of the skills in a folder.
pub(crate) fn embedded_ids(root: &'static EmbeddedRoot) -> impl Iterator<Item = String> {
    let folders = root.folders.iter();
    folders.filter_map(|folder| Some(Known::new(root, folder).read.ok()?.header.name.clone()))
}

impl Known {
    fn new(root: &EmbeddedRoot, folder: &'static EmbeddedFolder) -> Self {
        let place = root.place(folder.path);
        let shown = format!("{place}/{}", folder.main_name);
        let name = place.rsplit('/').next().unwrap_or_default();
        // The binary bounds it.
        let space = Arc::new(AtomicUsize::new(usize::MAX));
        let read = match folder.main {
            Some(bytes) => Main::read(bytes, name, &shown, &space).map(Arc::new),
            None => Err(vec![main_not_file(Path::new(&shown))]),
        };
        let files = folder.files.iter();
        let files = files.map(|file| (file.path, file.bytes.len() as u64, file.is_executable));
        Self {
            read,
            listing: Arc::new(list_given(Path::new(&*place), files, folder.is_cut)),
            skill: None,
        }
    }
}

/// One load.
struct Job {
    source: String,
    root: &'static EmbeddedRoot,
    is_strict: bool,
    known: Arc<Mutex<Vec<Known>>>,
}

impl Job {
    fn run(self) -> Loaded {
        let root = self.root;
        let mut known = lock(&self.known);
        if known.is_empty() {
            let folders = root.folders.iter();
            known.extend(folders.map(|folder| Known::new(root, folder)));
        }
        let too_deep = root.too_deep.iter();
        let too_deep =
            too_deep.map(|(path, count)| left_out(Path::new(&*root.place(path)), *count));
        let mut intake = Intake::new(&self.source, known.len(), too_deep.collect());
        let mut machine = Machine::new();
        for (folder, known) in root.folders.iter().zip(&mut *known) {
            self.settle(folder, known, &mut intake, &mut machine);
        }
        let taken = intake.finish();
        let skills = taken.skills.into_iter();
        Loaded {
            skills: skills.map(|skill| skill as Arc<dyn Skill>).collect(),
            failed: taken.failed,
            shadowed: taken.shadowed,
            diagnostics: taken.diagnostics,
        }
    }

    /// Makes a skill of a folder, the same one as before where nothing differs.
    fn settle(
        &self,
        folder: &'static EmbeddedFolder,
        known: &mut Known,
        intake: &mut Intake<'_, EmbeddedSkill>,
        machine: &mut Machine,
    ) {
        let place = self.root.place(folder.path);
        let mut found = Vec::new();
        if folder.main_name != MAIN {
            found.push(other_case(&format!("{place}/{}", folder.main_name)));
        }
        let main = match &known.read {
            Ok(main) => {
                found.extend_from_slice(&main.diagnostics);
                Some(main)
            }
            Err(errors) => {
                found.extend_from_slice(errors);
                None
            }
        };
        let judged = judge(
            main.map(Arc::as_ref),
            &known.listing,
            Path::new(&*place),
            found,
            self.is_strict,
            machine,
        );
        intake.diagnostics.extend(judged.diagnostics);
        match (main, judged.verdict) {
            (Some(main), Ok(unmet)) => {
                let same = |skill: &&Arc<EmbeddedSkill>| skill.definition().unmet == unmet;
                let skill = match known.skill.as_ref().filter(same) {
                    Some(skill) => Arc::clone(skill),
                    None => Arc::new(EmbeddedSkill::new(
                        main,
                        &known.listing,
                        folder,
                        self.root.origin,
                        unmet,
                    )),
                };
                intake.take(&skill, &place);
                known.skill = Some(skill);
            }
            (_, verdict) => intake.fail(None, &place, verdict.err().unwrap_or_default()),
        }
    }
}

impl fmt::Debug for EmbeddedSkills {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("EmbeddedSkills")
            .field("name", &self.name)
            .field("root", &self.root.path)
            .finish_non_exhaustive()
    }
}

impl SkillSource for EmbeddedSkills {
    fn name(&self) -> &str {
        &self.name
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        Box::pin(async { Ok(self.load_and_tell().await?.skills) })
    }

    fn load_and_tell(&self) -> BoxFuture<'_, Result<Loaded, Fault>> {
        let job = Job {
            source: self.name.clone().into_owned(),
            root: self.root,
            is_strict: self.is_strict,
            known: Arc::clone(&self.known),
        };
        Box::pin(async {
            // Away from what waits: headers are parsed, and programs that skills need are looked for.
            self.thread
                .run(|| job.run())
                .await
                .map_err(|error| match error {
                    PoolError::Full => Fault::new(
                        Code::LimitExceeded,
                        "no thread can be had to read embedded skills. Try again in a moment",
                    ),
                    PoolError::Panicked => Fault::new(
                        Code::Panic,
                        "reading embedded skills panicked. Please report it",
                    ),
                })
        })
    }

    fn precedence(&self) -> Precedence {
        Precedence::Builtin
    }
}
