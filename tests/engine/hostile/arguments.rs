//! Arguments that are none, and replies that ask for too much.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use skills_engine::skill::{Code, Expose, SkillBuilder, Tool};
use skills_engine::source::Linked;
use skills_engine::{Engine, Level, Principal};

use super::is_unseen;
use crate::stage::{call, turn};

/// An engine with one tool that counts how often it ran.
async fn counting() -> (Engine, Arc<AtomicU32>) {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    #[expect(dead_code, reason = "read by serde alone")]
    struct Given {
        text: String,
        #[serde(default)]
        count: u8,
    }
    let ran = Arc::new(AtomicU32::new(0));
    let counter = Arc::clone(&ran);
    let count = Tool::new("count", "Counts.", move |given: Given, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        async move { given.text.len() as u64 }
    })
    .level(Level::Metadata)
    .expose(Expose::Always);
    let skill = SkillBuilder::new("counter").tool(count).build().unwrap();
    let engine = Engine::builder()
        .linked(Linked::None)
        .with_skill(skill)
        .build()
        .await
        .unwrap();
    (engine, ran)
}

#[tokio::test]
async fn arguments_that_are_none_run_nothing_and_are_answered_briefly() {
    let (engine, ran) = counting().await;
    let session = engine.new_session(Principal::local()).await.unwrap();
    let mut turn = turn(&session).await;
    let text = |bytes: usize| format!(r#"{{"text":"{}"}}"#, "x".repeat(bytes - 11));
    let deep = format!(r#"{{"text":{}"#, "[".repeat(100_000));
    let wide = format!(r#"{{{}"text":""}}"#, r#""a":1,"#.repeat(100_000));
    let rows = [
        ("no JSON", "text".to_owned(), Err(Code::InvalidArguments)),
        (
            "cut off",
            r#"{"text": "a"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        (
            "two values",
            r#"{"text": "a"} {}"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        (
            "an array",
            r#"["a"]"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        ("null", "null".to_owned(), Err(Code::InvalidArguments)),
        ("nothing", String::new(), Err(Code::InvalidArguments)),
        (
            "a number for a text",
            r#"{"text": 1}"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        (
            "too large a number",
            r#"{"text": "", "count": 256}"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        (
            "a fraction",
            r#"{"text": "", "count": 1.5}"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        (
            "unknown names",
            r#"{"text": "", "\u202e\u0000": 1}"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        (
            "a name twice",
            r#"{"text": "", "text": ""}"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        (
            "half a surrogate pair",
            r#"{"text": "\ud800"}"#.to_owned(),
            Err(Code::InvalidArguments),
        ),
        (
            "a raw NUL",
            "{\"text\": \"\0\"}".to_owned(),
            Err(Code::InvalidArguments),
        ),
        ("deep", deep, Err(Code::InvalidArguments)),
        ("wide", wide, Err(Code::InvalidArguments)),
        ("a megabyte", text(1 << 20), Ok(())),
        ("a byte more", text((1 << 20) + 1), Err(Code::LimitExceeded)),
        ("ten megabytes", text(10 << 20), Err(Code::LimitExceeded)),
    ];
    for (case, arguments, expected) in rows {
        let before = ran.load(Ordering::Relaxed);
        let results = turn.calls([call("counter__count", &arguments)]).await;
        let result = results.iter().next().unwrap();
        let code = result
            .outcome
            .as_ref()
            .map(drop)
            .map_err(|fault| fault.code);
        assert_eq!(code, expected, "{case}: {}", result.text());
        assert!(result.text().len() < 2_048, "{case}: {}", result.text());
        assert!(
            !result
                .text()
                .contains(|letter: char| letter.is_control() || is_unseen(letter)),
            "{case}"
        );
        let runs = ran.load(Ordering::Relaxed) - before;
        assert_eq!(runs, u32::from(expected.is_ok()), "{case}");
    }
}

#[tokio::test]
async fn a_reply_of_too_many_calls_has_an_answer_for_each() {
    let (engine, ran) = counting().await;
    let session = engine.new_session(Principal::local()).await.unwrap();
    let mut turn = turn(&session).await;
    let calls = (0..1_000).map(|_| call("counter__count", r#"{"text":""}"#));
    let results = turn.calls(calls).await;
    let codes: Vec<_> = results
        .iter()
        .map(|result| {
            result
                .outcome
                .as_ref()
                .map(drop)
                .map_err(|fault| fault.code)
        })
        .collect();
    assert_eq!(codes.len(), 1_000);
    assert!(codes[..32].iter().all(Result::is_ok));
    assert!(
        codes[32..]
            .iter()
            .all(|code| *code == Err(Code::LimitExceeded))
    );
    assert_eq!(ran.load(Ordering::Relaxed), 32);
}
