//! Where skills are looked for, and whose go first.

use skills_engine::skill::{Code, Skill as _};
use skills_engine::source::{ScopePrecedence, SkillFolders, SkillRoot, SkillSource as _};
use tests::bare;

use super::scratch::{Scratch, content, kinds, main_file, names, only};

fn list(kinds: &std::collections::BTreeSet<String>) -> Vec<&str> {
    kinds.iter().map(String::as_str).collect()
}

#[tokio::test]
async fn se4_a_root_that_is_missing_or_a_file_is_told_and_the_others_load() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    scratch.put("file", "no folder");
    let roots = ["none", "file", "file/below", "skills"].map(|root| scratch.at(root));
    let folders = roots.iter().fold(SkillFolders::new(), SkillFolders::user);
    let report = folders.scan().await.unwrap();
    assert_eq!(names(&report), ["notes"]);
    let told: Vec<_> = report
        .diagnostics
        .iter()
        .map(|it| it.kind.to_string())
        .collect();
    assert_eq!(
        told,
        [
            "error: root-missing",
            "error: root-not-directory",
            "error: root-missing"
        ]
    );
    assert_eq!(
        report.diagnostics[0].path,
        scratch.at("none").to_str().unwrap()
    );
    // Once it is there, it is found.
    scratch.skill("none/late", "late", "Came late.");
    assert_eq!(names(&folders.scan().await.unwrap()), ["late", "notes"]);
}

#[tokio::test]
async fn se4_a_required_root_that_is_not_there_keeps_an_engine_from_being_built() {
    let scratch = Scratch::new();
    scratch.put("file", "no folder");
    for root in ["none", "file"] {
        let folders = scratch.user(root).required();
        let fault = folders.scan().await.unwrap_err();
        assert_eq!(fault.code, Code::InvalidArguments);
        let error = bare()
            .source(folders)
            .build()
            .await
            .unwrap_err()
            .to_string();
        assert!(error.contains("root-") && error.contains(root), "{error}");
    }
    // Later it is a failure of the source, whose skills stay.
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let builder = bare().source(scratch.user("skills").required());
    let engine = builder.build().await.unwrap();
    scratch.remove("skills");
    let report = engine.refresh().await.unwrap();
    assert_eq!(report.removed, Vec::<String>::new());
    assert!(report.failed[0].to_string().contains("root-missing"));
}

#[tokio::test]
async fn se4_a_hidden_root_is_read_and_hidden_folders_below_it_are_not() {
    let scratch = Scratch::new();
    scratch.skill(".claude/skills/notes", "notes", "Takes notes.");
    scratch.skill(".claude/skills/.old/gone", "gone", "Hidden.");
    scratch.skill(".claude/skills/node_modules/dep", "dep", "Of a package.");
    let report = scratch.user(".claude/skills").scan().await.unwrap();
    assert_eq!(names(&report), ["notes"]);
    assert!(report.diagnostics.is_empty());
}

#[tokio::test]
async fn se4_a_root_may_be_a_skill_itself() {
    let scratch = Scratch::new();
    scratch.skill("notes", "notes", "Takes notes.");
    scratch.skill("notes/inner", "inner", "A file of it.");
    let report = scratch.user("notes").scan().await.unwrap();
    assert_eq!(names(&report), ["notes"]);
    assert_eq!(
        list(&kinds(&report.diagnostics)),
        ["warning: nested-skill-ignored"]
    );
}

#[tokio::test]
async fn se4_folders_are_entered_six_levels_deep() {
    let scratch = Scratch::new();
    scratch.skill("skills/1/2/3/4/5/six", "six", "Is there.");
    scratch.skill("skills/1/2/3/4/5/6/seven", "seven", "Is not.");
    scratch.put("skills/1/2/3/4/5/6/.hidden/x", "");
    let report = scratch.user("skills").scan().await.unwrap();
    assert_eq!(names(&report), ["six"]);
    let [found] = &report.diagnostics[..] else {
        panic!("{:?}", report.diagnostics);
    };
    assert_eq!(found.kind.to_string(), "warning: scan-depth-limit");
    assert!(found.message.contains("1 folders"), "{found}");
}

