//! What a refresh brings must not pass for what was there before.

use std::sync::{Arc, Mutex};

use skills_engine::skill::{
    BoxFuture, Fault, Skill, SkillBuilder, Tool, ToolSelection, TurnRequest,
};
use skills_engine::source::SkillSource;
use tests::{answer, bare, session, tools};

use crate::made;

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
    engine.refresh().await.unwrap();
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
