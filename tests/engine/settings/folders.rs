//! Settings that say which folders are skills.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use skills_engine::Engine;
use skills_engine::engine::settings::{FolderSettings, SettingOrigin, Settings, SettingsSources};
use skills_engine::source::{ScopePrecedence, SkillFolders};
use tests::{answer, bare, session, tools, turn, until};

use super::{Row, TemporaryFile, assert_row, from_file, from_variables, problems};
use crate::folders::scratch::Scratch;

/// The builder's folders come in addition to those of settings, which stay as they are.
pub(super) fn rows() -> Vec<Row> {
    vec![
        row(
            "folders.precedence",
            |settings| match settings.folders.precedence {
                ScopePrecedence::ProjectFirst => "project_first".to_owned(),
                ScopePrecedence::UserFirst => "user_first".to_owned(),
                other => format!("{other:?}"),
            },
            "project_first",
            ("folders.precedence = 'user_first'", "user_first"),
            (
                "SKILLS_ENGINE_FOLDERS__PRECEDENCE",
                "project_first",
                "project_first",
            ),
        ),
        row(
            "folders.project",
            |settings| format!("{:?}", settings.folders.project),
            "[]",
            ("folders.project = ['/none/a']", "[\"/none/a\"]"),
            (
                "SKILLS_ENGINE_FOLDERS__PROJECT",
                "none/a, none/b",
                "[\"none/a\", \"none/b\"]",
            ),
        ),
        row(
            "folders.project_root",
            |settings| settings.folders.project_root.display().to_string(),
            ".",
            ("folders.project_root = '/none'", "/none"),
            ("SKILLS_ENGINE_FOLDERS__PROJECT_ROOT", "none/of", "none/of"),
        ),
        row(
            "folders.required",
            |settings| settings.folders.required.to_string(),
            "false",
            ("folders.required = true", "true"),
            ("SKILLS_ENGINE_FOLDERS__REQUIRED", "false", "false"),
        ),
        row(
            "folders.strict",
            |settings| settings.folders.strict.to_string(),
            "false",
            ("folders.strict = true", "true"),
            ("SKILLS_ENGINE_FOLDERS__STRICT", "false", "false"),
        ),
        row(
            "folders.team.trusted",
            |settings| settings.named_folders["team"].trusted.to_string(),
            "",
            ("folders.team.trusted = false", "false"),
            ("SKILLS_ENGINE_FOLDERS__TEAM__TRUSTED", "true", "true"),
        ),
        row(
            "folders.team.user",
            |settings| format!("{:?}", settings.named_folders["team"].user),
            "",
            ("[folders.team]\nuser = ['/none/b']", "[\"/none/b\"]"),
            (
                "SKILLS_ENGINE_FOLDERS__TEAM__USER",
                "['none,c']",
                "[\"none,c\"]",
            ),
        ),
        row(
            "folders.trusted",
            |settings| settings.folders.trusted.to_string(),
            "true",
            ("folders.trusted = false", "false"),
            ("SKILLS_ENGINE_FOLDERS__TRUSTED", "true", "true"),
        ),
        row(
            "folders.user",
            |settings| format!("{:?}", settings.folders.user),
            "[]",
            ("folders.user = ['/none/./a/']", "[\"/none/a\"]"),
            ("SKILLS_ENGINE_FOLDERS__USER", "none/c", "[\"none/c\"]"),
        ),
        row(
            "folders.watch",
            |settings| settings.folders.watch.to_string(),
            "false",
            ("folders.watch = true", "true"),
            ("SKILLS_ENGINE_FOLDERS__WATCH", "false", "false"),
        ),
    ]
}

