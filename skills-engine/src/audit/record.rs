use std::fmt;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::json::{hex_text, parse_hex};

/// The version of the record format.
pub(super) const VERSION: &str = "1";

/// Names a chain: 64 random bits of the log, then the number of the session within it; 0 is the engine's own chain.
///
/// Displayed as 32 lower-case hex digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChainId(pub u128);

impl ChainId {
    pub(super) const fn new(log: u64, incarnation: u64) -> Self {
        Self((log as u128) << 64 | incarnation as u128)
    }

    /// The part that all chains of one log share.
    #[must_use]
    pub const fn log(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// Whether this is the chain of the engine itself, which holds the anchors.
    #[must_use]
    pub const fn is_engine(self) -> bool {
        self.0 & u64::MAX as u128 == 0
    }

    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        parse_hex(text).map(|bytes| Self(u128::from_be_bytes(bytes)))
    }
}

impl fmt::Display for ChainId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:032x}", self.0)
    }
}

/// The last record of a chain: what to keep elsewhere to find a cut tail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_structs,
    reason = "hosts write it down and make it again from what they wrote"
)]
pub struct ChainHead {
    /// Which chain.
    pub chain: ChainId,
    /// The record's number within the chain, from 1.
    pub seq: u64,
    /// The record's hash.
    pub hash: [u8; 32],
}

/// A record as it is stored: its exact bytes and their hash. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct AuditRecord {
    bytes: Arc<[u8]>,
    hash: [u8; 32],
    header: Header,
}

impl AuditRecord {
    /// Takes a record as a store gives it back. Whether it is genuine is for [`verify`](super::verify) to say.
    ///
    /// # Errors
    ///
    /// When the bytes are not a record of a format version this crate knows.
    pub fn from_stored(
        bytes: impl Into<Arc<[u8]>>,
        hash: [u8; 32],
    ) -> Result<Self, MalformedRecord> {
        let bytes = bytes.into();
        let header = Header::parse(&bytes).ok_or(MalformedRecord)?;
        Ok(Self {
            bytes,
            hash,
            header,
        })
    }

    /// Takes a record as it stands in a file of [`JsonLines`](super::JsonLines), its line break aside.
    ///
    /// # Errors
    ///
    /// When the line is not a record of a format version this crate knows.
    pub fn from_line(line: &str) -> Result<Self, MalformedRecord> {
        super::file::parse_line(line.as_bytes()).ok_or(MalformedRecord)
    }

    pub(super) fn sealed(bytes: &[u8], hash: [u8; 32], header: Header) -> Self {
        Self {
            bytes: bytes.into(),
            hash,
            header,
        }
    }

    /// The bytes that are hashed: one line of JSON, without a line break.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 or HMAC-SHA-256 of the bytes.
    #[must_use]
    pub fn hash(&self) -> &[u8; 32] {
        &self.hash
    }

    /// The chain it belongs to.
    #[must_use]
    pub fn chain(&self) -> ChainId {
        self.header.chain
    }

    /// Its number within the chain, from 1.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.header.seq
    }

    /// Its number within the whole log, from 1.
    #[must_use]
    pub fn log_seq(&self) -> u64 {
        self.header.log_seq
    }

    /// The chain's head when this is its last record.
    #[must_use]
    pub fn head(&self) -> ChainHead {
        ChainHead {
            chain: self.header.chain,
            seq: self.header.seq,
            hash: self.hash,
        }
    }

    pub(super) fn previous(&self) -> &[u8; 32] {
        &self.header.previous
    }

    /// Reads what the record says.
    ///
    /// # Errors
    ///
    /// When the bytes are not a record.
    pub fn entry(&self) -> Result<AuditEntry<'_>, MalformedRecord> {
        serde_json::from_slice(&self.bytes).map_err(|_| MalformedRecord)
    }
}

impl fmt::Display for AuditRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&String::from_utf8_lossy(&self.bytes))
    }
}

impl fmt::Debug for AuditRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuditRecord")
            .field("bytes", &String::from_utf8_lossy(&self.bytes))
            .field("hash", &hex_text(&self.hash))
            .finish_non_exhaustive()
    }
}

/// Bytes that are not an audit record of a known version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the bytes are not an audit record of format version {VERSION}; restore them from a copy or leave them out"
)]
#[expect(
    clippy::exhaustive_structs,
    reason = "there is nothing to say but this"
)]
pub struct MalformedRecord;

/// What a record says, read from its bytes.
#[derive(Debug, Deserialize)]
#[non_exhaustive]
pub struct AuditEntry<'a> {
    /// When it happened, RFC 3339.
    #[serde(borrow)]
    pub time: std::borrow::Cow<'a, str>,
    /// The id of the session's owner.
    #[serde(borrow, default)]
    pub principal: Option<std::borrow::Cow<'a, str>>,
    /// The session's id.
    #[serde(borrow, default)]
    pub session: Option<std::borrow::Cow<'a, str>>,
    /// The turn.
    #[serde(default)]
    pub turn: Option<u64>,
    /// Who did it.
    #[serde(borrow)]
    pub actor: std::borrow::Cow<'a, str>,
    /// The id of the principal that did it, where that is not the session's owner.
    #[serde(borrow, default)]
    pub by: Option<std::borrow::Cow<'a, str>>,
    /// Why.
    #[serde(borrow, default)]
    pub reason: Option<std::borrow::Cow<'a, str>>,
    /// What kind of event it is, as [`AuditKind::name`](super::AuditKind::name) gives it.
    #[serde(borrow)]
    pub kind: std::borrow::Cow<'a, str>,
    /// What is particular to the kind: a JSON object.
    #[serde(borrow)]
    pub fields: &'a RawValue,
}

/// The beginning of every record, by which it is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) chain: ChainId,
    pub(super) seq: u64,
    pub(super) log_seq: u64,
    pub(super) previous: [u8; 32],
}

impl Header {
    /// Reads the fixed beginning byte by byte: another order of keys, or spaces, is another format.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(b"{\"v\":")?;
        let rest = rest.strip_prefix(VERSION.as_bytes())?;
        let (chain, rest) = rest.strip_prefix(b",\"chain\":\"")?.split_at_checked(32)?;
        let (seq, rest) = parse_number(rest.strip_prefix(b"\",\"seq\":")?)?;
        let (log_seq, rest) = parse_number(rest.strip_prefix(b",\"log_seq\":")?)?;
        let (previous, rest) = rest.strip_prefix(b",\"prev\":\"")?.split_at_checked(64)?;
        (rest.starts_with(b"\",") && rest.ends_with(b"}")).then_some(())?;
        Some(Self {
            chain: ChainId::parse(chain)?,
            seq,
            log_seq,
            previous: parse_hex(previous)?,
        })
    }
}

fn parse_number(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let length = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let (digits, rest) = bytes.split_at(length);
    let number = std::str::from_utf8(digits).ok()?.parse().ok()?;
    Some((number, rest))
}
