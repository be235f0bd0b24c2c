use std::sync::Arc;

use super::cut::cut_strings;
use super::slot::{AttributeStatus, Outcome};
use crate::skill::Limits;

/// What the value of one attribute is brought within before anybody keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    max_string_length: usize,
    attribute: usize,
}

impl Bounds {
    pub(crate) fn new(limits: &Limits) -> Self {
        Self {
            max_string_length: limits.max_string_length,
            attribute: limits.attribute,
        }
    }

    /// A value as JSON text, its strings cut; refused when it is too large all the same.
    pub(crate) fn bounded(self, json: Vec<u8>) -> Outcome {
        let json = cut_strings(&json, self.max_string_length).unwrap_or(json);
        if json.len() > self.attribute {
            return Err(AttributeStatus::LimitExceeded);
        }
        Ok(Arc::from(json))
    }
}
