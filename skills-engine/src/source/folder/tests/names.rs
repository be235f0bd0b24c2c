//! Names.

use super::kinds;
use crate::source::folder::read_document;

/// What is told of a name in a folder.
fn told(name: &str, folder: &str) -> (Vec<String>, Option<String>) {
    let text = format!("---\nname: {name}\ndescription: Does it.\n---\nBody.\n");
    let read = read_document(text.as_bytes(), folder, "SKILL.md");
    (kinds(&read), read.ok().map(|it| it.header.name))
}

#[test]
fn se4_names_that_are_fine() {
    for name in [
        "a",
        "a-b-1",
        "0",
        "整理-笔记",
        "напоминания",
        "über-sicht",
        "हिंदी",
    ] {
        let (kinds, found) = told(name, name);
        assert_eq!(kinds, [""; 0], "{name}");
        assert_eq!(found.as_deref(), Some(name));
    }
}

#[test]
fn se4_names_that_are_unsafe_are_refused() {
    let rows = [
        "../escape",
        "a/b",
        "a\\b",
        ".",
        "..",
        "\"a\\nb\"",
        "\"a\\0b\"",
        "\"a\\x85b\"",
        "a\u{202E}b",
        "\u{200F}a",
        "a\u{2066}b",
        "\"a\\u061Cb\"",
        // What becomes of them in NFKC: a slash, dots, `a/c`.
        "a\u{FF0F}b",
        "\u{FF0E}\u{FF0E}",
        "\u{2025}",
        "\u{2100}",
    ];
    for name in rows {
        assert_eq!(
            told(name, "a-skill"),
            (vec!["error: name-unsafe".to_owned()], None),
            "{name:?}"
        );
    }
}

#[test]
fn se4_names_that_are_odd_are_told() {
    let rows: [(&str, &[&str]); 14] = [
        ("Upper", &["warning: name-format"]),
        ("Ärger", &["warning: name-format"]),
        ("a_b", &["warning: name-format"]),
        ("a b", &["warning: name-format"]),
        ("a.b", &["warning: name-format"]),
        ("\"-a\"", &["warning: name-format"]),
        ("a-", &["warning: name-format"]),
        ("a--b", &["warning: name-format"]),
        ("a\u{200B}b", &["error: name-unsafe"]),
        ("😀", &["warning: name-format"]),
        ("other", &["warning: name-dir-mismatch"]),
        (
            "Other One",
            &["warning: name-format", "warning: name-dir-mismatch"],
        ),
        ("", &["warning: name-missing"]),
        ("[a, b]", &["warning: name-missing"]),
    ];
    for (name, expected) in rows {
        let folder = match name {
            "other" | "Other One" | "" | "[a, b]" => "a-skill",
            "\"-a\"" => "-a",
            other => other,
        };
        assert_eq!(told(name, folder).0, expected, "{name:?}");
    }
    for name in ["~", "null", "''", "\"  \"", "{a: b}", "# comment"] {
        let (kinds, found) = told(name, "a-skill");
        assert_eq!(kinds, ["warning: name-missing"], "{name:?}");
        assert_eq!(found.as_deref(), Some("a-skill"));
    }
}

#[test]
fn se4_names_are_counted_in_characters() {
    let longest = "é".repeat(64);
    assert_eq!(told(&longest, &longest).0, [""; 0]);
    let longer = "é".repeat(65);
    assert_eq!(told(&longer, &longer).0, ["warning: name-too-long"]);
}

#[test]
fn se4_names_and_folders_are_compared_in_nfkc() {
    let (kinds, name) = told("ne\u{301}", "n\u{E9}");
    assert_eq!((kinds, name.as_deref()), (vec![], Some("n\u{E9}")));
    let (kinds, name) = told("n\u{E9}", "ne\u{301}");
    assert_eq!((kinds, name.as_deref()), (vec![], Some("n\u{E9}")));
    let (kinds, name) = told("\u{FF41}\u{FF42}", "ab");
    assert_eq!((kinds, name.as_deref()), (vec![], Some("ab")));
}

#[test]
fn se4_the_name_of_a_folder_is_judged_as_any_other() {
    let text = b"---\ndescription: Does it.\n---\nBody.\n";
    let unsafe_folder = read_document(text, "a\\b", "SKILL.md");
    assert_eq!(
        kinds(&unsafe_folder),
        ["warning: name-missing", "error: name-unsafe"]
    );
    let odd_folder = read_document(text, "My Skill", "SKILL.md");
    assert_eq!(
        kinds(&odd_folder),
        ["warning: name-missing", "warning: name-format"]
    );
}
