//! A file of records, line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};

use super::json::{hex, parse_hex};
use super::{AuditError, AuditRecord};

const BEFORE_HASH: &[u8] = b"{\"hash\":\"";
const BEFORE_RECORD: &[u8] = b"\",\"record\":";
const AFTER_RECORD: &[u8] = b"}";
/// Bytes of the longest line that is read; far more than any record has.
const LONGEST_LINE: u64 = 1 << 20;

/// The file as its thread holds it.
pub(super) struct Appender {
    file: File,
    /// Where the next batch begins.
    length: u64,
    /// Whether the file ends in the middle of a line.
    needs_break: bool,
    is_synced: bool,
    /// Whether there may be something behind `length` that could not be taken back.
    is_dirty: bool,
}

impl Appender {
    /// For a file of `length` bytes that was opened for appending.
    pub(super) fn new(file: File, length: u64, needs_break: bool, is_synced: bool) -> Self {
        Self {
            file,
            length,
            needs_break,
            is_synced,
            is_dirty: false,
        }
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn append(&mut self, lines: &[u8]) -> Result<(), AuditError> {
        if self.is_dirty {
            self.take_back()?;
        }
        let actual = self.file.metadata().map_err(AuditError::failed)?.len();
        if actual != self.length {
            return Err(AuditError::failed(format!(
                "the audit file has {actual} bytes instead of {}: something else changed it; open it anew",
                self.length
            )));
        }
        if let Err(err) = self.write(lines) {
            self.is_dirty = true;
            self.take_back()?;
            return Err(AuditError::failed(err));
        }
        self.length += lines.len() as u64 + u64::from(self.needs_break);
        self.needs_break = false;
        Ok(())
    }

    fn write(&mut self, lines: &[u8]) -> io::Result<()> {
        if self.needs_break {
            self.file.write_all(b"\n")?;
        }
        self.file.write_all(lines)?;
        if self.is_synced {
            self.file.sync_data()?;
        }
        Ok(())
    }

    fn take_back(&mut self) -> Result<(), AuditError> {
        self.file
            .set_len(self.length)
            .map_err(AuditError::uncertain)?;
        self.is_dirty = false;
        Ok(())
    }
}

/// The lines of a file, one after the other.
pub(super) struct Lines {
    reader: BufReader<io::Take<File>>,
    line: Vec<u8>,
}

pub(super) enum Line {
    Record(AuditRecord),
    /// Not a record; `is_ended` when a line break follows.
    Torn {
        is_ended: bool,
    },
}

impl Lines {
    /// The lines in the first `length` bytes.
    pub(super) fn new(file: File, length: u64) -> Self {
        Self {
            reader: BufReader::with_capacity(64 << 10, file.take(length)),
            line: Vec::new(),
        }
    }

    pub(super) fn next(&mut self) -> io::Result<Option<Line>> {
        self.line.clear();
        let mut limited = (&mut self.reader).take(LONGEST_LINE);
        if limited.read_until(b'\n', &mut self.line)? == 0 {
            return Ok(None);
        }
        let is_ended = self.line.last() == Some(&b'\n');
        if !is_ended && self.line.len() as u64 == LONGEST_LINE {
            let is_ended = self.skip_line()?;
            return Ok(Some(Line::Torn { is_ended }));
        }
        let line = self.line.strip_suffix(b"\n").unwrap_or(&self.line);
        let line = match parse_line(line) {
            Some(record) => Line::Record(record),
            None => Line::Torn { is_ended },
        };
        Ok(Some(line))
    }

    fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            let buffer = self.reader.fill_buf()?;
            let (used, is_ended) = match buffer.iter().position(|byte| *byte == b'\n') {
                Some(end) => (end + 1, true),
                None => (buffer.len(), false),
            };
            self.reader.consume(used);
            if is_ended || used == 0 {
                return Ok(is_ended);
            }
        }
    }
}

pub(super) fn lines_of(records: &[AuditRecord]) -> Vec<u8> {
    let around = BEFORE_HASH.len() + 64 + BEFORE_RECORD.len() + AFTER_RECORD.len() + 1;
    let length = records
        .iter()
        .map(|record| record.bytes().len() + around)
        .sum();
    let mut lines = Vec::with_capacity(length);
    for record in records {
        lines.extend_from_slice(BEFORE_HASH);
        hex(&mut lines, record.hash());
        lines.extend_from_slice(BEFORE_RECORD);
        lines.extend_from_slice(record.bytes());
        lines.extend_from_slice(AFTER_RECORD);
        lines.push(b'\n');
    }
    lines
}

pub(super) fn parse_line(line: &[u8]) -> Option<AuditRecord> {
    let (hash, rest) = line.strip_prefix(BEFORE_HASH)?.split_at_checked(64)?;
    let record = rest
        .strip_prefix(BEFORE_RECORD)?
        .strip_suffix(AFTER_RECORD)?;
    AuditRecord::from_stored(record, parse_hex(hash)?).ok()
}

/// What stands behind the last line break.
pub(super) fn unfinished_line(file: &mut File, length: u64) -> io::Result<Vec<u8>> {
    let start = length.saturating_sub(LONGEST_LINE);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    file.take(LONGEST_LINE).read_to_end(&mut tail)?;
    let after_break = tail
        .iter()
        .rposition(|byte| *byte == b'\n')
        .map_or(0, |end| end + 1);
    Ok(tail.split_off(after_break))
}
