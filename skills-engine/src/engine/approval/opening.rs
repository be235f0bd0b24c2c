use std::sync::Arc;

use super::super::cell::Cell;
use super::super::inner::EngineInner;
use super::ApprovalKind;
use super::ask::{Answered, Asking, Wanted, denied, pending};
use super::binding::Binding;
use super::book::{Known, Taken};
use super::claim::Claim;
use crate::skill::{Actor, Fault, Level, Span, ToolContext, TurnId};

/// The opening of a skill that a person must approve.
pub(in crate::engine) struct Opening<'a> {
    pub(in crate::engine) skill: &'a Arc<str>,
    pub(in crate::engine) version: &'a str,
    pub(in crate::engine) level: Level,
    pub(in crate::engine) span: Span,
    /// Who wants to open it.
    pub(in crate::engine) actor: Actor,
    /// Why, in the words of whoever wants to.
    pub(in crate::engine) reason: &'a str,
    /// Why a person is asked.
    pub(in crate::engine) why: &'a str,
    pub(in crate::engine) turn: Option<TurnId>,
    /// The call that wants to open it, if one does: its time stands still while a person decides.
    pub(in crate::engine) call: Option<&'a ToolContext>,
}

/// Has a person approve an opening. When this is fine, the approval is used up: carry the opening out at once.
///
/// A request that is left pending, and approved later, lets the same opening by the same actor through once.
pub(in crate::engine) async fn approve_opening(
    engine: &Arc<EngineInner>,
    cell: &Arc<Cell>,
    opening: Opening<'_>,
) -> Result<(), Fault> {
    let Opening {
        skill,
        version,
        level,
        span,
        actor,
        reason,
        why,
        turn,
        call,
    } = opening;
    let what = format!("opening `{skill}` at {level}");
    let binding = Binding::of_opening(skill, version, (level, span), actor);
    let call_id = call.map(|cx| Arc::clone(cx.shared_call_id()));
    let use_up = |claim: Claim| {
        let call_id = call_id.as_ref().map(super::super::call::recorded_id);
        claim.use_up(actor, turn, call_id);
    };
    engine.sweep_approvals(cell);
    if let Some(approvals) = cell.approvals() {
        match approvals.known(binding) {
            Some(Known::Taken(Taken::Approved(number, edited))) => {
                use_up(Claim::new(engine, cell, approvals, (number, edited)));
                return Ok(());
            }
            Some(Known::Taken(Taken::Denied(message))) => return Err(denied(&message)),
            Some(Known::Open(_)) => return Err(pending(&what)),
            // A reply is only ever taken by the question that waits for it.
            Some(Known::Taken(Taken::Replied(_))) | None => {}
        }
    }
    let asking = Asking {
        engine,
        cell,
        actor,
        turn,
        call_id: call_id.clone(),
        cx: call,
    };
    let wanted = Wanted {
        kind: ApprovalKind::Opening {
            skill: Arc::clone(skill),
            skill_version: version.into(),
            level,
            span,
            actor,
            reason: reason.into(),
        },
        binding,
        is_of_turn: false,
        why: why.into(),
        what: &what,
    };
    // Boxed: it is rarely needed, and whoever opens skills should not carry it along.
    match Box::pin(asking.ask(wanted)).await? {
        Answered::Approved(claim) => {
            use_up(claim);
            Ok(())
        }
        Answered::Denied(message) => Err(denied(&message)),
        // Answers to an opening are checked when they are given.
        Answered::Pending(_) | Answered::Replied(_) => Err(pending(&what)),
    }
}
