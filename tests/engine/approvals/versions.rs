//! Approvals of skills that are replaced meanwhile.

use std::sync::{Arc, Mutex};

use skills_engine::engine::ApprovalAnswer;
use skills_engine::skill::{BoxFuture, Code, Fault, Skill, SkillBuilder};
use skills_engine::source::SkillSource;

use super::{Desk, Person, Runs, code, send};

/// A source of skill `shop`, in the version that is set.
#[derive(Clone)]
struct Shop {
    version: Arc<Mutex<&'static str>>,
    runs: Runs,
}

impl SkillSource for Shop {
    fn name(&self) -> &'static str {
        "shop"
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        let version = *self.version.lock().unwrap();
        let shop = SkillBuilder::new("shop")
            .version(version)
            .tool(send("buy", &self.runs))
            .build()
            .unwrap();
        Box::pin(std::future::ready(Ok(vec![
            Arc::new(shop) as Arc<dyn Skill>
        ])))
    }
}

#[tokio::test]
async fn se30_an_approval_is_for_one_version_of_its_skill() {
    let runs = Runs::default();
    let shop = Shop {
        version: Arc::new(Mutex::new("1.0.0")),
        runs: runs.clone(),
    };
    let source = shop.clone();
    let desk = Desk::with(Person::default(), |builder| builder.source(source)).await;
    let decided = desk.pending("shop__buy", "{}").await;
    desk.session
        .answer(&decided, ApprovalAnswer::Approve)
        .unwrap();
    let undecided = desk.pending("shop__buy", r#"{"a":1}"#).await;

    *shop.version.lock().unwrap() = "1.1.0";
    // A turn keeps what it began with.
    let before = desk.turn().await;
    drop(desk.stage.engine.refresh().await.unwrap());
    assert_eq!(before.resume(&decided).await.unwrap().text(), "done");
    assert_eq!(runs.count(), 1);

    let edit = ApprovalAnswer::ApproveWith("{}".to_owned());
    let fault = desk.session.answer(&undecided, edit).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "conflict: `buy` of `shop` is not what it was. Deny the request"
    );
    desk.session
        .answer(&undecided, ApprovalAnswer::Approve)
        .unwrap();
    let turn = desk.turn().await;
    let fault = turn.resume(&undecided).await.unwrap_err();
    assert_eq!(
        fault.to_string(),
        "conflict: `buy` of `shop` is not what it was. Have it asked for anew"
    );
    let again = desk.call("shop__buy", r#"{"a":1}"#).await;
    assert_eq!(code(&again), Err(Code::ApprovalRequired));
    assert_ne!(again.pending, Some(undecided));
    assert_eq!(runs.count(), 1);
}
