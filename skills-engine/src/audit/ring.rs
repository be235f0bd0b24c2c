use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{
    AuditError, AuditKey, AuditQuery, AuditRecord, AuditSink, AuditStore, ChainHead, Coverage,
    Verified, Verifier, VerifyError,
};
use crate::skill::BoxFuture;

/// Records looked at before other tasks get their turn.
const STEP: usize = 256;

/// The newest records, in memory. The oldest ones make room for new ones.
#[derive(Debug)]
pub struct MemoryRing {
    state: Mutex<State>,
    capacity: usize,
    byte_limit: usize,
}

#[derive(Debug, Default)]
struct State {
    records: VecDeque<AuditRecord>,
    bytes: usize,
    /// How many records have gone.
    gone: u64,
}

impl MemoryRing {
    /// The number of records a ring made by `default` keeps.
    pub const DEFAULT_CAPACITY: usize = 65_536;
    /// The bytes of records a ring keeps unless told otherwise.
    pub const DEFAULT_BYTES: usize = 64 << 20;

    /// A ring of at most `capacity` records and 64 MiB.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::default(),
            capacity: capacity.max(1),
            byte_limit: Self::DEFAULT_BYTES,
        }
    }

    /// Sets how many bytes of records it keeps at most; the newest record stays whatever its size.
    #[must_use]
    pub fn byte_limit(mut self, bytes: usize) -> Self {
        self.byte_limit = bytes;
        self
    }

    /// All records it holds, oldest first.
    #[must_use]
    pub fn records(&self) -> Vec<AuditRecord> {
        self.lock().records.iter().cloned().collect()
    }

    /// Up to [`STEP`] records from the one that was the `from`th ever, and the number of the next one.
    fn step(&self, from: u64) -> (Vec<AuditRecord>, u64) {
        let state = self.lock();
        let from = from.max(state.gone);
        let skip = usize::try_from(from - state.gone).unwrap_or(usize::MAX);
        let records: Vec<_> = state
            .records
            .iter()
            .skip(skip)
            .take(STEP)
            .cloned()
            .collect();
        let next = from + records.len() as u64;
        (records, next)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryRing {
    fn default() -> Self {
        Self::new(Self::DEFAULT_CAPACITY)
    }
}

impl AuditSink for MemoryRing {
    fn append<'a>(&'a self, records: &'a [AuditRecord]) -> BoxFuture<'a, Result<(), AuditError>> {
        let mut guard = self.lock();
        let state = &mut *guard;
        for record in records {
            state.bytes += record.bytes().len();
            state.records.push_back(record.clone());
        }
        while state.records.len() > self.capacity
            || (state.bytes > self.byte_limit && state.records.len() > 1)
        {
            if let Some(oldest) = state.records.pop_front() {
                state.bytes -= oldest.bytes().len();
                state.gone += 1;
            }
        }
        drop(guard);
        Box::pin(std::future::ready(Ok(())))
    }
}

impl AuditStore for MemoryRing {
    fn query(&self, query: AuditQuery) -> BoxFuture<'_, Result<Vec<AuditRecord>, AuditError>> {
        Box::pin(async move {
            let mut found = VecDeque::new();
            let mut from = 0;
            loop {
                let (records, next) = self.step(from);
                if records.is_empty() {
                    return Ok(found.into());
                }
                for record in records {
                    if query.matches(&record) {
                        found.push_back(record);
                    }
                }
                let surplus = found.len().saturating_sub(query.most());
                found.drain(..surplus);
                from = next;
                tokio::task::yield_now().await;
            }
        })
    }

    fn verify<'a>(
        &'a self,
        key: Option<&'a AuditKey>,
        expected_heads: &'a [ChainHead],
    ) -> BoxFuture<'a, Result<Verified, VerifyError>> {
        Box::pin(async move {
            // Taken at once: a record that goes while others are checked would look like a missing one.
            let records = self.records();
            let mut verifier = Verifier::new(key, expected_heads, Coverage::FromOldest);
            for step in records.chunks(STEP) {
                for record in step {
                    verifier.check(record)?;
                }
                tokio::task::yield_now().await;
            }
            Ok(verifier.finish()?)
        })
    }

    fn coverage(&self) -> Coverage {
        Coverage::FromOldest
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::fixtures::{outline, run, written_log};
    use super::super::verify;
    use super::*;
    use crate::skill::SessionId;

    #[test]
    fn the_oldest_records_make_room_and_the_rest_verifies() {
        let records = written_log(300, 4);
        let bytes = |records: &[AuditRecord]| -> usize {
            records.iter().map(|record| record.bytes().len()).sum()
        };
        let last_bytes = bytes(&records[records.len() - 7..]);
        let rows = [
            ("all fit", MemoryRing::new(1_000), records.len()),
            ("by count", MemoryRing::new(50), 50),
            ("by bytes", MemoryRing::new(1_000).byte_limit(last_bytes), 7),
            ("the newest stays", MemoryRing::new(1_000).byte_limit(1), 1),
        ];
        for (name, ring, kept) in rows {
            run(async {
                for batch in records.chunks(33) {
                    ring.append(batch).await.unwrap();
                }
                assert_eq!(ring.records(), records[records.len() - kept..], "{name}");
                let head = records[records.len() - 1].head();
                let verified = ring.verify(None, &[head]).await.unwrap();
                assert_eq!(verified.records, kept as u64, "{name}");
            });
        }
        assert!(verify(&records[1..], None, &[], Coverage::Complete).is_err());
    }

    #[test]
    fn queries_give_the_newest_matches_oldest_first() {
        let records = written_log(900, 3);
        let ring = MemoryRing::default();
        let chain = records[0].chain();
        let session = || SessionId::new("s2").unwrap();
        let time = crate::skill::Timestamp(1_767_225_600_000);
        let later = crate::skill::Timestamp(1_767_225_600_001);
        let rows = [
            ("all", AuditQuery::new().limit(usize::MAX), 901),
            ("newest", AuditQuery::new().limit(10), 10),
            ("session", AuditQuery::new().session(session()), 300),
            ("chain", AuditQuery::new().chain(chain), 300),
            ("principal", AuditQuery::new().principal("eve"), 0),
            ("kind", AuditQuery::new().kind("anchor").kind("lost"), 1),
            ("turn", AuditQuery::new().turn(1), 0),
            ("since", AuditQuery::new().kind("view").since(time), 900),
            ("since later", AuditQuery::new().since(later), 0),
            ("until", AuditQuery::new().until(time), 0),
        ];
        run(async {
            ring.append(&records).await.unwrap();
            for (name, query, count) in rows {
                let found = ring.query(query).await.unwrap();
                assert_eq!(found.len(), count, "{name}");
                assert!(found.is_sorted_by_key(AuditRecord::log_seq), "{name}");
            }
            let newest = ring.query(AuditQuery::new().limit(1)).await.unwrap();
            assert_eq!(outline(&newest), ["- anchor"]);
        });
    }
}
