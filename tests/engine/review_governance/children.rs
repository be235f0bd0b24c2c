//! Child sessions: never more than their parents, and never longer.

use skills_engine::Level;
use skills_engine::session::PslControl;
use skills_engine::skill::{SetVisibility, ToolContext};
use tests::{bare, call, open, session, turn};

use crate::made;

#[tokio::test]
async fn se31_a_child_has_no_control_that_its_parent_has_not() {
    let opener = made::tool("open_billing", |cx: ToolContext| async move {
        let wish = SetVisibility::new("billing", Level::Context);
        cx.visibility().set(wish).await.map(|_| "opened")
    });
    let skill = |id| made::skill(id, [made::tool("status", |_| async { "up" })]);
    let build = || async {
        bare()
            .with_skill(skill("billing"))
            .with_skill(made::skill("opener", [opener.clone()]))
            .build()
            .await
            .unwrap()
    };
    for narrow_first in [true, false] {
        let engine = build().await;
        let parent = session(&engine).await;
        open(&parent, "billing", Level::Context).await;
        if narrow_first {
            parent.psl_control(PslControl::HostOnly);
        }
        let child = parent.child().await.unwrap();
        let mut work = turn(&child).await;
        work.view().await.unwrap();
        parent.psl_control(PslControl::HostOnly);
        let opened = call(&mut work, "opener__open_billing", "{}").await;
        assert!(
            opened.text().contains("not_permitted")
                || opened.text().contains("opens and closes no skills"),
            "{}",
            opened.text()
        );
        assert!(child.state().standing("billing").grants().is_empty());
    }
}
