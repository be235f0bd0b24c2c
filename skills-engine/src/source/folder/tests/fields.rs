//! What becomes of the values of a header.

use serde_json::json;

use super::{document, kinds, read_lines, refused};
use crate::skill::{AllowedTools, ToolPattern};

#[test]
fn se4_descriptions() {
    for lines in [
        "",
        "description:",
        "description: ~",
        "description: ''",
        "description: \" \\t\"",
    ] {
        refused(lines, &["error: description-missing"]);
    }
    for lines in [
        "description: [a]",
        "description: {a: b}",
        "description:\n  - a",
    ] {
        refused(lines, &["error: description-invalid"]);
    }
    for (source, expected) in [
        ("'null'", "null"),
        ("!!str null", "null"),
        ("1.10", "1.10"),
        ("2026-03-01", "2026-03-01"),
        ("\" a \\\" \\u00e9 \"", "a \" é"),
        ("&anchor text", "text"),
        ("a\u{2028}b", "a\u{2028}b"),
    ] {
        let found = document(&format!("description: {source}"), &[]);
        assert_eq!(found.header.description, expected);
    }
    let longest = "é".repeat(1024);
    document(&format!("description: {longest}"), &[]);
    let found = document(
        &format!("description: {longest}x"),
        &["warning: description-too-long"],
    );
    assert_eq!(found.header.description.chars().count(), 1025);
}

#[test]
fn se4_a_comment_that_ends_a_description_is_told() {
    const TOLD: &[&str] = &["warning: comment-in-value"];
    for (lines, expected) in [
        ("description: Links to ticket #numbers", TOLD),
        ("description: Links\t# numbers", TOLD),
        ("description: one\n  two # three", TOLD),
        ("description: C# and F#", &[]),
        ("description: 'quoted' # comment", &[]),
        ("description: >\n  text # text", &[]),
        ("description: > # comment\n  text", &[]),
        ("description: text\n# comment", &[]),
        ("description: text\n  # comment", &[]),
        ("license: MIT # comment\ndescription: text", &[]),
    ] {
        document(lines, expected);
    }
}

#[test]
fn se4_metadata() {
    let found = document(
        "description: d\nmetadata:\n  a: 1.10\n  b: 007\n  c: yes\n  d: ~\n  e:\n  1: x",
        &[],
    );
    let texts: Vec<_> = found
        .header
        .metadata
        .iter()
        .map(|(key, value)| (&**key, &**value))
        .collect();
    assert_eq!(
        texts,
        [
            ("1", "x"),
            ("a", "1.10"),
            ("b", "007"),
            ("c", "yes"),
            ("d", "~"),
            ("e", "")
        ]
    );
    let found = document(
        "description: d\nmetadata: {z: {y: 1.0, x: [~, 'a\"b', é]}, t: x}",
        &["warning: metadata-coerced"],
    );
    assert_eq!(
        found.header.metadata["z"],
        r#"{"y":"1.0","x":[null,"a\"b","é"]}"#
    );
    assert!(!found.is_strictly_valid(&found.diagnostics));
    for value in ["[a]", "text", "~", ""] {
        let found = document(
            &format!("description: d\nmetadata: {value}"),
            &["warning: metadata-invalid"],
        );
        assert!(found.header.metadata.is_empty());
    }
}

#[test]
fn se4_requirements() {
    let found = read_lines(
        "description: d\nmetadata:\n  requires:\n    bins: [git, jq]\n    env: \"API_KEY, OTHER\"\n    any_bins: rg grep\n  requires.bins: curl\n  requires.os: [linux, macos]\n  requires.other: x",
    )
    .expect("a document");
    let requirements = &found.header.requirements;
    assert_eq!(requirements.bins, ["git", "jq", "curl"]);
    assert_eq!(requirements.any_bins, ["rg", "grep"]);
    assert_eq!(requirements.env, ["API_KEY", "OTHER"]);
    assert_eq!(requirements.os, ["linux", "macos"]);
    assert!(requirements.unreadable.is_empty());
    let broken = read_lines("description: d\nmetadata: {requires: {bins: {a: b}, env: [[x]]}}");
    let broken = broken.expect("a document").header.requirements;
    assert_eq!(broken.unreadable, ["requires.bins", "requires.env"]);
    let broken = read_lines("description: d\nmetadata: {requires: git}").expect("a document");
    assert_eq!(broken.header.requirements.unreadable, ["requires"]);
    assert!(
        document("description: d\nmetadata: {requires: ~}", &[])
            .header
            .requirements
            .is_empty()
    );
}

