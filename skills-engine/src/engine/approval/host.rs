use super::super::cell::Cell;
use super::super::change::ended;
use super::super::inner::EngineInner;
use super::super::session::Session;
use super::binding::Binding;
use super::book::{Verdict, unknown};
use super::{ApprovalAnswer, ApprovalKind, ApprovalRequest, ApprovalToken};
use crate::audit::{ApprovalOutcome, AuditKind};
use crate::skill::{Actor, Code, Fault};

impl Session {
    /// What waits for a person in this session, oldest first: approvals that nobody has decided yet, and questions of
    /// tools.
    #[must_use]
    pub fn approvals(&self) -> Vec<ApprovalRequest> {
        let (engine, cell) = self.parts();
        engine.sweep_approvals(cell);
        let approvals = cell.approvals();
        approvals.map_or_else(Vec::new, |approvals| approvals.pending())
    }

    /// Answers what waits for a person, as this session's actor.
    ///
    /// What was approved is then carried out by whoever waits for it, by [`Turn::resume`](crate::Turn::resume), or when
    /// the model makes the very same call again; once, and until the request expires. Until it is, it can still be denied.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for a token that names nothing in this session, an answer that does not fit the request, or
    /// edited arguments that the tool does not take; nothing is decided then. `conflict` when it was decided already or
    /// nobody needs it any more, `timeout` when it has expired, `limit_exceeded` for an answer that is too long.
    /// `not_permitted` for the model, and when the session has ended.
    pub fn answer(&self, token: &ApprovalToken, answer: ApprovalAnswer) -> Result<(), Fault> {
        let (engine, cell) = self.parts();
        if self.actor() == Actor::Model {
            return Err(Fault::new(
                Code::NotPermitted,
                "a model answers nothing that a person is asked. Answer as the user or the host",
            ));
        }
        engine.decide_approval(cell, token, answer, self.actor())
    }
}

impl EngineInner {
    /// Takes in what somebody decided.
    pub(super) fn decide_approval(
        &self,
        cell: &Cell,
        token: &ApprovalToken,
        answer: ApprovalAnswer,
        actor: Actor,
    ) -> Result<(), Fault> {
        if cell.has_ended() {
            return Err(ended());
        }
        self.sweep_approvals(cell);
        let approvals = cell.approvals().ok_or_else(unknown)?;
        let denies = matches!(answer, ApprovalAnswer::Deny(_));
        let request = approvals.decidable(token, denies)?;
        let Some(verdict) = self.verdict(&request, answer)? else {
            return Ok(());
        };
        let outcome = verdict.outcome();
        let arguments = match &verdict {
            Verdict::Edit(arguments, _) => {
                Some(Box::new(self.audit.argument_digest(arguments.as_bytes())))
            }
            Verdict::Approve | Verdict::Deny(_) | Verdict::Reply(_) => None,
        };
        let reason = match &verdict {
            Verdict::Deny(message) => message.clone(),
            Verdict::Approve | Verdict::Edit(..) | Verdict::Reply(_) => String::new(),
        };
        approvals.decide(token, verdict, |approval| {
            let kind = AuditKind::ApprovalDecided {
                approval,
                outcome,
                arguments,
            };
            let mut event = self.event(cell, actor, kind).reason(&reason);
            event.turn = request.turn;
            self.audit.record(event);
        })
    }

    /// What an answer comes to; `None` when it leaves everything as it is.
    fn verdict(
        &self,
        request: &ApprovalRequest,
        answer: ApprovalAnswer,
    ) -> Result<Option<Verdict>, Fault> {
        let verdict = match (answer, &request.kind) {
            (ApprovalAnswer::Pending, _) => return Ok(None),
            (ApprovalAnswer::Deny(message), _) => {
                let most = self.limits.reason;
                let end = message.char_indices().nth(most);
                let end = end.map_or(message.len(), |(end, _)| end);
                Verdict::Deny(message[..end].to_owned())
            }
            (ApprovalAnswer::Approve, ApprovalKind::Tool { .. } | ApprovalKind::Opening { .. }) => {
                Verdict::Approve
            }
            (
                ApprovalAnswer::ApproveWith(edited),
                ApprovalKind::Tool {
                    skill,
                    tool,
                    skill_version,
                    ..
                },
            ) => {
                self.check_edit(request, (skill, skill_version, tool), &edited)?;
                let binding = Binding::of_call(skill, skill_version, tool, &edited, None);
                Verdict::Edit(edited.into(), binding)
            }
            (ApprovalAnswer::Reply(value), ApprovalKind::Question { .. }) => {
                // A value can always be written.
                let bytes = serde_json::to_vec(&value).map_or(0, |json| json.len());
                self.check_size("a reply has", bytes)?;
                Verdict::Reply(value)
            }
            (_, ApprovalKind::Question { .. }) => {
                return Err(does_not_fit(
                    "a question is answered with `Reply` or `Deny`",
                ));
            }
            (_, ApprovalKind::Tool { .. }) => {
                return Err(does_not_fit(
                    "a call is answered with `Approve`, `ApproveWith` or `Deny`",
                ));
            }
            (_, ApprovalKind::Opening { .. }) => {
                return Err(does_not_fit(
                    "the opening of a skill is answered with `Approve` or `Deny`",
                ));
            }
        };
        Ok(Some(verdict))
    }

    fn check_edit(
        &self,
        request: &ApprovalRequest,
        (skill, version, tool): (&str, &str, &str),
        arguments: &str,
    ) -> Result<(), Fault> {
        self.check_size("arguments have", arguments.len())?;
        let epoch = self.epoch();
        let registry = &epoch.registry;
        let found = registry
            .find(skill)
            .filter(|(_, registered)| registered.definition().version == version)
            .filter(|_| !request.is_of_turn)
            .and_then(|(index, _)| registry.tool_index(index, tool));
        let Some(found) = found else {
            return Err(Fault::new(
                Code::Conflict,
                format!("`{tool}` of `{skill}` is not what it was. Deny the request"),
            ));
        };
        registry.tool(found).handler.check(arguments.as_bytes())
    }

    pub(super) fn check_size(&self, noun: &str, bytes: usize) -> Result<(), Fault> {
        let most = self.limits.arguments;
        if bytes > most {
            return Err(Fault::new(
                Code::LimitExceeded,
                format!("{noun} at most {most} bytes. Send less"),
            ));
        }
        Ok(())
    }

    /// Forgets what has expired, and writes it down.
    pub(super) fn sweep_approvals(&self, cell: &Cell) {
        let Some(approvals) = cell.approvals() else {
            return;
        };
        for number in approvals.sweep(self.clock.now()) {
            self.record_end_of_approval(cell, number, ApprovalOutcome::Expired);
        }
    }

    /// Writes down that nobody decided, and why.
    pub(super) fn record_end_of_approval(
        &self,
        cell: &Cell,
        approval: u64,
        outcome: ApprovalOutcome,
    ) {
        let kind = AuditKind::ApprovalDecided {
            approval,
            outcome,
            arguments: None,
        };
        self.audit.record(self.event(cell, Actor::System, kind));
    }
}

fn does_not_fit(message: &str) -> Fault {
    Fault::new(Code::InvalidArguments, message)
}
