use std::fmt;
use std::sync::Arc;

use super::Engine;
use super::inner::EngineInner;
use super::session::Session;
use super::view::View;
use crate::audit::{AuditEvent, AuditKind, AuditRecord, Observed};
use crate::session::{Explanation, SessionKey};
use crate::skill::{
    Actor, Cleared, Code, Fault, Level, Principal, SessionId, SkillVisibility, Span,
    VisibilityChange, shown,
};

/// The role whose principals may look into sessions of others.
const OBSERVER: &str = "observer";
/// The role whose principals may also change what is open there.
const OPERATOR: &str = "operator";

/// A session of another principal, in the hands of an observer or an operator. All that is done is written down with
/// the names of both.
#[derive(Clone)]
pub struct ForeignSession {
    session: Session,
    viewer: Arc<str>,
    is_operator: bool,
}

impl Engine {
    /// The session of another principal, for one who has the role `observer` or `operator`.
    ///
    /// # Errors
    ///
    /// `unknown_session`: there is none under that name, or the viewer has neither role. The two cannot be told
    /// apart; the second one is written into the session's audit chain.
    pub fn foreign_session(
        &self,
        viewer: &Principal,
        owner: &str,
        session: &str,
    ) -> Result<ForeignSession, Fault> {
        let unknown = || {
            Fault::new(
                Code::UnknownSession,
                format!("there is no session `{}`. Check its id", shown(session, 64)),
            )
        };
        viewer.check()?;
        let id = SessionId::new(session).map_err(|_| unknown())?;
        let key = SessionKey::new(owner, &id);
        let cell = self.inner.sessions.get(&key).ok_or_else(unknown)?;
        if cell.has_ended() {
            return Err(unknown());
        }
        let has = |wanted: &str| viewer.roles().any(|role| role == wanted);
        let is_operator = has(OPERATOR);
        if !is_operator && !has(OBSERVER) {
            let kind = AuditKind::Stranger {
                principal: viewer.id().into(),
            };
            self.inner
                .audit
                .record(self.inner.event(&cell, Actor::User, kind));
            return Err(unknown());
        }
        let viewer: Arc<str> = viewer.id().into();
        let session = Session::new(Arc::clone(&self.inner), cell).by(Arc::clone(&viewer));
        Ok(ForeignSession {
            session,
            viewer,
            is_operator,
        })
    }

    /// Switches a skill for all models, for a principal that has the role `operator`.
    ///
    /// # Errors
    ///
    /// `not_permitted` without the role; `unknown_skill` for an id that names no skill.
    pub fn set_enabled_by(
        &self,
        operator: &Principal,
        skill: &str,
        is_enabled: bool,
    ) -> Result<bool, Fault> {
        operator.check()?;
        check_operator(operator)?;
        let by = Some(operator.id().into());
        self.inner.switch(skill, is_enabled, Actor::User, by)
    }
}

/// Refuses who does not have the role `operator`.
pub(super) fn check_operator(principal: &Principal) -> Result<(), Fault> {
    if principal.roles().any(|role| role == OPERATOR) {
        return Ok(());
    }
    Err(not_operator())
}

fn not_operator() -> Fault {
    Fault::new(
        Code::NotPermitted,
        format!("this takes the role `{OPERATOR}`; ask the host for it"),
    )
}

impl ForeignSession {
    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        self.session.id()
    }

    /// The session's owner, with the roles it has now.
    #[must_use]
    pub fn owner(&self) -> Principal {
        self.session.principal()
    }

    /// The standing of every skill, by id; grants of running turns left out.
    ///
    /// # Errors
    ///
    /// `not_permitted` when the session has ended, `store_unavailable`.
    pub async fn visibility(&self) -> Result<Vec<SkillVisibility>, Fault> {
        self.record(Observed::Visibility);
        self.session.visibility().await
    }

    /// What the session's model would be shown now: prompt, tools and snapshots; grants of running turns left out, and
    /// the values of sensitive attributes.
    ///
    /// # Errors
    ///
    /// As [`visibility`](Self::visibility).
    pub async fn view(&self) -> Result<Arc<View>, Fault> {
        self.record(Observed::View);
        Ok(self.session.preview().await?.redacted())
    }

    /// Says why the model can see a member of a skill, or why not.
    #[must_use]
    pub fn explain(&self, skill: &str, member: &str) -> Explanation {
        self.record(Observed::Explanation);
        self.session.explain(skill, member)
    }

    /// The session's audit records that the engine's ring still holds, oldest first; none where the engine writes
    /// its audit trail elsewhere.
    #[must_use]
    pub fn audit(&self, engine: &Engine) -> Vec<AuditRecord> {
        self.record(Observed::Audit);
        let (_, cell) = self.session.parts();
        let (owner, id) = (cell.scope.principal.id(), cell.scope.id.as_str());
        let is_own = |record: &AuditRecord| {
            record.entry().is_ok_and(|entry| {
                entry.session.as_deref() == Some(id) && entry.principal.as_deref() == Some(owner)
            })
        };
        let records = engine.audit_ring().map(|ring| ring.records());
        records.into_iter().flatten().filter(is_own).collect()
    }

    /// Sets the level of a skill as the user, for an operator.
    ///
    /// # Errors
    ///
    /// `not_permitted` for an observer, and those of [`Session::open`].
    pub async fn open(
        &self,
        skill: &str,
        level: Level,
        span: Span,
        reason: &str,
    ) -> Result<VisibilityChange, Fault> {
        self.check_operator()?;
        self.session.open(skill, level, span, reason).await
    }

    /// Takes back what users and the model granted for a skill, for an operator.
    ///
    /// # Errors
    ///
    /// `not_permitted` for an observer, and those of [`Session::clear`].
    pub async fn clear(&self, skill: &str) -> Result<Cleared, Fault> {
        self.check_operator()?;
        self.session.clear(skill).await
    }

    fn check_operator(&self) -> Result<(), Fault> {
        self.is_operator.then_some(()).ok_or_else(not_operator)
    }

    fn record(&self, what: Observed) {
        let (engine, cell) = self.session.parts();
        let event = observed(engine, cell, what).by(Some(Arc::clone(&self.viewer)));
        engine.audit.record(event);
    }
}

fn observed(engine: &EngineInner, cell: &super::cell::Cell, what: Observed) -> AuditEvent {
    engine.event(cell, Actor::User, AuditKind::Observed { what })
}

impl fmt::Debug for ForeignSession {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ForeignSession")
            .field("id", self.id())
            .field("viewer", &self.viewer)
            .finish_non_exhaustive()
    }
}