/// A value, what is told of it, and its patterns.
type Row<'a> = (&'a str, &'a [&'a str], Option<&'a [&'a str]>);

#[test]
fn se4_allowed_tools() {
    const TOLD: &[&str] = &["warning: allowed-tools-form"];
    let rows: [Row<'_>; 11] = [
        (
            "Read Bash(git add:*)",
            &[],
            Some(&["Read", "Bash(git add:*)"]),
        ),
        ("Bash(a, b) Read", &[], Some(&["Bash(a, b)", "Read"])),
        ("Read, Grep", TOLD, Some(&["Read", "Grep"])),
        (
            "[Read, Bash(git log:*)]",
            TOLD,
            Some(&["Read", "Bash(git log:*)"]),
        ),
        ("[]", TOLD, Some(&[])),
        ("''", &[], Some(&[])),
        ("Bash(git", TOLD, None),
        ("{Read: yes}", TOLD, None),
        ("[Read, [Grep]]", TOLD, None),
        ("[Read, ~]", TOLD, None),
        ("5", &[], Some(&["5"])),
    ];
    for (source, told, expected) in rows {
        let found = document(&format!("description: d\nallowed-tools: {source}"), told);
        let tools = found.header.allowed_tools.expect(source);
        let patterns: Vec<&str> = tools.patterns().iter().map(ToolPattern::as_str).collect();
        assert_eq!(patterns, expected.unwrap_or_default(), "{source}");
        assert_eq!(tools.is_unparsable(), expected.is_none(), "{source}");
    }
    assert_eq!(
        document("description: d\nallowed-tools:", &[])
            .header
            .allowed_tools,
        None
    );
    assert_eq!(AllowedTools::default().patterns(), []);
}

#[test]
fn se4_extension_fields() {
    let found = document(
        "description: d\nargument-hint: [file, {mode}]\narguments: a b\nuser-invocable: false\ndisable-model-invocation: maybe\nmodel: small\nagent: general-purpose\nhooks: {a: [b]}",
        &["warning: argument-hint-form"],
    );
    let header = &found.header;
    assert_eq!(header.argument_hint.as_deref(), Some("[file, {mode}]"));
    assert_eq!(header.arguments, ["a", "b"]);
    assert!(!header.user_invocable && header.disable_model_invocation);
    assert_eq!(header.model.as_deref(), Some("small"));
    assert_eq!(header.agent.as_deref(), Some("general-purpose"));
    assert_eq!(header.fields["hooks"], json!({ "a": ["b"] }));
    assert!(header.has_extension_fields);
    let found = document(
        "description: d\nuser-invocable: ~\ndisable-model-invocation: \"TRUE\"",
        &[],
    );
    assert!(found.header.user_invocable && found.header.disable_model_invocation);
    assert!(!found.is_strictly_valid(&found.diagnostics));
    let plain = document("description: d", &[]);
    assert!(plain.header.user_invocable && !plain.header.disable_model_invocation);
    assert!(plain.is_strictly_valid(&plain.diagnostics));
}

#[test]
fn se4_keys_that_stand_twice_are_refused_at_any_level() {
    for lines in [
        "description: a\n\"description\": b",
        "description: a\nmetadata: {a: 1, b: {c: 1, 'c': 2}}",
        "description: a\nhooks: [{a: 1, a: 1}]",
        "description: a\nhooks: {~: 1, null: 2}",
        "description: a\nhooks: {? [a, b] : 1, ? [a, \"b\"] : 2}",
        "description: a\nhooks: &h {a: 1}\nhooks: *h",
    ] {
        refused(lines, &["error: duplicate-key"]);
    }
    document(
        "description: a\nhooks: [{a: 1}, {a: 1}]\nmodel: x\nModel: y",
        &["warning: unknown-field"],
    );
    document("description: a\nhooks: {1: x, 1.0: x, 01: x}", &[]);
}

#[test]
fn se4_the_typed_view_has_the_whole_header() {
    let read = read_lines("description: 1.10\nmetadata: {a: 007, b: [true, ~]}\nodd: 0x10");
    assert_eq!(
        kinds(&read),
        ["warning: metadata-coerced", "warning: unknown-field"]
    );
    let expected = json!({
        "name": "a-skill",
        "description": 1.1,
        "metadata": { "a": 7, "b": [true, null] },
        "odd": 16,
    });
    assert_eq!(
        serde_json::Value::Object(read.expect("a document").header.fields),
        expected
    );
}
