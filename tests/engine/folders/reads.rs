//! Files of a skill are read below its folder, and nothing else is.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use skills_engine::Level;
use skills_engine::skill::Code;
use skills_engine::source::FolderSkill;

use super::scratch::{Scratch, content, kinds, main_file, only, resources};

/// A skill with some files.
async fn notes(scratch: &Scratch) -> Arc<FolderSkill> {
    scratch.skill("skills/notes", "notes", "Takes notes.");
    scratch.put("skills/notes/references/api.md", "0123456789");
    scratch.put("skills/notes/references/empty.md", "");
    scratch.put("skills/notes/scripts/run.sh", "#!/bin/sh\n");
    scratch.put("secret.txt", "not yours");
    let report = scratch.user("skills").scan().await.unwrap();
    Arc::clone(only(&report))
}

async fn read(skill: &Arc<FolderSkill>, path: &str) -> Result<String, (Code, String)> {
    match content(skill).read(path, 0, 1 << 20).await {
        Ok(part) => Ok(String::from_utf8(part.bytes).unwrap()),
        Err(fault) => Err((fault.code, fault.message)),
    }
}

#[tokio::test]
async fn se4_listed_files_are_read_in_parts() {
    let scratch = Scratch::new();
    let skill = notes(&scratch).await;
    assert_eq!(
        resources(&skill),
        ["references/api.md", "references/empty.md", "scripts/run.sh"]
    );
    let part = async |offset, limit| {
        let part = content(&skill)
            .read("references/api.md", offset, limit)
            .await;
        let part = part.unwrap();
        assert_eq!((part.offset, part.total), (offset, 10));
        let next = part.next_offset();
        (String::from_utf8(part.bytes).unwrap(), next)
    };
    assert_eq!(part(0, 4).await, ("0123".to_owned(), Some(4)));
    assert_eq!(part(4, 100).await, ("456789".to_owned(), None));
    assert_eq!(part(10, 4).await, (String::new(), None));
    assert_eq!(part(u64::MAX, usize::MAX).await, (String::new(), None));
    assert_eq!(part(2, 0).await, (String::new(), Some(2)));
    assert_eq!(read(&skill, "references/empty.md").await, Ok(String::new()));
    // What it is now is what is read.
    scratch.put("skills/notes/references/api.md", "new");
    assert_eq!(
        read(&skill, "references/api.md").await,
        Ok("new".to_owned())
    );
}

#[tokio::test]
async fn se4_no_more_than_four_mebibytes_are_read_at_once() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    scratch.put("skills/notes/assets/big.bin", vec![7; 5 << 20]);
    let report = scratch.user("skills").scan().await.unwrap();
    let content = content(only(&report));
    let part = content.read("assets/big.bin", 0, usize::MAX).await.unwrap();
    assert_eq!(part.bytes.len(), 4 << 20);
    assert_eq!((part.total, part.next_offset()), (5 << 20, Some(4 << 20)));
}

