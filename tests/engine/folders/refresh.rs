//! What a refresh makes of folders that changed.

use std::sync::Arc;

use skills_engine::Engine;
use skills_engine::engine::RefreshReport;
use skills_engine::skill::{BoxFuture, BuiltSkill, Fault, Skill, SkillBuilder};
use skills_engine::source::{Precedence, SkillFolders, SkillSource};
use tests::{bare, session, turn};

use super::scratch::{Scratch, kinds, main_file};

/// What a report says, but for diagnostics.
#[derive(Debug, Default, PartialEq, Eq)]
struct Said<'a> {
    added: Vec<&'a str>,
    changed: Vec<&'a str>,
    removed: Vec<&'a str>,
    failed: Vec<Option<&'a str>>,
    shadowed: Vec<&'a str>,
}

fn said(report: &RefreshReport) -> Said<'_> {
    fn texts(ids: &[String]) -> Vec<&str> {
        ids.iter().map(String::as_str).collect()
    }
    Said {
        added: texts(&report.added),
        changed: texts(&report.changed),
        removed: texts(&report.removed),
        failed: report
            .failed
            .iter()
            .map(|failed| failed.skill.as_deref())
            .collect(),
        shadowed: report
            .shadowed
            .iter()
            .map(|shadowed| &*shadowed.skill)
            .collect(),
    }
}

async fn engine(folders: SkillFolders) -> Engine {
    bare().source(folders).build().await.unwrap()
}

fn ids(engine: &Engine) -> Vec<String> {
    let skills = engine.skills().into_iter();
    let ids = skills.map(|skill| skill.definition().id.to_string());
    ids.filter(|id| id != "psl-skill").collect()
}

fn find(engine: &Engine, id: &str) -> Option<Arc<dyn Skill>> {
    let mut skills = engine.skills().into_iter();
    skills.find(|skill| skill.definition().id == id)
}

fn description(engine: &Engine, id: &str) -> String {
    find(engine, id)
        .unwrap()
        .definition()
        .description
        .to_string()
}

#[tokio::test]
async fn se4_a_refresh_tells_exactly_what_was_added_edited_deleted_and_renamed() {
    let scratch = Scratch::new();
    scratch.skill("skills/deploy", "deploy", "Deploys.");
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let engine = engine(scratch.user("skills")).await;
    assert_eq!(ids(&engine), ["deploy", "notes"]);
    let session = session(&engine).await;
    let mut old = turn(&session).await;
    let before = old.view().await.unwrap().system_prompt().to_owned();
    let notes = find(&engine, "notes").unwrap();

    // Nothing changed: the skills are the very same ones.
    assert_eq!(engine.refresh().await.unwrap(), RefreshReport::default());
    assert!(Arc::ptr_eq(&notes, &find(&engine, "notes").unwrap()));

    scratch.skill("skills/review", "review", "Reviews.");
    let report = engine.refresh().await.unwrap();
    let added = Said {
        added: vec!["review"],
        ..Said::default()
    };
    assert_eq!(said(&report), added);
    assert!(report.diagnostics.is_empty());

    scratch.skill("skills/notes", "notes", "Takes many notes.");
    let report = engine.refresh().await.unwrap();
    let changed = Said {
        changed: vec!["notes"],
        ..Said::default()
    };
    assert_eq!(said(&report), changed);
    assert_eq!(description(&engine, "notes"), "Takes many notes.");

    // The body alone, and a file beside it, are changes too.
    let text = main_file("notes", "Takes many notes.", "Another body.");
    scratch.put("skills/notes/SKILL.md", text);
    assert_eq!(said(&engine.refresh().await.unwrap()), changed);
    scratch.put("skills/notes/references/api.md", "api");
    assert_eq!(said(&engine.refresh().await.unwrap()), changed);
    scratch.put("skills/notes/references/api.md", "longer");
    assert_eq!(said(&engine.refresh().await.unwrap()), changed);
    scratch.remove("skills/notes/references");
    assert_eq!(said(&engine.refresh().await.unwrap()), changed);

    scratch.remove("skills/deploy");
    let report = engine.refresh().await.unwrap();
    let removed = Said {
        removed: vec!["deploy"],
        ..Said::default()
    };
    assert_eq!(said(&report), removed);

    std::fs::rename(scratch.at("skills/review"), scratch.at("skills/audit")).unwrap();
    scratch.skill("skills/audit", "audit", "Reviews.");
    let report = engine.refresh().await.unwrap();
    let renamed = Said {
        added: vec!["audit"],
        removed: vec!["review"],
        ..Said::default()
    };
    assert_eq!(said(&report), renamed);
    assert_eq!(ids(&engine), ["audit", "notes"]);
    assert_eq!(engine.refresh().await.unwrap(), RefreshReport::default());

    // The turn that was running saw nothing of all this; the next one does.
    let view = old.view().await.unwrap();
    assert!(view.is_unchanged());
    assert_eq!(view.system_prompt(), before);
    let prompt = turn(&session)
        .await
        .view()
        .await
        .unwrap()
        .system_prompt()
        .to_owned();
    assert!(prompt.contains("audit") && !prompt.contains("deploy"));
}

