use std::collections::BTreeMap;

use super::DiagnosticKind;
use super::fields::{Fields, words_of_value};
use super::report::Report;
use super::yaml::{Content, Entry, Node};
use crate::skill::{Requirements, shown};

/// Values that are named when they are no texts; more are counted.
const MOST_NAMED: usize = 8;

/// `metadata` as texts.
pub(super) fn read_metadata(
    fields: &Fields<'_, '_>,
    report: &mut Report<'_>,
) -> BTreeMap<String, String> {
    let Some(node) = fields.node("metadata") else {
        return BTreeMap::new();
    };
    let Content::Mapping(entries) = &node.content else {
        report.place(
            DiagnosticKind::MetadataInvalid,
            fields.source.place(node.at),
            "`metadata` is not a mapping, so it is left out",
            "write its keys below it, each with a value: `  author: me`",
        );
        return BTreeMap::new();
    };
    let mut metadata = BTreeMap::new();
    let mut coerced = Vec::new();
    for Entry { key, value } in entries {
        let text = match &value.content {
            Content::Scalar(scalar) => scalar.text.clone().into_owned(),
            Content::Sequence(_) | Content::Mapping(_) => {
                coerced.push(key);
                value.compact_json()
            }
        };
        metadata.insert(key.source_text().into_owned(), text);
    }
    if let Some(first) = coerced.first() {
        let mut named: Vec<String> = coerced
            .iter()
            .take(MOST_NAMED)
            .map(|key| format!("`{}`", shown(&key.source_text(), 80)))
            .collect();
        if coerced.len() > MOST_NAMED {
            named.push(format!("{} more", coerced.len() - MOST_NAMED));
        }
        report.place(
            DiagnosticKind::MetadataCoerced,
            fields.source.place(first.at),
            format!(
                "`metadata` has values that are not texts: {}",
                named.join(", ")
            ),
            "write them as texts: other clients leave the skill out, here they are JSON",
        );
    }
    metadata
}

/// `requires` in `metadata`, nested or with dots in its keys.
pub(super) fn read_requirements(fields: &Fields<'_, '_>) -> Requirements {
    let mut requirements = Requirements::default();
    let Some(Content::Mapping(metadata)) = fields.node("metadata").map(|it| &it.content) else {
        return requirements;
    };
    for Entry { key, value } in metadata {
        let Some(key) = key.text() else {
            continue;
        };
        if let Some(name) = key.strip_prefix("requires.") {
            read_requirement(name, value, &mut requirements);
        } else if key == "requires" {
            match &value.content {
                Content::Mapping(entries) => {
                    for Entry { key, value } in entries {
                        read_requirement(&key.source_text(), value, &mut requirements);
                    }
                }
                _ if value.is_null() => {}
                _ => requirements.unreadable.push(key.to_owned()),
            }
        }
    }
    requirements
}

/// Reads one of the requirements. What others mean by a name that is not known is theirs.
fn read_requirement(name: &str, value: &Node<'_>, requirements: &mut Requirements) {
    let list = match name {
        "bins" => &mut requirements.bins,
        "any_bins" => &mut requirements.any_bins,
        "env" => &mut requirements.env,
        "os" => &mut requirements.os,
        _ => return,
    };
    match words_of_value(value) {
        Some(words) => list.extend(words),
        None => requirements.unreadable.push(format!("requires.{name}")),
    }
}
