use std::sync::Arc;

use serde_json::value::RawValue;

use super::change::ended;
use super::turn_core::TurnCore;
use crate::audit::AuditKind;
use crate::skill::{Actor, Author, Code, Fault, Notebook};

/// Also after the turn has ended: what a tool still does then is worth a record all the same.
impl Notebook for TurnCore {
    fn note(&self, author: Author, actor: Actor, event: &str, data: String) -> Result<(), Fault> {
        if self.cell.has_ended() {
            return Err(ended());
        }
        let registry = &self.epoch.registry;
        let (skill, member) = match author {
            Author::Tool(index) => {
                let tool = registry.tool(index);
                (tool.skill, &tool.name)
            }
            Author::Attribute(index) => {
                let attribute = registry.attribute(index);
                (attribute.skill, &attribute.name)
            }
        };
        let data = RawValue::from_string(data).map_err(|_| {
            Fault::new(
                Code::InvalidArguments,
                format!("the data of the event `{event}` is not JSON"),
            )
        })?;
        let kind = AuditKind::SkillEvent {
            skill: Arc::clone(&registry.skill(skill).id),
            member: Arc::clone(member),
            event: event.into(),
            data,
        };
        self.engine
            .audit
            .record(self.engine.event(&self.cell, actor, kind).turn(self.id));
        Ok(())
    }
}
