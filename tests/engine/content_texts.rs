//! Content held in memory: its digest and files, paths that are refused, and skills made of it in an engine.

use skills_engine::skill::{Actor, Code, ResourceKind, SkillBuilder, SkillContent, TextContent};
use skills_engine::source::Instances;
use skills_engine::{Engine, Level};
use tests::{answer, bare, open, session, turn};

/// SHA-256 of "abc", as FIPS 180-2 gives it.
const ABC: [u8; 32] = [
    0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40, 0xde, 0x5d, 0xae, 0x22, 0x23,
    0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17, 0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad,
];

fn full() -> TextContent {
    TextContent::new("Deploy $service to $environment.\n")
        .argument_names(["service", "environment"])
        .file("scripts/run.sh", "#!/bin/sh\n".as_bytes())
        .unwrap()
        .file("assets/logo.png", *b"\x89PNG\0\xff")
        .unwrap()
        .file("a/b/guide.md", b"0123456789".to_vec())
        .unwrap()
}

async fn built(skill: SkillBuilder) -> Engine {
    let engine = bare().with_skill(skill.build().unwrap()).build().await;
    engine.unwrap()
}

#[tokio::test]
async fn the_digest_is_that_of_the_body_alone() {
    let content = TextContent::new("abc");
    assert_eq!(content.digest(), ABC);
    assert_eq!(&*content.body().await.unwrap(), "abc");
    let with_file = content.file("notes.md", b"more".to_vec()).unwrap();
    assert_eq!(with_file.digest(), ABC);
    assert_ne!(TextContent::new("abc ").digest(), ABC);
}

#[test]
fn files_stand_by_path_with_size_and_kind() {
    let content = full();
    let listed: Vec<_> = content
        .resources()
        .iter()
        .map(|file| (&*file.path, file.size, file.kind))
        .collect();
    assert_eq!(
        listed,
        [
            ("a/b/guide.md", 10, ResourceKind::Other),
            ("assets/logo.png", 6, ResourceKind::Asset),
            ("scripts/run.sh", 10, ResourceKind::Script),
        ]
    );
    assert_eq!(content.total_resources(), 3);
    let names = SkillContent::argument_names(&content);
    assert_eq!(names, ["service", "environment"]);
    assert_eq!(content.base_dir(), None);
}

#[tokio::test]
async fn a_file_is_read_by_its_exact_path_from_an_offset_up_to_a_limit() {
    let content = full();
    let path = "a/b/guide.md";
    for (offset, limit, bytes, next) in [
        (0, 4, "0123", Some(4)),
        (4, 4, "4567", Some(8)),
        (8, 4, "89", None),
        (0, usize::MAX, "0123456789", None),
        (3, 0, "", Some(3)),
        (10, 4, "", None),
        (u64::MAX, usize::MAX, "", None),
    ] {
        let part = content.read(path, offset, limit).await.unwrap();
        assert_eq!(part.bytes, bytes.as_bytes(), "{offset} {limit}");
        assert_eq!((part.offset, part.total), (offset, 10));
        assert_eq!(part.next_offset(), next, "{offset} {limit}");
    }
    let binary = content.read("assets/logo.png", 0, 64).await.unwrap();
    assert_eq!(binary.bytes, b"\x89PNG\0\xff");
    for other in [
        "",
        "a",
        "a/b",
        "guide.md",
        "/a/b/guide.md",
        "./a/b/guide.md",
        "a/../a/b/guide.md",
        "a//b/guide.md",
        "a\\b\\guide.md",
        "A/B/guide.md",
        "a/b/guide.md/",
        "a/b/guide.md\0",
    ] {
        let refused = content.read(other, 0, 64).await.unwrap_err();
        assert_eq!(refused.code, Code::InvalidArguments, "{other:?}");
    }
}

