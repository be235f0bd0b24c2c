use std::collections::HashMap;

use serde::Deserialize;

use super::json::parse_hex;
use super::key::record_hash;
use super::{AuditKey, AuditRecord, ChainHead, ChainId};

/// Which part of a log a sequence of records is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Coverage {
    /// All of it, from its first record: what a file holds.
    Complete,
    /// All of it from some record on: what a ring holds.
    FromOldest,
    /// All records of some of its chains, or all of these since some time: what a query by session gives.
    Chains,
}

/// What verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Verified {
    /// How many records.
    pub records: u64,
    /// How many logs they came from: every start of a program begins one.
    pub logs: usize,
    /// The last record of every chain, in the order of their ids.
    pub heads: Vec<ChainHead>,
    /// Lines that were never written in full, because a program or machine stopped meanwhile; only in files.
    pub torn_lines: u64,
}

/// The first place at which records are not as they were written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {index} (counted from 0), chain {chain}, number {seq}: {defect}")]
#[non_exhaustive]
pub struct Broken {
    /// Position of the record, from 0; the count of the records when something is missing after the last one.
    pub index: u64,
    /// The chain it belongs to.
    pub chain: ChainId,
    /// Its number in the chain; for something that is missing, the number that should be there.
    pub seq: u64,
    /// What is wrong.
    pub defect: Defect,
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Defect {
    /// The bytes are not a record.
    #[error("it is not a record of a known version")]
    Malformed,
    /// The hash is not that of the bytes.
    #[error("its hash does not fit its bytes: they were edited, or the key is another one")]
    Hash,
    /// The hash of the one before is another one.
    #[error("it is not linked to the record before it in its chain: one of the two was edited")]
    Link,
    /// Records before it are missing, or no longer are records.
    #[error("records before it are missing, or no longer are records")]
    Missing,
    /// It was there before, or belongs before what came before it.
    #[error("it stands in the wrong place: repeated, or moved")]
    Order,
    /// An anchor says otherwise.
    #[error(
        "an anchor names another record as the last one of this chain: records are missing or edited"
    )]
    Anchor,
    /// The head that was expected is not there.
    #[error("the expected record is not there: the tail is cut, or the chain is missing")]
    CutTail,
    /// The head that was expected has another hash.
    #[error("the record is not the expected one: it was edited")]
    Head,
}

/// Checks records in the order in which they were stored.
///
/// `expected_heads` are heads written down elsewhere, such as
/// [`engine_head`](super::SinkHealth::engine_head) after a flush: each must be among the records.
///
/// # Errors
///
/// The first record that is not as it was written.
pub fn verify<'a>(
    records: impl IntoIterator<Item = &'a AuditRecord>,
    key: Option<&AuditKey>,
    expected_heads: &[ChainHead],
    coverage: Coverage,
) -> Result<Verified, Broken> {
    let mut verifier = Verifier::new(key, expected_heads, coverage);
    for record in records {
        verifier.check(record)?;
    }
    verifier.finish()
}

/// As [`verify`], one record at a time.
#[derive(Debug)]
pub struct Verifier<'a> {
    key: Option<&'a AuditKey>,
    coverage: Coverage,
    /// By log: the number of its last record.
    logs: HashMap<u64, u64>,
    chains: HashMap<ChainId, (u64, [u8; 32])>,
    /// Heads that were not seen yet.
    expected: Vec<ChainHead>,
    records: u64,
    torn_lines: u64,
    /// Whether the line before was torn, and ended in a line break nevertheless: then a new log must begin.
    torn: Option<bool>,
}

impl<'a> Verifier<'a> {
    /// A verifier that has seen nothing.
    #[must_use]
    pub fn new(
        key: Option<&'a AuditKey>,
        expected_heads: &[ChainHead],
        coverage: Coverage,
    ) -> Self {
        Self {
            key,
            coverage,
            logs: HashMap::new(),
            chains: HashMap::new(),
            expected: expected_heads.to_vec(),
            records: 0,
            torn_lines: 0,
            torn: None,
        }
    }

    /// Checks the next record.
    ///
    /// # Errors
    ///
    /// When it is not as it was written, or not the next one.
    pub fn check(&mut self, record: &AuditRecord) -> Result<(), Broken> {
        let (chain, seq) = (record.chain(), record.seq());
        let broken = |index, defect| Broken {
            index,
            chain,
            seq,
            defect,
        };
        let index = self.records;
        if record_hash(self.key, record.bytes()) != *record.hash() {
            return Err(broken(index, Defect::Hash));
        }
        self.place(record).map_err(|defect| broken(index, defect))?;
        self.chains.insert(chain, (seq, *record.hash()));
        if chain.is_engine() {
            self.check_anchor(record)?;
        }
        for head in self
            .expected
            .extract_if(.., |head| head.chain == chain && head.seq == seq)
        {
            if head.hash != *record.hash() {
                return Err(broken(index, Defect::Head));
            }
        }
        self.records += 1;
        Ok(())
    }

