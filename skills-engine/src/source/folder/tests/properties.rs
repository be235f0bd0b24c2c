//! Any bytes at all.

use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

use super::read;
use crate::source::folder::yaml::{
    Content, MOST_DEPTH, MOST_NODES, MOST_SCALAR_BYTES, Node, parse,
};
use crate::source::folder::{Read, Severity};

/// Nodes, bytes of scalars and depth of a tree, each alias counted as what it stands for.
fn size(node: &Node<'_>) -> (usize, usize, usize) {
    match &node.content {
        Content::Scalar(scalar) => (1, scalar.text.len(), 0),
        Content::Sequence(items) => sum(items.iter().map(|item| size(item))),
        Content::Mapping(entries) => sum(entries
            .iter()
            .flat_map(|entry| [size(&entry.key), size(&entry.value)])),
    }
}

fn sum(sizes: impl Iterator<Item = (usize, usize, usize)>) -> (usize, usize, usize) {
    let (nodes, bytes, depth) = sizes.fold((1, 0, 0), |sum, it| {
        (sum.0 + it.0, sum.1 + it.1, sum.2.max(it.2))
    });
    (nodes, bytes, depth + 1)
}

/// What holds of a reading, whatever was read.
fn check(bytes: &[u8], found: &Read) {
    let diagnostics = match found {
        Ok(document) => &document.diagnostics,
        Err(diagnostics) => diagnostics,
    };
    let has_error = diagnostics.iter().any(|it| it.severity == Severity::Error);
    assert_eq!(found.is_err(), has_error);
    let mut kinds: Vec<_> = diagnostics.iter().map(|it| it.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    assert_eq!(kinds.len(), diagnostics.len(), "each kind is told once");
    let lines = bytes
        .iter()
        .filter(|it| matches!(it, b'\n' | b'\r'))
        .count()
        + 1;
    for diagnostic in diagnostics {
        assert!(!diagnostic.message.is_empty() && !diagnostic.hint.is_empty());
        assert!(diagnostic.message.len() < 4_000, "{diagnostic}");
        assert!(
            !diagnostic.message.chars().any(char::is_control),
            "{diagnostic:?}"
        );
        assert!(
            diagnostic.line.is_none_or(|it| it as usize <= lines),
            "{diagnostic}"
        );
    }
    if let Ok(document) = found {
        let header = &document.header;
        assert!(!header.name.is_empty() && !header.name.contains(['/', '\\']));
        assert!(!header.name.chars().any(char::is_control));
        assert!(!header.description.trim().is_empty());
        let body = document.body_in(bytes);
        assert_eq!(body, body.trim());
        let (of_metadata, of_fields) = (header.metadata.len(), header.fields.len());
        assert!(of_metadata + of_fields <= MOST_NODES);
    }
}

/// What YAML is made of, and what is often wrong in it.
fn piece() -> impl Strategy<Value = String> {
    const PIECES: [&str; 60] = [
        "name",
        "description",
        "metadata",
        "allowed-tools",
        "argument-hint",
        "license",
        "requires",
        "bins",
        "a",
        "b",
        "\u{e9}",
        "\u{6f22}",
        ": ",
        ":",
        "- ",
        "? ",
        ", ",
        "[",
        "]",
        "{",
        "}",
        "\n",
        "\n  ",
        "\n    ",
        "\n\t",
        "\r",
        "\r\n",
        "\n\n",
        " ",
        "  ",
        "\t",
        "\"",
        "'",
        "\\",
        "\\n",
        "\\u00e9",
        "\\x4",
        "# c",
        " #",
        "|",
        ">",
        "|+\n",
        ">-\n  ",
        "&a ",
        "*a",
        "*b",
        "!",
        "!!str ",
        "!!int ",
        "~",
        "null",
        "true",
        "1.10",
        "---",
        "\n---\n",
        "...",
        "%",
        "`",
        "\u{feff}",
        "\u{0}",
    ];
    prop_oneof![
        9 => (0..PIECES.len()).prop_map(|index| PIECES[index].to_owned()),
        1 => any::<char>().prop_map(String::from),
    ]
}

/// Headers whose lines are keys and values as authors write them, and any text.
fn header() -> impl Strategy<Value = String> {
    const KEYS: [&str; 9] = [
        "name",
        "description",
        "license",
        "metadata",
        "allowed-tools",
        "argument-hint",
        "hooks",
        "  a",
        "odd",
    ];
    let value = vec(piece(), 0..8).prop_map(|pieces| pieces.concat());
    let line =
        ((0..KEYS.len()), value).prop_map(|(key, value)| format!("{}: {value}\n", KEYS[key]));
    prop_oneof![
        vec(line, 0..6).prop_map(|lines| lines.concat()),
        vec(piece(), 0..40).prop_map(|pieces| pieces.concat()),
    ]
}

proptest! {
    #[test]
    fn se4_any_bytes_are_read_or_refused(bytes in vec(any::<u8>(), 0..2_000)) {
        check(&bytes, &read(&bytes));
        let mut header = b"---\n".to_vec();
        header.extend(&bytes);
        header.extend(b"\n---\nB");
        check(&header, &read(&header));
    }

    #[test]
    fn se4_what_looks_like_a_header_is_read_or_refused(
        header in header(),
        end in prop_oneof![Just("\n"), Just("\r\n"), Just("\r")],
    ) {
        let text = format!("---\n{header}\n---\nBody.\n").replace('\n', end);
        let found = read(&text);
        check(text.as_bytes(), &found);
        let again = read(&text);
        assert_eq!(format!("{found:?}"), format!("{again:?}"));
    }

    #[test]
    fn se4_trees_stay_within_their_limits(
        pieces in vec(piece(), 0..12),
        count in 1_usize..400,
    ) {
        let text = pieces.concat().repeat(count);
        if let Ok(parsed) = parse(&text) {
            let (nodes, bytes, depth) = parsed.root.as_deref().map_or((0, 0, 0), size);
            assert!(nodes <= MOST_NODES && bytes <= MOST_SCALAR_BYTES && depth <= MOST_DEPTH);
        }
    }
}
