use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tracing::Instrument as _;

use super::change::event_at;
use super::fence::fenced;
use super::turn::Turn;
use super::turn_core::TurnCore;
use crate::audit::AuditKind;
use crate::registry::ToolIndex;
use crate::session::{Decision, MemberFacts, decide};
use crate::skill::{
    Actor, Code, Fault, Timestamp, ToolContext, ToolOutput, Visibility, nearest, shown,
};
use crate::tools::{Dispatch, dispatch};

/// A call that a model asked for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ToolCall {
    /// The id that the model gave the call.
    pub id: Arc<str>,
    /// The tool's name on the wire.
    pub name: String,
    /// The arguments, as JSON text; empty counts as `{}`.
    pub arguments: String,
}

impl ToolCall {
    /// A call with its arguments as JSON text.
    pub fn new(
        id: impl Into<Arc<str>>,
        name: impl Into<String>,
        arguments: impl Into<String>,
    ) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            arguments: arguments.into(),
        }
    }
}

/// What became of one call.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CallResult {
    /// The id of the call.
    pub call_id: Arc<str>,
    /// The name that was called.
    pub name: String,
    /// What the tool gave, or why it gave nothing.
    pub outcome: Result<ToolOutput, Fault>,
    /// Whether the tool's result is meant to be the answer.
    pub return_direct: bool,
    most_bytes: usize,
}

/// A result as a message for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultMessage {
    /// The id of the call it answers.
    pub call_id: Arc<str>,
    /// The name that was called.
    pub name: String,
    /// What the model reads.
    pub text: String,
    /// Whether the call failed.
    pub is_error: bool,
}

impl CallResult {
    /// The result as text: a tool's as it is, or the failure as `code: message`; cut at the limit and marked.
    #[must_use]
    pub fn text(&self) -> String {
        let (text, _) = match &self.outcome {
            Ok(output) => output.to_model_text(self.most_bytes),
            Err(fault) => ToolOutput::text(fault.to_string()).to_model_text(self.most_bytes),
        };
        text
    }

    /// The result as a message: what a tool gave, its errors included, is data, fenced with its origin.
    #[must_use]
    pub fn message(&self) -> ResultMessage {
        let text = self.text();
        let is_of_tool = match &self.outcome {
            Ok(_) => true,
            Err(fault) => fault.code == Code::ToolError,
        };
        let text = if is_of_tool {
            fenced(&self.name, &text)
        } else {
            text
        };
        ResultMessage {
            call_id: Arc::clone(&self.call_id),
            name: self.name.clone(),
            text,
            is_error: self.outcome.is_err(),
        }
    }
}

/// What became of the calls of one reply, in the order of the calls.
#[derive(Clone, Debug)]
pub struct CallResults {
    results: Vec<CallResult>,
}

impl CallResults {
    /// The results, in the order of the calls.
    pub fn iter(&self) -> std::slice::Iter<'_, CallResult> {
        self.results.iter()
    }

    /// The results as messages for the model: one for each call.
    pub fn messages(&self) -> impl ExactSizeIterator<Item = ResultMessage> {
        self.results.iter().map(CallResult::message)
    }

    /// Whether the results are the answer: every call was of a tool whose result is, and succeeded.
    #[must_use]
    pub fn return_direct(&self) -> bool {
        !self.results.is_empty()
            && self
                .results
                .iter()
                .all(|result| result.return_direct && result.outcome.is_ok())
    }
}

impl<'a> IntoIterator for &'a CallResults {
    type Item = &'a CallResult;
    type IntoIter = std::slice::Iter<'a, CallResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for CallResults {
    type Item = CallResult;
    type IntoIter = std::vec::IntoIter<CallResult>;

    fn into_iter(self) -> Self::IntoIter {
        self.results.into_iter()
    }
}

impl Turn {
    /// Carries out all calls of one reply and answers each.
    ///
    /// Neighbors that are read-only or idempotent run at the same time, the others one after another. A call runs only
    /// if its tool is in the turn's latest view and still visible; without a view, if it is visible. Dropping the
    /// future cancels what has not finished.
    pub async fn calls(&mut self, calls: impl IntoIterator<Item = ToolCall>) -> CallResults {
        let most = self.core.engine.limits.calls_per_reply;
        let calls: Vec<_> = calls.into_iter().collect();
        let mut results = Vec::with_capacity(calls.len());
        let (allowed, beyond) = calls.split_at(calls.len().min(most));
        let mut rest = allowed;
        while let Some(first) = rest.first() {
            let together = rest
                .iter()
                .take_while(|call| self.may_overlap(call))
                .count()
                .max(1);
            let (now, later) = rest.split_at(together);
            rest = later;
            if let [_] = now {
                results.push(self.call(first).await);
            } else {
                results.extend(join_all(now.iter().map(|call| self.call(call))).await);
            }
        }
        let TurnCore { engine, cell, .. } = &*self.core;
        cell.touch(engine.clock.now());
        for call in beyond {
            let fault = Fault::new(
                Code::LimitExceeded,
                format!("a reply holds at most {most} calls. Make this one in your next reply"),
            );
            results.push(self.refuse(call, fault));
        }
        self.core.engine.audit.relieve().await;
        CallResults { results }
    }

