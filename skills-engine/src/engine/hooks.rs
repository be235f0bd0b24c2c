use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use futures_util::FutureExt as _;
use futures_util::future::{join, join_all};
use tracing::Instrument as _;

use super::attached::{Attached, TurnTools};
use super::cell::Cell;
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::notes::HookNotebook;
use super::rights::Rights;
use crate::audit::{AuditKind, HookFailure};
use crate::registry::{RegisteredTool, SkillIndex};
use crate::session::{AllowList, Why};
use crate::skill::{
    Actor, Asker, AttachContext, Code, Fault, HookCall, Hooks, Notebook, SchemaCache, Tool,
    ToolSelection, TurnId, TurnRequest, within,
};
use crate::tools::wire_name;

/// What a turn begins with.
pub(super) struct Beginning {
    pub(super) id: TurnId,
    pub(super) epoch: Arc<Epoch>,
    pub(super) request: TurnRequest,
    /// The lists that the request brought.
    pub(super) lists: Arc<[AllowList]>,
    /// What hooks made of it, where there are any.
    pub(super) attached: Option<Arc<Attached>>,
}

impl Beginning {
    /// A turn of whose request no skill has been told yet.
    pub(super) fn new(
        engine: &EngineInner,
        cell: &Cell,
        mut request: TurnRequest,
        lists: Arc<[AllowList]>,
    ) -> Self {
        request.asker = Some(Asker {
            principal: cell.principal(),
            session: cell.scope.id.clone(),
        });
        Self {
            id: cell.next_turn(),
            epoch: engine.epoch_of_turn(),
            request,
            lists,
            attached: None,
        }
    }

    /// Tells the skills that take part of the request, and takes in what they make of the turn.
    ///
    /// The error says which skill that is required failed.
    pub(super) async fn attach(
        mut self,
        engine: &Arc<EngineInner>,
        cell: &Arc<Cell>,
    ) -> Result<Self, Fault> {
        if self.epoch.hooked.is_empty() {
            return Ok(self);
        }
        let access = cell.access();
        let resolved = engine.resolve(&self.epoch, cell, access.as_ref(), &self.lists);
        let notebook: Arc<dyn Notebook> = Arc::new(HookNotebook {
            engine: Arc::clone(engine),
            cell: Arc::clone(cell),
            epoch: Arc::clone(&self.epoch),
            turn: self.id,
        });
        let asking = Asking {
            engine,
            cell,
            epoch: &self.epoch,
            turn: self.id,
            notebook: Arc::downgrade(&notebook),
        };
        let span = tracing::debug_span!("hooks", session = %cell.scope.id, turn = self.id.0);
        let attached = asking
            .attach(&resolved.rights, &mut self.request)
            .instrument(span)
            .await?;
        self.attached = Some(Arc::new(attached));
        Ok(self)
    }
}

/// Asks the hooks of one turn.
struct Asking<'a> {
    engine: &'a Arc<EngineInner>,
    cell: &'a Arc<Cell>,
    epoch: &'a Arc<Epoch>,
    turn: TurnId,
    notebook: Weak<dyn Notebook>,
}

/// A skill that takes part so far.
struct Attaching<'a> {
    index: SkillIndex,
    hooks: &'a Hooks,
    cx: AttachContext,
}

/// How a hook failed, with what only the log may tell.
struct Failed(HookFailure, Option<String>);

