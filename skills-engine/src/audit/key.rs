use std::fmt;

use sha2::digest::Update;
use sha2::{Digest, Sha256};

use crate::skill::{Code, Fault};

const BLOCK: usize = 64;
const SHORTEST: usize = 16;

/// The secret that turns the chain's hashes into HMAC-SHA-256. Never shown by `Debug`.
#[derive(Clone)]
pub struct AuditKey {
    // The hash states after the padded key, so that a record does not pay for the key again.
    inner: Sha256,
    outer: Sha256,
}

impl AuditKey {
    /// Takes a key of 16 bytes or more; 32 random bytes are a good one.
    ///
    /// # Errors
    ///
    /// `invalid_arguments` when the key is shorter.
    pub fn new(key: impl AsRef<[u8]>) -> Result<Self, Fault> {
        let key = key.as_ref();
        if key.len() < SHORTEST {
            return Err(Fault::new(
                Code::InvalidArguments,
                format!("an audit key has at least {SHORTEST} bytes; give a longer one"),
            ));
        }
        Ok(Self::from_bytes(key))
    }

    // HMAC as RFC 2104 defines it. Crate `hmac` would bring three crates for these lines.
    fn from_bytes(key: &[u8]) -> Self {
        let mut block = [0_u8; BLOCK];
        if key.len() > BLOCK {
            block[..32].copy_from_slice(&Sha256::digest(key));
        } else {
            block[..key.len()].copy_from_slice(key);
        }
        Self {
            inner: Sha256::new().chain(block.map(|byte| byte ^ 0x36)),
            outer: Sha256::new().chain(block.map(|byte| byte ^ 0x5c)),
        }
    }

    fn authenticate(&self, bytes: &[u8]) -> [u8; 32] {
        let inner = self.inner.clone().chain(bytes).finalize();
        self.outer.clone().chain(inner).finalize().into()
    }
}

impl fmt::Debug for AuditKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("AuditKey(..)")
    }
}

/// The hash of a record's exact bytes: HMAC-SHA-256 with a key, else SHA-256.
pub(super) fn record_hash(key: Option<&AuditKey>, bytes: &[u8]) -> [u8; 32] {
    match key {
        Some(key) => key.authenticate(bytes),
        None => Sha256::digest(bytes).into(),
    }
}

/// Makes the digests that stand for arguments in records, so that guessed arguments cannot be confirmed
/// without the key.
///
/// SHA-256 over a secret block, the length, and the bytes: with the length in front no message is the beginning
/// of another one, so this needs neither HMAC's outer hash nor its time.
#[derive(Clone)]
pub(super) struct ArgumentDigest {
    state: Sha256,
}

impl ArgumentDigest {
    pub(super) fn new(key: &AuditKey) -> Self {
        let mut block = [0_u8; BLOCK];
        block[..32].copy_from_slice(&key.authenticate(b"skills-engine argument digest"));
        Self {
            state: Sha256::new().chain(block),
        }
    }

    pub(super) fn random() -> Result<Self, getrandom::Error> {
        let mut block = [0_u8; BLOCK];
        getrandom::fill(&mut block)?;
        Ok(Self {
            state: Sha256::new().chain(block),
        })
    }

    /// The digest of a sensitive value: another one than that of the same bytes as arguments, which a model may choose.
    fn digest_value(&self, bytes: &[u8]) -> [u8; 32] {
        self.state
            .clone()
            .chain(u64::MAX.to_le_bytes())
            .chain((bytes.len() as u64).to_le_bytes())
            .chain(bytes)
            .finalize()
            .into()
    }

    pub(super) fn digest(&self, bytes: &[u8]) -> [u8; 32] {
        let length = (bytes.len() as u64).to_le_bytes();
        self.state
            .clone()
            .chain(length)
            .chain(bytes)
            .finalize()
            .into()
    }
}

/// Makes the digests by which sensitive values enter the digests of views, with the key that arguments have too.
#[derive(Clone)]
pub(crate) struct SecretDigest(Option<ArgumentDigest>);

impl SecretDigest {
    pub(super) fn new(arguments: Option<ArgumentDigest>) -> Self {
        Self(arguments)
    }

    /// With a key that nobody else has.
    #[cfg(any(test, feature = "testing"))]
    pub(crate) fn random() -> Self {
        Self(ArgumentDigest::random().ok())
    }

    pub(crate) fn digest(&self, bytes: &[u8]) -> [u8; 32] {
        // Without randomness there is no key, and a digest without one would tell.
        self.0
            .as_ref()
            .map_or([0; 32], |secret| secret.digest_value(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::super::json::hex_text;
    use super::*;

    #[test]
    fn hmac_gives_the_vectors_of_rfc_4231() {
        let rows: [(&str, Vec<u8>, Vec<u8>, &str); 6] = [
            (
                "case 1",
                vec![0x0b; 20],
                b"Hi There".to_vec(),
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                "case 2, a key shorter than the hash",
                b"Jefe".to_vec(),
                b"what do ya want for nothing?".to_vec(),
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                "case 3, more than a block together",
                vec![0xaa; 20],
                vec![0xdd; 50],
                "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe",
            ),
            (
                "case 4",
                (1..=25).collect(),
                vec![0xcd; 50],
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
            ),
            (
                "case 6, a key longer than a block",
                vec![0xaa; 131],
                b"Test Using Larger Than Block-Size Key - Hash Key First".to_vec(),
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54",
            ),
            (
                "case 7, key and data longer than a block",
                vec![0xaa; 131],
                b"This is a test using a larger than block-size key and a larger than block-size data. \
                  The key needs to be hashed before being used by the HMAC algorithm."
                    .to_vec(),
                "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2",
            ),
        ];
        for (name, key, data, expected) in rows {
            let hash = record_hash(Some(&AuditKey::from_bytes(&key)), &data);
            assert_eq!(hex_text(&hash), expected, "{name}");
        }
    }

    #[test]
    fn a_key_is_refused_when_short_and_hidden_from_debug() {
        assert!(AuditKey::new([7; 15]).is_err());
        let key = AuditKey::new(b"a secret of some length").unwrap();
        assert_eq!(format!("{key:?}"), "AuditKey(..)");
    }

    #[test]
    fn argument_digests_depend_on_the_key_and_on_every_byte() {
        let key = |byte| ArgumentDigest::new(&AuditKey::from_bytes(&[byte; 32]));
        assert_eq!(key(1).digest(b"{}"), key(1).digest(b"{}"));
        assert_ne!(key(1).digest(b"{}"), key(2).digest(b"{}"));
        assert_ne!(key(1).digest(b"{}"), key(1).digest(b"{} "));
        let value = SecretDigest::new(Some(key(1)));
        assert_eq!(value.digest(b"{}"), key(1).digest_value(b"{}"));
        assert_ne!(value.digest(b"{}"), key(1).digest(b"{}"));
        assert_eq!(SecretDigest::new(None).digest(b"{}"), [0; 32]);
        let random = || ArgumentDigest::random().unwrap();
        assert_ne!(random().digest(b"{}"), random().digest(b"{}"));
    }
}
