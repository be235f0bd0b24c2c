use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::{Either, select};
use serde_json::Value;

use super::super::cell::Cell;
use super::super::change::ended;
use super::super::inner::EngineInner;
use super::binding::Binding;
use super::book::Taken;
use super::claim::Claim;
use super::{ApprovalAnswer, ApprovalKind, ApprovalRequest, ApprovalToken, Approvals};
use crate::audit::{ApprovalOutcome, ApprovalSubject, AuditKind};
use crate::skill::{Actor, Code, Fault, Timestamp, ToolContext, TurnId};

/// Who wants something of a person.
pub(super) struct Asking<'a> {
    pub(super) engine: &'a Arc<EngineInner>,
    pub(super) cell: &'a Arc<Cell>,
    pub(super) actor: Actor,
    pub(super) turn: Option<TurnId>,
    pub(super) call_id: Option<Arc<str>>,
    /// The call that waits meanwhile, if its tool runs already.
    pub(super) cx: Option<&'a ToolContext>,
}

/// What is wanted.
pub(super) struct Wanted<'a> {
    pub(super) kind: ApprovalKind,
    pub(super) binding: Binding,
    /// Whether it is a call of a tool that the turn alone has.
    pub(super) is_of_turn: bool,
    /// For the person.
    pub(super) why: Arc<str>,
    /// What it is called in messages to the model.
    pub(super) what: &'a str,
}

/// What a person said.
pub(super) enum Answered {
    Approved(Claim),
    Denied(String),
    Replied(Value),
    /// Nothing yet, and nobody waits for it any more.
    Pending(ApprovalToken),
}

impl Asking<'_> {
    /// Asks a person by the host's handler, and waits for the answer; that to a question as long as it may take, that to
    /// anything else as long as the handler does.
    ///
    /// Dropping the future takes the request back.
    pub(super) async fn ask(&self, wanted: Wanted<'_>) -> Result<Answered, Fault> {
        let Self { engine, cell, .. } = *self;
        let Some(handler) = &engine.approvals else {
            return Err(match wanted.kind {
                ApprovalKind::Question { .. } => unanswerable(),
                ApprovalKind::Tool { .. } | ApprovalKind::Opening { .. } => nobody(wanted.what),
            });
        };
        engine.sweep_approvals(cell);
        let what = wanted.what;
        let waits = matches!(wanted.kind, ApprovalKind::Question { .. });
        let (request, awaited) = self.open(wanted)?;
        let _waiting = self.cx.map(|cx| cx.wait_for_person(&engine.clock));
        let handler = AssertUnwindSafe(async { handler.ask(&request).await });
        let mut handler = pin!(handler.catch_unwind().fuse());
        let mut gone = pin!(async {
            match self.cx {
                Some(cx) => cx.cancelled().await,
                None => std::future::pending().await,
            }
        });
        let mut over = engine.clock.sleep(engine.limits.approval_ttl);
        let approvals = Arc::clone(&awaited.approvals);
        let mut is_left = false;
        loop {
            let mut told = pin!(approvals.told());
            told.as_mut().enable();
            if cell.has_ended() {
                return Err(ended());
            }
            match approvals.take(awaited.number, &request.token) {
                Ok(Some(taken)) => return Ok(self.answered(&approvals, taken)),
                Ok(None) if is_left => {
                    approvals.leave(awaited.number);
                    return Ok(Answered::Pending(request.token.clone()));
                }
                Ok(None) => {}
                Err(fault) if fault.code == Code::Timeout => return Err(expired(what, waits)),
                Err(fault) => return Err(fault),
            }
            let answer = select(handler.as_mut(), told);
            let end = select(&mut over, gone.as_mut());
            match select(answer, end).await {
                // Looked at once more before it is left: the handler may have had it answered through the session.
                Either::Left((Either::Left((Ok(ApprovalAnswer::Pending), _)), _)) => {
                    is_left = !waits;
                }
                Either::Left((Either::Left((answer, _)), _)) => {
                    let decided = match answer {
                        Ok(answer) => {
                            engine.decide_approval(cell, &request.token, answer, Actor::Host)
                        }
                        Err(_) => Err(Fault::new(Code::Panic, "the handler panicked")),
                    };
                    if let Err(fault) = decided
                        && awaited.end(ApprovalOutcome::Failed)
                    {
                        // Its message may quote arguments.
                        tracing::warn!(
                            code = fault.code.as_str(),
                            approval = awaited.number,
                            "the handler of approvals gave no answer that fits"
                        );
                        return Err(failed(what, waits));
                    }
                }
                Either::Left((Either::Right(_), _)) => {}
                Either::Right((Either::Left(_), _)) => {
                    if awaited.end(ApprovalOutcome::Expired) {
                        return Err(expired(what, waits));
                    }
                }
                Either::Right((Either::Right(_), _)) => {
                    return Err(nobody_waits());
                }
            }
        }
    }

    /// Enters the request, and writes down that it is made.
    fn open(&self, wanted: Wanted<'_>) -> Result<(ApprovalRequest, Awaited<'_>), Fault> {
        let Self { engine, cell, .. } = *self;
        let created = engine.clock.now();
        let request = ApprovalRequest {
            token: ApprovalToken::random()?,
            kind: wanted.kind,
            session: cell.scope.id.clone(),
            principal: cell.principal(),
            turn: self.turn,
            call_id: self.call_id.clone(),
            why: wanted.why,
            created,
            expires: created
                .checked_add(engine.limits.approval_ttl)
                .unwrap_or(Timestamp(i64::MAX)),
            is_of_turn: wanted.is_of_turn,
        };
        let approvals = cell.approvals_or_new();
        let subject = self.subject(&request.kind);
        let expires_at = request.expires;
        let note = |approval| {
            let kind = AuditKind::ApprovalAsked {
                approval,
                subject: Box::new(subject),
                expires_at,
            };
            let mut event = engine.event(cell, self.actor, kind);
            event.turn = self.turn;
            engine.audit.record(event);
        };
        let number = approvals.open(request.clone(), wanted.binding, &engine.limits, note)?;
        let awaited = Awaited {
            asking: self,
            approvals,
            number,
        };
        Ok((request, awaited))
    }

    fn subject(&self, kind: &ApprovalKind) -> ApprovalSubject {
        let audit = &self.engine.audit;
        let call_id = self.call_id.as_ref().map(super::super::call::recorded_id);
        match kind {
            ApprovalKind::Tool {
                skill,
                tool,
                skill_version,
                arguments,
            } => ApprovalSubject::Tool {
                call_id: call_id.unwrap_or_default(),
                skill: Arc::clone(skill),
                version: Arc::clone(skill_version),
                tool: Arc::clone(tool),
                arguments: audit.argument_digest(arguments.as_bytes()),
            },
            ApprovalKind::Opening {
                skill,
                skill_version,
                level,
                span,
                ..
            } => ApprovalSubject::Opening {
                call_id,
                skill: Arc::clone(skill),
                version: Arc::clone(skill_version),
                level: *level,
                span: *span,
            },
            ApprovalKind::Question {
                skill, tool, text, ..
            } => ApprovalSubject::Question {
                call_id: call_id.unwrap_or_default(),
                skill: Arc::clone(skill),
                tool: Arc::clone(tool),
                question: audit.argument_digest(text.as_bytes()),
            },
        }
    }

    fn answered(&self, approvals: &Arc<Approvals>, taken: Taken) -> Answered {
        match taken {
            Taken::Approved(number, edited) => {
                let approvals = Arc::clone(approvals);
                Answered::Approved(Claim::new(
                    self.engine,
                    self.cell,
                    approvals,
                    (number, edited),
                ))
            }
            Taken::Denied(message) => Answered::Denied(message),
            Taken::Replied(value) => Answered::Replied(value),
        }
    }
}

