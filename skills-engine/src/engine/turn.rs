use std::fmt;
use std::sync::Arc;

use tracing::Instrument as _;

use super::cell::Cell;
use super::control::Control;
use super::hooks::Beginning;
use super::inner::EngineInner;
use super::layout::Layout;
use super::load::ContentPart;
use super::repeats::Repeats;
use super::restated::restated;
use super::sight::steps;
use super::turn_core::TurnCore;
use super::turn_part::TurnPart;
use super::turn_view::{TurnView, ViewChange, layout_change};
use super::view::View;
use super::visibility::TurnVisibility;
use crate::audit::{AuditKind, TurnOutcome};
use crate::skill::{
    Actor, AttributeContext, Fault, Level, SetVisibility, SkillVisibility, Span, Timestamp, TurnId,
    TurnRequest, TurnScope, VisibilityChange,
};
use crate::snapshot::{Evaluator, LiveValues, OwnValues, Viewer};

/// One unit of work of a session: a user's request with all its model calls.
///
/// Take a [`view`](Self::view) before every model call and hand the calls of every reply to
/// [`calls`](Self::calls). Grants that were made for the turn are gone when it is finished or dropped.
///
/// # Examples
///
/// The loop of an agent; `complete` stands for the call of a model.
///
/// ```
/// # use skills_engine::engine::ToolCall;
/// # use skills_engine::tools::Dialect;
/// # use skills_engine::{Engine, Session};
/// # struct Reply { text: String, tool_calls: Vec<ToolCall> }
/// # async fn complete(_system: &str, _tools: &str, _history: &[String]) -> Reply {
/// #     Reply { text: String::new(), tool_calls: Vec::new() }
/// # }
/// # async fn example(session: Session) -> Result<String, Box<dyn std::error::Error>> {
/// let mut history = vec!["Check health, then deploy payments.".to_owned()];
/// let mut turn = session.turn(&*history[0]).await?;
/// let answer = loop {
///     let view = turn.view().await?; // before every model call
///     let tools = view.tools_json(Dialect::OpenAiChat);
///     let reply = complete(view.system_prompt(), tools, &history).await;
///     if reply.tool_calls.is_empty() {
///         break reply.text;
///     }
///     let results = turn.calls(reply.tool_calls).await;
///     // One message for each call: `call_id`, `text`, `is_error`.
///     history.extend(results.messages().map(|message| message.text));
///     if results.return_direct() {
///         break results.iter().map(|result| result.text()).collect();
///     }
/// };
/// turn.finish().await?;
/// # Ok(answer)
/// # }
/// ```
#[must_use = "a turn that is dropped has ended"]
pub struct Turn {
    pub(super) core: Arc<TurnCore>,
    pub(super) scope: Arc<TurnScope>,
    pub(super) visibility: Arc<TurnVisibility>,
    pub(super) last: Option<Seen>,
    scratch: LiveValues,
    /// Whether its views say again what is open.
    restates: bool,
    /// Values that are kept for the turn.
    values: OwnValues,
    views: u64,
    outcome: TurnOutcome,
    pub(super) repeats: Repeats,
    span: tracing::Span,
    /// Whether it only shows what another one would: nothing of it is written down.
    is_preview: bool,
}

/// The turn's latest view, and by what it is known that nothing changed.
pub(super) struct Seen {
    pub(super) view: Arc<View>,
    /// `None` until the view is known to be the session's newest.
    session_edition: Option<u32>,
    turn_edition: u64,
    /// When a grant ends by itself.
    expires: Option<Timestamp>,
}

impl Turn {
    pub(super) fn new(engine: Arc<EngineInner>, cell: Arc<Cell>, beginning: Beginning) -> Self {
        let Beginning {
            id,
            epoch,
            request,
            lists,
            attached,
        } = beginning;
        let scope = TurnScope::new(Arc::clone(&cell.scope), id, request);
        let core = Arc::new(TurnCore::new(engine, cell, epoch, id, lists, attached));
        let notebook = Arc::downgrade(&core);
        let scope = Arc::new(scope.notebook(notebook));
        let visibility = Arc::new(TurnVisibility {
            core: Arc::clone(&core),
            scope: Arc::clone(&scope),
        });
        let span = tracing::info_span!("turn", session = %scope.session.id, turn = id.0);
        Self {
            core,
            scope,
            visibility,
            last: None,
            scratch: LiveValues::default(),
            restates: false,
            values: OwnValues::default(),
            views: 0,
            outcome: TurnOutcome::Dropped,
            repeats: Repeats::default(),
            span,
            is_preview: false,
        }
    }

    /// A turn that only shows what another one would.
    pub(super) fn preview(engine: Arc<EngineInner>, cell: Arc<Cell>) -> Self {
        let beginning = Beginning::new(&engine, &cell, TurnRequest::empty(), Arc::default());
        let mut turn = Self::new(engine, cell, beginning);
        turn.is_preview = true;
        turn
    }

