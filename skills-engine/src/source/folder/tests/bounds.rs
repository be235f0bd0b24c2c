//! Limits: what just fits is read, and one more is refused.

use serde_json::json;

use super::{document, kinds, read_lines, refused};
use crate::source::folder::document::MOST_HEADER_BYTES;
use crate::source::folder::yaml::{
    Failure, MOST_ALIASES, MOST_DEPTH, MOST_NODES, MOST_SCALAR_BYTES, parse,
};

const LIMITS: &[&str] = &["error: yaml-limits"];

#[test]
fn se4_aliases_are_counted() {
    let lines = |count: usize| {
        let aliases = vec!["*a"; count].join(", ");
        format!("description: d\nhooks: &a x\npaths: [{aliases}]")
    };
    document(&lines(MOST_ALIASES), &[]);
    refused(&lines(MOST_ALIASES + 1), LIMITS);
}

#[test]
fn se4_depth_is_counted_through_aliases() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    // The header itself is one mapping.
    document(
        &format!("description: d\nhooks: {}", nested(MOST_DEPTH - 1)),
        &[],
    );
    refused(
        &format!("description: d\nhooks: {}", nested(MOST_DEPTH)),
        LIMITS,
    );
    let shared = |depth: usize| {
        format!(
            "description: d\nhooks: &a {}\npaths: [[[[[*a]]]]]",
            nested(depth)
        )
    };
    document(&shared(MOST_DEPTH - 6), &[]);
    refused(&shared(MOST_DEPTH - 5), LIMITS);
    let mut blocks = String::from("description: d\nhooks:\n");
    for depth in 0..MOST_DEPTH {
        blocks.push_str(&"  ".repeat(depth + 1));
        blocks.push_str("a:\n");
    }
    refused(&blocks, LIMITS);
}

#[test]
fn se4_nodes_are_counted_each_time_they_are_used() {
    // The mapping, two keys and two values of the others, the key `hooks` and its list.
    let list = |count: usize| format!("description: d\nhooks: [{}]", "x,".repeat(count));
    document(&list(MOST_NODES - 7), &[]);
    refused(&list(MOST_NODES - 6), LIMITS);
    let list = |count: usize| {
        format!(
            "description: d\nhooks: &a [{}]\npaths: [*a, *a]",
            "x,".repeat(count)
        )
    };
    document(&list(1300), &[]);
    refused(&list(1365), LIMITS);
}

#[test]
fn se4_bytes_of_scalars_are_counted_each_time_they_are_used() {
    let fixed = "nameadescriptionhooksskill-d".len();
    let text = |count: usize| format!("description: d\nhooks: {}", "x".repeat(count));
    document(&text(MOST_SCALAR_BYTES - fixed), &[]);
    refused(&text(MOST_SCALAR_BYTES - fixed + 1), LIMITS);
    let text = |count: usize| format!("description: d\nhooks: &a {}\npaths: *a", "x".repeat(count));
    document(&text(60_000), &[]);
    refused(&text(66_000), LIMITS);
}

#[test]
fn se4_bytes_of_a_header_are_counted_whatever_they_are() {
    let fixed = "name: a-skill\ndescription: d\n#\n".len();
    let comment = |count: usize| format!("description: d\n#{}", "c".repeat(count));
    document(&comment(MOST_HEADER_BYTES - fixed), &[]);
    refused(&comment(MOST_HEADER_BYTES - fixed + 1), LIMITS);
}

#[test]
fn se4_an_alias_inside_what_it_stands_for_is_refused() {
    refused("description: d\nhooks: &a [*a]", LIMITS);
    refused("description: d\nhooks: &a {b: {c: *a}}", LIMITS);
    // A name may be given anew, and stands for what had it last.
    refused("description: d\nhooks: &a x\npaths: &a [*a]", LIMITS);
    let found = document("description: d\nhooks: &a x\npaths: [*a, &a y, *a]", &[]);
    assert_eq!(found.header.fields["paths"], json!(["x", "y", "y"]));
}

#[test]
fn se4_a_limit_that_comes_first_is_told_first() {
    let bomb = "[".repeat(1000);
    refused(&format!("description: d\nhooks: {bomb}"), LIMITS);
    let read = read_lines(&format!("description: d\nhooks: {bomb}"));
    let diagnostics = read.expect_err("too deep");
    assert_eq!(diagnostics[0].line, Some(4));
    assert!(!diagnostics[0].hint.is_empty());
    assert!(matches!(parse(&bomb), Err(Failure::Limit(_))));
}

#[test]
fn se4_keys_inside_keys_do_not_grow() {
    // Each level would double every quote, were keys texts in JSON.
    let mut key = format!("'{}'", "\"".repeat(10_000));
    for _ in 0..MOST_DEPTH - 3 {
        key = format!("{{? {key} : v}}");
    }
    let read = read_lines(&format!("description: d\nmetadata: {{? {key} : v}}"));
    assert_eq!(kinds(&read), [""; 0]);
    let document = read.expect("a document");
    let longest = document.header.metadata.keys().map(String::len).max();
    assert!(longest.is_some_and(|it| it < 11_000), "{longest:?}");
}
