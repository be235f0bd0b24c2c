//! What a review of skills with bodies and files found: nothing is lost, given away, or told wrongly.

use std::sync::Arc;

use skills_engine::engine::BinaryFiles;
use skills_engine::prompt::{LoadedSkill, Profile};
use skills_engine::session::Role;
use skills_engine::skill::{
    Actor, BoxFuture, Clock as _, Code, Fault, ResourcePart, SkillBuilder, SkillContent,
};
use skills_engine::{Level, Principal};
use tests::{answer, bare, call, open, session, turn};

use super::scratch::{Scratch, main_file};
use crate::made::{Held, tool};
use crate::stage::Stage;

fn deploy(content: Held) -> SkillBuilder {
    let act = tool("act", |_| async { "acted" }).level(Level::Context);
    SkillBuilder::new("deploy").content(content).tool(act)
}

#[tokio::test]
async fn se4_nobody_begins_a_skill_of_which_a_list_or_role_names_single_members() {
    let engine = bare()
        .with_skill(deploy(Held::new("Body.")).build().unwrap())
        .role("most", |role: Role| {
            role.allow("deploy/act", Level::Complete)
        })
        .role("all", |role: Role| role.allow("deploy", Level::Complete))
        .build()
        .await
        .unwrap();
    let by_role = engine.session(Principal::new("ada", ["most"]), "s1").await;
    let by_list = engine.session(Principal::new("ada", ["all"]), "s2").await;
    let (by_role, by_list) = (by_role.unwrap(), by_list.unwrap());
    let begun = by_list.invoke(Actor::User, "deploy", "").await.unwrap();
    assert!(begun.message.contains("Body."));
    by_list.allow(["deploy/act"]).unwrap();
    for session in [by_role, by_list] {
        for actor in [Actor::Model, Actor::User, Actor::Host] {
            let fault = session.invoke(actor, "deploy", "").await.unwrap_err();
            assert_eq!(fault.code, Code::NotPermitted, "{fault}");
            assert!(session.invocable(actor).await.unwrap().is_empty());
        }
    }
}

#[tokio::test]
async fn se4_an_opening_that_took_effect_is_told_whatever_becomes_of_the_body() {
    let engine = bare()
        .with_skill(deploy(Held::new("Body.")).build().unwrap())
        .build()
        .await
        .unwrap();
    let session = session(&engine).await;
    session.allow(["deploy/act"]).unwrap();
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let set = r#"{"skill_id":"deploy","level":"CONTEXT"}"#;
    let told = answer(&mut turn, "psl-skill__set_skill_visibility", set).await;
    assert!(told.contains("deploy__act"), "{told}");
    assert!(told.contains("not for this session"), "{told}");
    assert!(!told.contains("Body."), "{told}");
}

#[tokio::test]
async fn se4_instructions_that_do_not_fit_are_not_given_in_part_nor_counted_as_given() {
    let scratch = Scratch::new();
    let body = format!("{}THE END", "word ".repeat(120_000));
    scratch.put("skills/long/SKILL.md", main_file("long", "Long.", &body));
    // As long as it may be in a result, but not in the JSON of another one.
    let fair = format!("{}THE END", "word ".repeat(40_000));
    scratch.put("skills/fair/SKILL.md", main_file("fair", "Fair.", &fair));
    let engine = bare().source(scratch.user("skills")).build().await;
    let engine = engine.unwrap();
    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    for _ in 0..2 {
        let refused = call(&mut turn, "load_skill", r#"{"name":"long"}"#).await;
        let fault = refused.outcome.as_ref().unwrap_err();
        assert_eq!(fault.code, Code::LimitExceeded);
        assert!(fault.message.contains("and a result holds 262144"));
    }
    // The user's message holds it whole.
    let begun = session.invoke(Actor::User, "long", "").await.unwrap();
    assert!(begun.message.contains("THE END"));

    let set = r#"{"skill_id":"fair","level":"CONTEXT"}"#;
    let told = answer(&mut turn, "psl-skill__set_skill_visibility", set).await;
    assert!(told.contains("too long to stand here. Call load_skill for them"));
    assert!(!told.contains("word"));
    let told = answer(&mut turn, "load_skill", r#"{"name":"fair"}"#).await;
    assert!(told.contains("THE END"));
}

struct Hangs;

impl SkillContent for Hangs {
    fn digest(&self) -> [u8; 32] {
        [7; 32]
    }

    fn body(&self) -> BoxFuture<'_, Result<Arc<str>, Fault>> {
        Box::pin(std::future::pending())
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: u64,
        _: usize,
    ) -> BoxFuture<'a, Result<ResourcePart, Fault>> {
        Box::pin(std::future::pending())
    }
}

