use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::access::Access;
use super::cell::Cell;
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::rights::{Rights, RightsBuilder};
use super::turn_core::TurnCore;
use crate::registry::SkillIndex;
use crate::session::{SessionState, TurnGrants, effective};
use crate::skill::{AllowedTools, Level, Timestamp, ToolPattern};

/// What becomes of the tools that the author of a skill lists in `allowed-tools`.
///
/// Whatever the mode, the list never lets a model see or call more than it could without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum AllowedToolsMode {
    /// The list is read, and nothing is made of it.
    #[default]
    Ignore,
    /// The tools on it need no approval for which nobody but a policy asks.
    ///
    /// In this engine there is no such approval: a call waits for a person where its tool `requires_approval`, and what a
    /// policy asks about is the opening of skills. A list goes over neither, so this is the same as
    /// [`Ignore`](Self::Ignore), and gives hosts with skills that are written for preapproval a name for it.
    Preapprove,
    /// While a skill with a list is open at CONTEXT or above, in the session or in the turn, the model sees and calls the
    /// tools on the list alone, and those that the engine itself has for opening, loading and reading skills. Several such
    /// skills allow what any of them lists. A skill without a list changes nothing.
    ///
    /// A pattern names a tool as the model calls it (`deploy__status`), by its skill and its own name (`deploy/status`), or
    /// by its own name (`status`), exactly. One with something in parentheses, such as `Bash(git:*)`, names no tool here. A
    /// list that cannot be read names none, either.
    Restrict,
}

impl EngineInner {
    /// Whether skills that are open can take tools away.
    pub(super) fn narrows(&self) -> bool {
        self.loading.allowed_tools == AllowedToolsMode::Restrict
    }

    /// The skills whose lists hold, by index: those that are open. `rights` may be narrowed already.
    pub(super) fn narrowing(
        &self,
        epoch: &Epoch,
        rights: &Rights,
        state: &SessionState,
        turn: &TurnGrants,
        now: Timestamp,
    ) -> Box<[SkillIndex]> {
        if !self.narrows() {
            return Box::default();
        }
        let registry = &epoch.registry;
        let is_open = |index: &SkillIndex| {
            let registered = registry.skill(*index);
            let id = &registered.id;
            let facts = rights.skill(registry, *index);
            registered.definition().allowed_tools.is_some()
                && !rights.is_denied(*index)
                && effective(&facts, &state.standing(id), turn.standing(id, state), now)
                    >= Level::Context
        };
        let of_session = state.entries().filter(|(_, standing)| !standing.is_empty());
        let of_session = of_session.filter_map(|(skill, _)| registry.find_shared(skill));
        let of_turn = turn
            .live(state)
            .filter_map(|grant| registry.find_shared(grant.skill()));
        let open = of_session
            .chain(of_turn)
            .chain(registry.open_with_allowed_tools.iter().copied());
        let mut open: Vec<_> = open.filter(is_open).collect();
        open.sort_unstable();
        open.dedup();
        open.into()
    }

    /// What a session may see at most: outside of a turn, or in one that goes by another registry.
    pub(super) fn rights_of_session(
        &self,
        epoch: &Epoch,
        cell: &Cell,
        access: Option<&Arc<Access>>,
        state: &SessionState,
        turn: Option<&TurnCore>,
    ) -> Arc<Rights> {
        let rights = self.resolve(epoch, cell, access, &[]).rights;
        if !self.narrows() {
            return rights;
        }
        let grants = turn.map_or_else(TurnGrants::default, |turn| turn.with_grants(Clone::clone));
        let open = self.narrowing(epoch, &rights, state, &grants, self.clock.now());
        narrow(epoch, rights, &open)
    }
}

/// Rights without the tools that none of the open skills lists.
pub(super) fn narrow(epoch: &Epoch, rights: Arc<Rights>, open: &[SkillIndex]) -> Arc<Rights> {
    if open.is_empty() {
        return rights;
    }
    let mut key = Sha256::new();
    key.update(b"allowed tools");
    key.update(rights.digest());
    for skill in open {
        key.update(skill.to_le_bytes());
    }
    epoch.rights(key.finalize().into(), || {
        let mut builder = RightsBuilder::from(&epoch.registry, &rights);
        builder.allowed_tools(|skill, tool| {
            let name = &epoch.registry.tool(tool).name;
            is_allowed(epoch, open, skill, name, epoch.catalogue.name(tool))
        });
        builder.finish(epoch)
    })
}

/// Whether one of the open skills lists a tool, which has its own name and one on the wire.
pub(super) fn is_allowed(
    epoch: &Epoch,
    open: &[SkillIndex],
    skill: SkillIndex,
    name: &str,
    on_wire: &str,
) -> bool {
    let id = &*epoch.registry.skill(skill).id;
    let names = |pattern: &ToolPattern| {
        let pattern = pattern.as_str();
        pattern == on_wire || pattern == name || pattern.split_once('/') == Some((id, name))
    };
    open.is_empty()
        || open.iter().any(|open| {
            let allowed = &epoch.registry.skill(*open).definition().allowed_tools;
            let patterns = allowed.iter().flat_map(AllowedTools::patterns);
            patterns.into_iter().any(names)
        })
}