    /// The turn's id, unique in its session.
    #[must_use]
    pub fn id(&self) -> TurnId {
        self.core.id
    }

    /// What the next model call may see. Take one before every model call.
    ///
    /// If nothing changed since the turn's last view, it is the same `Arc`. Live attributes are evaluated each time,
    /// under their deadlines; one that fails or is late gives `null` with a status.
    ///
    /// # Errors
    ///
    /// `not_permitted` when the session has ended.
    pub async fn view(&mut self) -> Result<TurnView, Fault> {
        if self.core.cell.has_ended() {
            return Err(super::change::ended());
        }
        let turn_edition = self.core.edition();
        if let Some(last) = &self.last
            && self.is_current(last, || self.core.engine.clock.now())
        {
            if last.view.layout().live.is_empty() {
                return Ok(TurnView::new(Arc::clone(&last.view), ViewChange::Unchanged));
            }
            let layout = Arc::clone(last.view.layout());
            let contents = last.view.contents().clone();
            let part = last.view.turn_part().cloned();
            let span = tracing::debug_span!(parent: &self.span, "view");
            return Ok(self
                .look(layout, contents, part, self.restates)
                .instrument(span)
                .await);
        }
        // Before the view is made: one that is not handed out because the future is dropped must not be the latest.
        self.core.engine.audit.relieve().await;
        let (mut session_edition, mut state) = self.core.cell.published();
        let now = self.core.engine.clock.now();
        if !self.is_preview {
            self.core.cell.touch(now);
        }
        if state.next_expiry().is_some_and(|expires| expires <= now) {
            // The rule goes by time already; settling it writes it down. A store that fails is asked again next time.
            let _ = self.core.engine.settle(&self.core.cell).await;
            (session_edition, state) = self.core.cell.published();
        }
        let access = self.core.cell.access();
        let (layout, rights_expire) = {
            let epoch = &self.core.epoch;
            let layout = self.core.with_rights(access.as_ref(), |rights| {
                let steps = self
                    .core
                    .with_grants(|grants| steps(epoch, rights, &state, grants, now));
                epoch.layout(rights, &steps)
            });
            (layout, self.core.rights_expire())
        };
        let part = self.core.attached.as_ref().and_then(|attached| {
            let visible = self.core.visible_own_tools(&state, access.as_ref(), now);
            TurnPart::new(attached, &self.core.epoch, &layout, visible).map(Arc::new)
        });
        let contents = if self.core.epoch.registry.loader.is_some() {
            let last = self.last.as_ref().map(|last| last.view.contents());
            let control = self.visibility.control();
            let contents = control.content_part(&layout, &state, last).await;
            self.core.note_missing(contents.missing());
            contents
        } else {
            ContentPart::default()
        };
        let restates = self.restates || self.core.cell.is_compacted();
        let span = tracing::debug_span!(parent: &self.span, "view");
        let look = self.look(layout, contents, part, restates);
        let view = look.instrument(span).await;
        if restates && !self.restates {
            // Only now: if the future is dropped before, nobody was told.
            self.restates = true;
            if !self.is_preview {
                self.core.cell.was_restated();
            }
        }
        if let Some(last) = &mut self.last {
            last.session_edition = Some(session_edition);
            last.turn_edition = turn_edition;
            last.expires = [state.next_expiry(), rights_expire]
                .into_iter()
                .flatten()
                .min();
        }
        Ok(view)
    }

    /// Whether what the rule said of everything when a view was made is what it would say now.
    pub(super) fn is_current(&self, last: &Seen, now: impl FnOnce() -> Timestamp) -> bool {
        last.session_edition == Some(self.core.cell.edition())
            && last.turn_edition == self.core.edition()
            && self.core.holds_rights(last.view.layout())
            && last.expires.is_none_or(|expires| now() < expires)
    }

    /// Evaluates what is live in a layout, and makes a view of it unless that is the last one.
    async fn look(
        &mut self,
        layout: Arc<Layout>,
        contents: ContentPart,
        part: Option<Arc<TurnPart>>,
        is_told_again: bool,
    ) -> TurnView {
        if !layout.live.is_empty() {
            let TurnCore {
                engine,
                cell,
                epoch,
                ..
            } = &*self.core;
            let cx = AttributeContext::new(Arc::clone(&self.scope));
            let evaluator = Evaluator {
                registry: &epoch.registry,
                words: &epoch.words,
                table: &epoch.live,
                pool: &engine.pool,
                clock: &engine.clock,
                limits: &engine.limits,
            };
            let mut viewer = Viewer {
                cx,
                session: &**cell,
                turn: &self.values,
            };
            let live = layout.live.iter().copied();
            evaluator
                .evaluate(live, &mut viewer, &mut self.scratch)
                .await;
        } else if !self.scratch.is_empty() {
            self.scratch = LiveValues::default();
        }
        let mut change = ViewChange::First;
        let restated = self.restatement(&layout, part.as_ref(), is_told_again);
        if let Some(last) = &self.last {
            change = layout_change(&last.view, &self.core.epoch, &layout);
            if change == ViewChange::Live && last.view.turn_part() != part.as_ref() {
                // The turn's own tools are others now, or govern others.
                change = ViewChange::Prefix;
            }
            if change == ViewChange::Live
                && *last.view.contents() == contents
                && *last.view.restated() == restated
                && *last.view.live() == self.scratch
            {
                return TurnView::new(Arc::clone(&last.view), ViewChange::Unchanged);
            }
        }
        let live = std::mem::take(&mut self.scratch);
        let epoch = Arc::clone(&self.core.epoch);
        let view = Arc::new(View::new(epoch, layout, contents, part, restated, live));
        self.record_view(&view);
        self.views += 1;
        match &mut self.last {
            Some(last) => last.view = Arc::clone(&view),
            None => {
                self.last = Some(Seen {
                    view: Arc::clone(&view),
                    session_edition: None,
                    turn_edition: u64::MAX,
                    expires: None,
                });
            }
        }
        TurnView::new(view, change)
    }

