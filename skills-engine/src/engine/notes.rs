use std::sync::Arc;

use serde_json::value::RawValue;

use super::cell::Cell;
use super::change::ended;
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::turn_core::TurnCore;
use crate::audit::AuditKind;
use crate::skill::{Actor, Author, Code, Fault, Notebook, TurnId, check_data};
use crate::snapshot::{Redaction, RedactionPlace, TextKind};

/// Also after the turn has ended: what a tool still does then is worth a record all the same.
impl Notebook for TurnCore {
    fn note(&self, author: Author, actor: Actor, event: &str, data: String) -> Result<(), Fault> {
        let registry = &self.epoch.registry;
        let (skill, member) = match author {
            Author::Tool(index) => {
                let tool = self.tool(index);
                (tool.skill, Arc::clone(&tool.name))
            }
            Author::Attribute(index) => {
                let attribute = registry.attribute(index);
                (attribute.skill, Arc::clone(&attribute.name))
            }
            Author::Hooks(skill) => (skill, HOOKS.into()),
        };
        let skill = &registry.skill(skill).id;
        let kind = skill_event(self.epoch.words.redaction(), skill, member, event, data)?;
        self.engine.note(&self.cell, self.id, actor, kind)
    }
}

/// Where the hooks of skills write their events before their turn begins.
pub(super) struct HookNotebook {
    pub(super) engine: Arc<EngineInner>,
    pub(super) cell: Arc<Cell>,
    pub(super) epoch: Arc<Epoch>,
    pub(super) turn: TurnId,
}

impl Notebook for HookNotebook {
    fn note(&self, author: Author, actor: Actor, event: &str, data: String) -> Result<(), Fault> {
        let Author::Hooks(skill) = author else {
            return Err(Fault::new(
                Code::NotPermitted,
                "the turn has not begun. Nothing but hooks writes events before",
            ));
        };
        let skill = &self.epoch.registry.skill(skill).id;
        let redaction = self.epoch.words.redaction();
        let kind = skill_event(redaction, skill, HOOKS.into(), event, data)?;
        self.engine.note(&self.cell, self.turn, actor, kind)
    }
}

/// What stands for a member where a hook writes: no name of one has parentheses.
const HOOKS: &str = "(hooks)";

fn skill_event(
    redaction: Option<&Redaction>,
    skill: &Arc<str>,
    member: Arc<str>,
    event: &str,
    data: String,
) -> Result<AuditKind, Fault> {
    let data = match redaction {
        None => data,
        Some(redaction) => {
            let place = RedactionPlace::new(skill, Some(&member), TextKind::Event);
            let redacted = redaction.json(&data, &place).unwrap_or(data);
            // It may have added to it.
            check_data(&redacted)?;
            redacted
        }
    };
    let data = RawValue::from_string(data).map_err(|_| {
        Fault::new(
            Code::InvalidArguments,
            format!("the data of the event `{event}` is not JSON"),
        )
    })?;
    Ok(AuditKind::SkillEvent {
        skill: Arc::clone(skill),
        member,
        event: event.into(),
        data,
    })
}

impl EngineInner {
    fn note(
        &self,
        cell: &Arc<Cell>,
        turn: TurnId,
        actor: Actor,
        kind: AuditKind,
    ) -> Result<(), Fault> {
        if cell.has_ended() {
            return Err(ended());
        }
        self.audit.record(self.event(cell, actor, kind).turn(turn));
        Ok(())
    }
}