fn row(
    key: &'static str,
    read: fn(&Settings) -> String,
    default: &'static str,
    file: (&'static str, &'static str),
    variable: (&'static str, &'static str, &'static str),
) -> Row {
    Row {
        key,
        read,
        default,
        file,
        variable,
        builder: (|builder| builder.source(SkillFolders::new()), ""),
    }
}

/// Settings from a file in a folder.
fn settings(scratch: &Scratch, text: &str) -> Settings {
    scratch.put("skills-engine.toml", text);
    let file = scratch.at("skills-engine.toml");
    SettingsSources::new().file(file).load().unwrap()
}

async fn build(scratch: &Scratch, text: &str) -> Engine {
    let builder = bare().settings(settings(scratch, text));
    builder.build().await.unwrap()
}

fn ids(engine: &Engine) -> Vec<String> {
    let skills = engine.skills().into_iter();
    let ids = skills.map(|skill| skill.definition().id.to_string());
    ids.filter(|id| !matches!(&**id, "psl-skill" | "skill-loader"))
        .collect()
}

fn description(engine: &Engine, id: &str) -> String {
    let registry = engine.registry();
    let skill = registry.get(id).unwrap();
    skill.definition().description.to_string()
}

fn home() -> PathBuf {
    std::env::home_dir().unwrap()
}

#[tokio::test]
async fn se4_an_engine_shows_the_skills_of_the_folders_that_a_file_names() {
    let scratch = Scratch::new();
    scratch.skill(".agents/skills/notes", "notes", "Takes notes.");
    scratch.skill(".claude/skills/deploy", "deploy", "Deploys.");
    let text = "[folders]\nuser = ['.agents/skills']\nproject = ['.claude/skills']\n";
    let engine = build(&scratch, text).await;
    assert_eq!(ids(&engine), ["deploy", "notes"]);
    assert!(engine.report().diagnostics.is_empty());

    let session = session(&engine).await;
    let mut turn = turn(&session).await;
    let view = turn.view().await.unwrap();
    assert!(view.system_prompt().contains("Takes notes."));
    assert_eq!(tools(&view), ["load_skill"]);
    let loaded = answer(&mut turn, "load_skill", r#"{"name":"deploy"}"#).await;
    assert!(loaded.contains("Body of deploy."), "{loaded}");

    let file = scratch.at("skills-engine.toml").display().to_string();
    let report = engine.settings_report();
    for (key, value, line) in [
        (
            "folders.user",
            format!("[\"{}\"]", scratch.at(".agents/skills").display()),
            2,
        ),
        (
            "folders.project",
            format!("[\"{}\"]", scratch.at(".claude/skills").display()),
            3,
        ),
        (
            "folders.project_root",
            scratch.path().display().to_string(),
            3,
        ),
    ] {
        let row = report.row(key).unwrap();
        let place = format!("{file}:{line}");
        assert_eq!((&row.value, row.from.to_string()), (&value, place), "{key}");
    }
}

#[test]
fn se4_relative_paths_begin_where_they_are_written() {
    let scratch = Scratch::new();
    let of_file = settings(
        &scratch,
        "[folders]\nuser = ['a', './b/', '../c', '/d']\nproject_root = '..'\nproject = ['p']\n[folders.team]\nproject = ['p']",
    );
    let at = |path: &str| scratch.path().join(path);
    assert_eq!(
        of_file.folders.user,
        [at("a"), at("b"), at("../c"), PathBuf::from("/d")]
    );
    assert_eq!(of_file.folders.project_root, at(".."));
    let team = &of_file.named_folders["team"];
    assert_eq!(
        (&*team.project, &*team.project_root),
        (&[at("p")][..], scratch.path())
    );

    let of_variables = from_variables([
        ("SKILLS_ENGINE_FOLDERS__USER", "a,/d"),
        ("SKILLS_ENGINE_FOLDERS__PROJECT", "p"),
    ]);
    let folders = of_variables.unwrap().folders;
    assert_eq!(folders.user, [Path::new("a"), Path::new("/d")]);
    assert_eq!(folders.project_root, Path::new("."));

    // A variable over a file brings the folder it is relative to.
    let both = SettingsSources::new()
        .file(scratch.at("skills-engine.toml"))
        .variables([("SKILLS_ENGINE_FOLDERS__TEAM__PROJECT", "p")])
        .load()
        .unwrap();
    let team = &both.named_folders["team"];
    assert_eq!(
        (&*team.project, &*team.project_root),
        (&["p".into()][..], Path::new("."))
    );
}

#[test]
fn se4_a_path_that_begins_with_a_tilde_begins_in_the_home_folder() {
    let text = "folders.user = ['~', '~/', '~/.agents/skills', '~//x', 'a/~', './~ada']";
    let file = TemporaryFile::new(text);
    let settings = SettingsSources::new().file(&file.0).load().unwrap();
    let beside = |path| file.0.parent().unwrap().join(path);
    assert_eq!(
        settings.folders.user,
        [
            home(),
            home(),
            home().join(".agents/skills"),
            home().join("x"),
            beside("a/~"),
            beside("~ada"),
        ]
    );
    let settings = from_variables([("SKILLS_ENGINE_FOLDERS__PROJECT_ROOT", "~/work")]).unwrap();
    assert_eq!(settings.folders.project_root, home().join("work"));
}

#[tokio::test]
async fn se4_folders_of_the_program_go_first_then_the_unnamed_then_others_by_name() {
    let scratch = Scratch::new();
    for (root, names) in [
        ("code", &["a"][..]),
        ("own", &["a", "b"]),
        ("alpha", &["a", "b", "c"]),
        ("beta", &["a", "b", "c", "d"]),
    ] {
        for name in names {
            scratch.skill(&format!("{root}/{name}"), name, &format!("Of {root}."));
        }
    }
    let text = "[folders.beta]\nuser = ['beta']\n[folders.alpha]\nuser = ['alpha']\n[folders]\nuser = ['own']\n";
    let engine = bare()
        .settings(settings(&scratch, text))
        .source(scratch.user("code"))
        .build()
        .await
        .unwrap();
    let descriptions = ["a", "b", "c", "d"].map(|id| description(&engine, id));
    assert_eq!(
        descriptions,
        ["Of code.", "Of own.", "Of alpha.", "Of beta."]
    );
    let shadowed: Vec<_> = engine.report().shadowed.iter().collect();
    assert!(
        shadowed
            .iter()
            .any(|it| it.skill == "c" && it.source == "beta" && it.by.contains("alpha")),
        "{shadowed:?}"
    );
}

#[tokio::test]
async fn se4_a_missing_folder_is_told_and_fails_the_build_where_it_is_required() {
    let scratch = Scratch::new();
    let engine = build(&scratch, "folders.user = ['none']").await;
    let told: Vec<_> = engine.report().diagnostics.iter().collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(told[0].kind.to_string(), "error: root-missing");

    let text = "folders.user = ['none']\nfolders.required = true";
    let err = bare().settings(settings(&scratch, text)).build().await;
    let shown = err.unwrap_err().to_string();
    assert!(shown.starts_with("source `folders`: "), "{shown}");
    let missing = scratch.at("none").display().to_string();
    assert!(
        shown.contains("root-missing") && shown.contains(&missing),
        "{shown}"
    );

    // What is required of one source is not of another.
    let text = "[folders]\nuser = ['none']\n[folders.team]\nuser = ['none']\nrequired = true";
    let err = bare().settings(settings(&scratch, text)).build().await;
    let shown = err.unwrap_err().to_string();
    assert!(shown.starts_with("source `team`: "), "{shown}");
}

#[tokio::test]
async fn se4_trust_precedence_and_strictness_are_settings() {
    let scratch = Scratch::new();
    scratch.skill("home/review", "review", "The user's.");
    scratch.skill("skills/review", "review", "The project's.");
    scratch.skill("home/Odd", "Odd", "Has a capital letter.");
    let both = "folders.user = ['home']\nfolders.project = ['skills']\n";
    for (more, expected, ids_expected) in [
        ("", "The project's.", &["Odd", "review"][..]),
        (
            "folders.precedence = 'user_first'",
            "The user's.",
            &["Odd", "review"],
        ),
        ("folders.trusted = false", "The user's.", &["Odd", "review"]),
        ("folders.strict = true", "The project's.", &["review"]),
    ] {
        let engine = build(&scratch, &format!("{both}{more}")).await;
        assert_eq!(description(&engine, "review"), expected, "{more}");
        assert_eq!(ids(&engine), ids_expected, "{more}");
        let kinds = engine.report().diagnostics.iter();
        let kinds: Vec<_> = kinds.map(|it| it.kind.to_string()).collect();
        let is_told = kinds.contains(&"warning: project-untrusted".to_owned());
        assert_eq!(is_told, more.contains("trusted"), "{kinds:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn se4_no_main_file_of_a_project_lies_outside_of_its_root() {
    let scratch = Scratch::new();
    scratch.skill("elsewhere/deploy", "deploy", "Deploys.");
    scratch.put("project/skills/.keep", "");
    scratch.link(scratch.at("elsewhere/deploy"), "project/skills/deploy");
    for (file, more, expected) in [
        ("project/a.toml", "", &[][..]),
        ("project/b.toml", "folders.project_root = '..'", &["deploy"]),
    ] {
        scratch.put(file, format!("folders.project = ['skills']\n{more}"));
        let settings = SettingsSources::new().file(scratch.at(file)).load();
        let engine = bare().settings(settings.unwrap()).build().await.unwrap();
        assert_eq!(ids(&engine), expected, "{file}");
    }
}

#[tokio::test]
async fn se4_watched_folders_of_settings_refresh_the_engine() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let added = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&added);
    let text = "folders.team = { user = ['skills'], watch = true }";
    let engine = bare()
        .settings(settings(&scratch, text))
        .on_refresh(move |report| kept.lock().unwrap().extend(report.added.clone()))
        .build()
        .await
        .unwrap();
    scratch.skill("skills/deploy", "deploy", "Deploys.");
    until(|| added.lock().unwrap().contains(&"deploy".to_owned())).await;
    assert_eq!(ids(&engine), ["deploy", "notes"]);
}

#[tokio::test]
async fn se4_folders_that_the_program_sets_are_taken_as_they_are() {
    let scratch = Scratch::new();
    scratch.skill("skills/notes", "notes", "Takes notes.");
    let mut settings = Settings::default();
    settings.folders.user.push(scratch.at("skills"));
    let mut team = FolderSettings::default();
    team.user.push(scratch.at("none"));
    settings.named_folders.insert("team".to_owned(), team);
    let engine = bare().settings(settings).build().await.unwrap();
    assert_eq!(ids(&engine), ["notes"]);
    let value = format!("[\"{}\"]", scratch.at("none").display());
    assert_row(
        &engine,
        "folders.team.user",
        &value,
        &SettingOrigin::Builder,
    );
}

#[test]
fn folders_are_written_as_they_are_read() {
    let scratch = Scratch::new();
    let text = "folders.user = ['a']\nfolders.watch = true\n[folders.'my team']\nproject = ['b']\ntrusted = false";
    let before = settings(&scratch, text);
    let written = serde_json::to_string(&before).unwrap();
    let again: Settings = serde_json::from_str(&written).unwrap();
    assert_eq!(again.folders, before.folders);
    assert_eq!(again.named_folders, before.named_folders);

    let mut named = Settings::default();
    named
        .named_folders
        .insert("user".to_owned(), FolderSettings::default());
    let err = serde_json::to_string(&named).unwrap_err();
    assert_eq!(
        err.to_string(),
        "`folders.user` cannot be a source of folders of its own; choose another name"
    );
}

#[cfg(unix)]
#[test]
fn a_path_that_is_no_text_is_not_written() {
    use std::os::unix::ffi::OsStringExt as _;
    let path = std::ffi::OsString::from_vec(b"a\xff".to_vec());
    let mut settings = Settings::default();
    settings.folders.project.push(path.into());
    let err = serde_json::to_string(&settings).unwrap_err();
    let shown = err.to_string();
    assert!(shown.contains("is not UTF-8"), "{shown}");
}

#[test]
fn folders_that_do_not_fit_say_what_to_write() {
    for (text, message) in [
        (
            "folders = ['a']",
            "`folders` cannot be a list; write `folders.user = [\"~/.agents/skills\"]`",
        ),
        (
            "folders.user = 'a'",
            "`folders.user` cannot be `a`; write a list of folders, such as `[\"~/.agents/skills\"]`",
        ),
        (
            "folders.user = ['']",
            "`folders.user` cannot be a list; write a list of folders, such as `[\"~/.agents/skills\"]`",
        ),
        (
            "folders.project_root = ['a']",
            "`folders.project_root` cannot be a list; write the path of a folder, such as `.`",
        ),
        (
            "folders.user = ['~ada/skills']",
            "`folders.user` cannot be `~ada/skills`; write the path of that home folder, or `./~` and the rest for a folder \
             whose name begins so",
        ),
        (
            "folders.trusted = 'yes'",
            "`folders.trusted` cannot be `yes`; write `true` or `false`",
        ),
        (
            "folders.team.precedence = 'user'",
            "`folders.team.precedence` cannot be `user`; write `project_first` or `user_first`",
        ),
        (
            "folders.precedence = 'user-first'",
            "`folders.precedence` cannot be `user-first`; write `project_first` or `user_first` (did you mean `user_first`?)",
        ),
        (
            "folders.users = ['a']",
            "`folders.users` is not a setting; write `folders.user`, or remove it",
        ),
        (
            "folders.team.users = ['a']",
            "`folders.team.users` is not a setting; write `folders.team.user`, or remove it",
        ),
        (
            "folder.user = ['a']",
            "`folder` is not a setting; write `folders`, or remove it",
        ),
        (
            "trusted = true",
            "`trusted` is not a setting; write `folders.trusted`, or remove it",
        ),
        (
            "folders.user = { user = ['a'] }",
            "`folders.user` cannot be a source of folders of its own; choose another name",
        ),
        (
            "folders.'' = { user = ['a'] }",
            "`folders.\"\"` cannot be a source of folders of its own; choose another name",
        ),
    ] {
        let found = problems(from_file(text));
        let messages: Vec<_> = found.iter().map(|(_, message)| &**message).collect();
        assert_eq!(messages, [message], "{text}");
    }
    for (name, value, message) in [
        (
            "SKILLS_ENGINE_FOLDERS__STRICT",
            "1",
            "`folders.strict` cannot be `1`; write `true` or `false`",
        ),
        (
            "SKILLS_ENGINE_FOLDERS__USER",
            "a,,b",
            "`folders.user` cannot be a list; write a list of folders, such as `[\"~/.agents/skills\"]`",
        ),
        (
            "SKILLS_ENGINE_FOLDERS__TEAM__USERS",
            "a",
            "there is no such setting; write `SKILLS_ENGINE_FOLDERS__TEAM__USER`, or remove it",
        ),
        (
            "SKILLS_ENGINE_FOLDERS_USER",
            "a",
            "there is no such setting; write `SKILLS_ENGINE_FOLDERS__USER`, or remove it",
        ),
        (
            "SKILLS_ENGINE_FOLDERS__USER__STRICT",
            "true",
            "`folders.user` cannot be a source of folders of its own; choose another name",
        ),
    ] {
        let err = from_variables([(name, value)]).unwrap_err();
        assert_eq!(err.to_string(), format!("{name}: {message}"));
    }
}

#[test]
fn a_variable_means_the_one_source_of_a_file_that_it_can_mean() {
    let file = TemporaryFile::new("[folders.My-Team]\nuser = ['/none/a']");
    let settings = SettingsSources::new()
        .file(&file.0)
        .variables([("SKILLS_ENGINE_FOLDERS__MY_TEAM__USER", "/none/b")])
        .load()
        .unwrap();
    let users = settings.named_folders.into_iter();
    let users: Vec<_> = users.map(|(name, folders)| (name, folders.user)).collect();
    assert_eq!(
        users,
        [("My-Team".to_owned(), vec![PathBuf::from("/none/b")])]
    );
}
