//! Openings that are refused what was taken away while they waited.

use std::sync::Arc;

use skills_engine::engine::{ApprovalAnswer, ApprovalHandler, ApprovalRequest};
use skills_engine::session::{PolicyAnswer, PolicyQuestion, PslPolicy};
use skills_engine::skill::{Actor, BoxFuture};
use skills_engine::{Engine, Level, Principal, Session};
use tests::answer;
use tokio::sync::Notify;

use crate::stage::{self, Stage, settle};

/// Sends everything that the model raises to a person.
struct AskAlways;

impl PslPolicy for AskAlways {
    fn check(&self, question: &PolicyQuestion<'_>) -> PolicyAnswer {
        if question.raises() && question.actor == Actor::Model {
            return PolicyAnswer::Ask("it is asked for".to_owned());
        }
        PolicyAnswer::Allow
    }
}

/// Approves once it is told to.
struct ApprovesLater(Arc<Notify>);

impl ApprovalHandler for ApprovesLater {
    fn ask<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, ApprovalAnswer> {
        Box::pin(async {
            self.0.notified().await;
            ApprovalAnswer::Approve
        })
    }
}

#[tokio::test]
async fn se30_an_opening_that_is_approved_after_its_skill_was_taken_away_opens_and_tells_nothing() {
    type Revoke = fn(&Engine, &Session);
    let revocations: [(&str, Revoke); 4] = [
        ("role", |_, session| session.set_roles([] as [&str; 0])),
        ("lower role", |_, session| session.set_roles(["reader"])),
        ("switch", |engine, _| {
            engine.set_enabled("alpha", false).unwrap();
        }),
        ("list", |_, session| {
            session.allow(["beta"]).unwrap();
        }),
    ];
    for ephemeral in [false, true] {
        for (name, revoke) in revocations {
            let told = Arc::new(Notify::new());
            let stage = Stage::with(0, |builder| {
                builder
                    .policy(AskAlways)
                    .approvals(ApprovesLater(Arc::clone(&told)))
                    .role("all", |role| role.allow("*", Level::Complete))
                    .role("reader", |role| role.allow("*", Level::Metadata))
            })
            .await;
            let owner = Principal::new("ada", ["all"]);
            let session = stage.engine.session(owner, "s1").await.unwrap();
            let mut turn = stage::turn(&session).await;
            turn.view().await.unwrap();
            let wish =
                format!(r#"{{"skill_id":"alpha","level":"COMPLETE","ephemeral":{ephemeral}}}"#);
            let decide = async {
                settle().await;
                revoke(&stage.engine, &session);
                told.notify_one();
            };
            let opening = answer(&mut turn, "psl-skill__set_skill_visibility", &wish);
            let (text, ()) = tokio::join!(opening, decide);
            assert!(!text.contains("alpha__"), "{name}: {text}");
            let granted = session.state().standing("alpha").grants().len();
            assert_eq!(granted, 0, "{name}: {text}");
            // Nor does it come to light once the skill is given back.
            stage.engine.set_enabled("alpha", true).unwrap();
            session.set_roles(["all"]);
            assert_eq!(
                turn.explain("alpha", "act").level,
                Some(Level::Metadata),
                "{name}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn what_an_opening_tells_is_what_may_be_seen_when_it_tells_it() {
    let stage = Stage::with(0, |builder| {
        builder.role("all", |role| role.allow("*", Level::Complete))
    })
    .await;
    let owner = Principal::new("ada", ["all"]);
    let session = stage.engine.session(owner, "s1").await.unwrap();
    let mut turn = stage::turn(&session).await;
    turn.view().await.unwrap();
    stage.store.slow_down_changes(50);
    let wish = r#"{"skill_id":"alpha","level":"COMPLETE"}"#;
    let opening = answer(&mut turn, "psl-skill__set_skill_visibility", wish);
    let revoke = async {
        for _ in 0..10 {
            tokio::task::yield_now().await;
        }
        session.set_roles([] as [&str; 0]);
    };
    let (text, ()) = tokio::join!(opening, revoke);
    assert!(!text.contains("alpha__"), "{text}");
}
