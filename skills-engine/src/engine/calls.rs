use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tracing::Instrument as _;

use super::call::{CallResult, CallResults, ToolCall};
use super::change::event_at;
use super::turn::Turn;
use super::turn_core::TurnCore;
use crate::audit::AuditKind;
use crate::registry::ToolIndex;
use crate::skill::{Actor, Code, Fault, Timestamp, ToolContext, Visibility};
use crate::tools::{Dispatch, dispatch};

impl Turn {
    /// Carries out all calls of one reply and answers each.
    ///
    /// Neighbors that are read-only or idempotent run at the same time, the others one after another. A call runs only
    /// if its tool is in the turn's latest view and still visible; without a view, if it is visible. Dropping the
    /// future cancels what has not finished.
    ///
    /// The same call, by name and arguments, that failed three times in a row is not run again in this turn until
    /// another one was made: it is answered with `repeated_failure`, and the third failure says so.
    pub async fn calls(&mut self, calls: impl IntoIterator<Item = ToolCall>) -> CallResults {
        let most = self.core.engine.limits.calls_per_reply;
        let calls: Vec<_> = calls.into_iter().collect();
        let mut results = Vec::with_capacity(calls.len());
        let (allowed, beyond) = calls.split_at(calls.len().min(most));
        let mut rest = allowed;
        while let Some(first) = rest.first() {
            if let Some(fault) = self.repeats.check(first) {
                results.push(self.refuse(first, fault));
                rest = &rest[1..];
                continue;
            }
            let together = rest
                .iter()
                .take(self.repeats.together(rest))
                .take_while(|call| self.may_overlap(call))
                .count()
                .max(1);
            let (now, later) = rest.split_at(together);
            rest = later;
            let noted = results.len();
            if let [_] = now {
                results.push(self.call(first).await);
            } else {
                results.extend(join_all(now.iter().map(|call| self.call(call))).await);
            }
            for (call, result) in now.iter().zip(&mut results[noted..]) {
                self.repeats.note(call, result);
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
            Arc::clone(skill),
            Actor::Model,
            tool,
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
        if registered.definition.annotations.open_world {
            self.core.see_untrusted();
        }
        running.outcome = outcome.as_ref().map(drop).map_err(|fault| fault.code);
        drop(running);
        CallResult {
            call_id: Arc::clone(&call.id),
            name: call.name.clone(),
            outcome,
            return_direct: registered.definition.return_direct,
            is_last_failure: false,
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
            is_last_failure: false,
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