    /// Whether the record is the next one of its log and of its chain.
    fn place(&mut self, record: &AuditRecord) -> Result<(), Defect> {
        let last = self.logs.get(&record.chain().log()).copied();
        let log_seq = record.log_seq();
        if self.torn.take().is_some() && (log_seq != 1 || last.is_some()) {
            return Err(Defect::Missing);
        }
        next(
            last,
            log_seq,
            self.coverage,
            self.coverage != Coverage::Chains,
        )?;
        self.logs.insert(record.chain().log(), log_seq);
        let head = self.chains.get(&record.chain());
        let last = head.map(|(seq, _)| *seq);
        next(last, record.seq(), self.coverage, true)?;
        let is_linked = match head {
            Some((_, hash)) => hash == record.previous(),
            None => (record.seq() == 1) == (*record.previous() == [0; 32]),
        };
        if is_linked { Ok(()) } else { Err(Defect::Link) }
    }

    fn check_anchor(&self, record: &AuditRecord) -> Result<(), Broken> {
        let broken = |chain, seq, defect| Broken {
            index: self.records,
            chain,
            seq,
            defect,
        };
        let malformed = broken(record.chain(), record.seq(), Defect::Malformed);
        let entry = record.entry().map_err(|_| malformed.clone())?;
        if entry.kind != "anchor" {
            return Ok(());
        }
        let anchor: Anchor =
            serde_json::from_str(entry.fields.get()).map_err(|_| malformed.clone())?;
        for head in anchor.heads {
            let (Some(chain), Some(hash)) = (
                ChainId::parse(head.chain.as_bytes()),
                parse_hex(head.hash.as_bytes()),
            ) else {
                return Err(malformed);
            };
            let is_here = match self.chains.get(&chain) {
                Some(last) => *last == (head.seq, hash),
                // In a part of the log, the chain's records may be outside of it.
                None => self.coverage != Coverage::Complete,
            };
            if !is_here {
                return Err(broken(chain, head.seq, Defect::Anchor));
            }
        }
        Ok(())
    }

    /// Notes a line that is not a record: left by a program that stopped, which the next record must show by
    /// beginning a new log.
    pub(super) fn torn_line(&mut self, is_ended: bool) {
        self.torn_lines += 1;
        self.torn = Some(is_ended);
    }

    /// Ends the check.
    ///
    /// # Errors
    ///
    /// When an expected head was not among the records.
    pub fn finish(self) -> Result<Verified, Broken> {
        if self.torn == Some(true) {
            // Nobody writes a line break behind half a record, but the log that begins behind it.
            return Err(Broken {
                index: self.records,
                chain: ChainId(0),
                seq: 0,
                defect: Defect::Malformed,
            });
        }
        if let Some(head) = self.expected.first() {
            return Err(Broken {
                index: self.records,
                chain: head.chain,
                seq: head.seq,
                defect: Defect::CutTail,
            });
        }
        let mut heads: Vec<_> = self
            .chains
            .into_iter()
            .map(|(chain, (seq, hash))| ChainHead { chain, seq, hash })
            .collect();
        heads.sort_unstable_by_key(|head| head.chain);
        Ok(Verified {
            records: self.records,
            logs: self.logs.len(),
            heads,
            torn_lines: self.torn_lines,
        })
    }
}

#[derive(Deserialize)]
struct Anchor {
    heads: Vec<AnchoredHead>,
}

#[derive(Deserialize)]
struct AnchoredHead {
    chain: String,
    seq: u64,
    hash: String,
}

