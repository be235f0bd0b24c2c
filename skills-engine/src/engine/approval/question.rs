use std::sync::Arc;

use serde_json::Value;

use super::super::turn_core::TurnCore;
use super::ApprovalKind;
use super::ask::{Answered, Asking, Wanted, denied};
use super::binding::Binding;
use crate::skill::{Code, Fault, Question, ToolContext};

/// Asks the person of a call's session, and waits for the reply.
pub(in crate::engine) async fn ask(
    core: &TurnCore,
    cx: &ToolContext,
    question: Question,
) -> Result<Value, Fault> {
    core.check_running()?;
    if cx.is_blocking() {
        return Err(Fault::new(
            Code::NotPermitted,
            "a `blocking` tool cannot ask: it would hold a thread for as long as a person takes. Make it `async`",
        ));
    }
    if cx.is_cancelled() {
        return Err(super::ask::nobody_waits());
    }
    let TurnCore {
        engine,
        cell,
        epoch,
        id,
        ..
    } = core;
    let Question { text, schema } = question;
    // A value can always be written.
    let schema_bytes = schema.as_ref().map_or(0, |schema| schema.to_string().len());
    engine.check_size("a question has", text.len().saturating_add(schema_bytes))?;
    let registered = core.tool(cx.tool());
    let skill = Arc::clone(&epoch.registry.skill(registered.skill).id);
    let tool = Arc::clone(&registered.name);
    let asking = Asking {
        engine,
        cell,
        actor: cx.actor(),
        turn: Some(*id),
        call_id: Some(Arc::clone(cx.shared_call_id())),
        cx: Some(cx),
    };
    let wanted = Wanted {
        why: format!("`{tool}` of `{skill}` asks a question").into(),
        binding: Binding::of_question(),
        is_of_turn: false,
        kind: ApprovalKind::Question {
            skill,
            tool,
            text: text.into(),
            schema: schema.map(Arc::new),
        },
        what: "the question",
    };
    match asking.ask(wanted).await? {
        Answered::Replied(value) => Ok(value),
        Answered::Denied(message) => Err(denied(&message)),
        // Answers to a question are checked when they are given, and it waits for one.
        Answered::Approved(_) | Answered::Pending(_) => Err(super::ask::unanswerable()),
    }
}