#[tokio::test]
async fn se4_a_broken_edit_keeps_the_last_good_version_and_says_so() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let engine = engine(scratch.user("skills")).await;
    let broken = [
        "no header",
        "---\nname: notes\n",
        "---\nname: notes\n---\nNo description.",
        "---\nname: ../notes\ndescription: Takes notes.\n---\n",
        "---\nname: notes\ndescription: Takes notes.\nmetadata:\n    a: 1\n  b: 2\n---\n",
    ];
    for text in broken {
        scratch.put("skills/notes/SKILL.md", text);
        for again in ["first", "again"] {
            let report = engine.refresh().await.unwrap();
            let failed = Said {
                failed: vec![Some("notes")],
                ..Said::default()
            };
            assert_eq!(said(&report), failed, "{text:?} {again}");
            let problems = report.failed[0].problems.join("\n");
            assert!(problems.contains("last good version stays"), "{problems}");
            let path = scratch.at("skills/notes");
            assert_eq!(report.failed[0].path.as_deref(), path.to_str());
            assert!(
                kinds(&report.diagnostics)
                    .iter()
                    .any(|kind| kind.starts_with("error"))
            );
            assert_eq!(description(&engine, "notes"), "Takes notes.");
            let notes = find(&engine, "notes").unwrap();
            let content = notes.content().unwrap();
            assert_eq!(&*content.body().await.unwrap(), "Body of notes.");
        }
    }
    scratch.skill("skills/notes", "notes", "Takes notes again.");
    let report = engine.refresh().await.unwrap();
    assert_eq!(said(&report).changed, ["notes"]);
    assert!(report.failed.is_empty());
    // One that never was good is told by its folder.
    scratch.put("skills/odd/SKILL.md", "no header");
    let report = engine.refresh().await.unwrap();
    assert_eq!(said(&report).failed, [None]);
    assert_eq!(
        report.failed[0].path.as_deref(),
        scratch.at("skills/odd").to_str()
    );
    assert!(!report.failed[0].problems.concat().contains("last good"));
    // And one that was good and is deleted is gone.
    scratch.put("skills/notes/SKILL.md", "no header");
    drop(engine.refresh().await.unwrap());
    scratch.remove("skills/notes");
    assert_eq!(said(&engine.refresh().await.unwrap()).removed, ["notes"]);
}

#[tokio::test]
async fn se4_a_broken_file_keeps_its_name_against_those_that_come_after_it() {
    let scratch = Scratch::new();
    scratch.skill("one/notes", "notes", "The first.");
    scratch.skill("two/notes", "notes", "The second.");
    let folders = SkillFolders::new()
        .user(scratch.at("one"))
        .user(scratch.at("two"));
    let engine = engine(folders).await;
    assert_eq!(engine.report().shadowed.len(), 1);
    scratch.put("one/notes/SKILL.md", "no header");
    let report = engine.refresh().await.unwrap();
    assert_eq!(said(&report).shadowed, ["notes"]);
    assert_eq!(description(&engine, "notes"), "The first.");
    scratch.remove("one/notes");
    let report = engine.refresh().await.unwrap();
    assert_eq!(
        said(&report),
        Said {
            changed: vec!["notes"],
            ..Said::default()
        }
    );
    assert_eq!(description(&engine, "notes"), "The second.");
}

#[tokio::test]
async fn se4_a_bad_folder_does_not_stop_an_engine_from_being_built() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    scratch.put("skills/odd/SKILL.md", "no header");
    let engine = engine(scratch.user("skills").user(scratch.at("none"))).await;
    assert_eq!(ids(&engine), ["notes"]);
    let report = engine.report();
    let kinds = kinds(&report.diagnostics);
    let kinds: Vec<_> = kinds.iter().map(String::as_str).collect();
    assert_eq!(kinds, ["error: frontmatter-missing", "error: root-missing"]);
    let [failed] = &report.failed[..] else {
        panic!("{:?}", report.failed);
    };
    assert_eq!(failed.path.as_deref(), scratch.at("skills/odd").to_str());
}

