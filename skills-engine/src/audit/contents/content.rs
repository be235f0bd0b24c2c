use std::fmt;
use std::sync::Arc;

use lz4_flex::block::{compress, decompress};
use sha2::{Digest as _, Sha256};

use super::super::json::hex_text;

/// A text that a recorded view showed, compressed: a block of LZ4, without a frame and without its length.
#[derive(Clone, PartialEq, Eq)]
pub struct AuditContent {
    digest: [u8; 32],
    length: usize,
    bytes: Arc<[u8]>,
}

impl AuditContent {
    /// The bytes that a text may have.
    pub const MOST: usize = 64 << 20;

    /// Compresses a text.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self::compressed(Sha256::digest(text).into(), text)
    }

    /// Compresses a text whose digest is known.
    pub(super) fn compressed(digest: [u8; 32], text: &str) -> Self {
        Self {
            digest,
            length: text.len(),
            bytes: compress(text.as_bytes()).into(),
        }
    }

    /// A text as a store kept it: its digest, its length before it was compressed, and its compressed bytes.
    #[must_use]
    pub fn from_parts(digest: [u8; 32], length: usize, bytes: impl Into<Arc<[u8]>>) -> Self {
        Self {
            digest,
            length,
            bytes: bytes.into(),
        }
    }

    /// SHA-256 of the text.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// The bytes of the text before it was compressed.
    #[must_use]
    pub fn length(&self) -> usize {
        self.length
    }

    /// The compressed bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The text.
    ///
    /// # Errors
    ///
    /// When the bytes are not what the digest names.
    pub fn text(&self) -> Result<String, MalformedContent> {
        if self.length > Self::MOST {
            return Err(MalformedContent);
        }
        let text = decompress(&self.bytes, self.length).map_err(|_| MalformedContent)?;
        let digest = <[u8; 32]>::from(Sha256::digest(&text));
        if text.len() != self.length || digest != self.digest {
            return Err(MalformedContent);
        }
        String::from_utf8(text).map_err(|_| MalformedContent)
    }
}

impl fmt::Debug for AuditContent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("AuditContent")
            .field("digest", &hex_text(&self.digest))
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

/// Bytes that are not the text their digest names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are not the text that their digest names; restore them from a copy")]
#[expect(
    clippy::exhaustive_structs,
    reason = "there is nothing to say but this"
)]
pub struct MalformedContent;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_comes_back_as_it_was() {
        for text in ["", "a", "größe 量 🙂", &"{\"id\":\"desk\"},".repeat(1_000)] {
            let content = AuditContent::new(text);
            assert_eq!(content.text().as_deref(), Ok(text));
            assert_eq!(content.length(), text.len());
            let read = AuditContent::from_parts(
                *content.digest(),
                content.length(),
                content.bytes().to_vec(),
            );
            assert_eq!(read, content);
        }
        let long = AuditContent::new(&"the same words again ".repeat(500));
        assert!(long.bytes().len() * 10 < long.length());
    }

    #[test]
    fn what_was_changed_is_found() {
        let text = "some words, some words, some more".repeat(9);
        let content = AuditContent::new(&text);
        let changed = |digest: [u8; 32], length, bytes: Vec<u8>| {
            AuditContent::from_parts(digest, length, bytes).text()
        };
        let (digest, length) = (*content.digest(), content.length());
        for position in 0..content.bytes().len() {
            let mut bytes = content.bytes().to_vec();
            bytes[position] ^= 1;
            // A few bits say nothing, as that the last words repeat no others.
            let read = changed(digest, length, bytes);
            assert!(read == Err(MalformedContent) || read.as_ref() == Ok(&text));
        }
        for other in [0, length - 1, length + 1, usize::MAX] {
            let bytes = content.bytes().to_vec();
            assert_eq!(changed(digest, other, bytes), Err(MalformedContent));
        }
        assert_eq!(
            changed([0; 32], length, content.bytes().to_vec()),
            Err(MalformedContent)
        );
    }
}