#[tokio::test]
async fn se4_paths_that_no_list_has_are_refused_each_with_its_reason() {
    let scratch = Scratch::new();
    let skill = notes(&scratch).await;
    scratch.put("skills/notes/references/later.md", "came later");
    let secret = scratch.at("secret.txt");
    let rows = [
        ("", "is empty"),
        ("references/api.md\0.txt", "NUL"),
        ("\0", "NUL"),
        ("/etc/passwd", "absolute path"),
        (secret.to_str().unwrap(), "absolute path"),
        ("//etc/passwd", "absolute path"),
        ("C:/Windows/win.ini", "drive letter"),
        ("c:secret.txt", "drive letter"),
        ("..\\..\\secret.txt", "backslash"),
        ("references\\api.md", "backslash"),
        ("%2e%2e/secret.txt", "percent-encoded"),
        ("..%2Fsecret.txt", "percent-encoded"),
        ("%2E%2E%5csecret.txt", "percent-encoded"),
        ("../../secret.txt", "`..`"),
        ("../../etc/passwd", "`..`"),
        ("references/../../../secret.txt", "`..`"),
        ("references/../references/api.md", "`..`"),
        ("./references/api.md", "empty or `.`"),
        ("references//api.md", "empty or `.`"),
        ("references/", "empty or `.`"),
        ("SKILL.md", "the skill itself"),
        ("references", "is a folder"),
        ("references/none.md", "does not exist"),
        ("none/none.md", "does not exist"),
        ("references/api.md/more", "leads through a file"),
        ("references/later.md", "not one of the files"),
        ("References/api.md", "does not exist"),
    ];
    for (path, reason) in rows {
        if path == "References/api.md" && scratch.at("skills/notes/References").exists() {
            continue; // this file system does not tell case
        }
        let (code, message) = read(&skill, path).await.unwrap_err();
        assert_eq!(code, Code::InvalidArguments, "{path:?}: {message}");
        assert!(message.contains(reason), "{path:?}: {message}");
        assert!(!message.contains('\0'), "{path:?}: {message}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn se4_links_are_listed_where_they_stay_inside_and_refused_where_they_do_not() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    scratch.put("skills/notes/references/api.md", "inside");
    scratch.put("skills/notes/scripts/run.sh", "#!/bin/sh\n");
    scratch.put("skills/notes/.git/config", "token");
    scratch.put("skills/other/file.md", "of another skill");
    scratch.put("secret.txt", "not yours");
    scratch.link("references/api.md", "skills/notes/api.md");
    scratch.link("scripts/run.sh", "skills/notes/readme");
    scratch.link(".git/config", "skills/notes/config");
    scratch.link("../../secret.txt", "skills/notes/out.txt");
    scratch.link(scratch.at("secret.txt"), "skills/notes/absolute.txt");
    scratch.link("../other", "skills/notes/sibling");
    scratch.link("nowhere", "skills/notes/broken");
    scratch.link("references", "skills/notes/docs");
    let report = scratch.user("skills").scan().await.unwrap();
    let skill = only(&report);
    assert_eq!(
        resources(skill),
        ["api.md", "readme", "references/api.md", "scripts/run.sh"]
    );
    let found = kinds(&report.diagnostics);
    let found: Vec<_> = found.iter().map(String::as_str).collect();
    assert_eq!(found, ["warning: link-broken", "warning: resource-escape"]);
    assert_eq!(report.diagnostics.len(), 4, "{:?}", report.diagnostics);
    assert_eq!(read(skill, "api.md").await, Ok("inside".to_owned()));
    // Another name does not make a script a text.
    let readme = &content(skill).resources()[1];
    assert_eq!(readme.level(), Level::Complete);
    for path in [
        "out.txt",
        "absolute.txt",
        "sibling/file.md",
        "docs/api.md",
        "config",
    ] {
        let (code, message) = read(skill, path).await.unwrap_err();
        assert_eq!(code, Code::InvalidArguments, "{path}: {message}");
        assert!(message.contains("is a link"), "{path}: {message}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn se4_a_file_that_became_something_else_after_it_was_listed_is_refused() {
    let scratch = Scratch::new();
    let skill = notes(&scratch).await;
    let refused = async |path: &str, reason: &str| {
        let (code, message) = read(&skill, path).await.unwrap_err();
        assert_eq!(code, Code::Conflict, "{message}");
        assert!(message.contains(reason), "{message}");
    };
    let api = "skills/notes/references/api.md";
    scratch.remove(api);
    refused("references/api.md", "is gone").await;
    scratch.link("../../../secret.txt", api);
    refused("references/api.md", "is a link now").await;
    // Not even a link to what is inside is followed.
    scratch.remove(api);
    scratch.link("empty.md", api);
    refused("references/api.md", "is a link now").await;
    scratch.remove(api);
    scratch.put(&format!("{api}/x"), "");
    refused("references/api.md", "is a folder now").await;
    // A folder on the way is not followed either.
    scratch.put("elsewhere/run.sh", "not yours");
    scratch.remove("skills/notes/scripts");
    scratch.link("../../elsewhere", "skills/notes/scripts");
    refused("scripts/run.sh", "is a link now, or leads through one").await;
    // Nor does the skill's folder itself lead elsewhere.
    fs::rename(scratch.at("skills/notes"), scratch.at("old")).unwrap();
    scratch.put("skills/notes/references/empty.md", "another");
    refused("references/empty.md", "not the one that was listed").await;
    scratch.remove("skills/notes");
    scratch.link("../old", "skills/notes");
    let again = read(&skill, "references/empty.md").await;
    assert_eq!(again, Ok(String::new()), "it is the very same folder");
    scratch.remove("skills/notes");
    refused("references/empty.md", "not the one that was listed").await;
}

#[cfg(unix)]
#[tokio::test]
async fn se4_pipes_and_sockets_are_neither_listed_nor_waited_for() {
    let scratch = Scratch::new();
    let make = |path: &str| {
        let status = std::process::Command::new("mkfifo")
            .arg(scratch.at(path))
            .status();
        assert!(status.unwrap().success());
    };
    scratch.skill("skills/notes", "notes", "Takes notes.");
    scratch.put("skills/notes/api.md", "api");
    make("skills/notes/pipe");
    let socket = std::os::unix::net::UnixListener::bind(scratch.at("skills/notes/socket"));
    fs::create_dir_all(scratch.at("skills/piped")).unwrap();
    make("skills/piped/SKILL.md");
    scratch.link("../../pipe", "skills/linked/SKILL.md");
    make("pipe");
    let hang_guard = Duration::from_secs(60);
    let folders = scratch.user("skills");
    let report = tokio::time::timeout(hang_guard, folders.scan()).await;
    let report = report.expect("nothing waits for a writer").unwrap();
    let skill = only(&report);
    assert_eq!(resources(skill), ["api.md"]);
    let found = kinds(&report.diagnostics);
    let found: Vec<_> = found.iter().map(String::as_str).collect();
    assert_eq!(
        found,
        ["error: skill-md-not-file", "warning: resource-unreadable"]
    );
    assert_eq!(report.failed.len(), 2, "{:?}", report.failed);
    let (_, message) = read(skill, "pipe").await.unwrap_err();
    assert!(
        message.contains("is a pipe, a socket or a device"),
        "{message}"
    );
    scratch.remove("skills/notes/api.md");
    make("skills/notes/api.md");
    let reading = tokio::time::timeout(hang_guard, read(skill, "api.md")).await;
    let (code, message) = reading.expect("nothing waits for a writer").unwrap_err();
    assert_eq!(code, Code::Conflict, "{message}");
    drop(socket);
}

#[tokio::test]
async fn se4_a_body_that_was_not_kept_is_read_again_and_must_be_the_same() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let folders = scratch.user("skills").kept_bodies(0);
    let report = folders.scan().await.unwrap();
    let skill = Arc::clone(only(&report));
    assert_eq!(&*content(&skill).body().await.unwrap(), "Body of notes.");
    // The header is not the body.
    let same_body = main_file("notes", "Takes many notes.", "Body of notes.");
    scratch.put("skills/notes/SKILL.md", same_body);
    assert_eq!(&*content(&skill).body().await.unwrap(), "Body of notes.");
    let other = main_file("notes", "Takes notes.", "Another body.");
    scratch.put("skills/notes/SKILL.md", other);
    let fault = content(&skill).body().await.unwrap_err();
    assert_eq!(fault.code, Code::Conflict);
    assert!(
        fault.message.contains("changed since it was listed"),
        "{fault}"
    );
    let report = folders.scan().await.unwrap();
    assert_eq!(
        &*content(only(&report)).body().await.unwrap(),
        "Another body."
    );
    scratch.remove("skills/notes/SKILL.md");
    let fault = content(only(&report)).body().await.unwrap_err();
    assert_eq!(fault.code, Code::Conflict, "{fault}");
}

#[tokio::test]
async fn se4_bodies_are_kept_up_to_a_bound_and_room_comes_back_with_them() {
    let scratch = Scratch::new();
    let body = "x".repeat(100);
    for name in ["a", "b"] {
        let text = main_file(name, "A skill.", &body);
        scratch.put(&format!("skills/{name}/SKILL.md"), text);
    }
    let folders = scratch.user("skills").kept_bodies(150);
    let is_kept = async |report: &skills_engine::source::FolderReport, name: &str| {
        let main = format!("skills/{name}/SKILL.md");
        let aside = scratch.at("aside");
        fs::rename(scratch.at(&main), &aside).unwrap();
        let mut skills = report.skills.iter();
        let skill = skills.find(|skill| skill.path().ends_with(name)).unwrap();
        let body = content(skill).body().await;
        fs::rename(aside, scratch.at(&main)).unwrap();
        body.is_ok()
    };
    let first = folders.scan().await.unwrap();
    let kept = [is_kept(&first, "a").await, is_kept(&first, "b").await];
    assert_eq!(kept.iter().filter(|kept| **kept).count(), 1);
    // Once nobody holds the one that was kept, there is room for another.
    let (gone, stays) = if kept[0] { ("a", "b") } else { ("b", "a") };
    scratch.remove(&format!("skills/{gone}"));
    drop(first);
    drop(folders.scan().await.unwrap());
    let longer = main_file(stays, "A skill.", &"y".repeat(120));
    scratch.put(&format!("skills/{stays}/SKILL.md"), longer);
    let second = folders.scan().await.unwrap();
    assert!(is_kept(&second, stays).await);
}
