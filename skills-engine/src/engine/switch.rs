use super::Engine;
use super::inner::EngineInner;
use crate::audit::{AuditEvent, AuditKind};
use crate::skill::{Actor, Code, Fault, nearest, shown};

impl Engine {
    /// Switches a skill on or off for every model, at once and in running turns too; it stays reachable in code.
    /// Gives whether that changed anything.
    ///
    /// # Errors
    ///
    /// `unknown_skill` for an id that names no skill.
    pub fn set_enabled(&self, skill: &str, is_enabled: bool) -> Result<bool, Fault> {
        self.inner.switch(skill, is_enabled, Actor::Host, None)
    }
}

impl EngineInner {
    /// Switches a skill, and writes down who did.
    pub(super) fn switch(
        &self,
        skill: &str,
        is_enabled: bool,
        actor: Actor,
        by: Option<std::sync::Arc<str>>,
    ) -> Result<bool, Fault> {
        let epoch = self.epoch();
        let Some((_, registered)) = epoch.registry.find(skill) else {
            let ids = epoch.registry.skills.iter().map(|skill| &*skill.id);
            let near = nearest(skill, ids);
            let next = near.map_or_else(
                || "Check the id".to_owned(),
                |near| format!("Did you mean `{near}`?"),
            );
            return Err(Fault::new(
                Code::UnknownSkill,
                format!("there is no skill `{}`. {next}", shown(skill, 64)),
            ));
        };
        let has_changed = self.governance.switch(skill, is_enabled);
        if has_changed {
            let kind = AuditKind::Switched {
                skill: std::sync::Arc::clone(&registered.id),
                is_enabled,
            };
            self.audit
                .record(AuditEvent::new(self.clock.now(), actor, kind).by(by));
        }
        Ok(has_changed)
    }
}
