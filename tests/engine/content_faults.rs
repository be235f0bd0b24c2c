//! Skills with content that fails, hangs, lies or comes at a bad moment: no body is lost or given away, nothing hangs.

use skills_engine::skill::SkillBuilder;
use skills_engine::{Engine, Level};
use tests::{bare, open, session, turn};

use crate::made::Held;

const BODY: &str = "1. Ask first.\n";

fn deploy() -> SkillBuilder {
    SkillBuilder::new("deploy")
        .description("Deploys services.")
        .content(Held::new(BODY).file("guide.md", "Guide."))
}

async fn built(skill: SkillBuilder) -> Engine {
    let engine = bare().with_skill(skill.build().unwrap()).build().await;
    engine.unwrap()
}

#[tokio::test]
async fn a_skill_that_takes_no_part_has_no_body_in_the_prompt() {
    for is_open_from_the_beginning in [true, false] {
        let mut skill = deploy();
        if is_open_from_the_beginning {
            skill = skill.base_level(Level::Context);
        }
        let engine = built(skill).await;
        let session = session(&engine).await;
        open(&session, "deploy", Level::Complete).await;
        let mut turn = turn(&session).await;
        let view = turn.view().await.unwrap();
        assert!(view.system_prompt().contains("Ask first"));
        engine.set_enabled("deploy", false).unwrap();
        let view = turn.view().await.unwrap();
        assert!(!view.system_prompt().contains("Ask first"));
        engine.set_enabled("deploy", true).unwrap();
        session.allow(["psl-skill"]).unwrap();
        let view = turn.view().await.unwrap();
        assert!(!view.system_prompt().contains("Ask first"));
    }
}
