//! Two hundred main files as authors write them, each with what must be read of it.
//!
//! What is expected is put together beside the source, from the same words; nothing of it was read by a parser.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

/// A main file, and what must be read of it.
#[derive(Debug)]
pub struct Sample {
    /// The name of its folder, and of the skill.
    pub folder: String,
    /// The file.
    pub text: String,
    /// The effective description.
    pub description: String,
    /// `license`.
    pub license: Option<String>,
    /// `compatibility`.
    pub compatibility: Option<String>,
    /// `metadata` as texts.
    pub metadata: BTreeMap<String, String>,
    /// The patterns of `allowed-tools`.
    pub allowed_tools: Option<Vec<String>>,
    /// `argument-hint`.
    pub argument_hint: Option<String>,
    /// Whether a model may invoke it.
    pub model_invocable: bool,
    /// Whether a user may invoke it.
    pub user_invocable: bool,
    /// The whole header, typed by the core schema of YAML 1.2.
    pub fields: Value,
    /// The trimmed body, with LF.
    pub body: String,
    /// Kinds of what is told, such as `warning: unknown-field`.
    pub told: BTreeSet<String>,
    /// Whether a strict validator takes it.
    pub is_strictly_valid: bool,
}

/// A subject: a name, and a description as its author breaks it into lines.
type Topic = (&'static str, &'static [&'static str]);

const TOPICS: [Topic; 20] = [
    (
        "invoice-review",
        &[
            "Checks incoming invoices against orders,",
            "and lists what does not add up.",
            "Use before a payment run.",
        ],
    ),
    (
        "release-notes",
        &[
            "Writes release notes from merged changes,",
            "grouped by who is affected.",
        ],
    ),
    (
        "log-triage",
        &[
            "Sorts error logs by cause (not by time),",
            "then names the owner of each.",
        ],
    ),
    (
        "sql-tuning",
        &[
            "Explains slow queries & proposes an index;",
            "never runs DDL by itself.",
        ],
    ),
    (
        "meeting-minutes",
        &[
            "Turns a transcript into minutes, decisions",
            "and open points - with names and dates.",
        ],
    ),
    (
        "csv-cleanup",
        &[
            "Repairs CSV files whose quotes \"run away\",",
            "mixed separators, and 50% of lost headers.",
        ],
    ),
    (
        "shell-scripts",
        &[
            "Hardens shell scripts with set -euo pipefail,",
            "quoting of \"$@\" and C:\\paths on Windows.",
        ],
    ),
    (
        "api-review",
        &[
            "Reviews HTTP interfaces for /v1/{id} paths,",
            "status codes and [optional] fields.",
        ],
    ),
    (
        "accessibility",
        &[
            "Audits pages for contrast, focus order",
            "and alt texts; it's about people.",
        ],
    ),
    (
        "übersetzung",
        &[
            "Übersetzt Oberflächentexte ins Deutsche,",
            "mit »Anführungszeichen« und fester Terminologie.",
        ],
    ),
    (
        "разбор-писем",
        &[
            "Разбирает входящие письма по темам",
            "и готовит краткий ответ.",
        ],
    ),
    (
        "整理-笔记",
        &["把零散的笔记放进文件夹,", "并为每个文件夹写一行摘要。"],
    ),
    (
        "議事録",
        &[
            "会議の録音から議事録を作り、",
            "決定事項と担当者をまとめます。",
        ],
    ),
    (
        "회의록",
        &["회의 내용을 요약하고", "할 일을 담당자별로 정리합니다."],
    ),
    (
        "ملخص-التقارير",
        &[
            "يلخص التقارير الطويلة في فقرة واحدة،",
            "ويذكر الأرقام المهمة.",
        ],
    ),
    (
        "סיכום-פגישה",
        &["מסכם פגישות לפי נושאים", "ומוסיף רשימת משימות."],
    ),
    (
        "σύνοψη",
        &["Συνοψίζει έγγραφα σε πέντε γραμμές", "και κρατά τις πηγές."],
    ),
    (
        "résumé-de-séance",
        &[
            "Résume une séance en trois points,",
            "décisions et délais compris.",
        ],
    ),
    (
        "design-tokens",
        &[
            "Keeps colors like #ff8800 in one place 🎨,",
            "and tells where they differ.",
        ],
    ),
    (
        "on-call",
        &[
            "Walks through an alert step by step",
            "* first the graphs",
            "* then the logs, @owner last.",
        ],
    ),
];

/// What a piece of a header adds.
#[derive(Default)]
struct Piece {
    source: String,
    fields: Vec<(&'static str, Value)>,
    told: Vec<&'static str>,
    is_extension: bool,
}

/// A sequence of numbers that is the same on each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % end
    }
}

/// The samples, always the same.
#[must_use]
pub fn corpus() -> Vec<Sample> {
    let mut numbers = Numbers(4);
    (0..200).map(|index| sample(index, &mut numbers)).collect()
}

/// Text styles of YAML, the number that `text` takes.
const STYLES: usize = 15;

/// A key with a text in one of the styles: its source and its value.
fn text(key: &str, lines: &[&str], style: usize) -> (String, String) {
    let joined = lines.join(" ");
    let block = |indent: &str| -> String {
        lines
            .iter()
            .map(|line| [indent, line, "\n"].concat())
            .collect()
    };
    match style % STYLES {
        0 => (format!("{key}: '{}'\n", joined.replace('\'', "''")), joined),
        1 => {
            let escaped = joined.replace('\\', "\\\\").replace('"', "\\\"");
            (format!("{key}: \"{escaped}\"\n"), joined)
        }
        2 => (
            format!("{key}: |\n{}", block("  ")),
            lines.join("\n") + "\n",
        ),
        3 => (format!("{key}: >\n{}", block("  ")), joined + "\n"),
        4 => (format!("{key}: >-\n{}", block("    ")), joined),
        5 => (
            format!("{key}: |+\n{}\n\n", block("  ")),
            lines.join("\n") + "\n\n\n",
        ),
        6 => (format!("{key}: |-\n{}\n", block(" ")), lines.join("\n")),
        7 => (
            format!("{key}: >+ # kept\n{}\n", block("  ")),
            joined + "\n\n",
        ),
        // The first line begins with blanks, so its indent must be said.
        8 => (
            format!("{key}: |2-\n    Note\n{}", block("  ")),
            format!("  Note\n{}", lines.join("\n")),
        ),
        // A blank line ends a paragraph; what is indented further keeps its lines.
        9 => (
            format!(
                "{key}: >-\n{}\n  More:\n\n    kept as it is\n    too\n\n  End.\n",
                block("  ")
            ),
            format!("{joined}\nMore:\n\n  kept as it is\n  too\n\nEnd."),
        ),
        10 => {
            let escaped: Vec<String> = lines
                .iter()
                .map(|line| line.replace('\\', "\\\\").replace('"', "\\\""))
                .collect();
            (format!("{key}: \"{}\"\n", escaped.join("\n   ")), joined)
        }
        11 => {
            let escaped: Vec<String> = lines
                .iter()
                .map(|line| line.replace('\\', "\\\\").replace('"', "\\\""))
                .collect();
            (
                format!(
                    "{key}: \"{}\\n\\\n  \\ttab \\u00e9 \\x41\"\n",
                    escaped.join("\\\n  \\ ")
                ),
                format!("{joined}\n\ttab é A"),
            )
        }
        12 => {
            let quoted: Vec<String> = lines.iter().map(|line| line.replace('\'', "''")).collect();
            (
                format!("{key}:\n  '{}'\n", quoted.join("\n\n   ")),
                lines.join("\n"),
            )
        }
        13 => (format!("{key}: !!str >-\n{}", block("  ")), joined),
        // A plain text in which no line is anything else to YAML.
        _ => {
            let plain: Vec<String> = lines
                .iter()
                .map(|line| line.replace([':', '#', '*', '@', '"', '[', '{'], ""))
                .collect();
            let words: Vec<&str> = plain
                .iter()
                .flat_map(|line| line.split_whitespace())
                .collect();
            let (first, rest) = words.split_at(words.len() / 2);
            let source = format!("{key}: {}\n\t\n  {}   \n", first.join(" "), rest.join(" "));
            // A blank line inside is a line end of the text, also where it holds a tab.
            (source, format!("{}\n{}", first.join(" "), rest.join(" ")))
        }
    }
}

fn description(topic: &Topic, style: usize) -> (Piece, String) {
    let (source, value) = text("description", topic.1, style);
    let description = value.trim().to_owned();
    let piece = Piece {
        source,
        fields: vec![("description", json!(value))],
        ..Piece::default()
    };
    (piece, description)
}

/// A description that is no YAML, read after a repair.
fn broken_description(topic: &Topic, style: usize) -> (Piece, String) {
    let joined = topic.1.join(" ");
    let (source, value) = match style % 4 {
        0 => (format!("Use when: {joined}"), format!("Use when: {joined}")),
        1 => (
            format!("`{}`: {joined}", topic.0),
            format!("`{}`: {joined}", topic.0),
        ),
        2 => (
            format!("\"{}\" {joined}", topic.0),
            format!("\"{}\" {joined}", topic.0),
        ),
        _ => (
            format!("\n  Triggers: one, two,\n  three: {}", topic.1.join("\n  ")),
            format!("Triggers: one, two, three: {joined}"),
        ),
    };
    let piece = Piece {
        source: format!("description: {source}\n"),
        fields: vec![("description", json!(value))],
        told: vec!["warning: yaml-repaired"],
        is_extension: false,
    };
    (piece, value)
}

/// `metadata` in one of its shapes, and its texts.
fn metadata(kind: usize) -> (Piece, Vec<(&'static str, &'static str)>) {
    let (source, value, texts, is_coerced): (&str, Value, Vec<_>, bool) = match kind % 8 {
        0 => return (Piece::default(), Vec::new()),
        1 => (
            "metadata:\n  version: 1.10\n  code: 007\n  stable: yes\n  released: 2026-03-01\n",
            json!({ "version": 1.1, "code": 7, "stable": "yes", "released": "2026-03-01" }),
            vec![
                ("version", "1.10"),
                ("code", "007"),
                ("stable", "yes"),
                ("released", "2026-03-01"),
            ],
            false,
        ),
        2 => (
            "metadata: # who and when\n    author: 'O''Neil'\n\n    # the team\n    team: \"Desk \\u0034\"\n    empty:\n    none: ~\n",
            json!({ "author": "O'Neil", "team": "Desk 4", "empty": null, "none": null }),
            vec![
                ("author", "O'Neil"),
                ("team", "Desk 4"),
                ("empty", ""),
                ("none", "~"),
            ],
            false,
        ),
        3 => (
            "metadata:\n  tags: [alpha, \"b, c\", 3]\n  owner: desk-4\n",
            json!({ "tags": ["alpha", "b, c", 3], "owner": "desk-4" }),
            vec![("tags", "[\"alpha\",\"b, c\",\"3\"]"), ("owner", "desk-4")],
            true,
        ),
        4 => (
            "metadata:\n  requires:\n    bins:\n    - git\n    - jq\n    env: [TOKEN]\n  nested: {z: {y: true}, a: ~}\n",
            json!({ "requires": { "bins": ["git", "jq"], "env": ["TOKEN"] }, "nested": { "z": { "y": true }, "a": null } }),
            vec![
                (
                    "requires",
                    "{\"bins\":[\"git\",\"jq\"],\"env\":[\"TOKEN\"]}",
                ),
                ("nested", "{\"z\":{\"y\":\"true\"},\"a\":null}"),
            ],
            true,
        ),
        5 => (
            "metadata:\n  sample: |\n    above\n    ---\n    below\n  note: >-\n    folded\n    text # no comment\n",
            json!({ "sample": "above\n---\nbelow\n", "note": "folded text # no comment" }),
            vec![
                ("sample", "above\n---\nbelow\n"),
                ("note", "folded text # no comment"),
            ],
            false,
        ),
        6 => (
            "metadata: {\"a key\": 0x1F, 'ключ': .5,\n  url: https://example.org/a#b, on: off}\n",
            json!({ "a key": 31, "ключ": 0.5, "url": "https://example.org/a#b", "on": "off" }),
            vec![
                ("a key", "0x1F"),
                ("ключ", ".5"),
                ("url", "https://example.org/a#b"),
                ("on", "off"),
            ],
            false,
        ),
        _ => (
            "metadata:\n  base: &base\n    level: 2\n    size: 1e3\n  copy: *base\n",
            json!({ "base": { "level": 2, "size": 1000.0 }, "copy": { "level": 2, "size": 1000.0 } }),
            vec![
                ("base", "{\"level\":\"2\",\"size\":\"1e3\"}"),
                ("copy", "{\"level\":\"2\",\"size\":\"1e3\"}"),
            ],
            true,
        ),
    };
    let piece = Piece {
        source: source.to_owned(),
        fields: vec![("metadata", value)],
        told: if is_coerced {
            vec!["warning: metadata-coerced"]
        } else {
            Vec::new()
        },
        is_extension: false,
    };
    (piece, texts)
}

fn allowed_tools(kind: usize) -> (Piece, Option<Vec<String>>) {
    const FORM: &str = "warning: allowed-tools-form";
    let (source, value, patterns, told): (&str, Value, &[&str], &[&'static str]) = match kind % 6 {
        0 | 1 => return (Piece::default(), None),
        2 => (
            "Read Bash(git log:*) Grep",
            json!("Read Bash(git log:*) Grep"),
            &["Read", "Bash(git log:*)", "Grep"],
            &[],
        ),
        3 => (
            "Read, Write,Bash(a, b)",
            json!("Read, Write,Bash(a, b)"),
            &["Read", "Write", "Bash(a, b)"],
            &[FORM],
        ),
        4 => (
            "\n  - Read\n  - Bash(git add:*)",
            json!(["Read", "Bash(git add:*)"]),
            &["Read", "Bash(git add:*)"],
            &[FORM],
        ),
        _ => (
            "[Glob, 'Edit(src/**)']",
            json!(["Glob", "Edit(src/**)"]),
            &["Glob", "Edit(src/**)"],
            &[FORM],
        ),
    };
    let piece = Piece {
        source: format!("allowed-tools: {source}\n"),
        fields: vec![("allowed-tools", value)],
        told: told.to_vec(),
        is_extension: false,
    };
    let patterns = patterns.iter().map(|it| (*it).to_owned()).collect();
    (piece, Some(patterns))
}

/// Fields that only clients know, or nobody.
fn extension(kind: usize) -> Piece {
    let (source, fields, told): (&str, Vec<(&'static str, Value)>, &[&'static str]) = match kind % 9
    {
        0..=2 => return Piece::default(),
        3 => (
            "argument-hint: \"[branch] <file>\"\n",
            vec![("argument-hint", json!("[branch] <file>"))],
            &[],
        ),
        4 => (
            "argument-hint: [branch, file]\n",
            vec![("argument-hint", json!(["branch", "file"]))],
            &["warning: argument-hint-form"],
        ),
        5 => (
            "disable-model-invocation: true\nmodel: small\ncontext: fork\n",
            vec![
                ("disable-model-invocation", json!(true)),
                ("model", json!("small")),
                ("context", json!("fork")),
            ],
            &[],
        ),
        6 => (
            "user-invocable: false\nshell: bash\n",
            vec![("user-invocable", json!(false)), ("shell", json!("bash"))],
            &[],
        ),
        7 => (
            "version: 2.0\ntags:\n- one\n- two\n",
            vec![("version", json!(2.0)), ("tags", json!(["one", "two"]))],
            &["warning: unknown-field"],
        ),
        _ => (
            "hooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - {type: command, timeout: 10}\n",
            vec![(
                "hooks",
                json!({ "PreToolUse": [{ "matcher": "Bash", "hooks": [{ "type": "command", "timeout": 10 }] }] }),
            )],
            &[],
        ),
    };
    Piece {
        source: source.to_owned(),
        fields,
        told: told.to_vec(),
        is_extension: true,
    }
}

fn sample(index: usize, numbers: &mut Numbers) -> Sample {
    let topic = &TOPICS[index % TOPICS.len()];
    let folder = format!("{}-{index}", topic.0);
    let (described, description) = if index % 10 == 9 {
        broken_description(topic, index / 10)
    } else {
        // Each topic comes in several styles, each style with several topics.
        description(topic, index + index / TOPICS.len())
    };
    let (metadata, texts) = metadata(numbers.below(8));
    let (tools, allowed_tools) = allowed_tools(numbers.below(6));
    let extension = extension(numbers.below(9));
    let license = ["MIT", "Apache-2.0", "Proprietary. See LICENSE.txt"]
        .get(numbers.below(5))
        .copied();
    let compatibility = (numbers.below(4) == 0).then_some("Needs git 2.40+, and a network");
    let of_text = |key: &'static str, value: Option<&str>, style| {
        value.map_or_else(Piece::default, |value| {
            let (source, value) = text(key, &[value], style);
            Piece {
                source,
                fields: vec![(key, json!(value))],
                ..Piece::default()
            }
        })
    };
    let mut pieces = vec![
        of_text("name", Some(&folder), [0, 1, 4, 13, 6][numbers.below(5)]),
        described,
        of_text("license", license, numbers.below(2)),
        of_text("compatibility", compatibility, [3, 4, 10][numbers.below(3)]),
        metadata,
        tools,
        extension,
    ];
    pieces.retain(|piece| !piece.source.is_empty());
    let first = numbers.below(pieces.len());
    pieces.rotate_left(first);

    let fields: Map<String, Value> = pieces
        .iter()
        .flat_map(|piece| &piece.fields)
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    let mut told: BTreeSet<String> = pieces
        .iter()
        .flat_map(|piece| &piece.told)
        .map(|it| (*it).to_owned())
        .collect();
    let is_extended = pieces.iter().any(|piece| piece.is_extension);
    let is_strictly_valid = !is_extended && told.is_empty();
    let body = format!(
        "# {}\n\n1. Read `references/{index}.md`.\n---\n2. Go on: \"{}\"",
        topic.0, topic.1[0]
    );
    let comment = ["", "# Made by hand.\n", "#\n\n"][numbers.below(3)];
    let source: Vec<&str> = pieces.iter().map(|piece| piece.source.as_str()).collect();
    let mut text = format!("---\n{comment}{}---\n\n{body}\n", source.join(comment));
    if index % 5 == 2 {
        text = text.replace('\n', "\r\n");
    }
    if index % 17 == 3 {
        text.insert(0, '\u{FEFF}');
        told.insert("warning: bom".to_owned());
    }
    let argument_hint = fields.get("argument-hint").map(|hint| match hint {
        Value::String(text) => text.clone(),
        _ => "[branch, file]".to_owned(),
    });
    Sample {
        folder,
        text,
        description,
        license: license.map(str::to_owned),
        compatibility: compatibility.map(str::to_owned),
        metadata: texts
            .into_iter()
            .map(|(key, text)| (key.to_owned(), text.to_owned()))
            .collect(),
        allowed_tools,
        argument_hint,
        model_invocable: !fields.contains_key("disable-model-invocation"),
        user_invocable: !fields.contains_key("user-invocable"),
        fields: Value::Object(fields),
        body,
        told,
        is_strictly_valid,
    }
}
