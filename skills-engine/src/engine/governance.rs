use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use sha2::{Digest as _, Sha256};

use super::epoch::Epoch;
use super::rights::{Rights, RightsBuilder};
use crate::session::{AllowList, PolicyAnswer, PolicyQuestion, PslControl, PslPolicy, Roles};
use crate::skill::Principal;

/// Who may, and under which conditions: what the host set for the whole engine.
pub(super) struct Governance {
    pub(super) roles: Roles,
    pub(super) control: PslControl,
    pub(super) policy: Arc<dyn PslPolicy>,
    /// Ids of the skills that are switched off.
    switched_off: RwLock<Arc<BTreeSet<String>>>,
    /// Counts switchings.
    edition: AtomicU64,
}

impl Governance {
    pub(super) fn new(
        roles: Roles,
        control: PslControl,
        policy: Arc<dyn PslPolicy>,
        switched_off: BTreeSet<String>,
    ) -> Self {
        Self {
            roles,
            control,
            policy,
            switched_off: RwLock::new(Arc::new(switched_off)),
            edition: AtomicU64::new(0),
        }
    }

    /// Whoever saw this number saw these switches.
    pub(super) fn edition(&self) -> u64 {
        self.edition.load(Ordering::Acquire)
    }

    /// Switches a skill; false when it was so already.
    pub(super) fn switch(&self, skill: &str, is_enabled: bool) -> bool {
        let mut switched_off = self
            .switched_off
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let ids = Arc::make_mut(&mut switched_off);
        let has_changed = if is_enabled {
            ids.remove(skill)
        } else {
            ids.insert(skill.to_owned())
        };
        if has_changed {
            self.edition.fetch_add(1, Ordering::AcqRel);
        }
        has_changed
    }

    /// What the policy says of a change. One that panics lets nothing through.
    pub(super) fn check(&self, question: &PolicyQuestion<'_>) -> PolicyAnswer {
        let checked = catch_unwind(AssertUnwindSafe(|| self.policy.check(question)));
        checked.unwrap_or_else(|_| {
            tracing::error!("the policy panicked; the change is refused");
            PolicyAnswer::Refuse(
                "the policy of this engine failed, so nothing is opened. Tell whoever runs it"
                    .to_owned(),
            )
        })
    }

    /// Whether a principal's model may open skills; `narrowed` is what its session says.
    pub(super) fn lets_model(&self, principal: &Principal, narrowed: Option<&PslControl>) -> bool {
        self.control.lets_model(principal)
            && narrowed.is_none_or(|control| control.lets_model(principal))
    }

    fn switched_off(&self) -> Arc<BTreeSet<String>> {
        let switched_off = self.switched_off.read();
        Arc::clone(&switched_off.unwrap_or_else(PoisonError::into_inner))
    }

    /// What a principal's session sees at most, before it opened anything. `lists` are those of session and request.
    pub(super) fn rights(
        &self,
        epoch: &Epoch,
        principal: &Principal,
        lists: &[&[AllowList]],
        control: Option<&PslControl>,
    ) -> Arc<Rights> {
        let lets_model = self.lets_model(principal, control);
        let edition = self.edition();
        let mut key = format!("{edition} {lets_model}");
        if !self.roles.is_empty() {
            // Each after its length, so that no name can pass for two. Writing to a string does not fail.
            let roles: BTreeSet<_> = principal.roles().collect();
            for role in roles {
                let _ = write!(key, " {}:{role}", role.len());
            }
        }
        for list in lists.iter().copied().flatten() {
            key.push('\n');
            for pattern in list.as_slice() {
                // Names may have spaces, but no control characters.
                let _ = write!(key, "\t{pattern}");
            }
        }
        // The texts may be long, and all that matters is whether they are the same.
        epoch.rights(Sha256::digest(key).into(), || {
            let switched_off = self.switched_off();
            let mut rights = RightsBuilder::new(&epoch.registry);
            rights.switch_off(|id| switched_off.contains(id));
            if !self.roles.is_empty() {
                rights.roles(&self.roles.of(principal.roles()));
            }
            for list in lists.iter().copied().flatten() {
                rights.list(list);
            }
            if !lets_model {
                rights.without_control();
            }
            rights.finish(epoch)
        })
    }
}