#[tokio::test]
async fn se4_which_scope_goes_first_is_a_setting() {
    let scratch = Scratch::new();
    scratch.skill("home/review", "review", "The user's.");
    scratch.skill("project/.agents/skills/review", "review", "The project's.");
    let folders = || {
        let folders = scratch.user("home");
        folders.project(scratch.at("project/.agents/skills"), scratch.at("project"))
    };
    let description = async |folders: SkillFolders| {
        let report = folders.scan().await.unwrap();
        assert_eq!(
            list(&kinds(&report.diagnostics)),
            ["warning: name-collision"]
        );
        assert_eq!(report.shadowed.len(), 1);
        assert_eq!(report.shadowed[0].skill, "review");
        let path = report.shadowed[0].path.clone().unwrap();
        (only(&report).definition().description.to_string(), path)
    };
    let (project, user) = (
        scratch.at("project/.agents/skills/review"),
        scratch.at("home/review"),
    );
    assert_eq!(
        description(folders()).await,
        (
            "The project's.".to_owned(),
            user.to_str().unwrap().to_owned()
        )
    );
    assert_eq!(
        description(folders().precedence_of_scopes(ScopePrecedence::UserFirst)).await,
        (
            "The user's.".to_owned(),
            project.to_str().unwrap().to_owned()
        )
    );
}

#[tokio::test]
async fn se4_nothing_of_a_project_that_is_not_trusted_is_read() {
    let scratch = Scratch::new();
    scratch.skill("project/skills/notes", "notes", "Takes notes.");
    let root = SkillRoot::project(scratch.at("project/skills"), scratch.at("project"));
    let untrusted = SkillFolders::new().root(root.clone().trusted(false));
    let report = untrusted.scan().await.unwrap();
    assert!(report.skills.is_empty());
    assert_eq!(
        list(&kinds(&report.diagnostics)),
        ["warning: project-untrusted"]
    );
    let trusted = SkillFolders::new().root(root.trusted(true));
    assert_eq!(names(&trusted.scan().await.unwrap()), ["notes"]);
}

#[cfg(unix)]
#[tokio::test]
async fn se4_nothing_that_lies_outside_of_a_project_is_read() {
    let scratch = Scratch::new();
    scratch.skill("outside/secret", "secret", "Not of the project.");
    scratch.skill("project/lib/shared", "shared", "Of the project.");
    scratch.skill("project/skills/own", "own", "Of the project.");
    scratch.link("../lib/shared", "project/skills/shared");
    scratch.link("../../outside/secret", "project/skills/secret");
    scratch.link("../../outside", "project/skills/all");
    scratch.link(
        "../../../outside/secret/SKILL.md",
        "project/skills/file/SKILL.md",
    );
    scratch.link("../../lib/shared/SKILL.md", "project/skills/inner/SKILL.md");
    scratch.link("../outside", "project/linked-root");
    let folders = SkillFolders::new()
        .project(scratch.at("project/skills"), scratch.at("project"))
        .project(scratch.at("project/linked-root"), scratch.at("project"))
        .project(scratch.at("outside"), scratch.at("project"));
    let report = folders.scan().await.unwrap();
    // `inner` has the text of `shared`, which says its name.
    assert_eq!(names(&report), ["shared", "own"]);
    let escapes = report
        .diagnostics
        .iter()
        .filter(|it| it.kind.as_str() == "symlink-escape");
    let mut escapes: Vec<_> = escapes.map(|it| it.path.clone()).collect();
    escapes.sort();
    let expected = [
        "outside",
        "project/linked-root",
        "project/skills/all",
        "project/skills/file/SKILL.md",
        "project/skills/secret",
    ];
    assert_eq!(
        escapes,
        expected.map(|path| scratch.at(path).to_str().unwrap().to_owned())
    );
    for diagnostic in &report.diagnostics {
        assert!(!diagnostic.to_string().contains("Not of the project"));
    }
}

