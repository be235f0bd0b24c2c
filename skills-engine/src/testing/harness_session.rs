use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::under_test::no_such_member;
use super::{Answer, HarnessError};
use crate::audit::{AuditRecord, MemoryRing};
use crate::engine::{CallResult, Engine, Session, ToolCall, Turn, TurnView};
use crate::session::{Decision, Explanation};
use crate::skill::{Code, Fault, Level, Span, TurnRequest};
use crate::tools::wire_name;

/// A session of an engine that a [`Harness`](super::Harness) started, and its running turn.
pub struct HarnessSession {
    engine: Engine,
    session: Session,
    turn: Turn,
    skill: Arc<str>,
    ring: Arc<MemoryRing>,
    calls: u64,
}

impl HarnessSession {
    pub(super) fn new(
        engine: Engine,
        session: Session,
        turn: Turn,
        skill: Arc<str>,
        ring: Arc<MemoryRing>,
    ) -> Self {
        Self {
            engine,
            session,
            turn,
            skill,
            ring,
            calls: 0,
        }
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The session, to change what it may see, or to put values into.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The turn that runs.
    pub fn turn(&mut self) -> &mut Turn {
        &mut self.turn
    }

    /// Sets the skill's level, as the host, until it is cleared.
    ///
    /// # Errors
    ///
    /// As [`Session::open`].
    pub async fn open(&self, level: Level) -> Result<(), HarnessError> {
        let open = self
            .session
            .open(&self.skill, level, Span::UntilCleared, "");
        open.await?;
        Ok(())
    }

    /// Ends the turn and begins another.
    ///
    /// # Errors
    ///
    /// As [`Session::turn`].
    pub async fn next_turn(&mut self, request: impl Into<TurnRequest>) -> Result<(), HarnessError> {
        let next = self.session.turn(request).await?;
        std::mem::replace(&mut self.turn, next).finish().await?;
        Ok(())
    }

    /// What a model sees now: prompt, tools, snapshots.
    ///
    /// # Errors
    ///
    /// As [`Turn::view`].
    pub async fn view(&mut self) -> Result<TurnView, HarnessError> {
        Ok(self.turn.view().await?)
    }

    /// Looks, as a model does before each step, and makes a call: of a tool of the skill by its own name, or of any tool
    /// by its wire name, such as `psl-skill__set_skill_visibility`.
    ///
    /// # Errors
    ///
    /// What the call answers instead of a result, and what the test can do about it.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Answer, HarnessError> {
        self.turn.view().await?;
        self.calls += 1;
        let name = self.wire_name(tool);
        let call = ToolCall::new(
            format!("call-{}", self.calls),
            name.clone(),
            arguments.to_string(),
        );
        let outcome = self.answer(call).await.outcome;
        outcome
            .map(Answer::new)
            .map_err(|fault| HarnessError::Call {
                advice: self.advice(tool, &fault),
                tool: name,
                fault,
            })
    }

    async fn answer(&mut self, call: ToolCall) -> CallResult {
        let results = self.turn.calls([call]).await;
        let result = results.into_iter().next();
        result.expect("each call has its result")
    }

    /// Says why the model can see a member of the skill in this turn, or why not.
    #[must_use]
    pub fn explain(&self, member: &str) -> Explanation {
        self.turn.explain(&self.skill, member)
    }

    /// The session's records in the audit trail so far, the newest last, each an object as
    /// [`audit`](crate::audit#the-record-format-version-1) describes it.
    pub async fn audit(&self) -> Vec<Value> {
        self.engine.audit().flush().await;
        let records = self.ring.records();
        let of_session = records.iter().filter(|record| !record.chain().is_engine());
        of_session.map(read).collect()
    }

    fn wire_name(&self, tool: &str) -> String {
        let skills = self.engine.skills();
        let has_tool = skills.iter().any(|skill| {
            skill.definition().id == *self.skill
                && skill.tools().iter().any(|own| own.definition.name == tool)
        });
        let is_bare = || !tool.contains("__") && !self.turn.knows_tool(tool);
        if has_tool || is_bare() {
            wire_name(&self.skill, tool)
        } else {
            tool.to_owned()
        }
    }

    /// What an author can do about a call that was not made; `None` when the fault says it all.
    fn advice(&self, tool: &str, fault: &Fault) -> Option<String> {
        match fault.code {
            Code::Hidden | Code::UnknownTool => {}
            Code::ApprovalRequired => {
                let advice = "write `.engine(|builder| builder.approvals(handler))`, with a handler that answers";
                return Some(advice.to_owned());
            }
            _ => return None,
        }
        let Explanation {
            decision, reasons, ..
        } = self.explain(tool);
        let skill = &self.skill;
        match decision {
            Decision::Hidden { have, need } if !self.is_capped_below(need) => Some(format!(
                "`{tool}` opens at {need}, and `{skill}` is at {have}: write `.open(Level::{need:?})` before the call"
            )),
            Decision::Unknown => Some(self.tool_names(tool)),
            Decision::Hidden { .. } | Decision::Disabled | Decision::Denied(_) => {
                reasons.into_iter().last()
            }
            Decision::Visible => None,
        }
    }

    fn is_capped_below(&self, level: Level) -> bool {
        let standings = self.turn.visibility();
        let own = standings
            .iter()
            .find(|standing| *standing.skill == *self.skill);
        own.and_then(|standing| standing.ceiling)
            .is_some_and(|ceiling| ceiling < level)
    }

    fn tool_names(&self, tool: &str) -> String {
        let skills = self.engine.skills();
        let own = skills
            .iter()
            .find(|skill| skill.definition().id == *self.skill);
        let tools = own.map_or(&[][..], |skill| skill.tools());
        no_such_member(
            &self.skill,
            "tool",
            tool,
            tools.iter().map(|tool| &*tool.definition.name),
        )
    }
}

fn read(record: &AuditRecord) -> Value {
    serde_json::from_slice(record.bytes()).expect("records are JSON")
}

impl fmt::Debug for HarnessSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("HarnessSession")
            .field("skill", &self.skill)
            .field("turn", &self.turn)
            .finish_non_exhaustive()
    }
}
