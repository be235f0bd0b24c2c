//! Child sessions: never more than their parents, and never longer.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use skills_engine::session::{PslControl, VisibilityStore};
use skills_engine::skill::{Limits, SetVisibility, ToolContext};
use skills_engine::{Level, Principal};
use tests::{bare, call, open, session, turn};

use crate::made;
use crate::stage::{self, Stage, level, settle};

#[tokio::test]
async fn se31_a_child_has_no_control_that_its_parent_has_not() {
    let teller = made::tool("open_billing", |cx: ToolContext| async move {
        let wish = SetVisibility::new("billing", Level::Context);
        cx.visibility().set(wish).await.map(|_| "opened")
    });
    let skill = |id| made::skill(id, [made::tool("status", |_| async { "up" })]);
    let build = || async {
        bare()
            .with_skill(skill("billing"))
            .with_skill(made::skill("opener", [teller.clone()]))
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
        let answered = call(&mut work, "opener__open_billing", "{}").await;
        assert!(
            answered.text().contains("not_permitted")
                || answered.text().contains("opens and closes no skills"),
            "{}",
            answered.text()
        );
        assert!(child.state().standing("billing").grants().is_empty());
    }
}

fn poll_times<T>(future: impl Future<Output = T>, times: usize) -> Option<T> {
    let mut future = pin!(future);
    let mut cx = Context::from_waker(Waker::noop());
    for _ in 0..times {
        if let Poll::Ready(output) = future.as_mut().poll(&mut cx) {
            return Some(output);
        }
    }
    None
}

#[tokio::test]
async fn se31_a_child_whose_making_was_dropped_ends_with_its_parent() {
    for times in 0..40 {
        let mut limits = Limits::default();
        limits.audit_queue = 16;
        let stage = Stage::with(1, |builder| builder.limits(limits)).await;
        let parent = stage.session("s1").await;
        stage.engine.audit().flush().await;
        // The queue of the audit trail is crowded, so that the making waits at its end, too.
        for number in 0..9 {
            parent.set_roles([if number % 2 == 0 { "even" } else { "odd" }]);
        }
        let dropped = poll_times(parent.child(), times).is_none();
        settle().await;
        parent.end("done").await.unwrap();
        settle().await;
        assert_eq!(stage.engine.session_count(), 0, "{times} {dropped}");
    }
}

#[tokio::test]
async fn se31_a_revocation_in_another_process_reaches_the_child_with_its_next_turn() {
    let stage = Stage::new().await;
    let other = bare()
        .with_skill(stage::skill("alpha").build().unwrap())
        .store(Arc::clone(&stage.store) as Arc<dyn VisibilityStore>)
        .build()
        .await
        .unwrap();
    let parent = stage.session("s1").await;
    open(&parent, "alpha", Level::Complete).await;
    let child = parent.child().await.unwrap();
    open(&child, "alpha", Level::Complete).await;
    assert!(stage::sees(&mut stage::turn(&child).await, "alpha__finish").await);
    let elsewhere = other
        .session(Principal::new("ada", [] as [&str; 0]), "s1")
        .await
        .unwrap();
    elsewhere.clear("alpha").await.unwrap();
    let mut next = stage::turn(&child).await;
    assert!(!stage::sees(&mut next, "alpha__finish").await);
    assert_eq!(level(&child, "alpha"), Level::Metadata);
}
