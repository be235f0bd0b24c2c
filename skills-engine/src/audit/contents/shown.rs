use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, OnceLock};

use sha2::{Digest as _, Sha256};

use super::super::AuditKind;
use super::super::queue::Item;
use super::keeper::{Job, Permit};
use super::{AuditContent, ContentDigests};
use crate::skill::lock;

/// A view as its texts are kept: redacted, and without the values of sensitive attributes.
pub(crate) trait ContentSource: Send + Sync {
    /// The snapshots of all skills, as one JSON array.
    fn snapshots(&self) -> String;

    /// The system prompt.
    fn prompt(&self) -> String;

    /// The tool list, as MCP has it.
    fn tools(&self) -> String;
}

/// The texts of a recorded view, on their way into their store.
///
/// They are composed and hashed when the record is written, not when the view is made.
#[derive(Clone)]
pub struct ViewContents {
    inner: Arc<Inner>,
}

struct Inner {
    /// `None` when they are not kept.
    outcome: OnceLock<Option<ContentDigests>>,
    waiting: Mutex<Option<Waiting>>,
}

/// What is left to be done.
struct Waiting {
    source: Arc<dyn ContentSource>,
    permit: Permit,
}

impl ViewContents {
    pub(super) fn new(source: Arc<dyn ContentSource>, permit: Permit) -> Self {
        Self {
            inner: Arc::new(Inner {
                outcome: OnceLock::new(),
                waiting: Mutex::new(Some(Waiting { source, permit })),
            }),
        }
    }

    /// Texts that are not kept, because there was no room for them.
    #[must_use]
    pub fn dropped() -> Self {
        Self {
            inner: Arc::new(Inner {
                outcome: OnceLock::from(None),
                waiting: Mutex::default(),
            }),
        }
    }

    /// The digests of the texts; `None` when they are not kept, or not composed yet.
    #[must_use]
    pub fn digests(&self) -> Option<ContentDigests> {
        self.inner.outcome.get().copied().flatten()
    }

    /// Composes and hashes the texts, and hands them on to be kept.
    ///
    /// The writers of two sinks may do so at once; the texts are the same, and the first one hands them on.
    fn prepare(&self) {
        let source = lock(&self.inner.waiting)
            .as_ref()
            .map(|waiting| Arc::clone(&waiting.source));
        let Some(source) = source else {
            return;
        };
        let texts = catch_unwind(AssertUnwindSafe(|| {
            [source.snapshots(), source.prompt(), source.tools()]
        }));
        drop(source);
        let is_short =
            |texts: &[String; 3]| texts.iter().all(|text| text.len() <= AuditContent::MOST);
        let prepared = texts.ok().filter(is_short).map(|texts| {
            let [snapshots, prompt, tools] =
                [0, 1, 2].map(|index: usize| <[u8; 32]>::from(Sha256::digest(&texts[index])));
            let digests = ContentDigests {
                snapshots,
                prompt,
                tools,
            };
            (digests, texts)
        });
        let digests = prepared.as_ref().map(|(digests, _)| *digests);
        if self.inner.outcome.set(digests).is_err() {
            return;
        }
        let Some(Waiting { permit, .. }) = lock(&self.inner.waiting).take() else {
            return;
        };
        match prepared {
            Some((digests, texts)) => permit.keep(Job::new(digests, texts)),
            None => permit.refuse(),
        }
    }
}

/// Composes what the records of these items are going to name by its digest.
pub(in crate::audit) async fn compose_contents(items: &[Item]) {
    for item in items {
        if let Item::Event { event, .. } = item
            && let AuditKind::View {
                contents: Some(contents),
                ..
            } = &event.kind
            && contents.inner.outcome.get().is_none()
        {
            contents.prepare();
            // It takes its time, and there may be many.
            tokio::task::yield_now().await;
        }
    }
}

impl fmt::Debug for ViewContents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ViewContents")
            .field("digests", &self.digests())
            .finish_non_exhaustive()
    }
}
