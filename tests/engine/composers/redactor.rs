//! What a redactor makes of the texts of skills, wherever they are shown.

use super::*;

#[tokio::test]
async fn a_redactor_that_panics_leaves_nothing_of_the_text() {
    let engine = builder().redactor(Arc::new(Fails)).build().await.unwrap();
    let view = looked_at(&engine).await;
    let desk = snapshot(&view, "desk");
    assert_eq!(desk["description"], "[redaction failed]");
    assert_eq!(desk["instructions"], "[redaction failed]");
    assert_eq!(desk["attributes"]["shown"]["value"], "[redaction failed]");
    assert_eq!(
        desk["attributes"]["count"]["value"],
        json!({ "[redaction failed]": ["[redaction failed]"] })
    );
    for text in [
        view.system_prompt(),
        &view.snapshots(),
        view.tools_json(Dialect::Anthropic),
    ] {
        assert!(!text.replace("\"plain\":{", "").contains("plain"), "{text}");
    }
}

#[tokio::test]
async fn what_a_redactor_makes_is_bounded_and_values_are_cut_after_it() {
    let long = SkillBuilder::new("long")
        .description("a long story")
        .base_level(Level::Context)
        .attribute(constant("constant", "long"))
        .attribute(Attribute::live("live", "", |_| "long".to_owned()))
        .attribute(Attribute::lazy("lazy", "", |_| async {
            Ok("long".to_owned())
        }))
        .build()
        .unwrap();
    // The word that is replaced lies across the place where a string is cut.
    let text = |fill: usize| format!("{}plain{}", "x".repeat(fill), "y".repeat(50));
    let cut = SkillBuilder::new("cut")
        .base_level(Level::Context)
        .attribute(constant("constant", &text(97)))
        .attribute(Attribute::live("live", "", move |_| text(97)))
        .attribute(Attribute::lazy(
            "lazy",
            "",
            move |_| async move { Ok(text(97)) },
        ))
        .attribute(
            Attribute::lazy("kept", "", move |_| async move { Ok(text(97)) }).cache(Cache::Turn),
        )
        .build()
        .unwrap();
    let mut limits = Limits::default();
    limits.max_string_length = 100;
    let engine = bare()
        .with_skill(long)
        .redactor(Arc::new(Fails))
        .limits(limits.clone())
        .build()
        .await
        .unwrap();
    let view = turn(&session(&engine).await).await.view().await.unwrap();
    let long = snapshot(&view, "long");
    assert!(long["description"].as_str().unwrap().len() < 4_200);
    for name in ["constant", "live", "lazy"] {
        let value = long["attributes"][name]["value"].as_str().unwrap();
        assert!(
            value.starts_with("xxx") && value.len() < 200,
            "{name}: {value}"
        );
    }
    let engine = bare()
        .with_skill(cut)
        .redactor(Arc::new(Plain(Handed::default())))
        .limits(limits)
        .build()
        .await
        .unwrap();
    let mut turn = turn(&session(&engine).await).await;
    for _ in 0..2 {
        let view = turn.view().await.unwrap();
        for name in ["constant", "live", "lazy", "kept"] {
            let value = snapshot(&view, "cut")["attributes"][name]["value"].clone();
            let expected = format!("{}[re… [cut: 57 more characters]", "x".repeat(97));
            assert_eq!(value, expected, "{name}");
        }
    }
}

#[tokio::test]
async fn results_errors_and_events_of_tools_are_redacted_too() {
    let handed = Handed::default();
    let note = stage::tool("note", |_, cx| async move {
        cx.audit("noted", &json!({ "plain": ["plain", 1] }))
            .map(|()| "plain")
    });
    let several = tool("several", |_| async {
        ToolOutput::json(&json!({ "a": "plain" })).map(|json| json.and(ToolOutput::text("plain")))
    });
    let fail = tool("fail", |_| async {
        Err::<(), _>(AttributeFault("plain".to_owned()))
    });
    let desk = SkillBuilder::new("desk")
        .base_level(Level::Context)
        .tool(note)
        .tool(several)
        .tool(fail)
        .build()
        .unwrap();
    let redactor = Arc::new(Plain(handed.clone()));
    let stage = Stage::with(0, |builder| builder.with_skill(desk).redactor(redactor)).await;
    let session = stage.session("s1").await;
    let mut turn = stage::turn(&session).await;
    assert_eq!(answer(&mut turn, "desk__note", "{}").await, "[redacted]");
    assert_eq!(
        answer(&mut turn, "desk__several", "{}").await,
        "{\"a\":\"[redacted]\"}\n[redacted]"
    );
    assert_eq!(
        answer(&mut turn, "desk__fail", "{}").await,
        "tool_error: [redacted]"
    );
    outcome(&mut turn, "desk__note", "{}").await.unwrap();
    stage.engine.audit().flush().await;
    let event = stage
        .sink
        .entries()
        .into_iter()
        .find(|entry| entry.kind == "skill_event");
    assert_eq!(
        event.unwrap().fields["data"],
        json!({ "[redacted]": ["[redacted]", 1] })
    );
    assert!(handed.count("desk Some(\"fail\") Output: plain") > 0);
}

#[tokio::test]
async fn a_search_looks_at_and_shows_redacted_texts() {
    let handed = Handed::default();
    let engine = own(&handed).build().await.unwrap();
    let session = session(&engine).await;
    assert!(session.search("plain").await.unwrap().is_empty());
    let found = session.search("redacted").await.unwrap();
    assert_eq!(found[0].skill, "desk");
    assert_eq!(found[0].description, "A [redacted] desk.");
}
