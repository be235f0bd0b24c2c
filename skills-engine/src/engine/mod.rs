//! The composition root: an engine, its sessions, their turns and views.

mod access;
mod admit;
mod approval;
mod attached;
mod build;
mod builder;
mod call;
mod calls;
mod cell;
mod change;
mod child;
mod contents;
mod control;
mod dropped;
mod epoch;
mod explained;
mod fence;
mod follow;
mod foreign;
mod governance;
mod granted;
mod guard;
mod hooks;
mod inner;
mod intake;
mod layout;
mod layouts;
mod listing;
mod load;
#[cfg(any(test, feature = "testing"))]
mod lone;
mod narrow;
mod notes;
mod overview;
mod pending;
mod reaper;
mod refresh;
mod repeats;
mod report;
mod resolved;
mod restated;
mod rights;
mod search;
mod session;
mod sessions;
pub mod settings;
mod settle;
mod settled;
mod sight;
mod switch;
mod telling;
mod texts;
mod told;
mod turn;
mod turn_core;
mod turn_part;
mod turn_view;
mod view;
mod visibility;

use std::fmt;
use std::sync::Arc;

pub use self::approval::{
    ApprovalAnswer, ApprovalHandler, ApprovalKind, ApprovalRequest, ApprovalToken, LeavePending,
};
pub use self::builder::EngineBuilder;
pub use self::call::{CallResult, CallResults, ResultMessage, ToolCall};
pub use self::foreign::ForeignSession;
use self::inner::EngineInner;
pub use self::load::{BinaryFiles, BodyDelivery, Invocable, Invocation};
#[cfg(any(test, feature = "testing"))]
pub(crate) use self::lone::LoneSkill;
pub use self::narrow::AllowedToolsMode;
pub use self::refresh::RefreshReport;
pub use self::report::{BuildReport, LinkedCrate};
pub use self::search::{Bm25Search, SearchIndex, SearchQuery, Searched, SkillSearch};
pub use self::session::Session;
use self::settings::SettingsReport;
pub use self::turn::Turn;
pub use self::turn_view::{TurnView, ViewChange};
pub use self::view::{Prompt, View, ViewTool};
use crate::audit::{AuditLog, MemoryRing};
use crate::registry::Registry;
use crate::session::Explanation;
use crate::skill::{Code, Fault, Principal, SessionId, Skill, SkillType, shown};

/// All skills of a program, and the sessions that open them. A handle: clones are the same engine.
#[derive(Clone)]
pub struct Engine {
    inner: Arc<EngineInner>,
    ring: Option<Arc<MemoryRing>>,
    report: Arc<BuildReport>,
    settings: Arc<SettingsReport>,
}

/// The registry of an engine, as it was when it was asked for.
#[derive(Clone)]
pub struct CurrentRegistry(Arc<epoch::Epoch>);

impl std::ops::Deref for CurrentRegistry {
    type Target = Registry;

    fn deref(&self) -> &Registry {
        &self.0.registry
    }
}

impl fmt::Debug for CurrentRegistry {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = self.list().map(|skill| &skill.definition().id);
        formatter.debug_set().entries(ids).finish()
    }
}

impl Engine {
    /// Begins to put an engine together.
    pub fn builder() -> EngineBuilder {
        EngineBuilder::default()
    }

    /// The session of a principal with an id, begun if there is none.
    ///
    /// Another principal's session of the same id is another session.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` for an illegal id, `limit_exceeded` when the principal has too many sessions,
    /// `store_unavailable` when its state cannot be read.
    pub async fn session(&self, principal: Principal, id: &str) -> Result<Session, Fault> {
        let cell = self
            .inner
            .open_session(principal, SessionId::new(id)?)
            .await?;
        Ok(Session::new(Arc::clone(&self.inner), cell))
    }

