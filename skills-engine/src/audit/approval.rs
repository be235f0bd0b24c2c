use std::sync::Arc;

use super::AuditKind;
use super::event::NAME_LENGTH;
use super::json::Object;
use super::line::{write_span, write_time};
use crate::skill::{Level, Span};

/// What a person is asked for, as a record tells of it: never arguments or questions, only keyed digests of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ApprovalSubject {
    /// That a tool may be called.
    Tool {
        /// The call's id.
        call_id: Arc<str>,
        /// The skill's id.
        skill: Arc<str>,
        /// The skill's version.
        version: Arc<str>,
        /// The tool's name within its skill.
        tool: Arc<str>,
        /// The keyed digest of the arguments, as `call_started` has it.
        arguments: [u8; 32],
    },
    /// That a skill may be opened.
    Opening {
        /// The call that asked for it, if one did.
        call_id: Option<Arc<str>>,
        /// The skill's id.
        skill: Arc<str>,
        /// The skill's version.
        version: Arc<str>,
        /// The level asked for.
        level: Level,
        /// For how long.
        span: Span,
    },
    /// The answer to a question.
    Question {
        /// The call that asks.
        call_id: Arc<str>,
        /// The id of the skill whose tool asks.
        skill: Arc<str>,
        /// The tool's name within its skill.
        tool: Arc<str>,
        /// The keyed digest of the question's text.
        question: [u8; 32],
    },
}

impl ApprovalSubject {
    /// Bytes of heap it holds while it waits.
    pub(super) fn weight(&self) -> usize {
        let call_id = match self {
            Self::Tool { call_id, .. } | Self::Question { call_id, .. } => Some(call_id),
            Self::Opening { call_id, .. } => call_id.as_ref(),
        };
        size_of::<Self>() + call_id.map_or(0, |id| id.len())
    }

    pub(super) fn write(&self, fields: &mut Object<'_>) {
        match self {
            Self::Tool {
                call_id,
                skill,
                version,
                tool,
                arguments,
            } => {
                fields.word("subject", "tool");
                fields.text("call_id", call_id, NAME_LENGTH);
                fields.text("skill", skill, NAME_LENGTH);
                fields.text("version", version, NAME_LENGTH);
                fields.text("tool", tool, NAME_LENGTH);
                fields.hex("arguments", arguments);
            }
            Self::Opening {
                call_id,
                skill,
                version,
                level,
                span,
            } => {
                fields.word("subject", "opening");
                if let Some(call_id) = call_id {
                    fields.text("call_id", call_id, NAME_LENGTH);
                }
                fields.text("skill", skill, NAME_LENGTH);
                fields.text("version", version, NAME_LENGTH);
                fields.word("asked", level.as_str());
                write_span(fields, Some(*span));
            }
            Self::Question {
                call_id,
                skill,
                tool,
                question,
            } => {
                fields.word("subject", "question");
                fields.text("call_id", call_id, NAME_LENGTH);
                fields.text("skill", skill, NAME_LENGTH);
                fields.text("tool", tool, NAME_LENGTH);
                fields.hex("question", question);
            }
        }
    }
}

/// What came of asking a person.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ApprovalOutcome {
    /// It was approved as it was asked for.
    Approved,
    /// A call was approved with other arguments.
    Edited,
    /// It was denied, or an approval that was not used yet was taken back.
    Denied,
    /// A question was answered.
    Answered,
    /// Nobody decided, or nobody used the approval, in time.
    Expired,
    /// Whoever waited for it is gone.
    Withdrawn,
    /// The host's handler failed, or gave an answer that does not fit.
    Failed,
}

impl ApprovalOutcome {
    /// The word for it in a record.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Edited => "edited",
            Self::Denied => "denied",
            Self::Answered => "answered",
            Self::Expired => "expired",
            Self::Withdrawn => "withdrawn",
            Self::Failed => "failed",
        }
    }
}

/// What is particular to the records of approvals.
pub(super) fn write_approval(fields: &mut Object<'_>, kind: &AuditKind) {
    match kind {
        AuditKind::ApprovalAsked {
            approval,
            subject,
            expires_at,
        } => {
            fields.number("approval", *approval);
            subject.write(fields);
            write_time(fields, "expires_at", *expires_at);
        }
        AuditKind::ApprovalDecided {
            approval,
            outcome,
            arguments,
        } => {
            fields.number("approval", *approval);
            fields.word("outcome", outcome.as_str());
            if let Some(arguments) = arguments {
                fields.hex("arguments", &**arguments);
            }
        }
        AuditKind::ApprovalUsed { approval, call_id } => {
            fields.number("approval", *approval);
            if let Some(call_id) = call_id {
                fields.text("call_id", call_id, NAME_LENGTH);
            }
        }
        _ => {}
    }
}