#[tokio::test]
async fn se4_a_root_outside_of_its_project_is_told_with_the_project() {
    let scratch = Scratch::new();
    scratch.skill("project/skills/own", "own", "Of the project.");
    scratch.skill("project-b/skills/other", "other", "Of another project.");
    let (skills, project) = (scratch.at("project/skills"), scratch.at("project"));
    let roots = [
        // Swapped.
        (project.clone(), &skills),
        (scratch.at("project-b/skills"), &project),
        (scratch.at("project/../project-b/skills"), &project),
    ];
    for (path, root) in roots {
        let folders = SkillFolders::new().project(&path, root);
        let report = folders.scan().await.unwrap();
        assert!(report.skills.is_empty());
        let [told] = &report.diagnostics[..] else {
            panic!("{:?}", report.diagnostics);
        };
        assert_eq!(told.kind.to_string(), "error: symlink-escape");
        assert_eq!(told.path, path.to_str().unwrap());
        let expected = format!("outside of its project root `{}`", root.display());
        assert!(told.message.contains(&expected), "{told}");
        assert!(told.hint.contains("swapped"), "{told}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn se4_a_link_that_leads_a_root_out_of_its_project_is_told_as_one() {
    let scratch = Scratch::new();
    scratch.skill("outside/skills/own", "own", "Not of the project.");
    scratch.put("project/README.md", "");
    scratch.link("../outside", "project/linked");
    scratch.link("project", "alias");
    for (path, root) in [
        ("project/linked", "project"),
        ("project/linked/skills", "project"),
        ("project/linked/skills", "alias"),
        ("alias/linked/skills", "project"),
    ] {
        let folders = SkillFolders::new().project(scratch.at(path), scratch.at(root));
        let report = folders.scan().await.unwrap();
        let [told] = &report.diagnostics[..] else {
            panic!("{:?}", report.diagnostics);
        };
        assert_eq!(told.kind.to_string(), "error: symlink-escape");
        assert!(told.message.contains("leads out of the project"), "{told}");
        assert!(!told.hint.contains("swapped"), "{told}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn se4_links_of_the_user_are_followed_once_and_never_in_circles() {
    let scratch = Scratch::new();
    scratch.skill("skills/group/notes", "notes", "Takes notes.");
    scratch.skill("elsewhere/tools/lint", "lint", "Lints.");
    scratch.link("../elsewhere/tools", "skills/tools");
    scratch.link("..", "skills/group/up");
    scratch.link("../../skills", "elsewhere/tools/back");
    scratch.link("group", "skills/same");
    scratch.link("loop", "skills/loop");
    scratch.link("nowhere", "skills/gone");
    let report = scratch.user("skills").scan().await.unwrap();
    assert_eq!(names(&report), ["notes", "lint"]);
    let told = report
        .diagnostics
        .iter()
        .map(|it| (it.kind.to_string(), it.path.clone()));
    let mut told: Vec<_> = told.collect();
    told.sort();
    let at = |path: &str| scratch.at(path).to_str().unwrap().to_owned();
    let told: Vec<_> = told
        .iter()
        .map(|(kind, path)| (kind.as_str(), path.clone()))
        .collect();
    assert_eq!(
        told,
        [
            ("warning: link-broken", at("skills/gone")),
            ("warning: link-broken", at("skills/loop")),
            ("warning: symlink-loop", at("skills/group/up")),
            ("warning: symlink-loop", at("skills/tools/back")),
        ]
    );
    // The base directory is the path by which the skill was found.
    let lint = &report.skills[1];
    assert_eq!(
        content(lint).base_dir(),
        scratch.at("skills/tools/lint").to_str()
    );
}

#[tokio::test]
async fn se4_a_folder_that_is_not_looked_into_loses_nothing() {
    let scratch = Scratch::new();
    scratch.skill("skills/group/notes", "notes", "Takes notes.");
    scratch.skill("skills/other", "other", "Stays.");
    let folders = scratch.user("skills");
    assert_eq!(names(&folders.scan().await.unwrap()), ["notes", "other"]);
    scratch.put("skills/group/0", "");
    for number in 1..=100_000 {
        let name = format!("skills/group/{number}");
        std::fs::hard_link(scratch.at("skills/group/0"), scratch.at(&name))
            .or_else(|_| std::fs::write(scratch.at(&name), ""))
            .unwrap();
    }
    let report = folders.scan().await.unwrap();
    assert_eq!(names(&report), ["other", "notes"]);
    assert_eq!(list(&kinds(&report.diagnostics)), ["error: scan-limit"]);
    let [failed] = &report.failed[..] else {
        panic!("{:?}", report.failed);
    };
    assert_eq!(failed.skill.as_deref(), Some("notes"));
    assert!(failed.problems.concat().contains("last good version stays"));
}

#[tokio::test]
async fn se4_strict_turns_what_a_validator_refuses_into_failures() {
    let scratch = Scratch::new();
    scratch.skill("skills/good", "good", "Is as it should be.");
    scratch.skill("skills/other", "another-name", "Is called otherwise.");
    let text = "---\nname: extended\ndescription: Has more keys.\nmodel: small\n---\nBody.\n";
    scratch.put("skills/extended/SKILL.md", text);
    let lenient = scratch.user("skills").scan().await.unwrap();
    assert_eq!(names(&lenient), ["extended", "good", "another-name"]);
    assert!(lenient.failed.is_empty());
    let folders = scratch.user("skills").strict();
    let report = folders.scan().await.unwrap();
    assert_eq!(names(&report), ["good"]);
    let failed: Vec<_> = report.failed.iter().map(ToString::to_string).collect();
    let place = scratch.at("skills/extended/SKILL.md");
    let told = format!(
        "{}:4:1: warning: extension-field: the specification does not have `model`. \
         take out what only clients read, or move it below `metadata`",
        place.to_str().unwrap()
    );
    assert!(failed[0].contains(&told), "{failed:?}");
    assert!(failed[1].contains("name-dir-mismatch"), "{failed:?}");
    assert!(kinds(&lenient.diagnostics).contains("warning: name-dir-mismatch"));
    assert!(!kinds(&lenient.diagnostics).contains("warning: extension-field"));
    let mut diagnostics = report.diagnostics.iter().map(ToString::to_string);
    assert!(diagnostics.any(|it| it == told));
    // One that was good before keeps its last good version.
    scratch.put("skills/good/SKILL.md", main_file("bad", "Is not.", ""));
    let report = folders.scan().await.unwrap();
    assert_eq!(names(&report), ["good"]);
    assert_eq!(report.failed.len(), 3);
}

#[tokio::test]
async fn se4_a_name_that_no_record_could_hold_is_refused() {
    let scratch = Scratch::new();
    scratch.skill("skills/long", &"a".repeat(1_024), "Long, but usable.");
    scratch.skill("skills/longer", &"b".repeat(1_025), "Too long.");
    let report = scratch.user("skills").scan().await.unwrap();
    assert_eq!(names(&report), ["a".repeat(1_024)]);
    let [failed] = &report.failed[..] else {
        panic!("{:?}", report.failed);
    };
    assert!(failed.problems[0].contains("shorter"), "{failed}");
    assert!(failed.to_string().len() < 500, "{failed}");
}

#[cfg(unix)]
#[tokio::test]
async fn se4_more_diagnostics_than_anybody_reads_are_counted() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    for number in 0..10_005 {
        scratch.link("nowhere", &format!("skills/{number}"));
    }
    let report = scratch.user("skills").scan().await.unwrap();
    assert_eq!(names(&report), ["notes"]);
    assert_eq!(report.diagnostics.len(), 10_001);
    let last = report.diagnostics.last().unwrap().to_string();
    assert!(last.contains("5 more diagnostics are left out"), "{last}");
}

#[tokio::test]
async fn se4_no_skill_at_all_is_no_failure() {
    let scratch = Scratch::new();
    scratch.put("skills/README.md", "nothing here");
    let report = scratch.user("skills").scan().await.unwrap();
    assert!(report.skills.is_empty() && report.failed.is_empty() && report.diagnostics.is_empty());
    assert!(SkillFolders::new().load().await.unwrap().is_empty());
}

#[tokio::test]
async fn se4_scans_of_one_source_wait_for_each_other_and_one_given_up_changes_nothing() {
    let scratch = Scratch::new();
    for number in 0..50 {
        let name = format!("skill-{number}");
        scratch.skill(&format!("skills/{name}"), &name, "One of many.");
    }
    let folders = scratch.user("skills");
    let first = folders.scan().await.unwrap();
    let (second, third) = tokio::join!(folders.scan(), folders.scan());
    for (left, right) in second.unwrap().skills.iter().zip(&third.unwrap().skills) {
        assert!(std::sync::Arc::ptr_eq(left, right));
    }
    for _ in 0..20 {
        let scan = std::pin::pin!(folders.scan());
        // Asked once, and then nobody waits for it any more.
        drop(futures_poll(scan).await);
    }
    let last = folders.scan().await.unwrap();
    assert_eq!(last.skills.len(), 50);
    for (left, right) in first.skills.iter().zip(&last.skills) {
        assert!(std::sync::Arc::ptr_eq(left, right));
    }
}

/// Polls a future once.
async fn futures_poll<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    let once = std::future::poll_fn(|cx| {
        let polled = std::pin::Pin::new(&mut future).poll(cx);
        std::task::Poll::Ready(match polled {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    });
    once.await
}
