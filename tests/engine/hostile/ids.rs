//! Ids, names, reasons and queries that are none.

use skills_engine::skill::{Attribute, Code, SkillBuilder, Tool, ToolContext};
use skills_engine::{Level, Principal};

use super::FLOOR;
use crate::stage::{Stage, outcome, turn};

#[tokio::test]
async fn ids_that_are_none_are_refused_by_what_they_are() {
    let stage = Stage::new().await;
    let long = "x".repeat(129);
    let rows = [
        ("empty", "", false),
        ("a slash", "a/b", false),
        ("a parent", "..", true),
        ("a control character", "a\0b", false),
        ("a line break", "a\nb", false),
        ("a bidi mark", "a\u{202e}b", false),
        ("a zero-width character", "a\u{200b}b", false),
        ("a letter beyond ASCII", "ä", false),
        ("a space", "a b", false),
        ("a colon", "a:b", false),
        ("129 characters", &long, false),
        ("128 characters", &long[1..], true),
        ("letters", "A-z_0.9", true),
    ];
    for (case, id, is_legal) in rows {
        let principal = Principal::new("ada", [] as [&str; 0]);
        let session = stage.engine.session(principal, id).await;
        match session {
            Ok(session) => {
                assert!(is_legal, "{case}");
                assert_eq!(session.id().as_str(), id);
            }
            Err(fault) => {
                assert!(!is_legal, "{case}");
                assert_eq!(fault.code, Code::InvalidArguments, "{case}");
                assert!(fault.message.is_ascii(), "{case}");
            }
        }
    }
    let long = "p".repeat(257);
    let rows = [
        ("empty", "", false),
        ("a slash", "tenant/ada", true),
        ("a control character", "a\nb", false),
        ("a bidi mark", "a\u{202e}b", true),
        ("257 bytes", &long, false),
        ("256 bytes", &long[1..], true),
    ];
    for (case, id, is_legal) in rows {
        let session = stage.engine.session(Principal::new(id, ["r"]), "s1").await;
        assert_eq!(session.is_ok(), is_legal, "{case}");
        if let Ok(session) = session {
            assert_eq!(session.principal().id(), id);
            assert_eq!(session.principal().roles().collect::<Vec<_>>(), ["r"]);
        }
    }
}

#[tokio::test]
async fn principals_whose_ids_run_into_session_ids_have_sessions_of_their_own() {
    let stage = Stage::new().await;
    let rows = [
        ("a", "b.c"),
        ("a/b", "c"),
        ("a/", "b"),
        ("a", "b"),
        ("a/b.c", "c"),
    ];
    for (principal, id) in rows {
        let principal = Principal::new(principal, [] as [&str; 0]);
        let session = stage.engine.session(principal, id).await.unwrap();
        let alpha = &session.visibility().await.unwrap()[0];
        assert_eq!((&*alpha.skill, alpha.level), ("alpha", Level::Metadata));
        session
            .open("alpha", Level::Complete, FLOOR, "")
            .await
            .unwrap();
    }
    assert_eq!(stage.engine.session_count(), rows.len());
}

#[test]
fn skills_and_members_with_names_that_are_none_are_refused() {
    let long = "a".repeat(200);
    for id in [
        "",
        "A",
        "a/b",
        "a\0",
        "a\u{202e}",
        "1a",
        "a b",
        &long,
        "-a",
        "ä",
    ] {
        let built = SkillBuilder::new(id.to_owned()).build();
        assert_eq!(built.unwrap_err().code, Code::InvalidArguments, "{id:?}");
    }
    for name in [
        "",
        "a/b",
        "a\0",
        "a\u{202e}",
        "a b",
        "a-b",
        &long,
        "ä",
        "a\n",
    ] {
        let member = Tool::from_json(
            name.to_owned(),
            "",
            r#"{"type":"object"}"#,
            |_, _: ToolContext| async { "" },
        );
        let built = SkillBuilder::new("a").tool(member.unwrap()).build();
        assert_eq!(built.unwrap_err().code, Code::InvalidArguments, "{name:?}");
        let member = Attribute::live(name.to_owned(), "", |_| 1);
        let built = SkillBuilder::new("a").attribute(member).build();
        assert_eq!(built.unwrap_err().code, Code::InvalidArguments, "{name:?}");
    }
}

#[tokio::test]
async fn ids_asked_for_that_nothing_has_are_told_from_what_there_is() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let long = "x".repeat(200);
    for id in [
        "",
        "../alpha",
        "alpha/act",
        "alpha\0",
        "\u{202e}ahpla",
        "ALPHA",
        "alpha ",
        "*",
        &long,
    ] {
        let fault = session
            .open(id, Level::Context, FLOOR, "")
            .await
            .unwrap_err();
        assert_eq!(fault.code, Code::UnknownSkill, "{id:?}");
        assert!(
            fault.message.is_ascii() || id == long,
            "{id:?}: {}",
            fault.message
        );
        assert_eq!(
            session.clear(id).await.unwrap_err().code,
            Code::UnknownSkill
        );
        assert_eq!(
            session.limit(id, Level::Context).await.unwrap_err().code,
            Code::UnknownSkill
        );
        let tool = format!("{id}__act");
        assert_eq!(
            outcome(&mut turn, &tool, "{}").await,
            Err(Code::UnknownTool)
        );
        let explained = session.explain(id, id);
        assert_eq!(explained.level, None);
    }
    let open: Vec<_> = session.visibility().await.unwrap();
    assert!(
        open.iter()
            .all(|skill| skill.grants.is_empty() && skill.level == skill.base)
    );
}

#[tokio::test]
async fn reasons_and_queries_are_bounded_in_characters_whoever_gives_them() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let fits = "量".repeat(500);
    let long = "量".repeat(501);
    session
        .open("alpha", Level::Context, FLOOR, &fits)
        .await
        .unwrap();
    let refused = session.open("beta", Level::Context, FLOOR, &long).await;
    assert_eq!(refused.unwrap_err().code, Code::LimitExceeded);
    assert_eq!(
        session.end(&long).await.unwrap_err().code,
        Code::LimitExceeded
    );
    session.search(&"量".repeat(256)).await.unwrap();
    assert_eq!(
        session.search(&"量".repeat(257)).await.unwrap_err().code,
        Code::LimitExceeded
    );
    let mut turn = turn(&session).await;
    let arguments = serde_json::json!({"skill_id": "beta", "level": "CONTEXT", "reason": long});
    let set = "psl-skill__set_skill_visibility";
    outcome(&mut turn, set, &arguments.to_string())
        .await
        .unwrap_err();
    let changes = stage.changes().await;
    assert_eq!(changes[0].reason.as_deref(), Some(&*fits));
    // What was refused is written down all the same, cut.
    let cut = format!("{fits}…");
    assert_eq!(changes[1].reason.as_deref(), Some(&*cut));
    assert_eq!(changes[2].reason.as_deref(), Some(&*cut));
}