#[test]
fn a_path_that_does_not_lead_down_to_a_file_is_refused() {
    for (path, problem) in [
        ("", "is empty"),
        ("/etc/passwd", "is not relative"),
        ("../secret", "has `.` or `..` in it"),
        ("a/../b", "has `.` or `..` in it"),
        ("./a", "has `.` or `..` in it"),
        ("a//b", "has an empty part"),
        ("a/", "has an empty part"),
        ("a\\b", "has a backslash in it"),
        ("a\0b", "has a NUL in it"),
    ] {
        let refused = TextContent::new("").file(path, Vec::new()).unwrap_err();
        assert_eq!(refused.code, Code::InvalidArguments, "{path:?}");
        assert!(refused.message.contains(problem), "{refused}");
        let advice = "Give the path below the skill with `/`, such as `references/hosts.md`";
        assert!(refused.message.ends_with(advice), "{refused}");
        assert!(!refused.message.contains('\0'));
    }
    for path in ["a", "..a/b..", "...", ".env", "ä b/ß.md"] {
        let content = TextContent::new("").file(path, Vec::new()).unwrap();
        assert_eq!(&*content.resources()[0].path, path);
    }
    let twice = full().file("scripts/run.sh", Vec::new()).unwrap_err();
    assert_eq!(
        twice.message,
        "`scripts/run.sh` is the path of two files. Rename one"
    );
}

#[test]
fn its_debug_form_shows_neither_body_nor_files() {
    let content = TextContent::new("the word is swordfish")
        .file("code.txt", b"swordfish".to_vec())
        .unwrap();
    let shown = format!("{content:?}");
    assert!(shown.contains("code.txt"), "{shown}");
    assert!(!shown.contains("swordfish"), "{shown}");
}

#[tokio::test]
async fn a_model_loads_the_body_and_reads_the_files_and_the_user_begins_it() {
    let skill = SkillBuilder::new("deploy").content(full());
    let engine = built(skill).await;
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let arguments = r#"{"name": "deploy", "args": "shop staging"}"#;
    let loaded = answer(&mut turn, "load_skill", arguments).await;
    assert!(loaded.contains("Deploy shop to staging."), "{loaded}");
    assert!(loaded.contains("a/b/guide.md"), "{loaded}");
    turn.view().await.unwrap();
    let arguments = r#"{"skill": "deploy", "path": "a/b/guide.md", "offset": 8}"#;
    let read = answer(&mut turn, "read_skill_resource", arguments).await;
    assert!(read.contains("89") && !read.contains("012"), "{read}");

    let begun = session.invoke(Actor::User, "deploy", "till live").await;
    let begun = format!("{:?}", begun.unwrap());
    assert!(begun.contains("Deploy till to live."), "{begun}");
}

#[tokio::test]
async fn the_short_form_sets_a_body_that_is_given_again_once_it_changed() {
    let review = |body: &str| {
        let skill = SkillBuilder::new("review").body(body);
        skill.build().unwrap()
    };
    let instances = Instances::new();
    instances.insert(review("Read it twice."));
    let engine = bare().source(instances.clone()).build().await.unwrap();
    let session = session(&engine).await;
    for (body, is_new) in [
        ("Read it twice.", true),
        ("Read it twice.", false),
        ("Read it aloud.", true),
    ] {
        instances.insert(review(body));
        let mut turn = turn(&session).await;
        turn.view().await.unwrap();
        let loaded = answer(&mut turn, "load_skill", r#"{"name": "review"}"#).await;
        assert_eq!(loaded.contains(body), is_new, "{loaded}");
        turn.finish().await.unwrap();
    }
}

#[tokio::test]
async fn a_body_stands_in_the_prompt_of_a_skill_that_the_host_opened() {
    let engine = built(SkillBuilder::new("review").body(String::from("Read it twice."))).await;
    let session = session(&engine).await;
    let mut before = turn(&session).await;
    let view = before.view().await.unwrap();
    assert!(!view.system_prompt().contains("Read it twice."));
    before.finish().await.unwrap();
    open(&session, "review", Level::Context).await;
    let mut after = turn(&session).await;
    let view = after.view().await.unwrap();
    assert!(view.system_prompt().contains("Read it twice."));
}