/// A source with skills that are not from files.
struct Shelf(Precedence, Vec<&'static str>);

impl Shelf {
    fn skill(id: &'static str) -> BuiltSkill {
        let skill = SkillBuilder::new(id).description("From a shelf.");
        skill.build().unwrap()
    }
}

impl SkillSource for Shelf {
    fn name(&self) -> &'static str {
        "shelf"
    }

    fn load(&self) -> BoxFuture<'_, Result<Vec<Arc<dyn Skill>>, Fault>> {
        let skills = self
            .1
            .iter()
            .map(|id| Arc::new(Self::skill(id)) as Arc<dyn Skill>);
        let skills = skills.collect();
        Box::pin(async { Ok(skills) })
    }

    fn precedence(&self) -> Precedence {
        self.0
    }
}

#[tokio::test]
async fn se4_skills_of_the_program_go_before_folders_and_folders_before_builtin_ones() {
    let scratch = Scratch::new();
    for name in ["code", "equal", "builtin", "both", "psl-skill"] {
        scratch.skill(&format!("one/{name}"), name, "From the first source.");
    }
    scratch.skill("two/both", "both", "From the second source.");
    let engine = bare()
        .with_skill(Shelf::skill("code"))
        .source(Shelf(Precedence::Builtin, vec!["builtin", "alone"]))
        .source(scratch.user("one").named("first"))
        .source(scratch.user("two").named("second"))
        .source(Shelf(Precedence::Equal, vec!["equal"]))
        .build()
        .await
        .unwrap();
    let shadowed = |shadowed: &[skills_engine::source::ShadowedSkill]| -> Vec<String> {
        let texts = shadowed
            .iter()
            .map(|it| format!("{} of {}", it.skill, it.source));
        let mut texts: Vec<_> = texts.collect();
        texts.sort();
        texts
    };
    let expected = [
        "both of second",
        "builtin of shelf",
        "code of first",
        "equal of first",
        "psl-skill of first",
    ];
    assert_eq!(shadowed(&engine.report().shadowed), expected);
    let first = engine
        .report()
        .shadowed
        .iter()
        .find(|it| it.skill == "both");
    assert_eq!(first.unwrap().by, scratch.at("one/both").to_str().unwrap());
    for (id, from) in [
        ("code", "From a shelf."),
        ("equal", "From a shelf."),
        ("builtin", "From the first source."),
        ("both", "From the first source."),
        ("alone", "From a shelf."),
    ] {
        assert_eq!(description(&engine, id), from, "{id}");
    }
    // The builtin one is there again once the folder is gone, and goes again when it comes back.
    scratch.remove("one/builtin");
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.changed, ["builtin"]);
    assert!(report.failed.is_empty(), "{:?}", report.failed);
    assert_eq!(description(&engine, "builtin"), "From a shelf.");
    scratch.skill("one/builtin", "builtin", "Back again.");
    let report = engine.refresh().await.unwrap();
    assert_eq!(
        (report.added, report.changed),
        (vec![], vec!["builtin".to_owned()])
    );
    assert_eq!(shadowed(&report.shadowed), expected);
    assert_eq!(description(&engine, "builtin"), "Back again.");
}

#[tokio::test]
async fn se4_a_folder_called_as_the_control_skill_gets_none_of_its_rights() {
    let scratch = Scratch::new();
    scratch.skill("skills/psl-skill", "psl-skill", "Pretends.");
    let engine = bare()
        .without("psl-skill")
        .source(scratch.user("skills"))
        .build();
    let engine = engine.await.unwrap();
    assert!(find(&engine, "psl-skill").is_none());
    assert_eq!(engine.report().shadowed[0].by, "the engine");
}

#[tokio::test]
async fn se4_names_that_no_builder_allows_are_ids_everywhere() {
    let scratch = Scratch::new();
    let name = "Über Notizen 量";
    scratch.skill("skills/notes", name, "Takes notes.");
    scratch.skill("skills/My_Skill", "My_Skill", "Is mine.");
    let builder = bare().source(scratch.user("skills"));
    let engine = builder.build().await.unwrap();
    assert_eq!(ids(&engine), ["My_Skill", name]);
    let session = session(&engine).await;
    tests::open(&session, name, skills_engine::Level::Context).await;
    session.allow([name, "My_Skill"]).unwrap();
    session.allow([format!("{name}/*")]).unwrap();
    let visibility = turn(&session).await.visibility();
    let level = visibility.iter().find(|it| it.skill == name).unwrap().level;
    assert_eq!(level, skills_engine::Level::Context);
    let prompt = turn(&session)
        .await
        .view()
        .await
        .unwrap()
        .system_prompt()
        .to_owned();
    assert!(prompt.contains(name), "{prompt}");
    assert!(
        !prompt.contains("My_Skill"),
        "the second list leaves it out"
    );
    session.clear(name).await.unwrap();
}
