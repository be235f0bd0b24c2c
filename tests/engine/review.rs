//! What a review of the whole engine asked, each question as the behavior that answers it.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::Value;
use skills_engine::Level;
use skills_engine::engine::{Searched, SkillSearch, ToolCall};
use skills_engine::skill::{SkillBuilder, Span};
use skills_engine::tools::Dialect;

use super::stage::{Stage, call, sees, turn};

#[tokio::test]
async fn a_host_value_may_look_at_the_session_when_it_is_replaced() {
    struct Looks(skills_engine::Session);
    impl Drop for Looks {
        fn drop(&mut self) {
            let _ = self.0.get::<u8>();
        }
    }
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let other = session.clone();
    let (done, wait) = mpsc::channel();
    std::thread::spawn(move || {
        other.put(Looks(other.clone()));
        other.put(Looks(other.clone()));
        done.send(())
    });
    let answer = wait.recv_timeout(Duration::from_secs(10));
    assert_eq!(answer, Ok(()), "it waits for itself");
}

#[tokio::test]
async fn tool_lists_say_what_providers_would_else_assume() {
    let stage = Stage::with(0, |builder| builder.without("psl-skill")).await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    let tools: Value = serde_json::from_str(view.tools_json(Dialect::OpenAiResponses)).unwrap();
    assert!(
        tools
            .as_array()
            .unwrap()
            .iter()
            .all(|tool| tool["strict"] == false)
    );
    for dialect in [
        Dialect::OpenAiChat,
        Dialect::Anthropic,
        Dialect::Mcp,
        Dialect::Gemini,
    ] {
        assert!(!view.tools_json(dialect).contains("strict"), "{dialect:?}");
    }
    let off = Stage::with(0, |builder| builder.enabled(false)).await;
    let session = off.session("s1").await;
    let mut turn = self::turn(&session).await;
    let view = turn.view().await.unwrap();
    assert_eq!(view.tools_json(Dialect::Gemini), "[]");
}

#[tokio::test]
async fn a_search_of_the_host_gives_no_more_than_it_was_asked_for() {
    struct Everything;
    impl SkillSearch for Everything {
        fn search(&self, _: &str, skills: &[Searched<'_>], _: usize) -> Vec<usize> {
            (0..=skills.len()).cycle().take(10_000).collect()
        }
    }
    let stage = Stage::with(0, |builder| builder.search(Arc::new(Everything))).await;
    let found = stage.session("s1").await.search("any").await.unwrap();
    assert_eq!(found.len(), 20);
}

#[tokio::test]
async fn a_search_that_there_is_not_is_not_advised() {
    let stage = Stage::with(0, |builder| {
        let names = (0..30).map(|number| SkillBuilder::new(format!("skill-{number}")).build());
        names.fold(builder.without("psl-skill"), |builder, skill| {
            builder.with_skill(skill.unwrap())
        })
    })
    .await;
    let session = stage.session("s1").await;
    let opened = session
        .open("no-such", Level::Context, Span::UntilCleared, "")
        .await;
    let message = opened.unwrap_err().message;
    assert!(message.ends_with("and 13 more"), "{message}");
}