    /// What a view of a layout says again of what is open.
    fn restatement(
        &self,
        layout: &Arc<Layout>,
        part: Option<&Arc<TurnPart>>,
        restates: bool,
    ) -> Arc<str> {
        if !restates {
            return Arc::default();
        }
        match &self.last {
            Some(last)
                if self.restates
                    && Arc::ptr_eq(last.view.layout(), layout)
                    && last.view.turn_part() == part =>
            {
                Arc::clone(last.view.restated())
            }
            _ => {
                let most = self.core.engine.limits.restated;
                restated(&self.core.epoch, layout, part.map(|part| &**part), most)
            }
        }
    }

    fn record_view(&self, view: &Arc<View>) {
        if self.is_preview {
            return;
        }
        let TurnCore {
            engine,
            cell,
            epoch,
            id,
            ..
        } = &*self.core;
        let timed_out = view
            .live()
            .timed_out()
            .map(|index| Arc::clone(&epoch.registry.attribute(index).name))
            .collect();
        let bytes = view.told_bytes();
        let cut = view.catalogue_cut();
        let kind = AuditKind::View {
            digest: *view.digest(),
            bytes,
            timed_out,
            cut: [cut.shortened, cut.names_only, cut.left_out]
                .map(|count| u32::try_from(count).unwrap_or(u32::MAX)),
            contents: engine.contents_of(view, bytes),
        };
        engine
            .audit
            .record(engine.event(cell, Actor::Model, kind).turn(*id));
    }

    /// Whether there is a tool with a name on the wire, seen or not.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn knows_tool(&self, name: &str) -> bool {
        self.core.find_tool(name).is_some()
    }

    /// Opens a skill until the turn ends, as the host.
    ///
    /// # Errors
    ///
    /// Those of opening a skill for a session: `unknown_skill`, `limit_exceeded`, `audit_unavailable`.
    pub async fn open(
        &self,
        skill: &str,
        level: Level,
        reason: &str,
    ) -> Result<VisibilityChange, Fault> {
        let request = SetVisibility::new(skill, level)
            .span(Span::Turn)
            .reason(reason);
        self.control(Actor::Host).set(request).await
    }

    /// The standing of every skill in this turn, by id.
    #[must_use]
    pub fn visibility(&self) -> Vec<SkillVisibility> {
        self.control(Actor::Host).list()
    }

    fn control(&self, actor: Actor) -> Control<'_> {
        let TurnCore {
            engine,
            cell,
            epoch,
            ..
        } = &*self.core;
        Control {
            engine,
            cell,
            epoch,
            rights: self.core.rights(),
            turn: Some(&self.core),
            actor,
            by: None,
        }
    }

    pub(super) fn span(&self) -> &tracing::Span {
        &self.span
    }

    /// Ends the turn. Dropping it has the same effect, and is written down as such.
    ///
    /// # Errors
    ///
    /// None today; a store that keeps turns may have some.
    #[expect(
        clippy::unused_async,
        reason = "callers must not have to change when a store keeps turns"
    )]
    pub async fn finish(mut self) -> Result<(), Fault> {
        self.outcome = TurnOutcome::Finished;
        Ok(())
    }

    /// Ends the turn and writes down that it failed.
    pub fn fail(mut self) {
        self.outcome = TurnOutcome::Failed;
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let TurnCore {
            engine, cell, id, ..
        } = &*self.core;
        self.core.end();
        if self.is_preview {
            return;
        }
        let kind = AuditKind::TurnEnded {
            views: self.views,
            outcome: self.outcome,
        };
        let event = engine.event(cell, Actor::System, kind).turn(*id);
        cell.touch(event.time);
        engine.audit.record(event);
    }
}

impl fmt::Debug for Turn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Turn")
            .field("id", &self.core.id)
            .finish_non_exhaustive()
    }
}
