//! Bytes, fences, lines and bodies.

use super::{kinds, read, read_lines};
use crate::source::folder::DiagnosticKind;
use crate::source::folder::document::MOST_BYTES;

const HEADER: &str = "name: a-skill\ndescription: Does it.\n";

#[test]
fn se4_a_fence_is_a_whole_line() {
    let rows: [(&str, &str); 12] = [
        ("---\nH---\nB", ""),
        ("---\t \nH--- \t\nB", ""),
        ("\u{FEFF}---\nH---\nB", "warning: bom"),
        ("\u{FEFF}\u{FEFF}---\nH---\nB", "error: frontmatter-missing"),
        ("\n---\nH---\nB", "error: frontmatter-missing"),
        (" ---\nH---\nB", "error: frontmatter-missing"),
        ("----\nH---\nB", "error: frontmatter-missing"),
        ("--- # header\nH---\nB", "error: frontmatter-missing"),
        ("", "error: frontmatter-missing"),
        ("---\nH", "error: frontmatter-unclosed"),
        ("---\nH ---\n----\n--- x\nB", "error: frontmatter-unclosed"),
        ("---\u{85}\nH---\nB", "error: frontmatter-missing"),
    ];
    for (text, expected) in rows {
        let text = text.replace('H', HEADER);
        let found = kinds(&read(&text));
        let found = found
            .iter()
            .find(|it| *it != "warning: bom" || expected.ends_with("bom"));
        assert_eq!(found.map_or("", String::as_str), expected, "{text:?}");
    }
}

#[test]
fn se4_any_line_end_gives_the_same_text() {
    let text = "---\nname: a-skill\ndescription: >-\n  One\n  two.\nmetadata:\n  text: |\n    a\n    b\n---\n\n# Body\n\nText.\n\n";
    for end in ["\n", "\r\n", "\r"] {
        let bytes = text.replace('\n', end).into_bytes();
        let document = read(&bytes).expect(end);
        assert_eq!(document.diagnostics, [], "{end:?}");
        assert_eq!(document.header.description, "One two.", "{end:?}");
        assert_eq!(document.header.metadata["text"], "a\nb\n", "{end:?}");
        assert_eq!(document.body_in(&bytes), "# Body\n\nText.", "{end:?}");
    }
}

#[test]
fn se4_places_are_those_of_the_file_whatever_ends_its_lines() {
    for end in ["\n", "\r\n", "\r"] {
        let text = [
            "---",
            "name: a-skill",
            "# é",
            "description: Does it",
            "é: 1",
            "---",
            "B",
        ]
        .join(end);
        let document = read(text).expect(end);
        let diagnostic = &document.diagnostics[0];
        assert_eq!(diagnostic.kind, DiagnosticKind::UnknownField);
        assert_eq!(
            (diagnostic.line, diagnostic.column),
            (Some(5), Some(1)),
            "{end:?}"
        );
    }
    let read = read_lines("description: a\nmetadata: {a: 1, é: 2, é: 3}");
    let diagnostics = read.expect_err("a key twice");
    assert_eq!(
        (diagnostics[0].line, diagnostics[0].column),
        (Some(4), Some(24))
    );
    assert_eq!(
        diagnostics[0].to_string(),
        "a-skill/SKILL.md:4:24: error: duplicate-key: the key `é` stands there twice. \
         keep one of the two: readers differ in which one they take"
    );
}

#[test]
fn se4_bytes_that_are_no_text_have_a_place() {
    let diagnostics = read(b"---\nname: a\ndescription: n\xE9\n---\nB").expect_err("Latin-1");
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(diagnostics[0].kind, DiagnosticKind::EncodingInvalid);
    assert_eq!(
        (diagnostics[0].line, diagnostics[0].column),
        (Some(3), Some(15))
    );
    let read = read(b"---\nname: a-skill\ndescription: a\n---\nB\xFF");
    assert_eq!(
        kinds(&read),
        ["error: encoding-invalid"],
        "the body counts, too"
    );
}

#[test]
fn se4_a_file_may_have_one_mebibyte() {
    let mut bytes = format!("---\n{HEADER}---\n").into_bytes();
    bytes.resize(MOST_BYTES, b'x');
    assert_eq!(kinds(&read(&bytes)), [""; 0]);
    bytes.push(b'x');
    assert_eq!(kinds(&read(&bytes)), ["error: file-too-large"]);
}

#[test]
fn se4_a_blank_body_is_told() {
    for body in ["", "\n", " \r\n\t\u{2028}\n"] {
        let text = format!("---\n{HEADER}---\n{body}");
        let read = read(&text);
        assert_eq!(kinds(&read), ["warning: body-empty"], "{body:?}");
        let document = read.expect("a document");
        assert_eq!(document.body_in(text.as_bytes()), "");
        assert!(document.is_strictly_valid(&document.diagnostics));
    }
}

#[test]
fn se4_a_header_is_one_mapping() {
    let rows = [
        ("", "error: description-missing"),
        ("# only a comment\n", "error: description-missing"),
        ("~\n", "error: frontmatter-not-mapping"),
        ("just text\n", "error: frontmatter-not-mapping"),
        ("[a, b]\n", "error: frontmatter-not-mapping"),
        ("name: a-skill\n...\n", "error: description-missing"),
        ("name: a-skill\n...\nmore: text\n", "error: yaml-invalid"),
        (
            "name: a-skill\n--- # more\nmore: text\n",
            "error: yaml-invalid",
        ),
        ("%YAML 1.2\n", "error: yaml-invalid"),
        ("name: a\u{0}b\n", "error: yaml-invalid"),
        ("# \u{7}\nname: a\n", "error: yaml-invalid"),
        ("name: a\u{7F}\n", "error: yaml-invalid"),
    ];
    for (header, expected) in rows {
        let found = kinds(&read(format!("---\n{header}---\nB")));
        assert!(
            found.contains(&expected.to_owned()),
            "{header:?}: {found:?}"
        );
    }
}

#[test]
fn se4_every_kind_is_named_as_its_contract_names_it() {
    for kind in DiagnosticKind::ALL {
        let kebab: String = format!("{kind:?}")
            .chars()
            .flat_map(|it| {
                [
                    it.is_uppercase().then_some('-'),
                    Some(it.to_ascii_lowercase()),
                ]
            })
            .flatten()
            .collect();
        assert_eq!(kind.as_str(), kebab.trim_start_matches('-'));
        assert!(kind.to_string().ends_with(kind.as_str()));
        let is_error = kind.to_string().starts_with("error: ");
        assert!(kind.is_strict_violation() || !is_error, "{kind}");
    }
}