impl Asking<'_> {
    async fn attach(&self, rights: &Rights, request: &mut TurnRequest) -> Result<Attached, Fault> {
        let mut attached = Attached::new(TurnTools::new(self.epoch));
        let mut attaching = Vec::new();
        // One after another, by id: each sees the request as those before it left it.
        for index in self.epoch.hooked.iter().copied() {
            let Some(hooks) = self.epoch.registry.skill(index).skill.hooks() else {
                continue;
            };
            if rights.is_denied(index) {
                attached.deny(index, Why::NotAsked);
                continue;
            }
            let skill = Attaching {
                index,
                hooks,
                cx: self.context(index, request),
            };
            match self.begin(&skill, request).await {
                Ok(true) => attaching.push(skill),
                Ok(false) => attached.deny(index, Why::NotSupported),
                Err((hook, failed)) => {
                    self.fail(index, hook, failed)?;
                    attached.deny(index, Why::HookFailed);
                }
            }
        }
        let request = &*request;
        let answers = attaching.iter().map(|skill| async move {
            let instructions = async {
                let hook = skill.hooks.instructions.as_deref()?;
                Some(self.ask(|| hook(request, &skill.cx)).await)
            };
            let tools = async {
                let hook = skill.hooks.tools.as_deref()?;
                Some(self.ask(|| hook(request, &skill.cx)).await)
            };
            join(instructions, tools).await
        });
        let answers = join_all(answers).await;
        for (skill, (instructions, tools)) in attaching.iter().zip(answers) {
            let index = skill.index;
            let taken = self.take(&mut attached, index, instructions, tools);
            if let Err((hook, failed)) = taken {
                self.fail(index, hook, failed)?;
                attached.deny(index, Why::HookFailed);
            }
        }
        Ok(attached.sorted())
    }

    fn context(&self, index: SkillIndex, request: &TurnRequest) -> AttachContext {
        let (session, id) = (&self.cell.scope, &self.epoch.registry.skill(index).id);
        // Whoever began the turn set it, and it is put back after every change of the request.
        let asker = request.asker.clone().unwrap_or_else(|| Asker {
            principal: self.cell.principal(),
            session: session.id.clone(),
        });
        AttachContext::new(Arc::clone(session), self.turn, &asker, Arc::clone(id))
            .notebook(index, Weak::clone(&self.notebook))
    }

    /// Asks whether a skill takes part, and lets it if so.
    async fn begin(
        &self,
        skill: &Attaching<'_>,
        request: &mut TurnRequest,
    ) -> Result<bool, (&'static str, Failed)> {
        if let Some(hook) = skill.hooks.supports.as_deref() {
            let asked = self.ask(|| hook(request, &skill.cx)).await;
            if !asked.map_err(|failed| ("supports", failed))? {
                return Ok(false);
            }
        }
        if let Some(hook) = skill.hooks.on_attach.as_deref() {
            // A copy: of a hook that fails half way, nothing stays.
            let mut changed = request.clone();
            let asked = self.ask(|| hook(&mut changed, &skill.cx)).await;
            asked.map_err(|failed| ("on_attach", failed))?;
            changed.asker = request.asker.take();
            changed.progress = changed.progress.or_else(|| request.progress.take());
            *request = changed;
        }
        Ok(true)
    }

    /// Asks one hook, within its time; a panic stays inside.
    async fn ask<'h, T>(&self, begin: impl FnOnce() -> HookCall<'h, T>) -> Result<T, Failed> {
        let (clock, limit) = (&*self.engine.clock, self.engine.limits.hook_timeout);
        let started = clock.monotonic_nanos();
        let panicked = |_| Failed(HookFailure::Panic, None);
        let late = || Failed(HookFailure::Timeout, None);
        let answer = match catch_unwind(AssertUnwindSafe(begin)).map_err(panicked)? {
            HookCall::Ready(answer) => answer,
            HookCall::Pending(future) => {
                let guarded = AssertUnwindSafe(future).catch_unwind();
                let answer = within(clock, limit, guarded).await.ok_or_else(late)?;
                answer.map_err(panicked)?
            }
        };
        // One that did not wait cannot be stopped, but what comes too late does not count.
        let taken = clock.monotonic_nanos().saturating_sub(started);
        if u128::from(taken) > limit.as_nanos() {
            return Err(late());
        }
        answer.map_err(|fault| Failed(HookFailure::Error, Some(fault.0)))
    }

    /// Takes in what a skill gives for the turn.
    fn take(
        &self,
        attached: &mut Attached,
        index: SkillIndex,
        instructions: Option<Result<Option<String>, Failed>>,
        tools: Option<Result<ToolSelection, Failed>>,
    ) -> Result<(), (&'static str, Failed)> {
        let instructions = instructions.transpose();
        let instructions = instructions.map_err(|failed| ("instructions", failed))?;
        let selection = tools
            .transpose()
            .and_then(|selection| self.select(attached, index, selection.unwrap_or_default()));
        selection.map_err(|failed| ("tools", failed))?;
        if let Some(text) = instructions
            .flatten()
            .filter(|text| !text.trim().is_empty())
        {
            attached.instruct(index, cut(text, self.engine.limits.attribute));
        }
        Ok(())
    }

    fn select(
        &self,
        attached: &mut Attached,
        index: SkillIndex,
        selection: ToolSelection,
    ) -> Result<(), Failed> {
        let registry = &self.epoch.registry;
        let registered = registry.skill(index).tools.all();
        match selection {
            ToolSelection::All => {}
            ToolSelection::Only(names) => {
                let mut selected = HashSet::new();
                for name in &names {
                    let tool = registry.tool_index(index, name);
                    selected.insert(
                        tool.ok_or_else(|| unusable(format!("there is no tool `{name}`")))?,
                    );
                }
                attached.select(index, registered.filter(|tool| !selected.contains(tool)));
            }
            ToolSelection::Replace(tools) => {
                // Made before any is added, so that one that cannot be made leaves none behind.
                for (name, tool) in self.made(attached.tools(), index, &tools)? {
                    attached.tools_mut().add(name, tool);
                }
                attached.select(index, registered);
            }
        }
        Ok(())
    }

    /// Makes the tools that a skill gives for the turn, under names that nobody else has.
    fn made(
        &self,
        taken: &TurnTools,
        skill: SkillIndex,
        tools: &[Tool],
    ) -> Result<Vec<(Arc<str>, RegisteredTool)>, Failed> {
        let most = self.engine.limits.turn_tools;
        if tools.len() > most {
            return Err(unusable(format!(
                "{} tools are more than the {most} there may be",
                tools.len()
            )));
        }
        let id = &self.epoch.registry.skill(skill).id;
        // Schemas are made by code of the types.
        let made = catch_unwind(AssertUnwindSafe(|| {
            let mut schemas = SchemaCache::default();
            let mut names = HashSet::new();
            let (mut bytes, most_bytes) = (0_usize, self.engine.limits.view_attributes);
            tools
                .iter()
                .map(|tool| {
                    let own = &*tool.definition.name;
                    tool.check().map_err(|fault| unusable(fault.message))?;
                    let name: Arc<str> = wire_name(id, own).into();
                    if self.epoch.catalogue.find(&name).is_some() || taken.find(&name).is_some() {
                        return Err(unusable(format!("another tool is called `{name}`")));
                    }
                    if !names.insert(Arc::clone(&name)) {
                        return Err(unusable(format!("two tools are called `{name}`")));
                    }
                    let schema = schemas.input_schema(&tool.schema_source());
                    let input_schema = schema.map_err(|fault| unusable(fault.message))?;
                    let definition = &tool.definition;
                    let title = definition.title.as_deref().unwrap_or_default();
                    bytes += title.len() + definition.description.len() + input_schema.len();
                    if bytes > most_bytes {
                        return Err(unusable(format!(
                            "the descriptions and schemas of its tools have more than {most_bytes} bytes"
                        )));
                    }
                    let tool = RegisteredTool {
                        skill,
                        name: own.into(),
                        definition: tool.definition.clone(),
                        handler: tool.registered_handler(),
                        input_schema,
                    };
                    Ok((name, tool))
                })
                .collect()
        }));
        made.unwrap_or_else(|_| Err(Failed(HookFailure::Panic, None)))
    }

    /// Writes down that a hook failed; an error when the turn cannot do without its skill.
    fn fail(&self, index: SkillIndex, hook: &'static str, failed: Failed) -> Result<(), Fault> {
        let Failed(failure, text) = failed;
        let registered = self.epoch.registry.skill(index);
        let id = &registered.id;
        tracing::warn!(
            skill = %id,
            hook,
            failure = failure.as_str(),
            error = text.as_deref(),
            "a hook failed"
        );
        let kind = AuditKind::HookFailed {
            skill: Arc::clone(id),
            hook,
            failure,
        };
        let event = self.engine.event(self.cell, Actor::System, kind);
        self.engine.audit.record(event.turn(self.turn));
        if !registered.definition().required {
            return Ok(());
        }
        let code = match failure {
            HookFailure::Timeout => Code::Timeout,
            HookFailure::Panic => Code::Panic,
            HookFailure::Error | HookFailure::Answer => Code::ToolError,
        };
        Err(Fault::new(
            code,
            format!(
                "the turn cannot begin without `{id}`, whose hook `{hook}` failed ({}). The log says why; begin the turn again",
                failure.as_str()
            ),
        ))
    }
}

fn unusable(why: String) -> Failed {
    Failed(HookFailure::Answer, Some(why))
}

/// A text within so many bytes, marked where it was cut.
fn cut(text: String, most: usize) -> Box<str> {
    const MARK: &str = "… (cut)";
    if text.len() <= most {
        return text.into_boxed_str();
    }
    let mut end = most.saturating_sub(MARK.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    [&text[..end], MARK].concat().into_boxed_str()
}
