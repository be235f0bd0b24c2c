use std::sync::{Arc, Weak};

use super::access::{Access, Parent};
use super::cell::Cell;
use super::epoch::Epoch;
use super::inner::EngineInner;
use super::rights::{Rights, RightsBuilder};
use super::turn_core::TurnCore;
use crate::registry::SkillIndex;
use crate::session::{AllowList, Grant, MemberFacts, TurnStanding, effective, is_opened};
use crate::skill::Timestamp;

/// Rights, and what they were worked out from: as long as that stands they hold.
pub(super) struct Resolved {
    pub(super) rights: Arc<Rights>,
    /// What the rule needs to know of the turn's own tools, in their order.
    pub(super) turn_tools: Box<[MemberFacts]>,
    /// The open skills whose lists of tools hold.
    pub(super) narrowing: Box<[SkillIndex]>,
    access: Option<Arc<Access>>,
    switches: u64,
    parent: Option<ParentSeen>,
}

/// A parent session as it was looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ParentSeen {
    edition: u32,
    has_ended: bool,
    /// The edition of the turn that made the child, while it lives.
    turn: Option<u64>,
    /// When a grant of the parent ends by itself.
    expires: Option<Timestamp>,
}

impl Resolved {
    /// Whether nothing changed since.
    pub(super) fn holds(&self, engine: &EngineInner, access: Option<&Arc<Access>>) -> bool {
        let is_same_access = match (&self.access, access) {
            (None, None) => true,
            (Some(seen), Some(access)) => Arc::ptr_eq(seen, access),
            _ => false,
        };
        is_same_access && self.holds_outside(engine)
    }

    /// Whether nothing changed since, the session itself aside.
    pub(super) fn holds_outside(&self, engine: &EngineInner) -> bool {
        self.switches == engine.governance.edition() && self.parent_holds(engine)
    }

    /// Whether a parent, where there is one, stands as it did.
    fn parent_holds(&self, engine: &EngineInner) -> bool {
        let parent = self
            .access
            .as_ref()
            .and_then(|access| access.parent.as_ref());
        match (parent, &self.parent) {
            (Some(parent), Some(seen)) => {
                parent.seen(seen.expires) == *seen
                    && seen
                        .expires
                        .is_none_or(|expires| engine.clock.now() < expires)
            }
            _ => true,
        }
    }

    /// Until when they hold by themselves.
    pub(super) fn expires(&self) -> Option<Timestamp> {
        self.parent.and_then(|parent| parent.expires)
    }
}

impl Parent {
    /// The turn that made the child, while it lives.
    pub(super) fn live_turn(&self) -> Option<Arc<TurnCore>> {
        let turn = self.turn.as_ref().and_then(Weak::upgrade)?;
        (!turn.has_ended()).then_some(turn)
    }

    /// Whether someone other than the model opened a skill there.
    pub(super) fn is_opened(&self, skill: &str, now: Timestamp) -> bool {
        let state = self.cell.published().1;
        let of_turn = self.live_turn();
        of_turn.is_some_and(|turn| turn.standing(skill, &state).is_opened_by_other)
            || state.standing(skill).is_opened_by_other(now)
    }

    fn seen(&self, expires: Option<Timestamp>) -> ParentSeen {
        ParentSeen {
            edition: self.cell.edition(),
            has_ended: self.cell.has_ended(),
            turn: self.live_turn().map(|turn| turn.edition()),
            expires,
        }
    }
}

impl EngineInner {
    /// Works out what a session may see at most: `access` is what its cell says, `lists` are the request's.
    pub(super) fn resolve(
        &self,
        epoch: &Epoch,
        cell: &Cell,
        access: Option<&Arc<Access>>,
        lists: &[AllowList],
    ) -> Resolved {
        let switches = self.governance.edition();
        let principal = access.and_then(|access| access.principal.as_ref());
        let own_lists = access.map_or(&[][..], |access| &access.lists);
        let rights = self.governance.rights(
            epoch,
            principal.unwrap_or(&cell.scope.principal),
            &[own_lists, lists],
            access.and_then(|access| access.control.as_ref()),
        );
        let parent = access.and_then(|access| access.parent.as_ref());
        let (rights, parent) = match parent {
            None => (rights, None),
            Some(parent) => {
                let (rights, seen) = self.under(epoch, parent, &rights);
                (Arc::new(rights), Some(seen))
            }
        };
        Resolved {
            rights,
            turn_tools: Box::default(),
            narrowing: Box::default(),
            access: access.cloned(),
            switches,
            parent,
        }
    }

    /// The rights of a child session: nothing that its parent does not see.
    fn under(&self, epoch: &Epoch, parent: &Parent, own: &Rights) -> (Rights, ParentSeen) {
        // Looked at before the state is: what changes meanwhile is found out the next time.
        let mut seen = parent.seen(None);
        let (state, access) = parent.cell.standing();
        let now = self.clock.now();
        // What ended already may stand in the state until somebody settles it.
        let grants = state.skills().flat_map(|(_, standing)| standing.grants());
        let ends = grants.filter_map(Grant::expires_at);
        seen.expires = ends.filter(|expires| *expires > now).min();
        let turn = parent.live_turn();
        let of_parent = match &turn {
            Some(turn) if std::ptr::eq(Arc::as_ptr(&turn.epoch), epoch) => {
                turn.with_rights(access.as_ref(), Arc::clone)
            }
            other => {
                let rights = self.rights_of_session(
                    epoch,
                    &parent.cell,
                    access.as_ref(),
                    &state,
                    other.as_deref(),
                );
                let attached = other.as_ref().and_then(|turn| {
                    let attached = turn.attached.as_deref()?;
                    Some(attached.restrict_other(&turn.epoch, epoch, &rights))
                });
                attached.unwrap_or(rights)
            }
        };
        let mut rights = RightsBuilder::from(&epoch.registry, own);
        if seen.has_ended {
            rights.deny_all_of_parent();
            return (rights.finish(epoch), seen);
        }
        rights.parent(&of_parent, |index, facts| {
            let id = &epoch.registry.skill(index).id;
            let standing = state.standing(id);
            let of_turn = turn
                .as_ref()
                .map_or_else(TurnStanding::default, |turn| turn.standing(id, &state));
            (
                effective(&facts, &standing, of_turn, now),
                is_opened(facts, standing, of_turn, now),
            )
        });
        (rights.finish(epoch), seen)
    }
}
