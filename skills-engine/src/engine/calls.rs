use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tracing::Instrument as _;

use super::approval::Claim;
use super::call::{Answer, CallResults, ToolCall, recorded_id};
use super::cell::CallSlot;
use super::change::event_at;
use super::turn::Turn;
use super::turn_core::TurnCore;
use crate::audit::AuditKind;
use crate::registry::ToolIndex;
use crate::skill::{Actor, Code, Fault, Timestamp, ToolContext, TurnAccess};
use crate::snapshot::{RedactionPlace, TextKind};
use crate::tools::{Dispatch, dispatch};

impl Turn {
    /// Carries out all calls of one reply and answers each.
    ///
    /// Neighbors that are read-only or idempotent run at the same time, the others one after another. A call runs only
    /// if its tool is in the turn's latest view and still visible; without a view, if it is visible. Dropping the
    /// future cancels what has not finished.
    ///
    /// A call of a tool that needs an approval waits for a person; see
    /// [`ApprovalHandler`](super::ApprovalHandler). One that is left to be decided later is answered with
    /// `approval_required`, and its result has a token for [`Session::answer`](super::Session::answer) and
    /// [`resume`](Self::resume).
    ///
    /// The same call, by name and arguments, that failed three times in a row is not run again in this turn until
    /// another one was made: it is answered with `repeated_failure`, and the third failure says so.
    pub async fn calls(&mut self, calls: impl IntoIterator<Item = ToolCall>) -> CallResults {
        let limits = &self.core.engine.limits;
        let (most, most_bytes) = (limits.calls_per_reply, limits.result);
        // What is left of calls that were given up reached nobody.
        self.core.giving(Vec::clear);
        // Those not answered yet.
        let mut calls = calls.into_iter().collect::<Vec<_>>().into_iter();
        let beyond = calls.len().saturating_sub(most);
        let mut results = Vec::with_capacity(calls.len());
        while calls.len() > beyond {
            let waiting = &calls.as_slice()[..calls.len() - beyond];
            let first = &waiting[0];
            if let Some(fault) = self.repeats.check(first) {
                let answer = self.refuse(first, fault);
                results.extend(calls.next().map(|call| answer.of(call, most_bytes)));
                continue;
            }
            let count = self.together(waiting);
            if count == 1 {
                let answer = self.call(first).await;
                let answer = self.repeats.note(first, answer);
                results.extend(calls.next().map(|call| answer.of(call, most_bytes)));
            } else {
                let running = waiting[..count].iter().map(|call| self.call(call));
                let answers = join_all(running).await;
                for (answer, call) in answers.into_iter().zip(&mut calls) {
                    let answer = self.repeats.note(&call, answer);
                    results.push(answer.of(call, most_bytes));
                }
            }
        }
        for call in calls {
            let fault = Fault::new(
                Code::LimitExceeded,
                format!("a reply holds at most {most} calls. Make this one in your next reply"),
            );
            let answer = self.refuse(&call, fault);
            results.push(answer.of(call, most_bytes));
        }
        self.core.engine.audit.relieve().await;
        self.core.hand_out();
        CallResults { results }
    }

    /// How many of the first calls run at the same time.
    fn together(&self, calls: &[ToolCall]) -> usize {
        if let [_] = calls {
            return 1;
        }
        let together = calls
            .iter()
            .take(self.repeats.together(calls))
            .take_while(|call| self.may_overlap(call));
        together.count().max(1)
    }

    fn may_overlap(&self, call: &ToolCall) -> bool {
        self.core.find_tool(&call.name).is_some_and(|tool| {
            let annotations = self.core.tool(tool).definition.annotations;
            annotations.read_only || annotations.idempotent
        })
    }