    fn may_overlap(&self, call: &ToolCall) -> bool {
        let TurnCore { epoch, .. } = &*self.core;
        epoch.catalogue.find(&call.name).is_some_and(|tool| {
            let annotations = epoch.registry.tool(tool).definition.annotations;
            annotations.read_only || annotations.idempotent
        })
    }

    async fn call(&self, call: &ToolCall) -> CallResult {
        let span = tracing::info_span!(
            parent: self.span(),
            "execute_tool",
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = tracing::field::Empty,
            "gen_ai.tool.call.id" = &*recorded_id(call),
            skill = tracing::field::Empty,
        );
        // Read once for all that happens before the tool runs.
        let now = self.core.engine.clock.now();
        match self.admit(call, now) {
            Ok(tool) => {
                let registered = self.core.epoch.registry.tool(tool);
                if !span.is_disabled() {
                    span.record("gen_ai.tool.name", &**self.core.epoch.catalogue.name(tool));
                    span.record(
                        "skill",
                        &*self.core.epoch.registry.skill(registered.skill).id,
                    );
                }
                self.run(call, tool, now).instrument(span).await
            }
            Err(fault) => self.refuse(call, fault),
        }
    }

    /// Everything that must hold before anything runs.
    fn admit(&self, call: &ToolCall, now: Timestamp) -> Result<ToolIndex, Fault> {
        let TurnCore {
            engine,
            cell,
            epoch,
            ..
        } = &*self.core;
        if cell.has_ended() {
            return Err(super::change::ended());
        }
        let unknown = || self.unknown_tool(&call.name);
        let tool = epoch.catalogue.find(&call.name).ok_or_else(unknown)?;
        let registered = epoch.registry.tool(tool);
        let definition = &registered.definition;
        let skill = epoch.registry.skill(registered.skill);
        match self.decide(tool, now) {
            Decision::Visible => {}
            Decision::Hidden { have, need } => {
                let id = &skill.id;
                if let Some(ceiling) = cell.published().1.standing(id).ceiling()
                    && ceiling < need
                {
                    return Err(Fault::new(
                        Code::Hidden,
                        format!("`{id}` is limited to {ceiling} in this session. Do without it"),
                    ));
                }
                let next = if epoch.texts.has_control() {
                    format!("open `{id}` at {need} with psl-skill__set_skill_visibility first")
                } else {
                    format!("ask the user to open `{id}` at {need}")
                };
                return Err(Fault::new(
                    Code::Hidden,
                    format!("`{id}` is at {have}; {next}"),
                ));
            }
            Decision::Denied(_) | Decision::Disabled | Decision::Unknown => return Err(unknown()),
        }
        if self
            .last
            .as_ref()
            .is_some_and(|last| !last.view.layout().shows(tool))
        {
            return Err(Fault::new(
                Code::Hidden,
                format!(
                    "`{}` is open now, but you have not seen its tools yet. Call it in the next step",
                    skill.id
                ),
            ));
        }
        if definition.requires_approval {
            return Err(Fault::new(
                Code::ApprovalRequired,
                format!(
                    "a person must approve `{}`, and nobody can be asked here. Do without it",
                    call.name
                ),
            ));
        }
        if call.arguments.len() > engine.limits.arguments {
            return Err(Fault::new(
                Code::LimitExceeded,
                format!(
                    "arguments have at most {} bytes. Send less",
                    engine.limits.arguments
                ),
            ));
        }
        if !definition.annotations.read_only && engine.audit.is_failing() {
            return Err(Fault::new(
                Code::AuditUnavailable,
                "the audit trail cannot be written, so only reading is allowed. Try again later",
            ));
        }
        Ok(tool)
    }

    /// Says that there is no such tool, and which visible one may be meant.
    fn unknown_tool(&self, name: &str) -> Fault {
        /// Tools that a name is compared with: a model that makes up names must not keep a core busy.
        const MOST: usize = 200;
        let epoch = &self.core.epoch;
        let visible = || {
            let runs = self.last.iter().flat_map(|last| &last.view.layout().tools);
            runs.cloned().flatten().take(MOST)
        };
        let own_name = name.rsplit(['.', '/', ':', ' ']).next().unwrap_or(name);
        let namesake = visible().find(|tool| *epoch.registry.tool(*tool).name == *own_name);
        let names = || visible().map(|tool| &**epoch.catalogue.name(tool));
        let meant = namesake
            .map(|tool| &**epoch.catalogue.name(tool))
            .or_else(|| nearest(name, names()));
        let next = match meant {
            Some(meant) => format!("Did you mean `{meant}`?"),
            None => "Use one that is listed, or open the skill it belongs to".to_owned(),
        };
        Fault::new(
            Code::UnknownTool,
            format!("there is no tool `{}`. {next}", shown(name, 64)),
        )
    }

