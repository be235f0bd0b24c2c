//! Changes that wait for their record while others are made.

use std::time::Duration;

use skills_engine::Level;
use skills_engine::skill::{Actor, Code};

use super::open;
use crate::changes::{Kind, stored_level};
use crate::stage::{Behavior, Stage, level, settle};

#[tokio::test]
async fn what_is_not_written_down_does_not_count_whatever_is_changed_meanwhile() {
    for kind in Kind::ALL.into_iter().filter(|kind| kind.raises()) {
        let stage = Stage::new().await;
        let session = stage.session("s1").await;
        kind.prepare(&session).await;
        stage.engine.audit().flush().await;
        let skills = ["alpha", "beta", "gamma"];
        let before = skills.map(|skill| level(&session, skill));
        let limited = session.visibility().await.unwrap()[0].ceiling;
        stage.sink.set(Behavior::Hang);
        let begin = |actor: Actor, skill: Option<&'static str>| {
            let session = session.acting_as(actor);
            tokio::spawn(async move {
                match skill {
                    Some(skill) => open(&session, skill, Level::Complete).await.map(drop),
                    None => kind.make(&session).await,
                }
            })
        };
        let mut waiting = vec![begin(Actor::Host, None)];
        settle().await;
        assert_eq!(
            skills.map(|skill| level(&session, skill)),
            before,
            "{kind:?}"
        );
        waiting.push(begin(Actor::User, Some("beta")));
        settle().await;
        assert_eq!(
            skills.map(|skill| level(&session, skill)),
            before,
            "{kind:?}"
        );
        // One that lowers counts at once, and brings nothing else with it.
        session.limit("odd", Level::Metadata).await.unwrap_err();
        session.limit("psl-skill", Level::Context).await.unwrap();
        session.visibility().await.unwrap();
        assert_eq!(
            skills.map(|skill| level(&session, skill)),
            before,
            "{kind:?}"
        );
        waiting.push(begin(Actor::Host, Some("alpha")));
        settle().await;
        assert_eq!(
            skills.map(|skill| level(&session, skill)),
            before,
            "{kind:?}"
        );
        stage.pass(Duration::from_secs(1), 4).await;
        for task in waiting {
            // The last one may have found its wish granted by what was not written down, and be refused or not.
            if let Err(fault) = task.await.unwrap() {
                assert_eq!(fault.code, Code::AuditUnavailable, "{kind:?}: {fault}");
            }
        }
        stage.sink.set(Behavior::Work);
        stage.pass(Duration::from_secs(1), 12).await;
        assert_eq!(
            skills.map(|skill| level(&session, skill)),
            before,
            "{kind:?}"
        );
        let standing = session.visibility().await.unwrap();
        assert_eq!(standing[0].ceiling, limited, "{kind:?}");
        for (skill, level) in skills.into_iter().zip(before) {
            let stored = stored_level(&stage, &session, skill).await;
            assert_eq!(stored, level, "{kind:?}: {skill} in the store");
        }
    }
}
