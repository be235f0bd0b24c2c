use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, OnceLock};

use futures_util::future::join_all;

use super::bounds::Bounds;
use super::own::{HoldsValues, OwnValues};
use super::slot::{Asked, AttributeStatus, Shown, Slot, Surroundings, tell};
use super::words::Words;
use crate::registry::{AttributeIndex, RegisteredAttribute, Registry};
use crate::skill::{AttributeContext, BlockingPool, Cache, Clock, Evaluation, Limits, Timestamp};

/// The values of the live attributes of one view, in view order.
#[derive(Clone, Default)]
pub(crate) struct LiveValues {
    bytes: Vec<u8>,
    entries: Vec<LiveEntry>,
}

/// One live value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveEntry {
    pub(crate) attribute: AttributeIndex,
    pub(crate) status: Option<AttributeStatus>,
    pub(crate) as_of: Option<Timestamp>,
    start: usize,
    end: usize,
}

impl LiveValues {
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Each value with its JSON text.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&LiveEntry, &str)> {
        self.entries.iter().map(|entry| (entry, self.json(entry)))
    }

    pub(crate) fn get(&self, attribute: AttributeIndex) -> Option<(&LiveEntry, &str)> {
        self.iter().find(|(entry, _)| entry.attribute == attribute)
    }

    /// Names of the attributes that took too long.
    pub(crate) fn timed_out(&self) -> impl Iterator<Item = AttributeIndex> {
        let is_late = |entry: &&LiveEntry| entry.status == Some(AttributeStatus::Timeout);
        self.entries
            .iter()
            .filter(is_late)
            .map(|entry| entry.attribute)
    }

    fn json(&self, entry: &LiveEntry) -> &str {
        // Readers write through serde_json, or hand in what they say is JSON text; anything else shows as null.
        std::str::from_utf8(&self.bytes[entry.start..entry.end]).unwrap_or("null")
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }
}

/// Without the values: some may be sensitive.
impl fmt::Debug for LiveValues {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(&self.entries).finish()
    }
}

impl PartialEq for LiveValues {
    /// Compares what a model would see, not where in the buffer it lies.
    fn eq(&self, other: &Self) -> bool {
        self.entries.len() == other.entries.len()
            && self
                .entries
                .iter()
                .zip(&other.entries)
                .all(|(left, right)| {
                    left.attribute == right.attribute
                        && left.status == right.status
                        && left.as_of == right.as_of
                        && self.bytes[left.start..left.end] == other.bytes[right.start..right.end]
                })
    }
}

/// What all sessions share of the live attributes of a registry.
#[derive(Default)]
pub(crate) struct LiveTable {
    attributes: Box<[OnceLock<SharedAttribute>]>,
}

#[derive(Default)]
struct SharedAttribute {
    slot: Arc<Slot>,
    running: Arc<AtomicU32>,
}

impl LiveTable {
    pub(crate) fn new(registry: &Registry) -> Self {
        Self {
            attributes: registry
                .attributes
                .iter()
                .map(|_| OnceLock::new())
                .collect(),
        }
    }
}

/// Who looks.
pub(crate) struct Viewer<'a> {
    pub(crate) cx: AttributeContext,
    pub(crate) session: &'a dyn HoldsValues,
    pub(crate) turn: &'a OwnValues,
}

/// Evaluates live attributes.
pub(crate) struct Evaluator<'a> {
    pub(crate) registry: &'a Registry,
    pub(crate) words: &'a Words,
    pub(crate) table: &'a LiveTable,
    pub(crate) pool: &'a BlockingPool,
    pub(crate) clock: &'a Arc<dyn Clock>,
    pub(crate) limits: &'a Limits,
}

struct Waiting {
    entry: usize,
    slot: Arc<Slot>,
    flight: u64,
    remaining: std::time::Duration,
}

