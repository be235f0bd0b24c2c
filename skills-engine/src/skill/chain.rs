use std::sync::atomic::{AtomicU64, Ordering};

/// Where a session's audit chain is: in its life, and how far the first sink has it. The audit log sets and reads it.
///
/// It is part of the session because there may be very many of them: a map beside would take half as much again.
#[derive(Debug, Default)]
pub(crate) struct ChainState {
    /// The number of the last record, and marks.
    seq_and_marks: AtomicU64,
    hash: [AtomicU64; 4],
}

/// The last record of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LastRecord {
    /// Its number, from 1.
    pub(crate) seq: u64,
    pub(crate) hash: [u8; 32],
    /// Whether the chain ends with it.
    pub(crate) is_end: bool,
}

/// Something of the session was handed to the first sink.
const HAS_BEGUN: u64 = 1 << 63;
/// Something of it was handed to another one.
const HAS_BEGUN_ELSEWHERE: u64 = 1 << 62;
/// The session's end was handed to the audit log.
const HAS_ENDED: u64 = 1 << 61;
/// The last record is the session's end, or its end was lost after it.
const IS_END: u64 = 1 << 60;
const SEQ: u64 = IS_END - 1;

impl ChainState {
    /// Something of the session is handed to the sink with an index.
    pub(crate) fn begin(&self, sink: usize) {
        // Mostly it is set already, and a store would take the cache line away from other threads.
        if !self.has_begun(sink) {
            let mark = begun(sink);
            self.seq_and_marks.fetch_or(mark, Ordering::Release);
        }
    }

    /// The session's end was: what comes later belongs to no chain of its own any more.
    pub(crate) fn end(&self) {
        self.seq_and_marks.fetch_or(HAS_ENDED, Ordering::Release);
    }

    /// Whether something of the session was handed to the sink with an index. All but the first one share an answer.
    pub(crate) fn has_begun(&self, sink: usize) -> bool {
        self.seq_and_marks.load(Ordering::Acquire) & begun(sink) != 0
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.seq_and_marks.load(Ordering::Acquire) & HAS_ENDED != 0
    }

    /// The last record that was made for the first sink. For its writer alone.
    pub(crate) fn last(&self) -> Option<LastRecord> {
        let seq_and_marks = self.seq_and_marks.load(Ordering::Relaxed);
        let seq = seq_and_marks & SEQ;
        if seq == 0 {
            return None;
        }
        let mut hash = [0; 32];
        for (bytes, word) in hash.chunks_exact_mut(8).zip(&self.hash) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        Some(LastRecord {
            seq,
            hash,
            is_end: seq_and_marks & IS_END != 0,
        })
    }

    /// Notes the last record that was made for the first sink, or that there is none. For its writer alone, which is
    /// one task: the words need no order among each other.
    pub(crate) fn set_last(&self, last: Option<LastRecord>) {
        let mut own = 0;
        if let Some(last) = last {
            own = last.seq & SEQ | if last.is_end { IS_END } else { 0 };
            for (bytes, word) in last.hash.chunks_exact(8).zip(&self.hash) {
                let bytes = bytes.first_chunk().copied().unwrap_or_default();
                word.store(u64::from_le_bytes(bytes), Ordering::Relaxed);
            }
        }
        let with_marks = |word: u64| Some(word & !(IS_END | SEQ) | own);
        // It always has a next value.
        let _ = self
            .seq_and_marks
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, with_marks);
    }
}

const fn begun(sink: usize) -> u64 {
    if sink == 0 {
        HAS_BEGUN
    } else {
        HAS_BEGUN_ELSEWHERE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_record_and_the_marks_leave_each_other_alone() {
        let chain = ChainState::default();
        assert_eq!(chain.last(), None);
        chain.begin(0);
        assert!(chain.has_begun(0) && !chain.has_begun(1));
        assert_eq!(chain.last(), None);
        let hash = std::array::from_fn(|index| u8::try_from(index).unwrap() ^ 0xa5);
        let mut last = LastRecord {
            seq: 1 << 40,
            hash,
            is_end: false,
        };
        chain.set_last(Some(last));
        assert_eq!(chain.last(), Some(last));
        assert!(chain.has_begun(0) && !chain.has_ended());
        chain.end();
        chain.begin(2);
        assert_eq!(chain.last(), Some(last));
        last.is_end = true;
        chain.set_last(Some(last));
        assert_eq!(chain.last(), Some(last));
        chain.set_last(None);
        assert_eq!(chain.last(), None);
        assert!(chain.has_begun(0) && chain.has_begun(1) && chain.has_ended());
    }

    #[test]
    fn it_takes_as_little_as_it_holds() {
        assert_eq!(size_of::<ChainState>(), 40);
    }
}
