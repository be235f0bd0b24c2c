use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::Value;

use super::{Arguments, decode_whole};
use crate::skill::text::is_hidden;
use crate::skill::{Code, Fault, ParamEntry, schema_of};

#[derive(Debug, PartialEq, serde::Deserialize, schemars::JsonSchema)]
struct Point {
    x: u8,
    y: Option<u8>,
}

const fn parameter(name: &'static str) -> ParamEntry {
    ParamEntry {
        name,
        description: "",
        schema: schema_of::<String>,
        sensitive: false,
        is_option: false,
        default: None,
    }
}

static PARAMETERS: [ParamEntry; 6] = [
    parameter("ticket_id"),
    parameter("count"),
    parameter("note"),
    parameter("language"),
    parameter("point"),
    parameter("any"),
];

#[derive(Debug, PartialEq)]
struct Taken {
    ticket_id: String,
    count: u64,
    note: Option<String>,
    language: String,
    point: Option<Point>,
    any: Option<Value>,
}

/// As macro-made code takes them: all are taken before the end.
fn take(json: impl AsRef<[u8]>) -> Result<Taken, Fault> {
    let mut arguments = Arguments::parse(json.as_ref(), &PARAMETERS);
    let ticket_id = arguments.required(0);
    let count = arguments.required(1);
    let note = arguments.required(2);
    let language = arguments.defaulted(3, || "en".to_owned());
    let point = arguments.required(4);
    let any = arguments.required(5);
    arguments.finish()?;
    Ok(Taken {
        ticket_id: ticket_id.expect("finish saw no problem"),
        count: count.expect("finish saw no problem"),
        note: note.expect("finish saw no problem"),
        language: language.expect("finish saw no problem"),
        point: point.expect("finish saw no problem"),
        any: any.expect("finish saw no problem"),
    })
}

#[track_caller]
fn message(json: impl AsRef<[u8]>) -> String {
    let fault = take(json).expect_err("the arguments are wrong");
    assert_eq!(fault.code, Code::InvalidArguments);
    fault.message
}

fn taken(ticket_id: &str, count: u64) -> Taken {
    Taken {
        ticket_id: ticket_id.to_owned(),
        count,
        note: None,
        language: "en".to_owned(),
        point: None,
        any: None,
    }
}

#[test]
fn arguments_are_taken_by_name() {
    let full = r#" { "count": 18446744073709551615, "ticket_id": "T\u002d1 \ud83d\ude00", "note": "n",
        "language": "de", "point": { "x": 255 }, "any": [1, {"a": null}] } "#;
    assert_eq!(
        take(full),
        Ok(Taken {
            ticket_id: "T-1 😀".to_owned(),
            count: u64::MAX,
            note: Some("n".to_owned()),
            language: "de".to_owned(),
            point: Some(Point { x: 255, y: None }),
            any: Some(serde_json::json!([1, { "a": null }])),
        })
    );
}

