//! What is repaired, and what is not.

use super::{document, refused};

const REPAIRED: &[&str] = &["warning: yaml-repaired"];

#[test]
fn se4_values_that_are_not_yaml_are_quoted_whole() {
    let rows = [
        (
            "description: Use when: a bill looks wrong",
            "Use when: a bill looks wrong",
        ),
        ("description: `jq` filters", "`jq` filters"),
        ("description: @all of it", "@all of it"),
        ("description: %d and more", "%d and more"),
        ("description: \"Small\" repairs", "\"Small\" repairs"),
        ("description: 'Small' repairs", "'Small' repairs"),
        ("description: [draft] Writes", "[draft] Writes"),
        ("description: {draft} Writes", "{draft} Writes"),
        ("description: **Bold** text", "**Bold** text"),
        ("description: *emphasis*", "*emphasis*"),
        ("description: \"not closed", "\"not closed"),
        (
            "description: it's: here # and here",
            "it's: here # and here",
        ),
        ("description:   a: b  \t", "a: b"),
        ("description : a: b", "a: b"),
        (
            "description:\n  First: one,\n  second",
            "First: one, second",
        ),
        (
            "description: First: one\n\n    second\n  \t third",
            "First: one second third",
        ),
        ("description: >\n    deep: er\n  less", "deep: er less"),
        ("description: C:\\path: 'x'", "C:\\path: 'x'"),
        ("description: 说明: 什么 时候: 用", "说明: 什么 时候: 用"),
    ];
    for (lines, expected) in rows {
        // What stands around it stays as it is.
        let lines = format!("license: MIT\n{lines}\nmetadata:\n  a: b");
        let document = document(&lines, REPAIRED);
        assert_eq!(document.header.description, expected, "{lines}");
        assert_eq!(document.header.license.as_deref(), Some("MIT"), "{lines}");
        assert_eq!(document.header.metadata["a"], "b", "{lines}");
    }
}

#[test]
fn se4_only_prose_goes_on_over_lines() {
    let found = document(
        "description: d\nargument-hint: [issue] [priority]\nwhen_to_use: now: or never\ncompatibility: needs: git\n  and: more",
        REPAIRED,
    );
    let header = &found.header;
    assert_eq!(header.argument_hint.as_deref(), Some("[issue] [priority]"));
    assert_eq!(header.when_to_use.as_deref(), Some("now: or never"));
    assert_eq!(
        header.compatibility.as_deref(),
        Some("needs: git and: more")
    );
    refused(
        "description: d\nwhen_to_use: now: or\n  never",
        &["error: yaml-invalid"],
    );
    refused(
        "description: d\nmetadata:\n  a: b: c",
        &["error: yaml-invalid"],
    );
    let found = document(
        "description: d\nmetadata: {a: b",
        &["warning: yaml-repaired", "warning: metadata-invalid"],
    );
    assert_eq!(found.header.fields["metadata"], "{a: b");
}

#[test]
fn se4_tabs_before_a_line_become_blanks() {
    let found = document("description: d\nmetadata:\n\ta: 1\n\tb: '\t'", REPAIRED);
    assert_eq!(found.header.metadata["b"], "\t");
    let found = document("description: d\nmetadata:\n \ta: 1\n   b: 2", REPAIRED);
    assert_eq!(found.header.metadata["b"], "2");
    let found = document("description: |\n\tone\n\t\ttwo", REPAIRED);
    assert_eq!(found.header.description, "one\n  two");
    // Tabs that are text stay.
    let found = document(
        "description: a: b\nmetadata:\n  make: |\n    all:\n    \tcc x\n  more: x",
        REPAIRED,
    );
    assert_eq!(found.header.metadata["make"], "all:\n\tcc x\n");
}

#[test]
fn se4_what_is_yaml_as_it_stands_is_left_alone() {
    let found = document(
        "description: a: b\nlicense: \"MIT: 'x'\"\nmetadata: &m\n  a: [1, 2]\nmodel: *m\neffort: &e high\nshell: *e",
        &["warning: yaml-repaired", "warning: metadata-coerced"],
    );
    assert_eq!(found.header.license.as_deref(), Some("MIT: 'x'"));
    assert_eq!(found.header.metadata["a"], r#"["1","2"]"#);
}

#[test]
fn se4_a_repair_happens_once_and_guesses_nothing() {
    for lines in [
        "description: d\n- item",
        "description: d\nno colon here",
        "description: d\n  more: a\n bad: b\nmetadata:\n   left: a\n  right: b",
        "description: d\nmetadata:\n   left: a\n  right: b",
        "description: d\n\"quoted key\": a: b",
        "description: d\n? a: b: c",
        "description: d\nhooks: *missing\nmetadata:\n  - a\n b: c",
    ] {
        refused(lines, &["error: yaml-invalid"]);
    }
}

#[test]
fn se4_after_a_repair_places_are_still_those_of_the_file() {
    let read =
        super::read_lines("description: First: one\n  second\n\n  third\nlicense: MIT\nodd: x");
    let document = read.expect("repaired");
    let lines: Vec<_> = document
        .diagnostics
        .iter()
        .map(|it| (it.kind.as_str(), it.line))
        .collect();
    assert_eq!(
        lines,
        [("yaml-repaired", Some(3)), ("unknown-field", Some(8))]
    );
}

#[test]
fn se4_mistakes_that_a_repair_lays_open_are_told() {
    refused(
        "description: a: b\ndescription: c",
        &["warning: yaml-repaired", "error: duplicate-key"],
    );
    refused(
        "license: a: b",
        &["warning: yaml-repaired", "error: description-missing"],
    );
    let big = "x".repeat(140_000);
    refused(&format!("description: a: {big}"), &["error: yaml-limits"]);
}