    fn decide(&self, tool: ToolIndex, now: Timestamp) -> Decision {
        let TurnCore { cell, epoch, .. } = &*self.core;
        let registered = epoch.registry.tool(tool);
        let skill = epoch.registry.skill(registered.skill);
        let state = cell.published().1;
        let turn = self
            .core
            .with_grants(|grants| grants.level(&skill.id, &state));
        let member = MemberFacts::new(registered.definition.level, registered.definition.expose);
        let facts = epoch.facts(registered.skill);
        decide(
            Some(&facts),
            Some(&member),
            &state.standing(&skill.id),
            turn,
            now,
        )
    }

    async fn run(&self, call: &ToolCall, tool: ToolIndex, now: Timestamp) -> CallResult {
        let TurnCore {
            engine,
            cell,
            epoch,
            id,
            ..
        } = &*self.core;
        let Some(_slot) = cell.begin_call(engine.limits.calls_in_flight) else {
            let fault = Fault::new(
                Code::LimitExceeded,
                format!(
                    "a session has at most {} calls in flight. Try again later",
                    engine.limits.calls_in_flight
                ),
            );
            return self.refuse(call, fault);
        };
        let registered = epoch.registry.tool(tool);
        let skill = &epoch.registry.skill(registered.skill).id;
        let arguments = call.arguments.as_bytes();
        let kind = AuditKind::CallStarted {
            call_id: recorded_id(call),
            skill: Arc::clone(skill),
            tool: Arc::clone(&registered.name),
            arguments: engine.audit.argument_digest(arguments),
        };
        cell.touch(now);
        engine
            .audit
            .record(event_at(now, cell, Actor::Model, kind).turn(*id));
        let cx = ToolContext::new(
            Arc::clone(&self.scope),
            Arc::clone(&self.visibility) as Arc<dyn Visibility>,
            Arc::clone(&call.id),
            Actor::Model,
        );
        let mut running = Running {
            turn: self,
            call,
            tool,
            cx: &cx,
            started: (now, engine.clock.monotonic_nanos()),
            outcome: Err(Code::Cancelled),
        };
        // Half of the pool at most, so that calls of one session that hang leave threads to the others.
        let most_threads = (engine.limits.blocking_threads / 2).max(1);
        let thread =
            || -> Option<Box<dyn Send>> { Some(Box::new(cell.begin_thread(most_threads)?)) };
        let outcome = dispatch(Dispatch {
            handler: &registered.handler,
            arguments,
            cx: &cx,
            timeout: registered
                .definition
                .timeout
                .unwrap_or(engine.limits.tool_timeout),
            clock: &*engine.clock,
            pool: &engine.pool,
            thread: &thread,
        })
        .await;
        running.outcome = outcome.as_ref().map(drop).map_err(|fault| fault.code);
        drop(running);
        CallResult {
            call_id: Arc::clone(&call.id),
            name: call.name.clone(),
            outcome,
            return_direct: registered.definition.return_direct,
            most_bytes: engine.limits.result,
        }
    }

    fn refuse(&self, call: &ToolCall, fault: Fault) -> CallResult {
        let TurnCore {
            engine, cell, id, ..
        } = &*self.core;
        let kind = AuditKind::call_refused(recorded_id(call), &call.name, fault.code);
        engine
            .audit
            .record(engine.event(cell, Actor::Model, kind).turn(*id));
        CallResult {
            call_id: Arc::clone(&call.id),
            name: call.name.chars().take(128).collect(),
            outcome: Err(fault),
            return_direct: false,
            most_bytes: engine.limits.result,
        }
    }
}

/// The id of a call for its records, which show 128 characters of it: the rest must take no room while they wait.
fn recorded_id(call: &ToolCall) -> Arc<str> {
    const MOST: usize = 128;
    if call.id.len() <= MOST {
        return Arc::clone(&call.id);
    }
    // One character more than is shown, so that the record shows that it was cut.
    let cut: String = call.id.chars().take(MOST + 1).collect();
    cut.into()
}

/// Writes down how a call ended, also when its future is dropped.
struct Running<'a> {
    turn: &'a Turn,
    call: &'a ToolCall,
    tool: ToolIndex,
    cx: &'a ToolContext,
    /// The time, and the monotonic reading that goes with it.
    started: (Timestamp, u64),
    outcome: Result<(), Code>,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let TurnCore {
            engine,
            cell,
            epoch,
            id,
            ..
        } = &*self.turn.core;
        if self.outcome == Err(Code::Cancelled) {
            self.cx.cancel();
        }
        let (started, reading) = self.started;
        let latency_ns = engine.clock.monotonic_nanos().saturating_sub(reading);
        // The end is told from the beginning: one clock fewer to read.
        let ended = started
            .checked_add(Duration::from_nanos(latency_ns))
            .unwrap_or(started);
        let registered = epoch.registry.tool(self.tool);
        let kind = AuditKind::CallEnded {
            call_id: recorded_id(self.call),
            skill: Arc::clone(&epoch.registry.skill(registered.skill).id),
            tool: Arc::clone(&registered.name),
            outcome: self.outcome,
            latency_ns,
        };
        engine
            .audit
            .record(event_at(ended, cell, Actor::Model, kind).turn(*id));
    }
}