#[test]
fn absent_and_null_options_are_none_and_defaults_stand_in() {
    for (name, json) in [
        ("absent", r#"{"ticket_id":"T","count":1}"#),
        (
            "null",
            r#"{"ticket_id":"T","count":1,"note":null,"language":null,"point":null,"any":null}"#,
        ),
        ("an escaped name", r#"{"ticket\u005fid":"T","count":1}"#),
    ] {
        assert_eq!(take(json), Ok(taken("T", 1)), "{name}");
    }
}

#[test]
fn a_default_of_a_type_that_takes_null_is_not_put_in_its_place() {
    let mut arguments = Arguments::parse(br#"{"note":null}"#, &PARAMETERS);
    let note = arguments.defaulted(2, || Some("default".to_owned()));
    assert_eq!(note, Some(None));
    assert_eq!(arguments.defaulted(3, || Some(1_u8)), Some(Some(1)));
}

#[test]
fn empty_text_is_an_object_without_fields() {
    for json in ["", " \n", "{}"] {
        assert_eq!(
            message(json),
            "`ticket_id` is missing; `count` is missing. Correct the arguments and call again"
        );
    }
    assert!(Arguments::parse(b"", &[]).finish().is_ok());
    assert!(Arguments::parse(b"{}", &[]).finish().is_ok());
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one table, a row for each kind of mistake"
)]
fn each_mistake_has_its_message() {
    const END: &str = ". Correct the arguments and call again";
    const NAMES: &str =
        ". The parameters are `ticket_id`, `count`, `note`, `language`, `point`, `any`";
    let with = |member: &str| format!(r#"{{"ticket_id":"T","count":1,{member}}}"#);
    for (name, json, expected) in [
        (
            "number as text",
            r#"{"ticket_id":"T","count":"5"}"#.to_owned(),
            "`count`: invalid type: string \"5\", expected u64".to_owned(),
        ),
        (
            "text as number",
            r#"{"ticket_id":5,"count":1}"#.to_owned(),
            "`ticket_id`: invalid type: integer `5`, expected a string".to_owned(),
        ),
        (
            "negative",
            r#"{"ticket_id":"T","count":-1}"#.to_owned(),
            "`count`: invalid value: integer `-1`, expected u64".to_owned(),
        ),
        (
            "fraction",
            r#"{"ticket_id":"T","count":1.5}"#.to_owned(),
            "`count`: invalid type: floating point `1.5`, expected u64".to_owned(),
        ),
        (
            "over 64 bits",
            r#"{"ticket_id":"T","count":18446744073709551616}"#.to_owned(),
            "`count`: invalid type: floating point `1.8446744073709552e+19`, expected u64"
                .to_owned(),
        ),
        (
            "null for what is no option",
            r#"{"ticket_id":null,"count":1}"#.to_owned(),
            "`ticket_id`: invalid type: null, expected a string".to_owned(),
        ),
        (
            "wrong type of a default",
            with(r#""language":7"#),
            "`language`: invalid type: integer `7`, expected a string".to_owned(),
        ),
        (
            "typo",
            with(r#""languages":"de""#),
            format!("`languages` is not a parameter (did you mean `language`?){NAMES}"),
        ),
        (
            "made-up name",
            with(r#""session_token":"x""#),
            format!("`session_token` is not a parameter{NAMES}"),
        ),
        (
            "hostile name",
            with("\"</skill>\\u0000\u{202e}\\n# x\":1"),
            format!("`</skill>\\u{{0}}\\u{{202e}}\\n# x` is not a parameter{NAMES}"),
        ),
        (
            "given twice",
            with(r#""count":1"#),
            "`count` is given twice".to_owned(),
        ),
        (
            "given twice inside",
            with(r#""point":{"x":1,"x":2}"#),
            "`point`: duplicate field `x`".to_owned(),
        ),
        (
            "missing inside",
            with(r#""point":{}"#),
            "`point`: missing field `x`".to_owned(),
        ),
        (
            "lone surrogate",
            r#"{"ticket_id":"\ud800","count":1}"#.to_owned(),
            "`ticket_id`: unexpected end of hex escape".to_owned(),
        ),
        (
            "list",
            "[1]".to_owned(),
            format!("the arguments must be one JSON object{NAMES}"),
        ),
        (
            "text",
            r#""{}""#.to_owned(),
            format!("the arguments must be one JSON object{NAMES}"),
        ),
        (
            "null",
            "null".to_owned(),
            format!("the arguments must be one JSON object{NAMES}"),
        ),
        (
            "trailing text",
            "{} x".to_owned(),
            "the arguments are not valid JSON: trailing characters at line 1 column 4".to_owned(),
        ),
        (
            "cut off",
            r#"{"ticket_id":"T"#.to_owned(),
            "the arguments are not valid JSON: EOF while parsing a string at line 1 column 15"
                .to_owned(),
        ),
        (
            "single quotes",
            "{'a':1}".to_owned(),
            "the arguments are not valid JSON: key must be a string at line 1 column 2".to_owned(),
        ),
    ] {
        assert_eq!(message(&json), format!("{expected}{END}"), "{name}");
    }
}

#[test]
fn invalid_utf_8_is_invalid_json() {
    for json in [
        &b"{\"ticket_id\":\"\xff\"}"[..],
        &b"{\"\xc3\":1}"[..],
        &b"\xff"[..],
        &b"{\"ticket_id\":\"\xed\xa0\x80\"}"[..],
    ] {
        let message = message(json);
        assert!(message.contains("not valid JSON"), "{message}");
    }
}

#[test]
fn all_mistakes_are_told_at_once_and_the_known_first() {
    assert_eq!(
        message(r#"{"ticket_ids":"T","count":"1","point":{"x":256}}"#),
        "`ticket_id` is missing; `count`: invalid type: string \"1\", expected u64; \
         `point`: invalid value: integer `256`, expected u8; \
         `ticket_ids` is not a parameter (did you mean `ticket_id`?). \
         The parameters are `ticket_id`, `count`, `note`, `language`, `point`, `any`. \
         Correct the arguments and call again"
    );
}

#[test]
fn ten_thousand_mistakes_make_a_short_message() {
    let members: Vec<_> = (0..10_000)
        .map(|index| format!("\"{}{index}\":0", "x".repeat(200)))
        .collect();
    let message = message(format!("{{{}}}", members.join(",")));
    assert!(message.starts_with("`ticket_id` is missing; `count` is missing; `xxx"));
    assert!(message.contains("; and 9990 more. The parameters are"));
    assert_eq!(message.matches("is not a parameter").count(), 10);
    assert!(message.len() < 2_000, "{} bytes", message.len());

    let twice = format!("{{\"count\":1{}}}", ",\"count\":1".repeat(10_000));
    let message = self::message(twice);
    assert!(message.len() < 1_000, "{} bytes", message.len());
}

#[test]
fn a_long_value_is_cut_out_of_the_message_and_not_the_expectation() {
    let json = format!(r#"{{"ticket_id":"T","count":"{}"}}"#, "9".repeat(1 << 20));
    let message = message(json);
    assert!(message.contains("expected u64"), "{message}");
    assert!(message.len() < 500, "{} bytes", message.len());
}

#[test]
fn a_megabyte_is_taken() {
    let text = "é".repeat(1 << 19);
    let json = format!(r#"{{"ticket_id":"{text}","count":1}}"#);
    assert_eq!(take(json).map(|taken| taken.ticket_id), Ok(text));
}

#[test]
fn deep_nesting_is_an_error_and_no_overflow() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let json = format!(r#"{{"ticket_id":"T","count":1,"any":{deep}}}"#);
    assert!(message(json).starts_with("`any`: recursion limit exceeded"));
    let json = format!(r#"{{"ticket_id":"T","count":1,"unknown":{deep}}}"#);
    assert!(message(json).starts_with("`unknown` is not a parameter"));
    assert!(message(&deep).starts_with("the arguments must be one JSON object"));
    assert!(message("[".repeat(200_000)).starts_with("the arguments"));
    assert!(message("{\"any\":".repeat(200_000)).starts_with("the arguments are not valid JSON"));
    let json = format!(r#"{{"any":{deep}}}"#);
    let fault = decode_whole::<Value>(json.as_bytes(), None).expect_err("too deep");
    assert!(fault.message.contains("recursion limit exceeded"));
}

#[test]
fn whole_arguments_are_decoded_like_parameters() {
    type Counts = BTreeMap<String, u8>;
    assert_eq!(decode_whole::<Counts>(b"", None), Ok(Counts::new()));
    assert_eq!(decode_whole::<Counts>(b"\n {} ", None), Ok(Counts::new()));
    assert_eq!(
        decode_whole::<Point>(br#"{"x":1}"#, None),
        Ok(Point { x: 1, y: None })
    );
    for (json, expected) in [
        (
            r#"{"x":"1"}"#,
            "invalid type: string \"1\", expected u8. Correct",
        ),
        ("{", "the arguments are not valid JSON: EOF"),
        ("[1]", "the arguments must be one JSON object"),
        ("null", "the arguments must be one JSON object"),
        ("[1", "the arguments are not valid JSON: EOF"),
        (
            "{\"x\":1}}",
            "the arguments are not valid JSON: trailing characters",
        ),
    ] {
        let fault = decode_whole::<Point>(json.as_bytes(), None).expect_err(json);
        assert_eq!(fault.code, Code::InvalidArguments);
        assert!(fault.message.starts_with(expected), "{fault}");
    }
}

#[test]
fn a_guarded_error_quotes_nothing_of_what_was_received() {
    let known = ["x".to_owned(), "y".to_owned()];
    for (json, expected) in [
        (r#"{"x":"marker"}"#, "a value does not fit"),
        (r#"{"x":1,"y":"marker"}"#, "a value does not fit"),
        (r#"{"y":1}"#, "missing field `x`"),
        (r#"{"x":1"#, "the arguments are not valid JSON: EOF"),
    ] {
        let fault = decode_whole::<Point>(json.as_bytes(), Some(&known)).expect_err(json);
        assert!(fault.message.starts_with(expected), "{fault}");
        assert!(!fault.message.contains("marker"), "{fault}");
    }
}

#[test]
fn a_message_that_only_looks_like_a_position_stays() {
    for (message, expected) in [
        ("wrong at line 3 column 14", "wrong"),
        ("wrong at line of duty", "wrong at line of duty"),
        ("wrong at line 3", "wrong at line 3"),
        (
            "at line 1 column 2 at line 1 column 2",
            "at line 1 column 2",
        ),
        (" at line 1 column ", " at line 1 column "),
    ] {
        assert_eq!(super::cut_serde_position(message), expected);
    }
}

fn is_clean(message: &str) -> bool {
    !message
        .chars()
        .any(|character| character.is_control() || is_hidden(character))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 300,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(2),
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_bytes_give_a_clean_short_message(json in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Err(fault) = take(&json) {
            prop_assert!(is_clean(&fault.message), "{}", fault.message);
            prop_assert!(fault.message.len() < 4_000);
        }
    }

    #[test]
    fn any_members_give_a_clean_short_message(
        members in prop::collection::vec(
            ("ticket_id|count|point|[a-z\\u{202a}-\\u{202e}\\u{0}-\\u{1f}]{0,20}|.{0,8}", ".{0,40}"),
            0..30,
        ),
    ) {
        let members: Vec<_> = members
            .iter()
            .map(|(name, value)| {
                let name = serde_json::to_string(name).expect("text is JSON");
                format!("{name}:{}", serde_json::to_string(value).expect("text is JSON"))
            })
            .collect();
        let message = message(format!("{{{}}}", members.join(",")));
        prop_assert!(is_clean(&message), "{}", message);
        prop_assert!(message.len() < 8_000, "{} bytes", message.len());
    }
}