#[tokio::test]
async fn se4_a_view_waits_for_all_bodies_no_longer_than_its_deadline() {
    // More than are read side by side.
    const COUNT: usize = 100;
    let stage = Stage::with(0, |builder| {
        let builder = (0..COUNT).fold(builder, |builder, at| {
            let skill = SkillBuilder::new(format!("h{at}")).content(Hangs);
            builder.with_skill(skill.build().unwrap())
        });
        let last = SkillBuilder::new("last").content(Held::new("Comes at once."));
        builder.with_skill(last.build().unwrap())
    })
    .await;
    let session = stage.session("s").await;
    for at in 0..COUNT {
        open(&session, &format!("h{at}"), Level::Context).await;
    }
    open(&session, "last", Level::Context).await;
    let mut turn = turn(&session).await;
    let before = stage.clock.now();
    let view = stage.while_time_passes(turn.view()).await.unwrap();
    let took = stage.clock.now().0 - before.0;
    assert!(took <= 2_500, "{took} ms");
    let prompt = view.system_prompt();
    assert!(prompt.contains("`h0` cannot be read: it took too long"));
    assert!(prompt.contains("Comes at once."));
}

#[tokio::test]
async fn se4_a_path_is_read_as_it_is_listed() {
    let scratch = Scratch::new();
    scratch.put("skills/deploy/SKILL.md", main_file("deploy", "D", "B"));
    let names = ["R&D.md", "a  b.md", "x<y>.md", "z.md"];
    for name in names {
        scratch.put(&format!("skills/deploy/{name}"), name);
    }
    let engine = bare().source(scratch.user("skills")).build().await;
    let session = session(&engine.unwrap()).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let loaded = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    turn.view().await.unwrap();
    let listed = loaded.lines().filter_map(|line| line.strip_prefix("- "));
    let listed: Vec<_> = listed.collect();
    assert_eq!(listed.len(), names.len());
    for (path, name) in listed.iter().chain(&names).zip(names.iter().cycle()) {
        let arguments = serde_json::json!({ "skill": "deploy", "path": path });
        let read = answer(&mut turn, "read_skill_resource", &arguments.to_string()).await;
        assert_eq!(read, *name, "{path}");
    }

    // Two that are listed alike are told apart by their own paths alone.
    scratch.put("skills/deploy/a b.md", "single");
    scratch.put("skills/deploy/c  d.md", "two blanks");
    scratch.put("skills/deploy/c   d.md", "three blanks");
    let engine = bare().source(scratch.user("skills")).build().await;
    let session = tests::session(&engine.unwrap()).await;
    open(&session, "deploy", Level::Context).await;
    let mut turn = tests::turn(&session).await;
    turn.view().await.unwrap();
    let single = r#"{"skill":"deploy","path":"a b.md"}"#;
    assert_eq!(
        answer(&mut turn, "read_skill_resource", single).await,
        "single"
    );
    let either = r#"{"skill":"deploy","path":"c d.md"}"#;
    let refused = call(&mut turn, "read_skill_resource", either).await;
    let fault = refused.outcome.as_ref().unwrap_err();
    assert_eq!(fault.code, Code::InvalidArguments, "{fault}");
}