/// Whether `seq` follows `last`.
fn next(last: Option<u64>, seq: u64, coverage: Coverage, is_gapless: bool) -> Result<(), Defect> {
    let expected = match last {
        Some(last) => last.saturating_add(1),
        None if coverage == Coverage::Complete => 1,
        None => seq.max(1),
    };
    if seq < expected {
        Err(Defect::Order)
    } else if seq > expected && is_gapless {
        Err(Defect::Missing)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::tests::fixtures::written_log;
    use super::*;

    fn engine_head(records: &[AuditRecord]) -> ChainHead {
        let last = records.iter().rfind(|record| record.chain().is_engine());
        last.unwrap().head()
    }

    /// The record with one byte changed, and its hash made to fit when `rehash`.
    fn edited(record: &AuditRecord, at: usize, rehash: bool) -> Option<AuditRecord> {
        let mut bytes = record.bytes().to_vec();
        let at = at % bytes.len();
        bytes[at] ^= 1;
        let hash = if rehash {
            record_hash(None, &bytes)
        } else {
            *record.hash()
        };
        AuditRecord::from_stored(bytes, hash).ok()
    }

    #[derive(Clone, Debug)]
    enum Harm {
        Edit { at: usize, rehash: bool },
        Drop,
        Swap { with: usize },
        Repeat { to: usize },
        CutTail,
    }

    /// `with_forgeries`: also edits whose hash was made to fit, as anybody can where there is no key.
    fn harm(with_forgeries: bool) -> impl Strategy<Value = Harm> {
        prop_oneof![
            (any::<usize>(), any::<bool>()).prop_map(move |(at, rehash)| {
                let rehash = rehash && with_forgeries;
                Harm::Edit { at, rehash }
            }),
            Just(Harm::Drop),
            any::<usize>().prop_map(|with| Harm::Swap { with }),
            any::<usize>().prop_map(|to| Harm::Repeat { to }),
            Just(Harm::CutTail),
        ]
    }

    /// Harms the records; false when that changed nothing, or what is left cannot even be read.
    fn apply(harm: &Harm, records: &mut Vec<AuditRecord>, place: usize) -> bool {
        let place = place % records.len();
        match harm {
            Harm::Edit { at, rehash } => match edited(&records[place], *at, *rehash) {
                Some(record) => records[place] = record,
                None => return false,
            },
            Harm::Drop => drop(records.remove(place)),
            Harm::Swap { with } => {
                let with = with % records.len();
                records.swap(place, with);
                return place != with;
            }
            Harm::Repeat { to } => {
                let record = records[place].clone();
                records.insert(to % (records.len() + 1), record);
            }
            Harm::CutTail => records.truncate(place),
        }
        true
    }

    /// Where the beginning may be gone, dropping the oldest record is what a ring does itself.
    fn is_like_a_wrap(harm: &Harm, place: usize) -> bool {
        place == 0 && matches!(harm, Harm::Drop)
    }

    proptest! {
        #[test]
        fn any_single_harm_to_a_whole_log_is_found(
            harm in harm(true), place in any::<usize>(), events in 1_usize..60, sessions in 1_u64..6,
        ) {
            let mut records = written_log(events, sessions);
            let heads = [engine_head(&records)];
            prop_assert!(verify(&records, None, &heads, Coverage::Complete).is_ok());
            if apply(&harm, &mut records, place) {
                prop_assert!(verify(&records, None, &heads, Coverage::Complete).is_err());
            }
        }

        #[test]
        fn any_single_harm_to_a_ring_is_found_but_for_its_oldest_records(
            harm in harm(false), place in any::<usize>(), gone in 1_usize..40, sessions in 1_u64..6,
        ) {
            let mut records = written_log(60, sessions);
            let heads = [engine_head(&records)];
            records.drain(..gone);
            prop_assert!(verify(&records, None, &heads, Coverage::FromOldest).is_ok());
            let is_found = !is_like_a_wrap(&harm, place % records.len());
            if apply(&harm, &mut records, place) && is_found {
                prop_assert!(verify(&records, None, &heads, Coverage::FromOldest).is_err());
            }
        }

        #[test]
        fn any_single_harm_to_one_chain_is_found(
            harm in harm(false), place in any::<usize>(), gone in 0_usize..5,
        ) {
            let mut records = written_log(60, 3);
            let chain = records[0].chain();
            records.retain(|record| record.chain() == chain);
            let heads = [records[records.len() - 1].head()];
            records.drain(..gone);
            prop_assert!(verify(&records, None, &heads, Coverage::Chains).is_ok());
            let is_found = !is_like_a_wrap(&harm, place % records.len());
            if apply(&harm, &mut records, place) && is_found {
                prop_assert!(verify(&records, None, &heads, Coverage::Chains).is_err());
            }
        }
    }

    #[test]
    fn what_is_broken_is_named() {
        let records = written_log(20, 1);
        let heads = [engine_head(&records)];
        let check = |records: &[AuditRecord]| {
            let broken = verify(records, None, &heads, Coverage::Complete).unwrap_err();
            (broken.index, broken.seq, broken.defect)
        };
        let mut edit = records.clone();
        edit[4] = edited(&records[4], 300, false).unwrap();
        assert_eq!(check(&edit), (4, 5, Defect::Hash));
        edit[4] = edited(&records[4], 300, true).unwrap();
        assert_eq!(check(&edit), (5, 6, Defect::Link));
        edit = records.clone();
        edit[19] = edited(&records[19], 300, true).unwrap();
        assert_eq!(check(&edit), (20, 20, Defect::Anchor));
        let mut drop = records.clone();
        drop.remove(4);
        assert_eq!(check(&drop), (4, 6, Defect::Missing));
        let mut repeat = records.clone();
        repeat.insert(5, records[4].clone());
        assert_eq!(check(&repeat), (5, 5, Defect::Order));
        assert_eq!(check(&records[..12]), (12, 1, Defect::CutTail));
    }

    #[test]
    fn heads_that_the_log_has_passed_still_verify() {
        let records = written_log(20, 2);
        let heads: Vec<_> = records.iter().map(AuditRecord::head).collect();
        let verified = verify(&records, None, &heads, Coverage::Complete).unwrap();
        assert_eq!((verified.records, verified.logs), (21, 1));
        assert_eq!(verified.heads.len(), 3);
        let mut other = heads[3];
        other.hash = [0; 32];
        let broken = verify(&records, None, &[other], Coverage::Complete).unwrap_err();
        assert_eq!((broken.index, broken.defect), (3, Defect::Head));
    }

    #[test]
    fn without_the_key_nothing_verifies() {
        let key = AuditKey::new([1; 32]).unwrap();
        let records = written_log(3, 1);
        let broken = verify(&records, Some(&key), &[], Coverage::Complete).unwrap_err();
        assert_eq!(broken.defect, Defect::Hash);
    }
}
