use std::sync::Arc;

use super::cut::cut_strings;
use super::redactor::{Redaction, RedactionPlace, TextKind};
use super::slot::{AttributeStatus, Outcome};
use crate::skill::Limits;

/// What the value of one attribute is brought within before anybody keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    max_string_length: usize,
    attribute: usize,
    redaction: Option<Arc<ValueRedaction>>,
}

/// What redacts the values of one attribute.
#[derive(Debug)]
pub(crate) struct ValueRedaction {
    pub(super) redaction: Redaction,
    pub(super) skill: Arc<str>,
    pub(super) attribute: Arc<str>,
    pub(super) sensitive: bool,
}

impl Bounds {
    pub(crate) fn new(limits: &Limits, redaction: Option<Arc<ValueRedaction>>) -> Self {
        Self {
            max_string_length: limits.max_string_length,
            attribute: limits.attribute,
            redaction,
        }
    }

    /// A value as JSON text, redacted, its strings cut; refused when it is too large all the same.
    pub(crate) fn bounded(&self, json: Vec<u8>) -> Outcome {
        let json = self.shortened(&json).unwrap_or(json);
        if json.len() > self.attribute {
            return Err(AttributeStatus::LimitExceeded);
        }
        Ok(Arc::from(json))
    }

    /// A value as JSON text, redacted, its strings cut; `None` when it stays as it is.
    pub(crate) fn shortened(&self, json: &[u8]) -> Option<Vec<u8>> {
        // First, so that nothing is cut off by which a redactor would know it.
        let redacted = self.redaction.as_ref().and_then(|value| value.redact(json));
        let json = redacted.as_deref().unwrap_or(json);
        cut_strings(json, self.max_string_length).or(redacted)
    }
}

impl ValueRedaction {
    fn redact(&self, json: &[u8]) -> Option<Vec<u8>> {
        let Ok(json) = std::str::from_utf8(json) else {
            return Some(b"null".to_vec());
        };
        let place = RedactionPlace::new(&self.skill, Some(&self.attribute), TextKind::Value);
        let redacted = self.redaction.json(json, &place.sensitive(self.sensitive));
        redacted.map(String::into_bytes)
    }
}