/// A request that a future waits for; it is taken back with the future.
struct Awaited<'a> {
    asking: &'a Asking<'a>,
    approvals: Arc<Approvals>,
    number: u64,
}

impl Awaited<'_> {
    /// Ends the wait without a decision, and writes it down; false when there was one.
    fn end(&self, outcome: ApprovalOutcome) -> bool {
        let has_expired = outcome == ApprovalOutcome::Expired;
        let is_over = self.approvals.withdraw(self.number, has_expired);
        if is_over {
            self.record(outcome);
        }
        is_over
    }

    fn record(&self, outcome: ApprovalOutcome) {
        let Asking { engine, cell, .. } = self.asking;
        engine.record_end_of_approval(cell, self.number, outcome);
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        if self.approvals.abandon(self.number) {
            self.record(ApprovalOutcome::Withdrawn);
        }
    }
}

/// Nobody can be asked at all.
pub(in crate::engine) fn nobody(what: &str) -> Fault {
    Fault::new(
        Code::ApprovalRequired,
        format!("a person must approve {what}, and nobody can be asked here. Do without it"),
    )
}

/// A question that cannot be asked.
pub(super) fn unanswerable() -> Fault {
    Fault::new(
        Code::ApprovalRequired,
        "the question cannot be asked here. Do without the answer",
    )
}

pub(super) fn nobody_waits() -> Fault {
    Fault::new(Code::Cancelled, "nobody waits for the call any more")
}

pub(super) fn pending(what: &str) -> Fault {
    Fault::new(
        Code::ApprovalRequired,
        format!(
            "a person must approve {what}, was asked, and has not decided yet. Go on without it, or tell the user that it \
             waits"
        ),
    )
}

pub(super) fn denied(message: &str) -> Fault {
    let message = match message.trim() {
        "" => "a person decided against it. Do without it",
        message => message,
    };
    Fault::new(Code::ApprovalDenied, message)
}

fn expired(what: &str, is_question: bool) -> Fault {
    if is_question {
        let message = "nobody answered the question in time. Go on without the answer";
        return Fault::new(Code::Timeout, message);
    }
    Fault::new(
        Code::ApprovalRequired,
        format!("nobody decided about {what} in time. Do without it, or ask the user first"),
    )
}

fn failed(what: &str, is_question: bool) -> Fault {
    if is_question {
        return unanswerable();
    }
    Fault::new(
        Code::ApprovalRequired,
        format!("a person must approve {what}, and asking failed. Do without it, or tell the user"),
    )
}
