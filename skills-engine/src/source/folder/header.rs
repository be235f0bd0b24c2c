use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::fields::{self, Fields};
use super::keys::report_keys;
use super::metadata::{read_metadata, read_requirements};
use super::name::read_name;
use super::report::{Report, Source};
use super::yaml::{Entry, typed_json};
use crate::skill::{AllowedTools, Requirements};

/// What a header says, as the loader takes it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Header {
    /// The name, in NFKC; that of the folder where the header has none.
    pub name: String,
    /// What the skill is for; whole, however long.
    pub description: String,
    /// `license`.
    pub license: Option<String>,
    /// `compatibility`.
    pub compatibility: Option<String>,
    /// `metadata`: scalars as they were written, other values as compact JSON.
    pub metadata: BTreeMap<String, String>,
    /// `requires` in `metadata`.
    pub requirements: Requirements,
    /// `allowed-tools`; `None` where the header has none.
    pub allowed_tools: Option<AllowedTools>,
    /// `argument-hint`.
    pub argument_hint: Option<String>,
    /// The names in `arguments`.
    pub arguments: Vec<String>,
    /// `when_to_use`.
    pub when_to_use: Option<String>,
    /// `disable-model-invocation`. A value that is no boolean disables it.
    pub disable_model_invocation: bool,
    /// `user-invocable`; true where the header has none. A value that is no boolean changes nothing.
    pub user_invocable: bool,
    /// `context`, such as `fork`.
    pub context: Option<String>,
    /// `agent`.
    pub agent: Option<String>,
    /// `model`.
    pub model: Option<String>,
    /// Whether it has a key outside the six of the specification.
    pub has_extension_fields: bool,
    /// The whole header as JSON, its plain scalars typed by the core schema of YAML 1.2.
    pub fields: Map<String, Value>,
}

/// Makes a header of the entries of its mapping; `None` after an error.
pub(super) fn read_header(
    entries: &[Entry<'_>],
    source: Source<'_>,
    folder: &str,
    report: &mut Report<'_>,
) -> Option<Header> {
    let fields = Fields::new(entries, source);
    // Both are looked at, so that both are told.
    let name = read_name(&fields, folder, report);
    let description = fields::description(&fields, report);
    let metadata = read_metadata(&fields, report);
    let header = Header {
        name: name?,
        description: description?,
        license: fields.text("license"),
        compatibility: fields::compatibility(&fields, report),
        metadata,
        requirements: read_requirements(&fields),
        allowed_tools: fields::allowed_tools(&fields, report),
        argument_hint: fields::argument_hint(&fields, report),
        arguments: fields.words("arguments"),
        when_to_use: fields.text("when_to_use"),
        disable_model_invocation: fields
            .boolean("disable-model-invocation", true)
            .unwrap_or(false),
        user_invocable: fields.boolean("user-invocable", true).unwrap_or(true),
        context: fields.text("context"),
        agent: fields.text("agent"),
        model: fields.text("model"),
        has_extension_fields: report_keys(&fields, report),
        fields: entries
            .iter()
            .map(|entry| {
                let key = entry.key.source_text().into_owned();
                (key, typed_json(&entry.value))
            })
            .collect(),
    };
    Some(header)
}
