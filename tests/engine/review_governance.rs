//! Who may, under attack: names made to pass for others, and changes in the middle of a wait.

use tests::{ada, answer, bare, session, tools, turn};

use crate::made;

#[tokio::test]
async fn se28_lists_that_look_alike_when_written_in_a_row_are_not_the_same() {
    let skill = |id| made::skill(id, [made::tool("status", |_| async { "up" })]);
    let engine = bare()
        .with_skill(skill("billing"))
        .with_skill(skill("deploy"))
        .build()
        .await
        .unwrap();
    let wide = session(&engine).await;
    wide.allow(["billing", "deploy"]).unwrap();
    let mut all = turn(&wide).await;
    assert_eq!(
        tools(&all.view().await.unwrap()),
        ["billing__status", "deploy__status"]
    );
    for (number, hostile) in ["billing deploy", "billing  deploy", "billing deploy/status"]
        .into_iter()
        .enumerate()
    {
        let session = engine.session(ada(), &format!("n{number}")).await.unwrap();
        assert_eq!(session.allow([hostile]).unwrap(), [hostile]);
        let mut none = turn(&session).await;
        assert!(tools(&none.view().await.unwrap()).is_empty(), "{hostile}");
        assert_eq!(
            answer(&mut none, "deploy__status", "{}")
                .await
                .split(':')
                .next(),
            Some("unknown_tool"),
            "{hostile}"
        );
    }
}
