use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use super::approval::ApprovalHandler;
use super::load::{BinaryFiles, BodyDelivery};
use super::narrow::AllowedToolsMode;
use super::refresh::{RefreshReport, Told};
use super::search::{Bm25Search, SkillSearch};
use super::settings::Settings;
use super::telling::Telling;
use crate::audit::{AuditDetail, AuditKey, AuditSink, ContentStore};
use crate::prompt::{Profile, PromptComposer, TokenBudget};
use crate::session::{PslControl, PslPolicy, Role, StandardPolicy, VisibilityStore};
use crate::skill::{Clock, Limits, Resources, Skill, SkillEntry, SkillType, SystemClock};
use crate::snapshot::{Redactor, SnapshotComposer};
use crate::source::{Linked, Provided, SkillSource};
use crate::store::MemoryStore;
use crate::tools::ExportOptions;

/// Puts an [`Engine`](super::Engine) together.
#[must_use]
pub struct EngineBuilder {
    pub(super) settings: Settings,
    // What the builder was told stands over the settings, whichever came first.
    pub(super) linked: Option<Linked>,
    pub(super) resources: Resources,
    pub(super) provided: Vec<Provided>,
    pub(super) skills: Vec<Arc<dyn Skill>>,
    pub(super) sources: Vec<Arc<dyn SkillSource>>,
    /// Types to make as linked ones are, linked or not.
    pub(super) made: Vec<&'static SkillEntry>,
    pub(super) without: BTreeSet<String>,
    pub(super) disabled: BTreeSet<String>,
    pub(super) expected: Vec<&'static str>,
    pub(super) is_enabled: Option<bool>,
    pub(super) limits: Option<Limits>,
    pub(super) session_idle: Option<Duration>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) store: Arc<dyn VisibilityStore>,
    pub(super) sinks: Vec<Arc<dyn AuditSink>>,
    pub(super) audit_key: Option<AuditKey>,
    pub(super) audit_detail: AuditDetail,
    pub(super) contents: Option<Arc<dyn ContentStore>>,
    pub(super) telling: Telling,
    pub(super) search: Arc<dyn SkillSearch>,
    pub(super) profile: Option<Profile>,
    pub(super) budget: Option<TokenBudget>,
    pub(super) delivery: Option<BodyDelivery>,
    pub(super) binary_files: Option<BinaryFiles>,
    pub(super) allowed_tools: Option<AllowedToolsMode>,
    pub(super) told: Option<Told>,
    pub(super) roles: Vec<(String, Role)>,
    pub(super) control: Option<PslControl>,
    pub(super) policy: Arc<dyn PslPolicy>,
    pub(super) approvals: Option<Arc<dyn ApprovalHandler>>,
}

impl Default for EngineBuilder {
    fn default() -> Self {
        Self {
            settings: Settings::default(),
            linked: None,
            resources: Resources::default(),
            provided: Vec::new(),
            skills: Vec::new(),
            sources: Vec::new(),
            made: Vec::new(),
            without: BTreeSet::new(),
            disabled: BTreeSet::new(),
            expected: Vec::new(),
            is_enabled: None,
            limits: None,
            session_idle: None,
            clock: Arc::new(SystemClock::default()),
            store: Arc::new(MemoryStore::default()),
            sinks: Vec::new(),
            audit_key: None,
            audit_detail: AuditDetail::default(),
            contents: None,
            telling: Telling::standard(),
            search: Arc::new(Bm25Search::default()),
            profile: None,
            budget: None,
            delivery: None,
            binary_files: None,
            allowed_tools: None,
            told: None,
            roles: Vec::new(),
            control: None,
            policy: Arc::new(StandardPolicy::default()),
            approvals: None,
        }
    }
}

impl EngineBuilder {
    /// Takes what was set outside of the program. Whatever else the builder is told stands over it, whichever came
    /// first; [`Engine::settings_report`](super::Engine::settings_report) says what holds in the end.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// Chooses which linked skills to take. The default is all of them.
    pub fn linked(mut self, linked: Linked) -> Self {
        self.linked = Some(linked);
        self
    }

