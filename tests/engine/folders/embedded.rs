//! Skills compiled into the program.

use std::sync::Arc;

use skills_engine::skill::{Code, Origin, Skill, SkillBuilder, SkillContent};
use skills_engine::source::{
    EmbeddedSkills, FailedSkill, Loaded, ShadowedSkill, SkillFolders, SkillSource as _,
};
use skills_engine::{Level, embedded_skills};
use tests::{answer, bare, open, session, tools, turn};

use super::scratch::Scratch;

fn embedded() -> EmbeddedSkills {
    embedded_skills!("fixtures/embedded")
}

/// The same folder on the disk.
fn on_disk() -> SkillFolders {
    SkillFolders::new().user(below_here("fixtures/embedded"))
}

fn below_here(path: &str) -> String {
    format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))
}

async fn loaded(source: &EmbeddedSkills) -> Loaded {
    source.load_and_tell().await.unwrap()
}

fn ids(loaded: &Loaded) -> Vec<&str> {
    let ids = loaded.skills.iter().map(|skill| &*skill.definition().id);
    ids.collect()
}

fn content<'a>(loaded: &'a Loaded, id: &str) -> &'a dyn SkillContent {
    let mut skills = loaded.skills.iter();
    let skill = skills.find(|skill| skill.definition().id == id);
    skill.unwrap().content().unwrap()
}

fn failed(loaded: &Loaded) -> Vec<&str> {
    let failed = loaded.failed.iter().filter_map(|it| it.path.as_deref());
    failed.collect()
}

/// All that a load tells beside skills, with paths below this package.
fn told(loaded: &Loaded) -> Vec<String> {
    let Loaded {
        failed,
        shadowed,
        diagnostics,
        ..
    } = loaded;
    let failed = failed.iter().map(
        |FailedSkill {
             skill,
             path,
             problems,
             ..
         }| format!("{skill:?} {path:?} {problems:?}"),
    );
    let shadowed = shadowed.iter().map(
        |ShadowedSkill {
             skill, path, by, ..
         }| format!("{skill} {path:?} {by}"),
    );
    let diagnostics = diagnostics.iter().map(|it| format!("{it:?}"));
    failed
        .chain(shadowed)
        .chain(diagnostics)
        .map(|text| text.replace(&below_here(""), ""))
        .collect()
}

/// A definition without the crate it comes from.
fn definition(skill: &Arc<dyn Skill>) -> String {
    let mut definition = skill.definition().clone();
    definition.origin = Origin::default();
    format!("{definition:?}")
}

#[track_caller]
fn assert_told_alike(embedded: &Loaded, disk: &Loaded) {
    assert_eq!(ids(embedded), ids(disk));
    assert_eq!(told(embedded), told(disk));
}

async fn assert_alike(embedded: &EmbeddedSkills, disk: &SkillFolders) -> Loaded {
    let embedded = loaded(embedded).await;
    let disk = disk.load_and_tell().await.unwrap();
    assert_told_alike(&embedded, &disk);
    for (embedded, disk) in embedded.skills.iter().zip(&disk.skills) {
        let id = &embedded.definition().id;
        assert_eq!(definition(embedded), definition(disk), "{id}");
        let (embedded, disk) = (embedded.content().unwrap(), disk.content().unwrap());
        assert_eq!(embedded.digest(), disk.digest(), "{id}");
        assert_eq!(embedded.body().await, disk.body().await, "{id}");
        assert_eq!(embedded.resources(), disk.resources(), "{id}");
        assert_eq!(embedded.total_resources(), disk.total_resources(), "{id}");
        assert_eq!(embedded.front_matter(), disk.front_matter(), "{id}");
        assert_eq!(embedded.base_dir(), None, "{id}");
        for resource in embedded.resources() {
            let path = &resource.path;
            let read = embedded.read(path, 0, 1 << 20).await;
            assert_eq!(read, disk.read(path, 0, 1 << 20).await, "{id} {path}");
        }
    }
    embedded
}

#[tokio::test]
async fn se4_embedded_folders_are_read_by_the_rules_for_the_disk() {
    let loaded = assert_alike(&embedded(), &on_disk()).await;
    assert_eq!(ids(&loaded), ["brew-tea", "keep-time", "needs-key", "odd"]);
    assert_eq!(failed(&loaded), ["fixtures/embedded/group/broken"]);
    let [shadowed] = &loaded.shadowed[..] else {
        panic!("{:?}", loaded.shadowed);
    };
    assert_eq!(shadowed.path.as_deref(), Some("fixtures/embedded/z-again"));
    assert_eq!(shadowed.by, "fixtures/embedded/brew-tea");
}