    /// A new session with a random id.
    ///
    /// # Errors
    ///
    /// As [`session`](Self::session).
    pub async fn new_session(&self, principal: Principal) -> Result<Session, Fault> {
        let cell = self
            .inner
            .open_session(principal, SessionId::random()?)
            .await?;
        Ok(Session::new(Arc::clone(&self.inner), cell))
    }

    /// The instance of an annotated type: the very one that the model's calls reach.
    ///
    /// # Errors
    ///
    /// `unknown_skill` when the engine has none.
    pub fn skill<T: SkillType>(&self) -> Result<Arc<T>, Fault> {
        self.inner.epoch().registry.instance::<T>().ok_or_else(|| {
            Fault::new(
                Code::UnknownSkill,
                format!("there is no skill `{}` in this engine. Link its crate, or pass it to the builder", T::entry().id),
            )
        })
    }

    /// The instance of an annotated type under an id of its own, as `builder.skill_as` gave it.
    ///
    /// # Errors
    ///
    /// `unknown_skill` when there is no skill with the id, or it is of another type.
    pub fn skill_by_id<T: SkillType>(&self, id: &str) -> Result<Arc<T>, Fault> {
        let epoch = self.inner.epoch();
        let instance = epoch.registry.get(id).and_then(|skill| skill.instance());
        instance
            .and_then(|instance| instance.downcast().ok())
            .ok_or_else(|| {
                let ty = T::entry().origin.type_name;
                Fault::new(
                    Code::UnknownSkill,
                    format!(
                        "there is no skill `{}` of type `{ty}` in this engine",
                        shown(id, 64)
                    ),
                )
            })
    }

    /// Writes down everything that waits for the audit trail. Call it before the process ends: a runtime that is
    /// dropped takes what waits with it.
    ///
    /// # Errors
    ///
    /// `audit_unavailable` when a sink has not taken everything.
    pub async fn shutdown(&self) -> Result<(), Fault> {
        self.inner.audit.flush().await;
        if let Some(contents) = &self.inner.contents {
            contents.flush().await;
        }
        let health = self.inner.audit.health();
        let failed = health
            .sinks
            .iter()
            .find(|sink| sink.failing_since.is_some() || sink.queued > 0);
        match failed {
            None => Ok(()),
            Some(sink) => {
                let why = sink
                    .last_error
                    .as_deref()
                    .unwrap_or("it has not taken everything yet");
                Err(Fault::new(
                    Code::AuditUnavailable,
                    format!("{} audit records are not written: {why}", sink.queued),
                ))
            }
        }
    }

    /// All skills, by id, those that are switched off included.
    #[must_use]
    pub fn skills(&self) -> Vec<Arc<dyn Skill>> {
        self.inner.epoch().registry.list().cloned().collect()
    }

    /// The registry that turns go by which begin now. It stays as it is, whatever a refresh does.
    #[must_use]
    pub fn registry(&self) -> CurrentRegistry {
        CurrentRegistry(self.inner.epoch())
    }

    /// Says why the model of a session can see a member of a skill, or why not.
    #[must_use]
    pub fn explain(&self, session: &Session, skill: &str, member: &str) -> Explanation {
        session.explain(skill, member)
    }

    /// Which crates the skills came from.
    #[must_use]
    pub fn report(&self) -> &BuildReport {
        &self.report
    }

    /// What was set outside of the program and in it, as of the engine's building, and where each value comes from.
    #[must_use]
    pub fn settings_report(&self) -> &SettingsReport {
        &self.settings
    }

    /// How many sessions this process holds.
    #[must_use]
    pub fn session_count(&self) -> usize {
        self.inner.sessions.len()
    }

    /// The audit log.
    #[must_use]
    pub fn audit(&self) -> &AuditLog {
        &self.inner.audit
    }

    /// The ring in memory that holds the audit trail of an engine that was given no other place for it.
    #[must_use]
    pub fn audit_ring(&self) -> Option<&Arc<MemoryRing>> {
        self.ring.as_ref()
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Engine")
            .field("sessions", &self.session_count())
            .finish_non_exhaustive()
    }
}
