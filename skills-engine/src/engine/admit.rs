use super::approval::nobody;
use super::call::ToolCall;
use super::turn::Turn;
use super::turn_core::TurnCore;
use crate::prompt::ProfileTool;
use crate::registry::ToolIndex;
use crate::session::{Decision, least};
use crate::skill::{Code, Fault, Level, Timestamp, nearest, shown};

impl Turn {
    /// Everything that must hold before anything runs.
    pub(super) fn admit(&self, call: &ToolCall, now: Timestamp) -> Result<ToolIndex, Fault> {
        let TurnCore {
            engine,
            cell,
            epoch,
            ..
        } = &*self.core;
        if cell.has_ended() {
            return Err(super::change::ended());
        }
        let unknown = || self.unknown_tool(&call.name, now);
        let tool = self.core.find_tool(&call.name).ok_or_else(unknown)?;
        let registered = self.core.tool(tool);
        let definition = &registered.definition;
        let skill = epoch.registry.skill(registered.skill);
        let decision = match &self.last {
            // The rule was asked when the view was made, and would say the same.
            Some(last) if last.view.shows(tool) && self.is_current(last, || now) => {
                Decision::Visible
            }
            _ => self.core.decide(tool, now),
        };
        match decision {
            Decision::Visible => {}
            Decision::Hidden { have, need } => {
                return Err(self.hidden(tool, have, need));
            }
            Decision::Denied(_) | Decision::Disabled | Decision::Unknown => return Err(unknown()),
        }
        if self
            .last
            .as_ref()
            .is_some_and(|last| !last.view.shows(tool))
        {
            let message = if skill.is_built_in() {
                format!(
                    "`{}` is there now, but you have not seen it yet. Call it in the next step",
                    call.name
                )
            } else {
                format!(
                    "`{}` is open now, but you have not seen its tools yet. Call it in the next step",
                    skill.id
                )
            };
            return Err(Fault::new(Code::Hidden, message));
        }
        if definition.requires_approval && engine.approvals.is_none() {
            return Err(nobody(&format!("`{}`", call.name)));
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
        if definition.requires_approval {
            // Nobody is bothered with a call that cannot succeed.
            registered.handler.check(call.arguments.as_bytes())?;
        }
        Ok(tool)
    }

    /// Says that there is no such tool, and which visible one may be meant.
    fn unknown_tool(&self, name: &str, now: Timestamp) -> Fault {
        /// Tools that a name is compared with: a model that makes up names must not keep a core busy.
        const MOST: usize = 200;
        let core = &self.core;
        let visible = || {
            let views = self.last.iter().map(|last| &last.view);
            let shown = views.flat_map(|view| view.tool_indexes()).take(MOST);
            // What was shown may not be there any more.
            shown.filter(|tool| core.decide(*tool, now) == Decision::Visible)
        };
        let own_name = name.rsplit(['.', '/', ':', ' ']).next().unwrap_or(name);
        let namesake = visible().find(|tool| *core.tool(*tool).name == *own_name);
        let names = || visible().map(|tool| &**core.tool_name(tool));
        let meant = namesake
            .map(|tool| &**core.tool_name(tool))
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

    /// Says what to do about a tool that is not open.
    fn hidden(&self, tool: ToolIndex, have: Level, need: Level) -> Fault {
        let TurnCore { cell, epoch, .. } = &*self.core;
        let skill = epoch.registry.skill(self.core.tool(tool).skill);
        if skill.is_built_in() {
            let load = epoch.listing.profile().tool(ProfileTool::Load);
            return Fault::new(
                Code::Hidden,
                format!("no skill with files is open; open one with {load} first"),
            );
        }
        let id = &skill.id;
        let (state, access) = cell.standing();
        let (facts, member, has_control) = self.core.tool_facts(access.as_ref(), tool);
        let ceiling = least(facts.ceiling(&state.standing(id)), member.ceiling);
        let message = match ceiling {
            Some(ceiling) if ceiling < need => {
                format!("`{id}` is limited to {ceiling} in this session. Do without it")
            }
            Some(_) | None if has_control && !facts.host_only => format!(
                "`{id}` is at {have}; open `{id}` at {need} with psl-skill__set_skill_visibility first"
            ),
            Some(_) | None => format!("`{id}` is at {have}; ask the user to open `{id}` at {need}"),
        };
        Fault::new(Code::Hidden, message)
    }
}