    /// Puts a value for the factories of skills.
    pub fn resource<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.resources.put(value);
        self
    }

    /// Puts a value for the factories of skills that the host keeps too.
    pub fn resource_arc<T: Send + Sync + 'static>(self, value: Arc<T>) -> Self {
        self.resources.put_shared(value);
        self
    }

    /// Takes an instance of an annotated type in, instead of the one the engine would make.
    pub fn skill<T: SkillType>(self, value: T) -> Self {
        self.skill_arc(T::entry().id, Arc::new(value))
    }

    /// Takes an instance in under an id of its own, so that one type can be several skills.
    pub fn skill_as<T: SkillType>(self, id: impl Into<Cow<'static, str>>, value: T) -> Self {
        self.skill_arc(id, Arc::new(value))
    }

    /// Takes an instance in that the host keeps too.
    pub fn skill_arc<T: SkillType>(
        mut self,
        id: impl Into<Cow<'static, str>>,
        value: Arc<T>,
    ) -> Self {
        self.provided.push(Provided {
            id: id.into(),
            entry: T::entry(),
            instance: value,
        });
        self
    }

    /// Takes a skill in that is not an annotated type, such as one of a `SkillBuilder`.
    pub fn with_skill(mut self, skill: impl Skill) -> Self {
        self.skills.push(Arc::new(skill));
        self
    }

    /// Makes a skill of an annotated type, whatever is linked.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn make<T: SkillType>(mut self) -> Self {
        self.made.push(T::entry());
        self
    }

    /// Adds a source of skills, which is asked now and whenever the engine is refreshed.
    pub fn source(mut self, source: impl SkillSource) -> Self {
        self.sources.push(Arc::new(source));
        self
    }

    /// Leaves a linked skill out.
    pub fn without(mut self, id: impl Into<String>) -> Self {
        self.without.insert(id.into());
        self
    }

    /// Keeps a skill from every model; it stays reachable in code.
    pub fn disable(mut self, id: impl Into<String>) -> Self {
        self.disabled.insert(id.into());
        self
    }

    /// Switches the whole engine: while it is off, models see nothing, and skills stay reachable in code.
    pub fn enabled(mut self, is_enabled: bool) -> Self {
        self.is_enabled = Some(is_enabled);
        self
    }

    /// Fails the build when no skill of a package arrived.
    pub fn expect_crate(mut self, package: &'static str) -> Self {
        self.expected.push(package);
        self
    }

    /// Sets the bounds on everything that input can drive, every one of them: those of settings do not count any more.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = Some(limits);
        self.session_idle = None;
        self
    }

    /// Sets how long a session may be idle before it is ended.
    pub fn session_idle(mut self, idle: Duration) -> Self {
        self.session_idle = Some(idle);
        self
    }

    /// Sets where time comes from.
    pub fn clock(mut self, clock: Arc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Sets where grants are kept. The default is this process's memory.
    pub fn store(mut self, store: Arc<dyn VisibilityStore>) -> Self {
        self.store = store;
        self
    }

    /// Adds a place where the audit trail is written. Without any it is a ring in memory.
    pub fn audit(mut self, sink: Arc<dyn AuditSink>) -> Self {
        self.sinks.push(sink);
        self
    }

    /// Sets the key that makes the audit chain proof against more than accidents.
    pub fn audit_key(mut self, key: AuditKey) -> Self {
        self.audit_key = Some(key);
        self
    }

    /// Sets whether the audit trail keeps what models were shown, or digests alone. The default is digests.
    pub fn audit_detail(mut self, detail: AuditDetail) -> Self {
        self.audit_detail = detail;
        self
    }

    /// Sets where it is kept what models were shown, if it is. The default is this process's memory.
    pub fn audit_contents(mut self, store: Arc<dyn ContentStore>) -> Self {
        self.contents = Some(store);
        self
    }

    /// Sets who writes the prompt.
    pub fn prompt_composer(mut self, composer: Arc<dyn PromptComposer>) -> Self {
        self.telling.prompts = Some(composer);
        self
    }

    /// Sets who chooses what is shown of skills, and who writes their snapshots.
    pub fn snapshot_composer(mut self, composer: Arc<dyn SnapshotComposer>) -> Self {
        self.telling.snapshots = Some(composer);
        self
    }

    /// Sets who sees every text of skills before it is shown to anyone. The default is nobody.
    pub fn redactor(mut self, redactor: Arc<dyn Redactor>) -> Self {
        self.telling.redactor = Some(redactor);
        self
    }

    /// Sets what stands before the descriptions of tools where they are listed for a model: nothing, by default.
    pub fn export(mut self, options: ExportOptions) -> Self {
        self.telling.export = options;
        self
    }

    /// Adds a role: what its principals see at most.
    ///
    /// Without any role everything is allowed to everyone. Once there is one, a principal sees what its roles name,
    /// of several the most, and nothing else; its model opens skills only where a role names `psl-skill`.
    pub fn role(mut self, name: impl Into<String>, define: impl FnOnce(Role) -> Role) -> Self {
        self.roles.push((name.into(), define(Role::default())));
        self
    }

    /// Sets whether models may open skills by themselves. The default is that they may.
    pub fn psl_control(mut self, control: PslControl) -> Self {
        self.control = Some(control);
        self
    }

    /// Sets what guards every change of what a session sees.
    pub fn policy(mut self, policy: impl PslPolicy) -> Self {
        self.policy = Arc::new(policy);
        self
    }

    /// Sets who asks a person: for calls of tools that need an approval, and for questions of tools.
    ///
    /// [`LeavePending`](super::LeavePending) leaves everything to be answered later. Without a handler nobody can be asked,
    /// and what needs an approval is refused.
    pub fn approvals(mut self, handler: impl ApprovalHandler + 'static) -> Self {
        self.approvals = Some(Arc::new(handler));
        self
    }

    /// Sets how skills with content are shown and loaded: the names of tools and parameters, and the form of results.
    /// The default is [`Profile::psl`].
    pub fn profile(mut self, profile: Profile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Sets what the list of skills may take of a prompt. The default is 20,000 tokens of four characters each.
    ///
    /// Where not all fits, descriptions are shortened, then left out, then names are; the view, the audit trail and a
    /// line for the model tell what was cut. A [prompt composer](Self::prompt_composer) of the host's own lists skills
    /// as it likes, unless a profile has another format than [`Skills`](crate::prompt::CatalogueFormat::Skills).
    pub fn catalogue_budget(mut self, budget: TokenBudget) -> Self {
        self.budget = Some(budget);
        self
    }

    /// Sets who is told what each refresh did, those included that an engine makes by itself. It is called while the
    /// refresh ends, so it must be quick.
    pub fn on_refresh(mut self, told: impl Fn(&RefreshReport) + Send + Sync + 'static) -> Self {
        self.told = Some(Arc::new(told));
        self
    }

    /// Sets where the body of a skill stands that a model has opened.
    pub fn body_delivery(mut self, delivery: BodyDelivery) -> Self {
        self.delivery = Some(delivery);
        self
    }

    /// Sets what becomes of the tools that skills list in `allowed-tools`. The default is nothing.
    pub fn allowed_tools(mut self, mode: AllowedToolsMode) -> Self {
        self.allowed_tools = Some(mode);
        self
    }

    /// Sets what a model is told of a file of a skill that is no text.
    pub fn binary_files(mut self, binary: BinaryFiles) -> Self {
        self.binary_files = Some(binary);
        self
    }

    /// Sets how skills are found. The default is [`Bm25Search`].
    pub fn search(mut self, search: Arc<dyn SkillSearch>) -> Self {
        self.search = search;
        self
    }
}

impl std::fmt::Debug for EngineBuilder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("EngineBuilder")
            .field("linked", &self.linked)
            .finish_non_exhaustive()
    }
}
