//! What happens while the audit trail cannot be written.

use std::time::Duration;

use skills_engine::Level;
use skills_engine::audit::{Coverage, verify};
use skills_engine::skill::Code;

use super::changes::{Kind, floor, stored_level};
use super::stage::{Behavior, Entry, Stage, call, level, outcome, outlines, sees, settle, turn};

const SET: &str = "psl-skill__set_skill_visibility";

#[tokio::test]
async fn se15_a_sink_that_fails_refuses_what_raises_and_lets_through_what_lowers() {
    for kind in Kind::ALL {
        for behavior in [Behavior::Fail, Behavior::Hang, Behavior::WorkAndFail] {
            let case = format!("{kind:?} while the sink does {behavior:?}");
            let stage = Stage::new().await;
            let session = stage.session("s1").await;
            kind.prepare(&session).await;
            stage.engine.audit().flush().await;
            let before = [level(&session, "alpha"), level(&session, "gamma")];
            let written = stage.sink.changes().len();
            stage.sink.set(behavior);
            let result = stage.while_time_passes(kind.make(&session)).await;
            settle().await;
            let after = [level(&session, "alpha"), level(&session, "gamma")];
            if kind.raises() {
                assert_eq!(result.unwrap_err().code, Code::AuditUnavailable, "{case}");
                assert_eq!(after, before, "{case}");
            } else {
                result.unwrap();
                assert_eq!(after[0], Level::Metadata, "{case}");
            }
            // The store agrees, once every task has run.
            stage.pass(Duration::from_millis(100), 3).await;
            for (skill, level) in [("alpha", after[0]), ("gamma", after[1])] {
                let stored = stored_level(&stage, &session, skill).await;
                assert_eq!(stored, level, "{case}: {skill} in the store");
            }
            stage.sink.set(Behavior::Work);
            stage.pass(Duration::from_secs(5), 4).await;
            stage.engine.audit().flush().await;
            assert!(!stage.engine.audit().is_failing(), "{case}");
            let changes = &stage.sink.changes()[written..];
            let made = |entry: &&Entry| entry.field("change") != "refused";
            if kind.raises() {
                let refused = changes
                    .iter()
                    .find(|entry| entry.field("change") == "refused");
                assert_eq!(
                    refused.unwrap().field("code"),
                    "audit_unavailable",
                    "{case}"
                );
                // A record that was stored all the same is followed by one that says it does not hold.
                let taken_back = changes.iter().rfind(made);
                if let Some(entry) = taken_back {
                    assert_eq!(
                        entry.field("code"),
                        "audit_unavailable",
                        "{case}: {entry:?}"
                    );
                }
            } else {
                assert_eq!(
                    changes.iter().filter(made).count(),
                    1,
                    "{case}: {changes:?}"
                );
            }
            let records = stage.sink.ring.records();
            verify(&records, None, &[], Coverage::Complete).unwrap();
        }
    }
}

#[tokio::test]
async fn se15_clearing_all_with_a_failing_sink_closes_what_it_can() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    floor(&session, "alpha", Level::Complete).await.unwrap();
    floor(&session, "gamma", Level::Metadata).await.unwrap();
    stage.sink.set(Behavior::Fail);
    let result = stage.while_time_passes(session.clear_all()).await;
    assert_eq!(result.unwrap_err().code, Code::AuditUnavailable);
    settle().await;
    assert_eq!(level(&session, "alpha"), Level::Metadata);
    assert_eq!(level(&session, "gamma"), Level::Metadata);
    session.visibility().await.unwrap();
    assert_eq!(level(&session, "gamma"), Level::Metadata);
}

#[tokio::test]
async fn se15_the_model_and_the_turn_are_refused_too_while_the_sink_fails() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    let mut turn = turn(&session).await;
    stage.sink.set(Behavior::Fail);
    let refused = stage
        .while_time_passes(turn.open("alpha", Level::Complete, ""))
        .await;
    assert_eq!(refused.unwrap_err().code, Code::AuditUnavailable);
    assert!(!sees(&mut turn, "alpha__act").await);
    // The control tool is no reading tool, so it does not even run; neither does any other that acts.
    for arguments in [
        r#"{"skill_id":"alpha","level":"COMPLETE"}"#,
        r#"{"skill_id":"alpha","level":"COMPLETE","ephemeral":true}"#,
    ] {
        let call = stage
            .while_time_passes(outcome(&mut turn, SET, arguments))
            .await;
        assert_eq!(call, Err(Code::AuditUnavailable));
    }
    assert!(!sees(&mut turn, "alpha__act").await);
}

#[tokio::test]
async fn se15_while_the_sink_fails_only_reading_tools_run_and_later_all_do() {
    let stage = Stage::new().await;
    let session = stage.session("s1").await;
    floor(&session, "alpha", Level::Complete).await.unwrap();
    floor(&session, "beta", Level::Complete).await.unwrap();
    let mut turn = turn(&session).await;
    assert!(sees(&mut turn, "alpha__act").await);
    stage.engine.audit().flush().await;
    stage.sink.set(Behavior::Fail);
    session.clear("alpha").await.unwrap();
    session.limit("beta", Level::Context).await.unwrap();
    floor(&session, "beta", Level::Metadata).await.unwrap();
    settle().await;
    assert!(stage.engine.audit().is_failing());
    assert!(stage.engine.audit().health().sinks[0].last_error.is_some());
    assert_eq!(
        outcome(&mut turn, "gamma__act", "{}").await,
        Err(Code::AuditUnavailable)
    );
    assert_eq!(outcome(&mut turn, "gamma__look", "{}").await, Ok(()));
    assert_eq!(
        outcome(&mut turn, "alpha__act", "{}").await,
        Err(Code::Hidden)
    );
    turn.finish().await.unwrap();
    stage.sink.set(Behavior::Work);
    stage.pass(Duration::from_secs(5), 4).await;
    let changes = stage.changes().await;
    assert_eq!(
        outlines(&changes[2..]),
        [
            "alpha cleared COMPLETE>METADATA",
            "beta limited COMPLETE>CONTEXT",
            "beta granted CONTEXT>METADATA",
        ]
    );
    let kinds: Vec<_> = stage
        .sink
        .entries()
        .into_iter()
        .map(|entry| entry.kind)
        .collect();
    assert!(kinds.contains(&"recovered".to_owned()));
    let ended = kinds.iter().position(|kind| kind == "turn_ended");
    let limited = kinds.iter().rposition(|kind| kind == "visibility");
    assert!(limited < ended);
    verify(&stage.sink.ring.records(), None, &[], Coverage::Complete).unwrap();
    let mut turn = super::stage::turn(&session).await;
    assert!(sees(&mut turn, "gamma__act").await);
    let results = turn.calls([call("gamma__act", "{}")]).await;
    assert!(results.iter().all(|result| result.outcome.is_ok()));
}
