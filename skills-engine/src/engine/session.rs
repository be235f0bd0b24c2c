use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use super::cell::Cell;
use super::control::Control;
use super::hooks::Beginning;
use super::inner::EngineInner;
use super::turn::Turn;
use super::view::View;
use crate::session::{AllowList, SessionState};
use crate::skill::{
    Actor, Cleared, Fault, Level, Principal, SessionId, SetVisibility, SkillMatch, SkillVisibility,
    Span, TurnRequest, VisibilityChange,
};

/// An isolated conversation, owned by a principal. A handle: clones are the same session.
///
/// What it changes, it changes as the host, unless [`acting_as`](Self::acting_as) says otherwise.
#[derive(Clone)]
pub struct Session {
    engine: Arc<EngineInner>,
    cell: Arc<Cell>,
    actor: Actor,
    /// The principal that asks, where it is not the owner.
    by: Option<Arc<str>>,
}

impl Session {
    pub(super) fn new(engine: Arc<EngineInner>, cell: Arc<Cell>) -> Self {
        Self {
            engine,
            cell,
            actor: Actor::Host,
            by: None,
        }
    }

    /// The session's id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.cell.scope.id
    }

    /// The session's owner, with the roles it has now.
    #[must_use]
    pub fn principal(&self) -> Principal {
        self.cell.principal()
    }

    /// The same session, changed as another actor, such as the user.
    #[must_use]
    pub fn acting_as(&self, actor: Actor) -> Self {
        Self {
            actor,
            ..self.clone()
        }
    }

    /// The same session, changed as the user by another principal.
    pub(super) fn by(&self, principal: Arc<str>) -> Self {
        Self {
            actor: Actor::User,
            by: Some(principal),
            ..self.clone()
        }
    }

    pub(super) fn actor(&self) -> Actor {
        self.actor
    }

    /// What the session has opened, as it counts now.
    #[must_use]
    pub fn state(&self) -> Arc<SessionState> {
        self.cell.published().1
    }

    /// Begins a turn: the skills that take part are told of the request, those with hooks.
    ///
    /// Dropping the future leaves nothing of the turn behind.
    ///
    /// # Errors
    ///
    /// `not_permitted` when the session has ended, `store_unavailable` when its state cannot be read; `timeout`, `panic`
    /// or `tool_error` when a hook of a skill that is `required` failed.
    pub async fn turn(&self, request: impl Into<TurnRequest>) -> Result<Turn, Fault> {
        let mut request = request.into();
        let lists = request
            .lists
            .iter()
            .map(AllowList::new)
            .collect::<Result<Arc<[_]>, _>>()?;
        self.engine.refresh_if_changed().await;
        self.engine.refresh_session(&self.cell).await?;
        if let Some(roles) = request.roles.take() {
            self.set_roles(roles);
        }
        if let Some(parent) = self.cell.parent() {
            parent.touch(self.engine.clock.now());
        }
        for list in lists.iter() {
            self.engine.unmatched(list);
        }
        let (engine, cell) = (&self.engine, &self.cell);
        let beginning = Beginning::new(engine, cell, request, lists);
        let beginning = beginning.attach(engine, cell).await?;
        Ok(Turn::new(Arc::clone(engine), Arc::clone(cell), beginning))
    }

    /// What a turn without a request would be shown now. Nothing of it is written down, no hook is asked, and it
    /// counts as no use of the session.
    ///
    /// # Errors
    ///
    /// `not_permitted` when the session has ended.
    pub async fn preview(&self) -> Result<Arc<View>, Fault> {
        self.engine.load_session(&self.cell).await?;
        let (engine, cell) = (Arc::clone(&self.engine), Arc::clone(&self.cell));
        let mut turn = Turn::preview(engine, cell);
        Ok(Arc::clone(turn.view().await?.view()))
    }

    /// Sets the level of a skill, until it is cleared or for a time.
    ///
    /// A host may open more than its own [limit](Self::limit) lets through: the grant waits until the limit is lifted, and
    /// the answer says what caps it.
    ///
    /// # Errors
    ///
    /// `unknown_skill`; `held_by` when a higher actor holds the skill at a higher level; `not_permitted` above a
    /// ceiling, for actors below the host, or in a session that has ended; `limit_exceeded`; `conflict`; `store_unavailable`; `audit_unavailable`
    /// when the change raises something and its record cannot be written, in which case nothing was changed.
    pub async fn open(
        &self,
        skill: &str,
        level: Level,
        span: Span,
        reason: &str,
    ) -> Result<VisibilityChange, Fault> {
        self.control(async |control: Control<'_>| {
            control
                .set(SetVisibility::new(skill, level).span(span).reason(reason))
                .await
        })
        .await
    }

    /// Caps a skill: nobody below the host passes the level, whatever is granted.
    ///
    /// # Errors
    ///
    /// `unknown_skill`, `not_permitted`, `conflict`, `store_unavailable`.
    pub async fn limit(&self, skill: &str, level: Level) -> Result<(), Fault> {
        self.control(async |control: Control<'_>| control.limit(skill, Some(level), "").await)
            .await
    }

    /// Takes the cap off a skill.
    ///
    /// # Errors
    ///
    /// As [`limit`](Self::limit), and `audit_unavailable`, since it raises.
    pub async fn lift_limit(&self, skill: &str) -> Result<(), Fault> {
        self.control(async |control: Control<'_>| control.limit(skill, None, "").await)
            .await
    }

    /// Takes back what this actor and lower ones granted for a skill.
    ///
    /// # Errors
    ///
    /// `unknown_skill`, `not_permitted`, `conflict`, `store_unavailable`.
    pub async fn clear(&self, skill: &str) -> Result<Cleared, Fault> {
        self.control(async |control: Control<'_>| control.clear(Some(skill), "").await)
            .await
    }

    /// Takes back all that this actor and lower ones granted.
    ///
    /// # Errors
    ///
    /// `not_permitted`, `conflict`, `store_unavailable`.
    pub async fn clear_all(&self) -> Result<Cleared, Fault> {
        self.control(async |control: Control<'_>| control.clear(None, "").await)
            .await
    }

    /// The standing of every skill, by id; grants of running turns left out.
    ///
    /// # Errors
    ///
    /// `not_permitted` when the session has ended, `store_unavailable`.
    pub async fn visibility(&self) -> Result<Vec<SkillVisibility>, Fault> {
        self.control(async |control: Control<'_>| Ok(control.list()))
            .await
    }

    /// Finds skills for a query, best first, 20 at most. The first search of a registry waits for its index.
    ///
    /// # Errors
    ///
    /// `limit_exceeded` for a long query, and when no thread is free to make the index; `panic` when making it panicked;
    /// and those of [`visibility`](Self::visibility).
    pub async fn search(&self, query: &str) -> Result<Vec<SkillMatch>, Fault> {
        self.control(async |control: Control<'_>| control.search(query).await)
            .await
    }

    /// Puts a value for the session's tools, replacing an earlier one of its type.
    pub fn put<T: Send + Sync + 'static>(&self, value: T) {
        self.cell.scope.values.put(value);
    }

    /// The value of a type that was put.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        self.cell.scope.values.get()
    }

    /// Says that earlier messages of the conversation are gone, summed up or cut off: the next view, and all views of its
    /// turn, say again what is open, in at most `limits.restated` characters before the live values.
    ///
    /// Known to this process alone. Saying it twice before a view is made says it once.
    pub fn compacted(&self) {
        if !self.cell.has_ended() {
            self.cell.touch(self.engine.clock.now());
            self.cell.compact();
        }
    }

    /// Ends the session: all that was granted is gone, and every handle of it refuses from now on.
    ///
    /// # Errors
    ///
    /// `store_unavailable` when its grants cannot be forgotten; the session then goes on.
    pub async fn end(&self, reason: &str) -> Result<(), Fault> {
        self.engine.check_reason(reason)?;
        self.engine
            .end_session(&self.cell, self.actor, Cow::Owned(reason.to_owned()))
            .await
    }

    pub(super) fn parts(&self) -> (&Arc<EngineInner>, &Arc<Cell>) {
        (&self.engine, &self.cell)
    }

    pub(super) async fn control<T>(
        &self,
        act: impl AsyncFnOnce(Control<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.engine.refresh_session(&self.cell).await?;
        let epoch = self.engine.epoch();
        let (state, access) = self.cell.standing();
        let control = Control {
            engine: &self.engine,
            cell: &self.cell,
            epoch: &epoch,
            rights: self.engine.rights_of_session(
                &epoch,
                &self.cell,
                access.as_ref(),
                &state,
                None,
            ),
            turn: None,
            actor: self.actor,
            by: self.by.clone(),
        };
        act(control).await
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Session")
            .field("id", self.id())
            .field("actor", &self.actor)
            .finish_non_exhaustive()
    }
}
