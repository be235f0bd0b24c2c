use std::sync::Arc;

use tracing::Instrument as _;

use super::super::call::{Answer, CallResult, ToolCall};
use super::super::cell::CallSlot;
use super::super::turn::Turn;
use super::super::turn_core::TurnCore;
use super::ask::{Answered, Asking, Wanted, denied, pending};
use super::binding::Binding;
use super::book::{Known, Taken, unknown};
use super::claim::Claim;
use super::{ApprovalKind, ApprovalToken};
use crate::registry::ToolIndex;
use crate::skill::{Actor, Code, Fault};

/// Why a call is not carried out, and what the host can answer so that it is.
struct Refused {
    fault: Fault,
    token: Option<ApprovalToken>,
}

impl From<Fault> for Refused {
    fn from(fault: Fault) -> Self {
        Self { fault, token: None }
    }
}

impl Turn {
    /// Carries out a call that was let through, once a person has approved it.
    pub(in crate::engine) async fn call_approved(
        &self,
        call: &ToolCall,
        tool: ToolIndex,
    ) -> Answer {
        // Held from here on: how many may wait for a person is bounded, and a session that waits is not idle.
        let slot = match self.begin_call() {
            Ok(slot) => slot,
            Err(fault) => return self.refuse(call, fault),
        };
        match self.approval(call, tool).await {
            Ok(claim) => self.carry_out_approved(call, claim, slot).await,
            Err(Refused { fault, token }) => {
                let mut answer = self.refuse(call, fault);
                answer.pending = token;
                answer
            }
        }
    }

    /// The approval of a call: one that was given before, or one that a person gives now.
    async fn approval(&self, call: &ToolCall, tool: ToolIndex) -> Result<Claim, Refused> {
        let TurnCore {
            engine,
            cell,
            epoch,
            id,
            ..
        } = &*self.core;
        let registered = self.core.tool(tool);
        let skill = epoch.registry.skill(registered.skill);
        let version = &skill.definition().version;
        let turn = self.core.has_of_its_own(tool).then_some(*id);
        let arguments = &call.arguments;
        let binding = Binding::of_call(&skill.id, version, &registered.name, arguments, turn);
        let what = format!("`{}`", self.core.tool_name(tool));
        engine.sweep_approvals(cell);
        if let Some(approvals) = cell.approvals() {
            match approvals.known(binding) {
                Some(Known::Taken(Taken::Approved(number, edited))) => {
                    return Ok(Claim::new(engine, cell, approvals, (number, edited)));
                }
                Some(Known::Taken(Taken::Denied(message))) => return Err(denied(&message).into()),
                Some(Known::Open(token)) => {
                    return Err(Refused {
                        fault: pending(&what),
                        token: Some(token),
                    });
                }
                // A reply is only ever taken by the question that waits for it.
                Some(Known::Taken(Taken::Replied(_))) | None => {}
            }
        }
        let asking = Asking {
            engine,
            cell,
            actor: Actor::Model,
            turn: Some(*id),
            call_id: Some(Arc::clone(&call.id)),
            cx: None,
        };
        let wanted = Wanted {
            kind: ApprovalKind::Tool {
                skill: Arc::clone(&skill.id),
                tool: Arc::clone(&registered.name),
                skill_version: (&**version).into(),
                arguments: call.arguments.as_str().into(),
            },
            binding,
            is_of_turn: turn.is_some(),
            why: format!("the model wants to call {what}, which needs an approval").into(),
            what: &what,
        };
        match asking.ask(wanted).await? {
            Answered::Approved(claim) => Ok(claim),
            Answered::Denied(message) => Err(denied(&message).into()),
            Answered::Pending(token) => Err(Refused {
                fault: pending(&what),
                token: Some(token),
            }),
            // Answers to a call are checked when they are given.
            Answered::Replied(_) => Err(pending(&what).into()),
        }
    }

    /// Carries out an approved call, if it may still be: while a person decides, time passes.
    async fn carry_out_approved(
        &self,
        call: &ToolCall,
        claim: Claim,
        slot: CallSlot<'_>,
    ) -> Answer {
        let edited = claim.edited().map(|arguments| ToolCall {
            arguments: arguments.to_owned(),
            ..call.clone()
        });
        let call = edited.as_ref().unwrap_or(call);
        let now = self.core.engine.clock.now();
        match self.admit(call, now) {
            Ok(tool) => self.carry_out(call, tool, now, slot, Some(claim)).await,
            Err(fault) => self.refuse(call, fault),
        }
    }

    /// Carries out a call that had to wait for a person, once it is approved: exactly once, in this turn, if its tool is
    /// still visible. An approval whose tool has not begun to run, because the rule refuses it now or the future is
    /// dropped before, can still be used.
    ///
    /// A denied call gives a result, too: its failure is `approval_denied`, with what the person said.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for a token that names no call of this session, `approval_required` while nobody has
    /// decided, `conflict` when it was used, or is just being carried out, when nobody needs it any more, or its skill is
    /// not what it was, `timeout` when it has expired, `not_permitted` when the session has ended.
    pub async fn resume(&self, token: &ApprovalToken) -> Result<CallResult, Fault> {
        let TurnCore {
            engine,
            cell,
            epoch,
            ..
        } = &*self.core;
        self.core.check_running()?;
        engine.sweep_approvals(cell);
        let approvals = cell.approvals().ok_or_else(unknown)?;
        let (request, decision) = approvals.claim(token)?;
        let ApprovalKind::Tool {
            skill,
            tool,
            skill_version,
            arguments,
        } = &request.kind
        else {
            return Err(unknown());
        };
        let registry = &epoch.registry;
        let found = registry
            .find(skill)
            .filter(|(_, registered)| registered.definition().version == **skill_version)
            .and_then(|(index, _)| {
                if !request.is_of_turn {
                    return registry.tool_index(index, tool);
                }
                // A tool of a turn's own is another one in every turn.
                let is_own = request.turn == Some(self.core.id);
                is_own.then(|| self.core.own_tool(index, tool)).flatten()
            });
        let name = found.map_or(&**tool, |found| self.core.tool_name(found));
        let call_id = request.call_id.clone().unwrap_or_default();
        let call = ToolCall::new(call_id, name, &**arguments);
        let most_bytes = engine.limits.result;
        let claim = match (decision, found) {
            (Taken::Denied(message), _) => {
                let answer = self.refuse(&call, denied(&message));
                return Ok(answer.of(call, most_bytes));
            }
            (Taken::Approved(number, edited), Some(_)) => {
                Claim::new(engine, cell, approvals, (number, edited))
            }
            (Taken::Approved(number, _), None) => {
                approvals.give_back(number);
                return Err(Fault::new(
                    Code::Conflict,
                    format!("`{tool}` of `{skill}` is not what it was. Have it asked for anew"),
                ));
            }
            (Taken::Replied(_), _) => return Err(unknown()),
        };
        let slot = match self.begin_call() {
            Ok(slot) => slot,
            Err(fault) => return Ok(self.refuse(&call, fault).of(call, most_bytes)),
        };
        let span = self.call_span(&call, found);
        let answer = self
            .carry_out_approved(&call, claim, slot)
            .instrument(span)
            .await;
        engine.audit.relieve().await;
        self.core.hand_out();
        Ok(answer.of(call, most_bytes))
    }
}
