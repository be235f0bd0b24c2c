use std::borrow::Cow;
use std::sync::{Arc, Weak};
use std::time::Duration;

use super::change::expired;
use super::inner::EngineInner;
use crate::audit::AuditEvent;
use crate::session::{SkillFacts, TurnStanding, effective};
use crate::skill::{Actor, Clock, Timestamp};

/// Sessions that are ended before other tasks get a turn.
const BATCH: usize = 256;

/// Ends sessions that were idle for too long, and settles grants whose time has passed, without any traffic.
///
/// It stops when the last handle of the engine is gone.
pub(super) async fn reap(engine: Weak<EngineInner>, clock: Arc<dyn Clock>, every: Duration) {
    loop {
        clock.sleep(every).await;
        let Some(engine) = engine.upgrade() else {
            return;
        };
        engine.sweep().await;
        if let Some(contents) = &engine.contents {
            contents.purge().await;
        }
    }
}

impl EngineInner {
    async fn sweep(self: &Arc<Self>) {
        let now = self.clock.now();
        self.settle_expired(now).await;
        let mut idle = Vec::new();
        loop {
            idle.clear();
            self.sessions.idle(now, &self.limits, BATCH, &mut idle);
            let mut ended = 0;
            for cell in &idle {
                // It may have been used while others were ended.
                if !cell.is_idle(now, &self.limits) {
                    continue;
                }
                let result = self
                    .end_session(cell, Actor::System, Cow::Borrowed("idle"))
                    .await;
                if result.is_err() {
                    // A store that fails, or hangs, for one does so for all; the next sweep asks it again.
                    break;
                }
                ended += 1;
            }
            if ended < BATCH {
                break;
            }
            tokio::task::yield_now().await;
        }
        idle.clear();
        self.sessions.shrink();
    }

    async fn settle_expired(&self, now: Timestamp) {
        while let Ok(purged) = self.stored(self.store.purge_expired(now)).await {
            if purged.is_empty() {
                return;
            }
            for session in purged {
                let cell = self.sessions.get(&session.key);
                let epoch = self.epoch();
                for grant in &session.expired {
                    let standing = session.state.standing(&grant.skill);
                    let facts = SkillFacts::new(epoch.base(&grant.skill));
                    let new = effective(&facts, &standing, TurnStanding::default(), now);
                    let kind = expired(grant, new);
                    self.audit.record(match &cell {
                        Some(cell) => self.event(cell, Actor::System, kind),
                        None => AuditEvent::new(now, Actor::System, kind),
                    });
                }
                if let Some(cell) = cell {
                    let base = |skill: &str| epoch.base(skill);
                    cell.adopt(
                        session.state,
                        &super::cell::Around {
                            base: &base,
                            now,
                            limits: &self.limits,
                        },
                    );
                }
            }
        }
    }
}
