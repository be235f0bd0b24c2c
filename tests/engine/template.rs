//! Arguments in the text of a skill: what is put where, what stays, and that nothing inserted is read again.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use skills_engine::prompt::{ArgumentBase, Expanded, Template, TemplateError};

/// Bytes that no row comes near.
const MOST: usize = 100_000;

fn expanded<'a>(body: &'a str, arguments: &'a str) -> Expanded<'a> {
    let template = Template::new(body).arguments(arguments);
    let template = template.skill_dir("/skills/x").session_id("s1");
    template.expand(MOST).unwrap()
}

#[test]
fn places_take_arguments_and_what_has_none_stays() {
    for (body, arguments, expected) in [
        ("Cost is $5", "", "Cost is $5"),
        ("Cost is $5 for $0", "x", "Cost is $5 for x"),
        ("<$0> <$1> <$2>", r#""a b" c"#, "<a b> <c> <$2>"),
        ("<$ARGUMENTS>", r#""a b" c"#, r#"<"a b" c>"#),
        ("<$ARGUMENTS[0]> <$ARGUMENTS[1]>", "a b", "<a> <b>"),
        ("<$ARGUMENTS[7]> $0", "a", "<$ARGUMENTS[7]> a"),
        ("$ARGUMENTS, $ARGUMENTS", "a", "a, a"),
        ("$ARGUMENTS", "", ""),
        ("$0", "''", ""),
        ("it costs $0.50", "9", "it costs 9.50"),
        ("$00 $000001", "a b", "a b"),
        ("$0$1$0", "a b", "aba"),
        ("$$0 $", "a", "$a $"),
        ("{$0} ${0} ${ARGUMENTS}", "a", "{a} ${0} ${ARGUMENTS}"),
        ("$0th $0é $0_ $0", "a", "$0th $0é $0_ a"),
        ("$HOME $(id) $x $É $0", "a", "$HOME $(id) $x $É a"),
        (
            "$ARGUMENTS_2 $ARGUMENTSé $0",
            "a",
            "$ARGUMENTS_2 $ARGUMENTSé a",
        ),
        (
            "${SKILL_DIR}/a ${CLAUDE_SKILL_DIR}",
            "",
            "/skills/x/a /skills/x",
        ),
        ("${SESSION_ID} ${CLAUDE_SESSION_ID}", "", "s1 s1"),
        (
            "${SKILL_DIR ${skill_dir} ${} ${",
            "",
            "${SKILL_DIR ${skill_dir} ${} ${",
        ),
    ] {
        assert_eq!(expanded(body, arguments).text, expected, "{body}");
    }
}

#[test]
fn a_backslash_keeps_a_place_as_text_and_is_text_elsewhere() {
    for (body, expected) in [
        (r"\$0 $0", "$0 a"),
        (r"\$5 $0", "$5 a"),
        (
            r"\$ARGUMENTS \$ARGUMENTS[0] $0",
            "$ARGUMENTS $ARGUMENTS[0] a",
        ),
        (
            r"\${SKILL_DIR} \${SESSION_ID} $0",
            "${SKILL_DIR} ${SESSION_ID} a",
        ),
        (r"\\$0 $0", r"\$0 a"),
        (r"\$HOME \$(id) \$ \n $0", r"\$HOME \$(id) \$ \n a"),
        (r"$0\$0", "a$0"),
    ] {
        assert_eq!(expanded(body, "a").text, expected, "{body}");
    }
}

#[test]
fn arguments_that_nothing_took_are_appended() {
    for (body, arguments, expected) in [
        ("Deploy.", "a b", "Deploy.\n\nARGUMENTS: a b"),
        ("Deploy.\n", "a", "Deploy.\n\nARGUMENTS: a"),
        ("Deploy.\n\n", "a", "Deploy.\n\nARGUMENTS: a"),
        ("", "a", "ARGUMENTS: a"),
        ("Deploy.", " \n", "Deploy."),
        ("Cost is $5", r#""a b""#, "Cost is $5\n\nARGUMENTS: \"a b\""),
        (r"\$0", "a", "$0\n\nARGUMENTS: a"),
        ("${SKILL_DIR}", "a", "/skills/x\n\nARGUMENTS: a"),
    ] {
        let found = expanded(body, arguments);
        assert_eq!((found.text.as_str(), found.unused), (expected, 0), "{body}");
    }
    // A text that takes one of them takes all it wants; the others are counted.
    let found = expanded("$1", "a b c");
    assert_eq!((found.text.as_str(), found.unused), ("b", 2));
    assert_eq!(expanded("$1 $ARGUMENTS", "a b c").unused, 0);
}

#[test]
fn inserted_text_is_literal() {
    let hostile = "$ARGUMENTS ${SKILL_DIR} !`id` $0 $1";
    let quoted = format!("'{hostile}'");
    let found = expanded("<$0> <$1>", &quoted);
    assert_eq!(found.text, format!("<{hostile}> <$1>"));
    assert!(found.commands.is_empty());
    assert_eq!(expanded("$ARGUMENTS", hostile).text, hostile);
    let found = expanded("Go.", hostile);
    assert_eq!(found.text, format!("Go.\n\nARGUMENTS: {hostile}"));
    assert!(found.commands.is_empty());
    // Two parts that make up a place together are none.
    assert_eq!(expanded("$0ARGUMENTS $0 $00", "$").text, "$0ARGUMENTS $ $");
    let template = Template::new("${SKILL_DIR} $0").arguments("a");
    let found = template.skill_dir("/$0/!`id`").expand(MOST).unwrap();
    assert_eq!(found.text, "/$0/!`id` a");
}

#[test]
fn commands_stay_text_and_are_told_of() {
    let rows: [(&str, &[&str]); 10] = [
        ("!`git status`", &["git status"]),
        ("Now: !`date`, and\n!`id -u`\n", &["date", "id -u"]),
        ("- \t!`a`!`b` !`c`", &["a", "c"]),
        ("Wow!`id` (!`id`)", &[]),
        ("!`` !`not\nclosed` !`", &[]),
        ("! `id`", &[]),
        ("!`a !`b` !`c`", &["a !", "c"]),
        ("!`echo $0` $0", &["echo $0"]),
        ("!`échø`", &["échø"]),
        ("!", &[]),
    ];
    for (body, commands) in rows {
        let found = expanded(body, "");
        assert_eq!((found.text.as_str(), &*found.commands), (body, commands));
    }
    // Its text changes like any other; what is told is the author's own.
    let found = expanded("!`echo $0`", "; id");
    assert_eq!(found.text, "!`echo ;`");
    assert_eq!(found.commands, ["echo $0"]);
}

#[test]
fn a_profile_can_count_from_one() {
    let template = Template::new("$0 $1 $2 $ARGUMENTS[1] $ARGUMENTS[0]").arguments("a b");
    let found = template.base(ArgumentBase::One).expand(MOST).unwrap();
    assert_eq!(found.text, "$0 a b a $ARGUMENTS[0]");
}

#[test]
fn declared_names_are_places() {
    let names = [
        "name",
        "issue-number",
        "issue",
        "1st",
        "",
        "ARGUMENTS",
        "name",
        "a b",
        "late",
    ];
    for (body, arguments, expected) in [
        ("$name", "a b", "a"),
        ("$issue-number $issue $issue-", "a b c", "b c c-"),
        (
            "$issue-numbers $issues $Name",
            "a b c",
            "c-numbers $issues $Name",
        ),
        ("$1st $name", "a b", "$1st a"),
        ("$ARGUMENTS", "a b", "a b"),
        (r"\$name $name[0] ${name}", "a", "$name $name[0] ${name}"),
        // One that is not given is empty, and does not count as taken.
        ("<$late> $0", "a", "<> a"),
        ("<$late>", "a", "<>"),
        ("$late.", "1 2 3 4 5 6 7 8 9", "9."),
    ] {
        let template = Template::new(body).arguments(arguments).names(names);
        let text = template.expand(MOST).unwrap().text;
        assert!(text.starts_with(expected), "{body}: {text}");
        let is_appended = matches!(body, "<$late>") || body.starts_with('\\');
        assert_eq!(
            text.contains("\n\nARGUMENTS: "),
            is_appended,
            "{body}: {text}"
        );
    }
    let long = "n".repeat(65);
    let body = format!("${long} ${}", &long[1..]);
    let template = Template::new(&body)
        .arguments("a b")
        .names([&*long, &long[1..]]);
    assert_eq!(template.expand(MOST).unwrap().text, format!("${long} b"));
}

#[test]
fn odd_arguments_and_numbers_are_defined() {
    for (body, arguments, expected) in [
        ("$0|$1", "it's late", "it's|late"),
        ("$0|$1|$2", r#"say "hello you"#, r#"say|"hello|you"#),
        ("$0", r"a\", r"a\"),
        ("$99999999999999999999 $0", "a", "$99999999999999999999 a"),
        (
            "$ARGUMENTS[99999999999999999999] $0",
            "a",
            "$ARGUMENTS[99999999999999999999] a",
        ),
        ("$ARGUMENTS[", "a b", "a b["),
        ("$ARGUMENTS[0", "a b", "a b[0"),
        (
            "$ARGUMENTS[] $ARGUMENTS[x] $ARGUMENTS[-1]",
            "a",
            "a[] a[x] a[-1]",
        ),
        ("$ARGUMENTS[ 0]", "a", "a[ 0]"),
    ] {
        assert_eq!(expanded(body, arguments).text, expected, "{body}");
    }
    let digits = format!("${} $0", "9".repeat(100_000));
    let found = Template::new(&digits)
        .arguments("a")
        .expand(200_000)
        .unwrap();
    assert_eq!(found.text, format!("${} a", "9".repeat(100_000)));
}

#[test]
fn what_comes_out_is_bounded() {
    let huge = "x".repeat(1 << 20);
    let many = "$ARGUMENTS".repeat(10_000);
    for (body, arguments, most, fits) in [
        (&*many, &*huge, 1 << 22, false),
        ("", &huge, 1 << 20, false),
        ("", &huge, (1 << 20) + 11, true),
        ("$0", &huge, 1 << 20, true),
        ("$0", &huge, (1 << 20) - 1, false),
        ("abc", "", 3, true),
        ("abc", "", 2, false),
        ("", "", 0, true),
    ] {
        let found = Template::new(body).arguments(arguments).expand(most);
        match found {
            Ok(found) => assert!(fits && found.text.len() <= most),
            Err(error) => {
                assert!(!fits);
                assert_eq!(error, TemplateError::TooLong { most });
                let text = error.to_string();
                assert!(
                    text.contains(&most.to_string()) && !text.contains("xx"),
                    "{text}"
                );
            }
        }
    }
}

/// Pieces of which places and what is like them are made.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "$",
        "ARGUMENTS",
        "[",
        "]",
        "0",
        "1",
        "17",
        "{",
        "}",
        "SKILL_DIR",
        "SESSION_ID",
        "!",
        "`",
        "\\",
        "'",
        "\"",
        " ",
        "\n",
        "a",
        "é",
        "name",
        "-",
        "_",
    ]);
    let piece =
        prop_oneof![4 => piece.prop_map(str::to_owned), 1 => any::<char>().prop_map(String::from)];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(30), ..ProptestConfig::with_cases(2_000) })]

    #[test]
    fn any_text_and_arguments_are_expanded_and_reading_them_is_done_once(
        body in pieces(),
        arguments in pieces(),
    ) {
        let template = Template::new(&body).arguments(&arguments).names(["name"]);
        let template = template.skill_dir("/x").session_id("s1");
        let found = template.expand(MOST).unwrap();
        // The same with arguments that hold nothing but letters, in place of all that could be read again.
        let plain: String = arguments
            .chars()
            .map(|letter| if matches!(letter, '$' | '`' | '!' | '{' | '[') { 'x' } else { letter })
            .collect();
        let other = Template::new(&body).arguments(&plain).names(["name"]);
        let other = other.skill_dir("/x").session_id("s1").expand(MOST).unwrap();
        prop_assert_eq!(&found.commands, &other.commands);
        prop_assert_eq!(found.unused, other.unused);
        prop_assert_eq!(found.text.chars().count(), other.text.chars().count());
    }

    #[test]
    fn a_text_without_places_is_unchanged(body in "[^$]{0,200}") {
        prop_assert_eq!(&expanded(&body, "").text, &body);
        prop_assert!(expanded(&body, "a").text.starts_with(&*body));
    }

    #[test]
    fn an_argument_is_inserted_letter_by_letter(argument in "[^'\\\\]{1,100}") {
        let quoted = format!("'{argument}'");
        prop_assert_eq!(expanded("<$0>", &quoted).text, format!("<{argument}>"));
        prop_assert_eq!(expanded("<$ARGUMENTS>", &argument).text, format!("<{argument}>"));
    }
}
