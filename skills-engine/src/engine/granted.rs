use std::sync::Arc;

use super::cell::Cell;
use super::inner::EngineInner;
use super::session::Session;
use crate::audit::AuditKind;
use crate::registry::Registry;
use crate::session::{AllowList, Coverage, Pattern, PslControl};
use crate::skill::{Actor, Code, Fault, Principal};

/// Lists that narrow one session.
const MOST_LISTS: usize = 64;

/// Who may in a session, and what at most.
impl Session {
    /// Gives the session's principal other roles, in place of those it had. It counts at once, in running turns too.
    ///
    /// Roles are the host's word; no store keeps them. Whoever asks for a session with a principal that has other
    /// roles changes them in the same way.
    pub fn set_roles<R: Into<String>>(&self, roles: impl IntoIterator<Item = R>) {
        let (engine, cell) = self.parts();
        let principal = Principal::new(cell.scope.principal.id(), roles);
        engine.set_principal(cell, principal);
    }

    /// Lets the session see no more than a list of patterns names: `skill` or `skill/*`, `skill/member`, or `*`. It counts at
    /// once, in running turns too.
    ///
    /// Each further list narrows: what is to be seen must be in all of them. An empty list allows nothing. The tools
    /// of `psl-skill` are exempt. Gives the patterns that name nothing there is.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for what is no pattern, `limit_exceeded` beyond 1,024 patterns or 64 lists.
    pub fn allow<P: AsRef<str>>(
        &self,
        patterns: impl IntoIterator<Item = P>,
    ) -> Result<Vec<String>, Fault> {
        let list = AllowList::new(patterns)?;
        let (engine, cell) = self.parts();
        let unmatched = engine.unmatched(&list);
        let taken = cell.set_access(|access| {
            if access.lists.contains(&list) {
                return Ok(false);
            }
            if access.lists.len() >= MOST_LISTS {
                return Err(too_many_lists());
            }
            let lists = access.lists.iter().cloned();
            access.lists = lists.chain([list]).collect();
            Ok(true)
        });
        if taken? {
            self.record_access();
        }
        Ok(unmatched)
    }

    /// Narrows whether the session's model may open skills by itself: both this and what the engine says must let
    /// it. It counts at once.
    pub fn psl_control(&self, control: PslControl) {
        let (_, cell) = self.parts();
        cell.set_access(|access| access.control = Some(control));
        self.record_access();
    }

    fn record_access(&self) {
        let (engine, cell) = self.parts();
        engine.record_access(cell, self.actor());
    }
}

fn too_many_lists() -> Fault {
    Fault::new(
        Code::LimitExceeded,
        format!(
            "a session takes at most {MOST_LISTS} lists; write what they have in common as one"
        ),
    )
}

impl EngineInner {
    /// Gives a session's principal the roles it comes with now, if they are others.
    pub(super) fn set_principal(&self, cell: &Arc<Cell>, principal: Principal) {
        if cell.principal() == principal {
            return;
        }
        cell.set_access(|access| access.principal = Some(principal));
        self.record_access(cell, Actor::Host);
    }

    /// Whether the model of a session may open skills by itself; that of a child may only if its parent's does.
    pub(super) fn lets_model(&self, cell: &Cell) -> bool {
        let access = cell.access();
        let access = access.as_deref();
        let narrowed = access.and_then(|access| access.control.as_ref());
        let parent = access.and_then(|access| access.parent.as_ref());
        self.governance.lets_model(&cell.principal(), narrowed)
            && parent.is_none_or(|parent| self.lets_model(&parent.cell))
    }

    /// Writes down who may in a session from now on, and what at most.
    pub(super) fn record_access(&self, cell: &Arc<Cell>, actor: Actor) {
        /// Texts that a record holds of each list.
        const MOST: usize = 64;
        if cell.has_ended() {
            // It has no effect any more, and would pass for one on the next session of that name.
            return;
        }
        let principal = cell.principal();
        let access = cell.access();
        let lists = access.as_ref().map_or(&[][..], |access| &access.lists);
        let mut patterns: Vec<Arc<str>> = Vec::new();
        for list in lists {
            patterns.push("".into());
            patterns.extend(list.patterns().map(Arc::from).take(MOST));
        }
        patterns.truncate(MOST);
        let kind = AuditKind::AccessChanged {
            roles: principal.roles().take(MOST).map(Arc::from).collect(),
            patterns,
            lets_model: self.lets_model(cell),
        };
        self.audit.record(self.event(cell, actor, kind));
    }

    /// The patterns of a list that name nothing there is.
    pub(super) fn unmatched(&self, list: &AllowList) -> Vec<String> {
        let epoch = self.epoch();
        let is_unmatched = |pattern: &&Pattern| !names_something(&epoch.registry, pattern);
        let unmatched = list.as_slice().iter().filter(is_unmatched);
        let unmatched: Vec<_> = unmatched.map(ToString::to_string).collect();
        if !unmatched.is_empty() {
            tracing::warn!(patterns = ?unmatched, "patterns of a list name nothing there is");
        }
        unmatched
    }
}

/// Whether a pattern names anything of a registry.
pub(super) fn names_something(registry: &Registry, pattern: &Pattern) -> bool {
    let mut skills = (0..).zip(&registry.skills);
    skills.any(|(index, skill)| match pattern.coverage(&skill.id) {
        Coverage::Nothing => false,
        Coverage::Whole => true,
        Coverage::SomeMembers => pattern.member().is_some_and(|member| {
            registry.tool_index(index, member).is_some()
                || registry.attribute_index(index, member).is_some()
        }),
    })
}
