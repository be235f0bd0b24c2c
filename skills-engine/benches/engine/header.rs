//! Reading the header of a skill's main file: one as authors write it, and the worst that are known.

use divan::Bencher;
use skills_engine::__private::read_document;

/// A header of ten lines, as its author writes it.
const FILE: &str = r#"---
name: review-invoices
description: >-
  Checks incoming invoices against orders, and lists what does not add up.
  Use it before a payment run, or when a supplier asks.
license: Apache-2.0
allowed-tools: Read Grep Bash(jq:*)
metadata:
  author: "desk 4"
  version: 1.10
argument-hint: "[month]"
---
# Review invoices

1. Read `references/rules.md`.
2. List what does not add up.
"#;

/// The same, where the description is no YAML and must be repaired.
const BROKEN: &str = "---
name: review-invoices
description: Checks invoices in two passes: totals first, then tax lines
license: Apache-2.0
allowed-tools: Read Grep Bash(jq:*)
compatibility: Needs jq
metadata:
  author: desk 4
  team: finance
  version: 1.10
argument-hint: '[month]'
---
# Review invoices
";

/// At most 50 µs.
#[divan::bench(args = [false, true])]
fn header_of_ten_lines(bencher: Bencher<'_, '_>, is_broken: bool) {
    let file = if is_broken { BROKEN } else { FILE };
    bencher.bench(|| {
        read_document(
            divan::black_box(file.as_bytes()),
            "review-invoices",
            "review-invoices/SKILL.md",
        )
        .expect("a document")
    });
}

/// Files of a megabyte that are nearly all header, by what is repeated in them after what: those that took longest of
/// thousands. At most 50 ms each.
const HOSTILE: [(&str, &str); 8] = [
    ("\t", "...\n"),
    ("- \"", ":\n"),
    ("? \"", "\t\n"),
    ("\"", "- a\n"),
    ("a: b: c\n\"", "\t\r"),
    ("name: '", "a: b\n"),
    ("metadata:\n  ", "\t\n"),
    ("description: [", "\t\r"),
];

/// Headers as large as they are read, in a file of a megabyte, and those that are larger.
#[divan::bench(args = [250_000, 1_000_000], sample_count = 10)]
fn hostile_headers(bencher: Bencher<'_, '_>, header: usize) {
    let files = HOSTILE.map(|(start, unit)| {
        let header = unit.repeat(header / unit.len());
        let body = "text\n".repeat((1_000_000 - header.len()) / 5);
        format!("---\n{start}{header}\nx: y: z\n---\nBody\n{body}")
    });
    bencher.bench(|| {
        files.each_ref().map(|file| {
            read_document(
                divan::black_box(file.as_bytes()),
                "hostile",
                "hostile/SKILL.md",
            )
            .is_ok()
        })
    });
}