#[tokio::test]
async fn se4_embedded_folders_keep_to_the_cases_of_the_contract() {
    let disk = || SkillFolders::new().user(below_here("fixtures/skillcases"));
    let cases = || embedded_skills!("fixtures/skillcases");
    let loaded = assert_alike(&cases(), &disk()).await;
    assert!(loaded.skills.len() > 20, "{}", loaded.skills.len());
    assert!(loaded.failed.len() > 5, "{}", loaded.failed.len());
    assert_alike(&cases().strict(), &disk().strict()).await;
}

#[tokio::test]
async fn se4_an_embedded_script_stays_executable() {
    let loaded = loaded(&embedded()).await;
    let resources = content(&loaded, "brew-tea").resources().iter();
    let seen: Vec<_> = resources
        .map(|resource| (&*resource.path, resource.is_executable))
        .collect();
    let expected = [
        ("inner/SKILL.md", false),
        ("references/kinds.md", false),
        ("scripts/pour.sh", cfg!(unix)),
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn se4_an_embedded_file_is_read_in_parts_and_other_paths_are_refused_as_on_disk() {
    let loaded = loaded(&embedded()).await;
    let content = content(&loaded, "brew-tea");
    let part = content.read("references/kinds.md", 6, 3).await.unwrap();
    assert_eq!(
        (&*part.bytes, part.offset, part.total),
        (&b"tea"[..], 6, 23)
    );
    let end = content
        .read("references/kinds.md", u64::MAX, 3)
        .await
        .unwrap();
    assert!(end.bytes.is_empty());
    let on_disk = on_disk().scan().await.unwrap();
    let disk = on_disk.skills[0].content().unwrap();
    let paths = [
        ("", "is empty"),
        ("../odd/SKILL.md", "holds `..`"),
        ("/etc/passwd", "is an absolute path"),
        ("C:/x", "drive letter"),
        ("a\\b", "holds a backslash"),
        ("a\0", "NUL"),
        ("%2e%2e/x", "is percent-encoded"),
        ("scripts//pour.sh", "empty or `.`"),
        ("SKILL.md", "is the skill itself"),
        ("scripts", "is a folder"),
        ("scripts/pour.sh/x", "leads through a file"),
        ("scripts/none.sh", "does not exist"),
    ];
    for (path, reason) in paths {
        let fault = content.read(path, 0, 9).await.unwrap_err();
        assert_eq!(fault.code, Code::InvalidArguments, "{path}");
        assert!(fault.to_string().contains(reason), "{path}: {fault}");
        let on_disk = disk.read(path, 0, 9).await.unwrap_err();
        assert_eq!(fault.to_string(), on_disk.to_string(), "{path}");
    }
}

#[tokio::test]
async fn se4_embedded_skills_are_the_same_at_each_load() {
    let source = embedded();
    let (first, second) = (loaded(&source).await, loaded(&source).await);
    assert_told_alike(&first, &second);
    for (first, second) in first.skills.iter().zip(&second.skills) {
        assert!(Arc::ptr_eq(first, second));
    }
    let engine = bare().source(embedded()).build().await.unwrap();
    let report = engine.refresh().await.unwrap();
    assert_eq!(
        (report.added, report.changed, report.removed),
        (vec![], vec![], vec![])
    );
    let built = engine.report();
    assert_eq!(report.failed, built.failed);
    assert_eq!(report.diagnostics, built.diagnostics);
}

#[tokio::test]
async fn se4_what_an_embedded_skill_needs_is_looked_for_at_run_time() {
    let engine = bare().source(embedded()).build().await.unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert!(view.system_prompt().contains("Keeps the time."));
    assert!(!view.system_prompt().contains("Opens the tea chest."));
    let reasons = session.explain("needs-key", "").reasons.join("\n");
    let needs = "needs the variable `SKILLS_ENGINE_TESTS_NO_SUCH_KEY`";
    assert!(reasons.contains(needs), "{reasons}");
}

#[tokio::test]
async fn se4_the_crate_of_an_embedded_skill_is_told() {
    let engine = bare().source(embedded()).build().await.unwrap();
    let [linked] = &engine.report().crates[..] else {
        panic!("{:?}", engine.report().crates);
    };
    assert_eq!(linked.name, "tests");
    assert_eq!(linked.skills, ["brew-tea", "keep-time", "needs-key", "odd"]);
    let session = session(&engine).await;
    let whence = &session.explain("brew-tea", "").reasons[0];
    let expected = "`brew-tea` is a folder embedded in crate `tests` (";
    assert!(whence.starts_with(expected), "{whence}");
}

#[tokio::test]
async fn se4_strict_embedded_skills_fail_where_a_validator_would() {
    let loaded = loaded(&embedded().strict().named("tea")).await;
    assert_eq!(ids(&loaded), ["brew-tea", "keep-time", "needs-key"]);
    assert_eq!(
        failed(&loaded),
        [
            "fixtures/embedded/group/broken",
            "fixtures/embedded/odd",
            "fixtures/embedded/z-again",
        ]
    );
    assert!(loaded.failed.iter().all(|failed| failed.source == "tea"));
}

#[tokio::test]
async fn se4_a_skill_on_disk_goes_before_an_embedded_one() {
    let scratch = Scratch::new();
    scratch.skill(
        "skills/brew-tea",
        "brew-tea",
        "Brews it as this house does.",
    );
    let engine = bare()
        .source(embedded().named("tea"))
        .source(scratch.user("skills"))
        .build()
        .await
        .unwrap();
    let by = scratch.at("skills/brew-tea");
    let by = by.to_str().unwrap();
    let shadowed = engine.report().shadowed.iter();
    let losers: Vec<_> = shadowed
        .filter(|shadowed| shadowed.by == by)
        .map(|shadowed| (&*shadowed.source, &*shadowed.skill))
        .collect();
    assert_eq!(losers, [("tea", "brew-tea")]);
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert!(
        view.system_prompt()
            .contains("Brews it as this house does.")
    );
    assert!(!view.system_prompt().contains("Brews a pot of tea."));
}

#[tokio::test]
async fn se4_a_skill_of_the_program_goes_before_an_embedded_one() {
    let brew = SkillBuilder::new("brew-tea").description("Brews in Rust.");
    let engine = bare()
        .with_skill(brew.build().unwrap())
        .source(embedded().named("tea"))
        .build()
        .await
        .unwrap();
    let registry = engine.registry();
    let skill = registry.get("brew-tea").unwrap();
    assert_eq!(skill.definition().description, "Brews in Rust.");
    let mut shadowed = engine.report().shadowed.iter();
    assert!(shadowed.any(|it| it.skill == "brew-tea" && it.by == "one made at run time"));
}

#[tokio::test]
async fn se4_an_embedded_skill_is_back_when_the_one_before_it_goes() {
    let scratch = Scratch::new();
    scratch.put("skills/README.md", "None yet.");
    let engine = bare()
        .source(embedded())
        .source(scratch.user("skills"))
        .build()
        .await
        .unwrap();
    let description = || {
        let registry = engine.registry();
        let skill = registry.get("brew-tea").unwrap();
        skill.definition().description.to_string()
    };
    assert_eq!(description(), "Brews a pot of tea.");
    scratch.skill("skills/brew-tea", "brew-tea", "Brews it here.");
    let report = engine.refresh().await.unwrap();
    assert_eq!(
        (report.changed, report.removed),
        (vec!["brew-tea".to_owned()], vec![])
    );
    assert_eq!(description(), "Brews it here.");
    scratch.remove("skills/brew-tea");
    let report = engine.refresh().await.unwrap();
    assert_eq!(
        (report.changed, report.removed),
        (vec!["brew-tea".to_owned()], vec![])
    );
    assert_eq!(description(), "Brews a pot of tea.");
}

#[tokio::test]
async fn se4_an_embedded_skill_is_loaded_and_its_files_are_read() {
    let engine = bare().source(embedded()).build().await.unwrap();
    let session = session(&engine).await;
    let mut first = turn(&session).await;
    let view = first.view().await.unwrap();
    assert!(view.system_prompt().contains("Brews a pot of tea."));
    assert_eq!(tools(&view), ["load_skill"]);
    let body = answer(&mut first, "load_skill", r#"{"name":"brew-tea"}"#).await;
    assert!(body.contains("Heat the water"), "{body}");
    assert!(
        body.contains("- inner/SKILL.md\n- references/kinds.md\n- scripts/pour.sh"),
        "{body}"
    );
    first.view().await.unwrap();
    let kinds = r#"{"skill":"brew-tea","path":"references/kinds.md"}"#;
    let kinds = answer(&mut first, "read_skill_resource", kinds).await;
    assert_eq!(kinds, "Green tea: 80 degrees.\n");
    let script = r#"{"skill":"brew-tea","path":"scripts/pour.sh"}"#;
    let early = answer(&mut first, "read_skill_resource", script).await;
    assert!(early.starts_with("hidden: "), "{early}");
    first.finish().await.unwrap();
    open(&session, "brew-tea", Level::Complete).await;
    let mut second = turn(&session).await;
    second.view().await.unwrap();
    let text = answer(&mut second, "read_skill_resource", script).await;
    assert_eq!(text, "#!/bin/sh\necho poured\n");
}