async fn part(binary: BinaryFiles, path: &str, offset: u64, limit: u64) -> String {
    let text = "\u{e9}\u{e9}\u{20ac}";
    let content = Held::new("B").file("text.md", text);
    let content = content.file("bytes.bin", vec![0_u8, 255, 1, 2, 3, 4, 5, 6]);
    let engine = bare()
        .binary_files(binary)
        .with_skill(deploy(content).build().unwrap());
    let session = session(&engine.build().await.unwrap()).await;
    open(&session, "deploy", Level::Context).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let arguments =
        format!(r#"{{"skill":"deploy","path":"{path}","offset":{offset},"limit":{limit}}}"#);
    answer(&mut turn, "read_skill_resource", &arguments).await
}

#[tokio::test]
async fn se4_a_part_of_a_file_has_at_least_one_character_wherever_it_begins_and_ends() {
    for (offset, limit, expected) in [
        (
            0,
            1,
            "\u{e9}\u{e9}\n[bytes 0 to 4 of 7; go on with offset 4]",
        ),
        (1, 100, "\u{e9}\u{20ac}\n[bytes 2 to 7 of 7]"),
        (4, 2, "\u{20ac}\n[bytes 4 to 7 of 7]"),
        (5, 2, "[nothing there: the file has 7 bytes]"),
        (7, 2, "[nothing there: the file has 7 bytes]"),
    ] {
        let told = part(BinaryFiles::Refuse, "text.md", offset, limit).await;
        assert_eq!(told, expected, "{offset} {limit}");
    }
    let told = part(BinaryFiles::Base64, "bytes.bin", 0, 1).await;
    assert!(
        told.ends_with("\n[bytes 0 to 3 of 8; go on with offset 3]"),
        "{told}"
    );
    let told = part(BinaryFiles::Base64, "text.md", 0, 0).await;
    assert!(
        told.starts_with("invalid_arguments: `limit` must be"),
        "{told}"
    );
}

#[tokio::test]
async fn se4_a_profile_without_arguments_takes_none() {
    let engine = bare()
        .profile(Profile::spring())
        .with_skill(deploy(Held::new("B")).build().unwrap());
    let session = session(&engine.build().await.unwrap()).await;
    let mut turn = turn(&session).await;
    turn.view().await.unwrap();
    let arguments = r#"{"command":"deploy","":"more"}"#;
    let told = answer(&mut turn, "Skill", arguments).await;
    assert!(told.starts_with("invalid_arguments: "), "{told}");
}

#[tokio::test]
async fn se4_arguments_have_the_names_of_the_header_however_it_lists_them() {
    for names in [
        "env, region",
        "env region",
        "[env, region]",
        "\n- env\n- region",
    ] {
        let scratch = Scratch::new();
        let text = format!(
            "---\nname: deploy\ndescription: D\narguments: {names}\n---\nTo $env in $region.\n"
        );
        scratch.put("skills/deploy/SKILL.md", text);
        let engine = bare().source(scratch.user("skills")).build().await;
        let session = session(&engine.unwrap()).await;
        let begun = session.invoke(Actor::User, "deploy", "prod eu").await;
        let message = begun.unwrap().message;
        assert!(message.contains("To prod in eu."), "{names}: {message}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn se4_what_is_told_of_a_folder_stands_on_one_line_without_control_characters() {
    let scratch = Scratch::new();
    let broken = "---\nname: [broken\n---\n";
    scratch.put("skills/a\u{1b}[2J\nerror: forged/SKILL.md", broken);
    for folder in ["b\u{1b}[2J", "c\u{1b}[2J"] {
        let text = main_file("same", "D", "B");
        scratch.put(&format!("skills/{folder}/SKILL.md"), text);
    }
    let report = scratch.user("skills").scan().await.unwrap();
    let diagnostics = report.diagnostics.iter().map(ToString::to_string);
    let failed = report.failed.iter().map(ToString::to_string);
    let shadowed = report.shadowed.iter().map(ToString::to_string);
    let lines: Vec<_> = diagnostics.chain(failed).chain(shadowed).collect();
    assert!(lines.len() >= 4, "{lines:?}");
    for line in lines {
        assert!(!line.contains(char::is_control), "{line:?}");
    }
    // The path itself is as it is, so that a program finds the folder.
    assert!(report.failed[0].path.as_ref().unwrap().contains('\u{1b}'));
}

#[test]
fn se4_a_json_envelope_escapes_each_mark_of_a_text_without_letters() {
    // In the square of its length this would take minutes.
    for one in ["<", "\u{200b}"] {
        let body = one.repeat(1_000_000);
        let told = Profile::dawn().loaded(&LoadedSkill::new("a", "b", &body));
        let escape = if one == "<" { "\\u003c" } else { "\\u200b" };
        assert_eq!(told.matches(escape).count(), 1_000_000);
    }
    let told = Profile::dawn().loaded(&LoadedSkill::new("a", "b", "1 < 2, a<b"));
    assert!(told.contains("1 < 2, a<b"), "{told}");
}