impl Evaluator<'_> {
    /// Fills `values` with those of `attributes`, in that order.
    pub(crate) async fn evaluate(
        &self,
        attributes: impl Iterator<Item = AttributeIndex>,
        viewer: &mut Viewer<'_>,
        values: &mut LiveValues,
    ) {
        values.clear();
        let mut waiting = Vec::new();
        for index in attributes {
            let attribute = self.registry.attribute(index);
            let skill = &self.registry.skill(attribute.skill).id;
            viewer.cx.enter(skill, index);
            let span = tracing::debug_span!(
                "attribute",
                skill = %skill,
                attribute = %attribute.name,
            );
            let _entered = span.enter();
            if attribute.definition.evaluation == Evaluation::Lazy
                || attribute.definition.cache.is_some()
            {
                waiting.extend(self.ask(index, attribute, viewer, values, &span));
            } else {
                self.read(index, attribute, viewer, values);
            }
        }
        if waiting.is_empty() {
            return;
        }
        let clock = self.clock;
        let shown = join_all(waiting.iter().map(|waiting| {
            waiting.slot.wait(
                waiting.flight,
                waiting.remaining,
                viewer.cx.viewpoint(),
                &**clock,
            )
        }))
        .await;
        for (waiting, shown) in waiting.iter().zip(shown) {
            let index = values.entries[waiting.entry].attribute;
            self.keep(index, viewer, &shown);
            values.entries[waiting.entry] = self.settle(index, shown, &mut values.bytes);
        }
    }

    /// Reads a cheap attribute in place.
    fn read(
        &self,
        index: AttributeIndex,
        attribute: &RegisteredAttribute,
        viewer: &Viewer<'_>,
        values: &mut LiveValues,
    ) {
        let start = values.bytes.len();
        let bytes = &mut values.bytes;
        let result = catch_unwind(AssertUnwindSafe(|| {
            attribute.reader.read_now(&viewer.cx, bytes)
        }));
        let status = match result {
            Ok(Some(Ok(()))) => None,
            Ok(Some(Err(fault))) => {
                tell(&fault, attribute.definition.sensitive);
                Some(AttributeStatus::Error)
            }
            Ok(None) => Some(AttributeStatus::Error),
            Err(_) => Some(AttributeStatus::Panic),
        };
        if let Some(shortened) = self.bounds(attribute).shortened(&bytes[start..]) {
            bytes.truncate(start);
            bytes.extend_from_slice(&shortened);
        }
        values
            .entries
            .push(self.bounded(index, status, None, start, &mut values.bytes));
    }

    fn ask(
        &self,
        index: AttributeIndex,
        attribute: &RegisteredAttribute,
        viewer: &Viewer<'_>,
        values: &mut LiveValues,
        span: &tracing::Span,
    ) -> Option<Waiting> {
        let generation = self.registry.generation;
        let kept = self.with_keeper(index, viewer, |keeper| keeper.kept(generation, index));
        if let Some(shown) = kept.flatten() {
            let entry = self.settle(index, shown, &mut values.bytes);
            values.entries.push(entry);
            return None;
        }
        let shared = self.table.attributes[index as usize].get_or_init(SharedAttribute::default);
        let slot = if attribute.definition.takes_context {
            viewer.session.values().slot(generation, index)
        } else {
            Arc::clone(&shared.slot)
        };
        let timeout = attribute
            .definition
            .timeout
            .unwrap_or(self.limits.lazy_timeout)
            .min(self.limits.view_deadline);
        let around = Surroundings {
            clock: self.clock,
            pool: self.pool,
            running: &shared.running,
            span,
            bounds: self.bounds(attribute),
        };
        match slot.ask(attribute, &viewer.cx, timeout, &around) {
            Asked::Now(shown) => {
                self.keep(index, viewer, &shown);
                let entry = self.settle(index, shown, &mut values.bytes);
                values.entries.push(entry);
                None
            }
            Asked::Wait { flight, remaining } => {
                let (entry, start) = (values.entries.len(), values.bytes.len());
                values.entries.push(LiveEntry {
                    attribute: index,
                    status: None,
                    as_of: None,
                    start,
                    end: start,
                });
                Some(Waiting {
                    entry,
                    slot,
                    flight,
                    remaining,
                })
            }
        }
    }

    fn bounds(&self, attribute: &RegisteredAttribute) -> Bounds {
        Bounds::new(self.limits, self.words.of_value(self.registry, attribute))
    }

    /// Looks at who keeps the value of an attribute beside the slot that obtains it, if anyone does.
    fn with_keeper<T>(
        &self,
        index: AttributeIndex,
        viewer: &Viewer<'_>,
        look: impl FnOnce(&OwnValues) -> T,
    ) -> Option<T> {
        match self.registry.attribute(index).definition.cache? {
            Cache::Turn => Some(look(viewer.turn)),
            Cache::Session => Some(look(&viewer.session.values())),
            Cache::For(_) => None,
        }
    }

    fn keep(&self, index: AttributeIndex, viewer: &Viewer<'_>, shown: &Shown) {
        let definition = &self.registry.attribute(index).definition;
        // What another turn or session asked for is not kept when it is old, or may be another for this one.
        let own = viewer.cx.viewpoint();
        let is_own = shown.owner.is_some_and(|owner| {
            owner.session == own.session
                && (owner.turn == own.turn || definition.cache == Some(Cache::Session))
        });
        let is_anyones = shown.as_of.is_none() && !definition.takes_context;
        if shown.outcome.is_ok() && (is_own || is_anyones) {
            let generation = self.registry.generation;
            self.with_keeper(index, viewer, |keeper| {
                keeper.keep(generation, index, shown.clone());
            });
        }
    }

    /// Writes a value that was brought within its limits when it was obtained.
    fn settle(&self, index: AttributeIndex, shown: Shown, bytes: &mut Vec<u8>) -> LiveEntry {
        let start = bytes.len();
        let status = match shown.outcome {
            Ok(json) => {
                bytes.extend_from_slice(&json);
                None
            }
            Err(status) => Some(status),
        };
        self.bounded(index, status, shown.as_of, start, bytes)
    }

    /// Brings what was written since `start` within the limits of the view, or replaces it by null.
    fn bounded(
        &self,
        attribute: AttributeIndex,
        mut status: Option<AttributeStatus>,
        as_of: Option<Timestamp>,
        start: usize,
        bytes: &mut Vec<u8>,
    ) -> LiveEntry {
        if status.is_none()
            && (bytes.len() - start > self.limits.attribute
                || bytes.len() > self.limits.view_attributes)
        {
            status = Some(AttributeStatus::LimitExceeded);
        }
        if status.is_some() {
            bytes.truncate(start);
            bytes.extend_from_slice(b"null");
        }
        LiveEntry {
            attribute,
            status,
            as_of,
            start,
            end: bytes.len(),
        }
    }
}
