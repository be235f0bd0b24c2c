//! Skills that need what the machine lacks.

use skills_engine::skill::Skill as _;
use tests::{bare, session, turn};

use super::scratch::{Scratch, kinds, names};

fn put(scratch: &Scratch, name: &str, needs: &str) {
    let text = format!(
        "---\nname: {name}\ndescription: Needs something.\nmetadata:\n  requires.{needs}\n---\nBody.\n"
    );
    scratch.put(&format!("skills/{name}/SKILL.md"), text);
}

/// A program that is there wherever these tests are built and run.
const PROGRAM: &str = "cargo";

#[tokio::test]
async fn se4_what_is_missing_is_told_by_name() {
    let scratch = Scratch::new();
    let rows = [
        ("none", "bins: \"\"".to_owned(), None),
        ("bin", format!("bins: {PROGRAM}"), None),
        (
            "no-bin",
            format!("bins: {PROGRAM} no-such-program-at-all"),
            Some("the program `no-such-program-at-all`"),
        ),
        (
            "path",
            "bins: /bin/sh".to_owned(),
            Some("the program `/bin/sh`"),
        ),
        ("any", format!("any_bins: no-such-program {PROGRAM}"), None),
        (
            "no-any",
            "any_bins: no-such-program nor-this-one".to_owned(),
            Some("one of the programs `no-such-program`, `nor-this-one`"),
        ),
        ("env", "env: PATH".to_owned(), None),
        (
            "no-env",
            "env: SKILLS_ENGINE_TEST_NOT_SET".to_owned(),
            Some("the variable `SKILLS_ENGINE_TEST_NOT_SET`"),
        ),
        ("os", format!("os: other {}", std::env::consts::OS), None),
        ("no-os", "os: plan9".to_owned(), Some("a system of `plan9`")),
    ];
    for (name, needs, _) in &rows {
        put(&scratch, name, needs);
    }
    let report = scratch.user("skills").scan().await.unwrap();
    assert_eq!(report.skills.len(), rows.len(), "{:?}", names(&report));
    assert!(report.failed.is_empty());
    for (name, _, missing) in &rows {
        let mut skills = report.skills.iter();
        let skill = skills.find(|skill| skill.definition().id == *name).unwrap();
        let unmet = &skill.definition().unmet;
        assert_eq!(unmet.first().map(String::as_str), *missing, "{name}");
        let mut diagnostics = report.diagnostics.iter();
        let told = diagnostics.find(|found| found.path.ends_with(&format!("skills/{name}")));
        assert_eq!(told.is_some(), missing.is_some(), "{name}");
        if let (Some(told), Some(missing)) = (told, missing) {
            assert_eq!(told.kind.to_string(), "warning: requirements-unmet");
            assert!(told.message.contains(missing), "{told}");
        }
    }
    assert_eq!(kinds(&report.diagnostics).len(), 1);
}

#[tokio::test]
async fn se4_a_skill_with_unmet_needs_is_not_offered_and_explain_says_why() {
    let scratch = Scratch::new();
    put(&scratch, "needy", "bins: no-such-program-at-all");
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let builder = bare().source(scratch.user("skills"));
    let engine = builder.build().await.unwrap();
    let session = session(&engine).await;
    let prompt = turn(&session)
        .await
        .view()
        .await
        .unwrap()
        .system_prompt()
        .to_owned();
    assert!(
        prompt.contains("notes") && !prompt.contains("needy"),
        "{prompt}"
    );
    let text = session.explain("needy", "anything").reasons.join("\n");
    assert!(
        text.contains("the program `no-such-program-at-all`"),
        "{text}"
    );
    assert!(
        text.contains(scratch.at("skills/needy").to_str().unwrap()),
        "{text}"
    );
    // Once it is there, a refresh offers the skill.
    put(&scratch, "needy", &format!("bins: {PROGRAM}"));
    assert_eq!(engine.refresh().await.unwrap().changed, ["needy"]);
    let prompt = turn(&session)
        .await
        .view()
        .await
        .unwrap()
        .system_prompt()
        .to_owned();
    assert!(prompt.contains("needy"), "{prompt}");
}
