//! Files that are missing, unreadable or too much.

use std::fmt::Write as _;

use skills_engine::engine::settings::{SettingOrigin, SettingsSources};

use super::{TemporaryFile, from_file, problems};

#[test]
fn a_missing_file_is_an_error_unless_it_may_be_missing() {
    let file = TemporaryFile::new("");
    let path = file.0.clone();
    drop(file);
    let err = SettingsSources::new().file(&path).load().unwrap_err();
    let place = path.display();
    assert_eq!(
        err.to_string(),
        format!("{place}: there is no such file; create it, or do not name it")
    );
    let settings = SettingsSources::new().file_if_exists(&path).load().unwrap();
    let report = settings.report();
    assert!(
        report
            .rows
            .iter()
            .all(|row| row.from == SettingOrigin::Default)
    );
}

#[test]
fn a_later_file_wins_and_leaves_the_rest() {
    let first = TemporaryFile::new("limits.reason = 1\nlimits.query = 1");
    let second = TemporaryFile::new("limits.query = 2");
    let settings = SettingsSources::new()
        .file(&first.0)
        .file_if_exists(&second.0)
        .load()
        .unwrap();
    assert_eq!((settings.limits.reason, settings.limits.query), (1, 2));
    let report = settings.report();
    let place = |key: &str| report.row(key).unwrap().from.to_string();
    assert_eq!(place("limits.reason"), format!("{}:1", first.0.display()));
    assert_eq!(place("limits.query"), format!("{}:1", second.0.display()));
}

#[test]
fn a_file_that_is_no_text_of_bounded_size_is_refused() {
    let long = "# 4567890123456\n".repeat(1 << 16);
    assert_eq!(long.len(), 1 << 20);
    assert!(from_file(&long).is_ok());
    for (name, content, expected) in [
        (
            "too long",
            [long.as_bytes(), b"#"].concat(),
            "1048576 bytes; shorten it",
        ),
        ("not UTF-8", b"a\n\n\xff".to_vec(), "not UTF-8"),
        ("UTF-16", b"\xff\xfea\0".to_vec(), "not UTF-8"),
    ] {
        let problems = problems(from_file(content));
        assert_eq!(problems.len(), 1, "{name}");
        assert!(problems[0].1.contains(expected), "{name}: {problems:?}");
    }
    let err = from_file(b"a = 1\n\n\xff").unwrap_err();
    let SettingOrigin::File { line, .. } = err.problems()[0].origin.as_ref().unwrap() else {
        panic!("it stands in a file");
    };
    assert_eq!(*line, Some(3));
    let directory = SettingsSources::new().file(std::env::temp_dir());
    let problems = problems(directory.load());
    assert!(problems[0].1.contains("not a regular file"), "{problems:?}");
}

#[test]
fn a_file_may_begin_with_a_byte_order_mark_and_end_lines_either_way() {
    let settings = from_file("\u{feff}limits.reason = 1\r\nlimits.query = 2\r\n").unwrap();
    assert_eq!((settings.limits.reason, settings.limits.query), (1, 2));
    let report = settings.report();
    let place = report.row("limits.query").unwrap().from.to_string();
    assert!(place.ends_with(":2"), "{place}");
}

#[test]
fn hostile_files_are_told_of_in_few_words() {
    let mut deep = "a = ".to_owned();
    deep.push_str(&"[".repeat(100_000));
    let mut keys = String::new();
    for index in 0..4_000 {
        writeln!(keys, "k{index} = 1").unwrap();
    }
    let dotted = format!("{} = 1", vec!["a"; 10_000].join("."));
    for (name, text) in [
        ("deep", &*deep),
        ("dotted", &dotted),
        ("mistakes", &"=\n".repeat(1 << 16)),
        ("keys", &keys),
        ("long key", &format!("{} = 1", "k".repeat(1 << 19))),
        (
            "long role",
            &format!("[roles.'{}']\nallow = 1", " k".repeat(1 << 18)),
        ),
        (
            "long pattern",
            &format!("roles.a.allow.{} = 1", "k".repeat(1 << 19)),
        ),
        ("long skill", &format!("skills.{} = 1", "k".repeat(1 << 19))),
        ("one key", &"k".repeat(1 << 19)),
        ("quotes", &"\"".repeat(1 << 19)),
    ] {
        let err = from_file(text).unwrap_err();
        let shown = err.to_string();
        assert!(shown.len() < 20_000, "{name}: {} bytes", shown.len());
    }
    let err = from_file(&keys).unwrap_err();
    assert_eq!(err.problems().len(), 4_000);
    assert!(err.to_string().ends_with("\n- and 3950 more"));
}