    async fn call(&self, call: &ToolCall) -> Answer {
        // Read once for all that happens before the tool runs.
        let now = self.core.engine.clock.now();
        let admitted = self.admit(call, now);
        let span = self.call_span(call, admitted.as_ref().ok().copied());
        let tool = match admitted {
            Ok(tool) => tool,
            Err(fault) => return self.refuse(call, fault),
        };
        if self.core.tool(tool).definition.requires_approval {
            // Boxed: most calls need none, and should not carry the room for it along.
            let approved = Box::pin(self.call_approved(call, tool));
            return approved.instrument(span).await;
        }
        match self.begin_call() {
            Ok(slot) => {
                let running = self.carry_out(call, tool, now, slot, None);
                running.instrument(span).await
            }
            Err(fault) => self.refuse(call, fault),
        }
    }

    /// The span of a call. A name that a model made up becomes no label.
    pub(super) fn call_span(&self, call: &ToolCall, tool: Option<ToolIndex>) -> tracing::Span {
        let span = tracing::info_span!(
            parent: self.span(),
            "execute_tool",
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = tracing::field::Empty,
            "gen_ai.tool.call.id" = &*recorded_id(&call.id),
            skill = tracing::field::Empty,
        );
        if let Some(tool) = tool
            && !span.is_disabled()
        {
            span.record("gen_ai.tool.name", &**self.core.tool_name(tool));
            let skill = self.core.tool(tool).skill;
            span.record("skill", &*self.core.epoch.registry.skill(skill).id);
        }
        span
    }

    /// Counts a call in, until the guard is dropped.
    pub(super) fn begin_call(&self) -> Result<CallSlot<'_>, Fault> {
        let TurnCore { engine, cell, .. } = &*self.core;
        let most = engine.limits.calls_in_flight;
        cell.begin_call(most).ok_or_else(|| {
            Fault::new(
                Code::LimitExceeded,
                format!("a session has at most {most} calls in flight. Try again later"),
            )
        })
    }

    /// Runs the tool of a call that is let through; `_slot` is held until it has ended.
    pub(super) async fn carry_out(
        &self,
        call: &ToolCall,
        tool: ToolIndex,
        now: Timestamp,
        _slot: CallSlot<'_>,
        claim: Option<Claim>,
    ) -> Answer {
        let TurnCore {
            engine,
            cell,
            epoch,
            id,
            ..
        } = &*self.core;
        let registered = self.core.tool(tool);
        let skill = &epoch.registry.skill(registered.skill).id;
        let arguments = call.arguments.as_bytes();
        let kind = AuditKind::CallStarted {
            call_id: recorded_id(&call.id),
            skill: Arc::clone(skill),
            tool: Arc::clone(&registered.name),
            arguments: engine.audit.argument_digest(arguments),
        };
        cell.touch(now);
        if let Some(claim) = claim {
            claim.use_up(Actor::Model, Some(*id), Some(recorded_id(&call.id)));
        }
        engine
            .audit
            .record(event_at(now, cell, Actor::Model, kind).turn(*id));
        let cx = ToolContext::new(
            Arc::clone(&self.visibility) as Arc<dyn TurnAccess>,
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
        let outcome = match epoch.words.redaction() {
            None => outcome,
            Some(redaction) => {
                let member = Some(&*registered.name);
                let place = RedactionPlace::new(skill, member, TextKind::Output);
                redaction.result(outcome, &place)
            }
        };
        running.outcome = outcome.as_ref().map(drop).map_err(|fault| fault.code);
        drop(running);
        Answer {
            outcome,
            return_direct: registered.definition.return_direct,
            pending: None,
            is_last_failure: false,
        }
    }

    pub(super) fn refuse(&self, call: &ToolCall, fault: Fault) -> Answer {
        let TurnCore {
            engine, cell, id, ..
        } = &*self.core;
        let kind = AuditKind::call_refused(recorded_id(&call.id), &call.name, fault.code);
        let event = engine.event(cell, Actor::Model, kind).turn(*id);
        cell.touch(event.time);
        engine.audit.record(event);
        Answer::refused(fault)
    }
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
        cell.touch(ended);
        let registered = self.turn.core.tool(self.tool);
        let kind = AuditKind::CallEnded {
            call_id: recorded_id(&self.call.id),
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
