//! Two hundred main files as authors write them: none is lost, and nothing in them is wrong.

use std::collections::BTreeSet;

use serde_json::Value;

use super::corpus::{Sample, corpus};
use super::kinds;
use crate::skill::ToolPattern;
use crate::source::folder::read_document;

#[test]
fn se4_two_hundred_skills_are_read_as_they_were_written() {
    let samples = corpus();
    assert_eq!(samples.len(), 200);
    let folders: BTreeSet<&str> = samples.iter().map(|it| it.folder.as_str()).collect();
    assert_eq!(folders.len(), 200);
    for sample in &samples {
        check(sample);
    }
}

fn check(sample: &Sample) {
    let Sample {
        folder,
        text,
        description,
        license,
        compatibility,
        metadata,
        allowed_tools,
        argument_hint,
        model_invocable,
        user_invocable,
        fields,
        body,
        told,
        is_strictly_valid,
    } = sample;
    let read = read_document(text.as_bytes(), folder, "SKILL.md");
    let found: BTreeSet<String> = kinds(&read).into_iter().collect();
    assert_eq!(&found, told, "{text}\n{read:?}");
    let document = read.expect("a document");
    let header = &document.header;
    assert_eq!(&header.name, folder, "{text}");
    assert_eq!(&header.description, description, "{text}");
    assert_eq!(&header.license, license, "{text}");
    assert_eq!(&header.compatibility, compatibility, "{text}");
    assert_eq!(&header.metadata, metadata, "{text}");
    let patterns = header.allowed_tools.as_ref().map(|tools| {
        let patterns = tools.patterns().iter().map(ToolPattern::as_str);
        patterns.map(str::to_owned).collect::<Vec<_>>()
    });
    assert_eq!(&patterns, allowed_tools, "{text}");
    assert_eq!(&header.argument_hint, argument_hint, "{text}");
    assert_eq!(header.disable_model_invocation, !model_invocable, "{text}");
    assert_eq!(header.user_invocable, *user_invocable, "{text}");
    assert_eq!(&Value::Object(header.fields.clone()), fields, "{text}");
    assert_eq!(document.body_in(text.as_bytes()), *body, "{text}");
    let is_valid = document.is_strictly_valid(&document.diagnostics);
    assert_eq!(is_valid, *is_strictly_valid, "{text}");
}
