//! What a refresh brings must not pass for what was there before.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use skills_engine::engine::{ApprovalAnswer, CallResult, LeavePending};
use skills_engine::skill::{
    BoxFuture, Code, Fault, Skill, SkillBuilder, Tool, ToolSelection, TurnRequest,
};
use skills_engine::source::SkillSource;
use skills_engine::{Level, Principal};
use tests::{answer, bare, call, session, tools, turn};

use crate::{made, stage};

/// A source that gives one skill, which a test replaces.
#[derive(Clone)]
struct Shelf(Arc<Mutex<Arc<dyn Skill>>>);

impl Shelf {
    fn new(skill: SkillBuilder) -> Self {
        Self(Arc::new(Mutex::new(Arc::new(skill.build().unwrap()))))
    }

    fn put(&self, skill: SkillBuilder) {
        *self.0.lock().unwrap() = Arc::new(skill.build().unwrap());
    }
}

impl SkillSource for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        let skill = Arc::clone(&self.0.lock().unwrap());
        Box::pin(async { Ok(vec![skill]) })
    }
}

fn done(name: &'static str) -> Tool {
    made::tool(name, |_| async { "done" })
}

#[tokio::test]
async fn se31_a_tool_that_a_refresh_adds_is_none_that_the_parents_turn_selected() {
    let shop = |tools: &[&'static str]| {
        let tools = tools.iter().copied().map(done);
        let shop = tools.fold(SkillBuilder::new("shop"), SkillBuilder::tool);
        shop.dynamic_tools(|request: &TurnRequest| {
            if request.text.as_deref() == Some("narrow") {
                ToolSelection::only(["look"])
            } else {
                ToolSelection::All
            }
        })
    };
    let shelf = Shelf::new(shop(&["look", "act"]));
    let engine = bare().source(shelf.clone()).build().await.unwrap();
    let session = session(&engine).await;
    let parent = session.turn("narrow").await.unwrap();
    let child = parent.child().await.unwrap();
    shelf.put(shop(&["look", "act", "wipe"]));
    drop(engine.refresh().await.unwrap());
    let mut work = child.turn("wide").await.unwrap();
    assert_eq!(tools(&work.view().await.unwrap()), ["shop__look"]);
    for name in ["shop__act", "shop__wipe"] {
        assert!(
            answer(&mut work, name, "{}")
                .await
                .starts_with("unknown_tool")
        );
    }
    drop(parent);
    let all = ["shop__look", "shop__act", "shop__wipe"];
    assert_eq!(tools(&work.view().await.unwrap()), all);
}

#[tokio::test]
async fn se30_the_approval_of_a_turns_own_tool_is_for_no_registered_one_of_its_name() {
    fn wipe() -> Tool {
        let wipe = stage::tool("wipe", |_, _| async { "done" });
        wipe.level(Level::Metadata).requires_approval()
    }
    let own =
        SkillBuilder::new("shop").dynamic_tools(|_: &TurnRequest| ToolSelection::replace([wipe()]));
    let shelf = Shelf::new(own);
    let builder = bare().source(shelf.clone()).approvals(LeavePending);
    let engine = builder.build().await.unwrap();
    let session = session(&engine).await;
    let mut first = turn(&session).await;
    let pending = |result: CallResult| result.pending.unwrap();
    let approved = pending(call(&mut first, "shop__wipe", "{}").await);
    let edited = pending(call(&mut first, "shop__wipe", " { }").await);
    assert_eq!(approved, edited, "it is one request");
    session.answer(&approved, ApprovalAnswer::Approve).unwrap();
    let waits = pending(call(&mut first, "shop__wipe", r#"{"a":1}"#).await);
    drop(first);

    shelf.put(SkillBuilder::new("shop").tool(wipe()));
    drop(engine.refresh().await.unwrap());
    let mut second = turn(&session).await;
    let fault = second.resume(&approved).await.unwrap_err();
    assert_eq!(fault.code, Code::Conflict, "{fault}");
    let edit = ApprovalAnswer::ApproveWith("{}".to_owned());
    let fault = session.answer(&waits, edit).unwrap_err();
    assert_eq!(fault.code, Code::Conflict, "{fault}");
    let anew = pending(call(&mut second, "shop__wipe", "{}").await);
    assert_ne!(anew, approved);
    session.answer(&anew, ApprovalAnswer::Approve).unwrap();
    assert_eq!(second.resume(&anew).await.unwrap().text(), "done");
}

/// Sessions whose rights change all the time, while skills are switched, sources refreshed and children made: whoever has
/// changed something sees it at once, and never what another session may.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_one_task_changes_counts_at_once_whatever_others_do() {
    const ROUNDS: usize = 60;
    let shop = |tools: &[&'static str]| {
        let tools = tools.iter().copied().map(done);
        tools.fold(SkillBuilder::new("shop"), SkillBuilder::tool)
    };
    let shelf = Shelf::new(shop(&["look"]));
    let kept = made::skill("kept", [done("look"), done("act")]);
    let other = made::skill("other", [done("look")]);
    let engine = bare()
        .with_skill(kept)
        .with_skill(other)
        .source(shelf.clone())
        .role("all", |role| role.allow("*", Level::Complete))
        .role("kept", |role| role.allow("kept/look", Level::Complete))
        .build()
        .await
        .unwrap();
    let busy = Arc::new(AtomicBool::new(true));
    let noise = {
        let (engine, busy) = (engine.clone(), Arc::clone(&busy));
        tokio::spawn(async move {
            let mut round = 0;
            while busy.load(Ordering::Relaxed) {
                round += 1;
                engine.set_enabled("other", round % 2 == 0).unwrap();
                shelf.put(shop(if round % 2 == 0 {
                    &["look"]
                } else {
                    &["look", "act"]
                }));
                drop(engine.refresh().await.unwrap());
                tokio::task::yield_now().await;
            }
        })
    };
    let tasks = (0..6).map(|task| {
        let engine = engine.clone();
        tokio::spawn(async move {
            let owner = Principal::new("ada", ["all"]);
            let session = engine.session(owner, &format!("n{task}")).await.unwrap();
            for round in 0..ROUNDS {
                session.set_roles(["all"]);
                let mut work = turn(&session).await;
                let seen = work.view().await.unwrap();
                assert!(tools(&seen).contains(&"kept__act"), "{round}");
                assert_eq!(answer(&mut work, "kept__act", "{}").await, "done");
                let child = work.child().await.unwrap();
                let mut of_child = turn(&child).await;
                assert_eq!(answer(&mut of_child, "kept__act", "{}").await, "done");
                session.set_roles(["kept"]);
                for turn in [&mut work, &mut of_child] {
                    let refused = answer(turn, "kept__act", "{}").await;
                    assert!(refused.starts_with("unknown_tool"), "{round}: {refused}");
                    assert_eq!(tools(&turn.view().await.unwrap()), ["kept__look"]);
                }
                session.set_roles([] as [&str; 0]);
                for turn in [&mut work, &mut of_child] {
                    assert!(tools(&turn.view().await.unwrap()).is_empty());
                    let refused = answer(turn, "kept__look", "{}").await;
                    assert!(refused.starts_with("unknown_tool"), "{round}: {refused}");
                }
                if round % 2 == 0 {
                    child.end("done").await.unwrap();
                }
            }
            session.end("done").await.unwrap();
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    busy.store(false, Ordering::Relaxed);
    noise.await.unwrap();
    assert_eq!(engine.session_count(), 0);
}
