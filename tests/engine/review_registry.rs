//! What a review of the registry asked, each question as the behavior that answers it.

use std::sync::Arc;

use skills_engine::Engine;
use skills_engine::registry::Registry;
use skills_engine::skill::{Attribute, BuiltSkill, Skill, SkillBuilder, SkillDefinition, Tool};

use super::stage::skill;

#[tokio::test]
async fn names_used_twice_in_a_skill_are_a_build_error() {
    struct Twice(BuiltSkill, Vec<Attribute>);
    impl Skill for Twice {
        fn definition(&self) -> &SkillDefinition {
            self.0.definition()
        }
        fn attributes(&self) -> &[Attribute] {
            &self.1
        }
        fn tools(&self) -> &[Tool] {
            self.0.tools()
        }
    }
    let same = || Attribute::constant("same", "One of two.", &1).unwrap();
    let twice = Twice(skill("twice").build().unwrap(), vec![same(), same()]);
    let built = Engine::builder().with_skill(twice).build().await;
    let error = built
        .expect_err("a snapshot would have a key twice")
        .to_string();
    assert!(
        error.contains("skill `twice` has two attributes named `same`"),
        "{error}"
    );
}

#[test]
fn a_registry_digest_tells_what_is_missing_from_what_is_empty() {
    let digest = |builder: SkillBuilder| {
        let skill: Arc<dyn Skill> = Arc::new(builder.build().unwrap());
        *Registry::build(vec![skill]).unwrap().digest()
    };
    let plain = || SkillBuilder::new("plain").description("Plain.");
    let none = digest(plain());
    assert_eq!(none, digest(plain()));
    assert_ne!(none, digest(plain().instructions("")));
    assert_ne!(digest(plain().tag("")), none);
}
