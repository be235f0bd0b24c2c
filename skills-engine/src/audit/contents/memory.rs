use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::future::ready;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::super::AuditError;
use super::{AuditContent, ContentStore};
use crate::skill::{BoxFuture, Timestamp};

/// Roughly what keeping a text costs beside its bytes.
const BESIDE: usize = 256;

/// Texts of recorded views, in memory. Those that were shown longest ago make room for new ones.
pub struct MemoryContents {
    state: Mutex<State>,
    byte_limit: usize,
}

#[derive(Default)]
struct State {
    kept: HashMap<[u8; 32], Kept>,
    /// By when they were last shown, then by a number that tells them apart.
    order: BTreeMap<(Timestamp, u64), [u8; 32]>,
    numbers: u64,
    bytes: usize,
}

struct Kept {
    content: AuditContent,
    place: (Timestamp, u64),
}

impl MemoryContents {
    /// The bytes that are kept unless told otherwise.
    pub const DEFAULT_BYTES: usize = 64 << 20;

    /// Keeps at most so many bytes, compressed.
    #[must_use]
    pub fn new(byte_limit: usize) -> Self {
        Self {
            state: Mutex::default(),
            byte_limit,
        }
    }

    /// How many texts are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lock().kept.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All texts, those that were shown longest ago first.
    #[must_use]
    pub fn contents(&self) -> Vec<AuditContent> {
        let state = self.lock();
        let kept = |digest| state.kept.get(digest);
        let contents = state.order.values().filter_map(kept);
        contents.map(|kept| kept.content.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Notes that a text is shown; false when it is not kept.
    fn touch(&mut self, digest: &[u8; 32], at: Timestamp) -> bool {
        let Some(kept) = self.kept.get_mut(digest) else {
            return false;
        };
        if at > kept.place.0 {
            self.numbers += 1;
            self.order.remove(&kept.place);
            kept.place = (at, self.numbers);
            self.order.insert(kept.place, *digest);
        }
        true
    }

    fn put(&mut self, content: AuditContent, at: Timestamp) {
        self.numbers += 1;
        let (place, digest) = ((at, self.numbers), *content.digest());
        self.bytes += cost(&content);
        self.order.insert(place, digest);
        self.kept.insert(digest, Kept { content, place });
    }

    fn drop_oldest(&mut self) {
        let oldest = self.order.pop_first();
        let dropped = oldest.and_then(|(_, digest)| self.kept.remove(&digest));
        if let Some(dropped) = dropped {
            self.bytes -= cost(&dropped.content);
        }
    }
}

fn cost(content: &AuditContent) -> usize {
    content.bytes().len() + BESIDE
}

impl ContentStore for MemoryContents {
    fn touch<'a>(
        &'a self,
        digest: &'a [u8; 32],
        at: Timestamp,
    ) -> BoxFuture<'a, Result<bool, AuditError>> {
        let is_kept = self.lock().touch(digest, at);
        Box::pin(ready(Ok(is_kept)))
    }

    fn put(&self, content: AuditContent, at: Timestamp) -> BoxFuture<'_, Result<(), AuditError>> {
        let mut state = self.lock();
        let result = if state.touch(content.digest(), at) {
            Ok(())
        } else if cost(&content) > self.byte_limit {
            Err(AuditError::failed(format!(
                "a text of {} bytes, compressed, is more than is kept",
                content.bytes().len()
            )))
        } else {
            while state.bytes + cost(&content) > self.byte_limit {
                state.drop_oldest();
            }
            state.put(content, at);
            Ok(())
        };
        drop(state);
        Box::pin(ready(result))
    }

    fn get<'a>(
        &'a self,
        digest: &'a [u8; 32],
    ) -> BoxFuture<'a, Result<Option<AuditContent>, AuditError>> {
        let state = self.lock();
        let content = state.kept.get(digest).map(|kept| kept.content.clone());
        drop(state);
        Box::pin(ready(Ok(content)))
    }

    fn purge(&self, before: Timestamp) -> BoxFuture<'_, Result<u64, AuditError>> {
        let mut state = self.lock();
        let mut purged = 0;
        while let Some((first, _)) = state.order.first_key_value()
            && first.0 < before
        {
            state.drop_oldest();
            purged += 1;
        }
        drop(state);
        Box::pin(ready(Ok(purged)))
    }
}

impl Default for MemoryContents {
    fn default() -> Self {
        Self::new(Self::DEFAULT_BYTES)
    }
}

impl fmt::Debug for MemoryContents {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("MemoryContents")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}
