//! Settings from outside of the program: what wins, what it changes, and what is said of it.

mod effects;
mod files;
mod folders;
mod loading;
mod mistakes;
mod secrets;

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use skills_engine::audit::AuditKey;
use skills_engine::engine::EngineBuilder;
use skills_engine::engine::settings::{
    LinkedSetting, SecretText, SettingOrigin, SettingRow, Settings, SettingsError, SettingsSources,
};
use skills_engine::session::PslControl;
use skills_engine::skill::Limits;
use skills_engine::source::Linked;
use skills_engine::{Engine, Level};
use tests::bare;

use crate::made::{skill, tool};

/// A file that is gone with its value.
struct TemporaryFile(PathBuf);

impl TemporaryFile {
    fn new(content: impl AsRef<[u8]>) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("skills-engine-{}-{number}.toml", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, content).unwrap();
        Self(path)
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn from_file(content: impl AsRef<[u8]>) -> Result<Settings, SettingsError> {
    let file = TemporaryFile::new(content);
    SettingsSources::new().file(&file.0).load()
}

fn from_variables<V: Into<OsString>>(
    variables: impl IntoIterator<Item = (&'static str, V)>,
) -> Result<Settings, SettingsError> {
    SettingsSources::new().variables(variables).load()
}

/// What is wrong, each with its key and without its place.
fn problems(result: Result<Settings, SettingsError>) -> Vec<(Option<String>, String)> {
    let problems = match result {
        Ok(_) => return Vec::new(),
        Err(err) => err.problems().to_vec(),
    };
    problems
        .into_iter()
        .map(|problem| (problem.key, problem.message))
        .collect()
}

/// A setting with a value from every source.
struct Row {
    key: &'static str,
    /// The value in the settings themselves.
    read: fn(&Settings) -> String,
    default: &'static str,
    file: (&'static str, &'static str),
    variable: (&'static str, &'static str, &'static str),
    /// The value is empty where the builder adds to what was set.
    builder: (fn(EngineBuilder) -> EngineBuilder, &'static str),
}

macro_rules! limits {
    ($($written:ident $field:ident: $key:literal $variable:literal $default:literal,)*) => {
        fn limits() -> Vec<Row> {
            vec![$(Row {
                key: $key,
                read: |settings| $written!(read settings.limits.$field),
                default: $default,
                file: (concat!($key, " = ", $written!(file)), $written!(file text)),
                variable: ($variable, $written!(variable), $written!(variable)),
                builder: (
                    |builder| {
                        let mut limits = Limits::default();
                        limits.$field = $written!(builder);
                        builder.limits(limits)
                    },
                    $written!(builder text),
                ),
            },)*]
        }
    };
}

macro_rules! count {
    (file) => {
        "1_101"
    };
    (file text) => {
        "1101"
    };
    (variable) => {
        "1202"
    };
    (builder) => {
        1303
    };
    (builder text) => {
        "1303"
    };
    (read $value:expr) => {
        $value.to_string()
    };
}

macro_rules! time {
    (file) => {
        r#""1100s""#
    };
    (file text) => {
        "1100s"
    };
    (variable) => {
        "1250ms"
    };
    (builder) => {
        Duration::from_secs(7_200)
    };
    (builder text) => {
        "2h"
    };
    (read $value:expr) => {
        milliseconds($value)
    };
}

fn milliseconds(time: Duration) -> String {
    match time.as_millis() {
        1_100_000 => "1100s".to_owned(),
        1_250 => "1250ms".to_owned(),
        7_200_000 => "2h".to_owned(),
        other => other.to_string(),
    }
}

limits! {
    time lazy_timeout: "lazy_timeout" "SKILLS_ENGINE_LAZY_TIMEOUT" "500ms",
    time view_deadline: "view_deadline" "SKILLS_ENGINE_VIEW_DEADLINE" "2s",
    count max_string_length: "max_string_length" "SKILLS_ENGINE_MAX_STRING_LENGTH" "2048",
    time session_idle: "session_idle" "SKILLS_ENGINE_SESSION_IDLE" "24h",
    count arguments: "limits.arguments" "SKILLS_ENGINE_LIMITS__ARGUMENTS" "1048576",
    count result: "limits.result" "SKILLS_ENGINE_LIMITS__RESULT" "262144",
    count attribute: "limits.attribute" "SKILLS_ENGINE_LIMITS__ATTRIBUTE" "16384",
    count view_attributes: "limits.view_attributes" "SKILLS_ENGINE_LIMITS__VIEW_ATTRIBUTES" "262144",
    count restated: "limits.restated" "SKILLS_ENGINE_LIMITS__RESTATED" "2000",
    count reason: "limits.reason" "SKILLS_ENGINE_LIMITS__REASON" "500",
    count query: "limits.query" "SKILLS_ENGINE_LIMITS__QUERY" "256",
    time min_ttl: "limits.min_ttl" "SKILLS_ENGINE_LIMITS__MIN_TTL" "1s",
    time max_ttl: "limits.max_ttl" "SKILLS_ENGINE_LIMITS__MAX_TTL" "720h",
    count grants: "limits.grants" "SKILLS_ENGINE_LIMITS__GRANTS" "256",
    count sessions_per_principal: "limits.sessions_per_principal" "SKILLS_ENGINE_LIMITS__SESSIONS_PER_PRINCIPAL" "1000",
    count calls_in_flight: "limits.calls_in_flight" "SKILLS_ENGINE_LIMITS__CALLS_IN_FLIGHT" "64",
    count calls_per_reply: "limits.calls_per_reply" "SKILLS_ENGINE_LIMITS__CALLS_PER_REPLY" "32",
    time tool_timeout: "limits.tool_timeout" "SKILLS_ENGINE_LIMITS__TOOL_TIMEOUT" "30s",
    time hook_timeout: "limits.hook_timeout" "SKILLS_ENGINE_LIMITS__HOOK_TIMEOUT" "500ms",
    count turn_tools: "limits.turn_tools" "SKILLS_ENGINE_LIMITS__TURN_TOOLS" "256",
    time store_timeout: "limits.store_timeout" "SKILLS_ENGINE_LIMITS__STORE_TIMEOUT" "2s",
    time source_timeout: "limits.source_timeout" "SKILLS_ENGINE_LIMITS__SOURCE_TIMEOUT" "30s",
    time refresh_debounce: "limits.refresh_debounce" "SKILLS_ENGINE_LIMITS__REFRESH_DEBOUNCE" "250ms",
    count blocking_threads: "limits.blocking_threads" "SKILLS_ENGINE_LIMITS__BLOCKING_THREADS" "64",
    count approvals: "limits.approvals" "SKILLS_ENGINE_LIMITS__APPROVALS" "64",
    time approval_ttl: "limits.approval_ttl" "SKILLS_ENGINE_LIMITS__APPROVAL_TTL" "15m",
    count view_cache: "limits.view_cache" "SKILLS_ENGINE_LIMITS__VIEW_CACHE" "67108864",
    count audit_queue: "limits.audit_queue" "SKILLS_ENGINE_LIMITS__AUDIT_QUEUE" "65536",
    count contents_waiting: "limits.contents_waiting" "SKILLS_ENGINE_LIMITS__CONTENTS_WAITING" "67108864",
    count contents_kept: "limits.contents_kept" "SKILLS_ENGINE_LIMITS__CONTENTS_KEPT" "67108864",
    time contents_retention: "limits.contents_retention" "SKILLS_ENGINE_LIMITS__CONTENTS_RETENTION" "720h",
}

fn governance() -> Vec<Row> {
    vec![
        Row {
            key: "psl_control",
            read: |settings| match &settings.psl_control {
                PslControl::Roles(roles) => format!("{{ roles = {roles:?} }}"),
                PslControl::HostOnly => "host_only".to_owned(),
                other => format!("{other:?}"),
            },
            default: "model",
            file: ("psl_control = 'host_only'", "host_only"),
            variable: (
                "SKILLS_ENGINE_PSL_CONTROL__ROLES",
                "support,ops",
                "{ roles = [\"support\", \"ops\"] }",
            ),
            builder: (|builder| builder.psl_control(PslControl::Model), "model"),
        },
        Row {
            key: "roles.ops.allow",
            read: |settings| match &settings.roles["ops"].allow {
                allow if allow.len() == 1 => {
                    let (pattern, level) = allow.first_key_value().unwrap();
                    format!("{{ {pattern} = \"{level}\" }}")
                }
                allow => format!("{allow:?}"),
            },
            default: "",
            file: (
                "[roles.ops]\nallow = { billing = 'METADATA' }",
                "{ billing = \"METADATA\" }",
            ),
            variable: (
                "SKILLS_ENGINE_ROLES__OPS__ALLOW",
                "{ the-desk = 'CONTEXT' }",
                "{ the-desk = \"CONTEXT\" }",
            ),
            builder: (
                |builder| {
                    builder.role("ops", |role| {
                        role.allow("billing/act", Level::Context)
                            .allow("billing/act", Level::Complete)
                            .allow("billing/act", Level::Metadata)
                    })
                },
                "{ \"billing/act\" = \"COMPLETE\" }",
            ),
        },
    ]
}

fn rows() -> Vec<Row> {
    let mut rows = vec![
        Row {
            key: "audit_key",
            read: |settings| {
                let key = settings.audit_key.as_ref().map(SecretText::expose);
                match key {
                    Some("a key from a file" | "a key from a variable") => "***".to_owned(),
                    other => format!("{other:?}"),
                }
            },
            default: "not set",
            file: ("audit_key = 'a key from a file'", "***"),
            variable: ("SKILLS_ENGINE_AUDIT_KEY", "a key from a variable", "***"),
            builder: (
                |builder| builder.audit_key(AuditKey::new("a key from the builder").unwrap()),
                "***",
            ),
        },
        Row {
            key: "enabled",
            read: |settings| settings.enabled.to_string(),
            default: "true",
            file: ("enabled = false", "false"),
            variable: ("SKILLS_ENGINE_ENABLED", "true", "true"),
            builder: (|builder| builder.enabled(false), "false"),
        },
        Row {
            key: "linked",
            read: |settings| match &settings.linked {
                LinkedSetting::None => "none".to_owned(),
                LinkedSetting::Only(packages) => format!("{packages:?}"),
                other => format!("{other:?}"),
            },
            default: "all",
            file: ("linked = 'none'", "none"),
            variable: (
                "SKILLS_ENGINE_LINKED",
                "skills-engine, tests",
                "[\"skills-engine\", \"tests\"]",
            ),
            builder: (
                |builder| builder.linked(Linked::Only(&["tests"])),
                "[\"tests\"]",
            ),
        },
        Row {
            key: "skills.the-desk.enabled",
            read: |settings| settings.skills["the-desk"].enabled.to_string(),
            default: "",
            file: ("skills.the-desk.enabled = false", "false"),
            variable: ("SKILLS_ENGINE_SKILLS__THE_DESK__ENABLED", "true", "true"),
            builder: (|builder| builder.disable("the-desk"), "false"),
        },
    ];
    rows.extend(governance());
    rows.extend(folders::rows());
    rows.extend(loading::rows());
    rows.extend(limits());
    rows
}

/// An engine with no skills but two that a table names.
fn builder() -> EngineBuilder {
    let act = || [tool("act", |_| async { "done" })];
    skills_engine::__private::inventory::iter::<skills_engine::skill::SkillEntry>()
        .filter(|entry| entry.id != "psl-skill")
        .fold(Engine::builder(), |builder, entry| {
            builder.without(entry.id)
        })
        .with_skill(skill("the-desk", act()))
        .with_skill(skill("billing", act()))
}

#[track_caller]
fn assert_row(engine: &Engine, key: &str, value: &str, from: &SettingOrigin) {
    let row = engine.settings_report().row(key).unwrap();
    assert_eq!((&*row.value, &row.from), (value, from), "{key}");
}

#[tokio::test]
async fn se23_each_setting_is_taken_from_file_variable_and_builder_in_that_order() {
    for Row {
        key,
        read,
        default,
        file,
        variable,
        builder: (told, told_value),
    } in rows()
    {
        let defaults = Settings::default().report();
        let row = defaults.row(key).map_or("", |row| &row.value);
        assert_eq!(row, default, "{key}");

        let (text, file_value) = file;
        let file = TemporaryFile::new(format!("# A comment.\n{text}\n"));
        let from_file = SettingsSources::new().file(&file.0);
        let settings = from_file.clone().load().unwrap();
        assert_eq!(read(&settings), file_value, "{key} in a file");
        let engine = builder().settings(settings).build().await.unwrap();
        let row = engine.settings_report().row(key).unwrap();
        assert_eq!(row.value, file_value, "{key}");
        let line = if text.contains('\n') { 3 } else { 2 };
        let place = format!("{}:{line}", file.0.display());
        assert_eq!(row.from.to_string(), place, "{key}");

        let (name, text, variable_value) = variable;
        // Variables win over files whichever is named first.
        let settings = SettingsSources::new()
            .variables([(name, text)])
            .file(&file.0)
            .load()
            .unwrap();
        assert_eq!(read(&settings), variable_value, "{key} in a variable");
        let engine = builder().settings(settings.clone()).build().await.unwrap();
        let from = SettingOrigin::Variable(name.to_owned());
        assert_row(&engine, key, variable_value, &from);

        for builder in [
            told(builder().settings(settings.clone())),
            told(builder()).settings(settings),
        ] {
            let engine = builder.build().await.unwrap();
            if told_value.is_empty() {
                assert_row(&engine, key, variable_value, &from);
            } else {
                assert_row(&engine, key, told_value, &SettingOrigin::Builder);
            }
        }
    }
}

#[test]
fn se23_the_table_of_settings_has_every_key() {
    let report = Settings::default().report();
    let keys: Vec<_> = report.rows.iter().map(|row| &*row.key).collect();
    let mut tested: Vec<_> = rows().iter().map(|row| row.key).collect();
    let sections = ["folders.team.", "roles.", "skills."];
    tested.retain(|key| !sections.iter().any(|section| key.starts_with(section)));
    tested.sort_unstable();
    assert_eq!(keys, tested);
}

#[test]
fn se23_the_documentation_has_every_key_with_its_default() {
    let documentation = include_str!("../../skills-engine/src/docs/settings.md");
    for row in Settings::default().report().rows {
        let SettingRow { key, value, .. } = row;
        let lines = [value.clone(), format!("`{value}`")].map(|it| format!("| `{key}` | {it} | "));
        let has_line = lines.iter().any(|line| documentation.contains(line));
        assert!(has_line, "there is no `{}`", lines[0]);
    }
    let block = |language: &str| {
        let (_, rest) = documentation
            .split_once(&format!("```{language}\n"))
            .unwrap();
        rest.split_once("```").unwrap().0
    };
    from_file(block("toml")).unwrap();
    let variables = block("sh").lines().map(|line| {
        let (name, value) = line.split_once('=').unwrap();
        (name, value.trim_matches('\''))
    });
    from_variables(variables).unwrap();
}

#[tokio::test]
async fn a_report_is_a_table_in_the_order_of_its_keys() {
    let file = TemporaryFile::new("limits.reason = 40\nskills.billing.enabled = false\n");
    let mut settings = SettingsSources::new()
        .file(&file.0)
        .variables([
            ("SKILLS_ENGINE_LAZY_TIMEOUT", "250ms"),
            ("SKILLS_ENGINE_AUDIT_KEY", "a key from a variable"),
        ])
        .load()
        .unwrap();
    // What the program changes after loading is the program's.
    settings.limits.query = 7;
    let engine = bare()
        .with_skill(skill("billing", []))
        .settings(settings)
        .build()
        .await
        .unwrap();
    let printed = engine.settings_report().to_string();
    let path = file.0.display();
    for line in [
        "audit_key                      ***            SKILLS_ENGINE_AUDIT_KEY".to_owned(),
        "enabled                        true           default".to_owned(),
        "lazy_timeout                   250ms          SKILLS_ENGINE_LAZY_TIMEOUT".to_owned(),
        "limits.query                   7              builder".to_owned(),
        format!("limits.reason                  40             {path}:1"),
        "linked                         none           builder".to_owned(),
        format!("skills.billing.enabled         false          {path}:2"),
    ] {
        assert!(
            printed.lines().any(|it| it == line),
            "no `{line}` in\n{printed}"
        );
    }
    let keys: Vec<_> = printed.lines().map(|line| line.split(' ').next()).collect();
    assert!(keys.is_sorted(), "{printed}");
}

#[test]
fn names_that_look_alike_are_rows_of_their_own() {
    let long = "x".repeat(1_000);
    let names = [
        "a\u{200b}",
        "a\\u{200b}",
        "a\"b",
        &*long,
        &format!("{long}y"),
    ];
    let mut settings = Settings::default();
    for name in names {
        settings.roles.entry(name.to_owned()).or_default();
    }
    let report = settings.report();
    let count = report.rows.len() - Settings::default().report().rows.len();
    assert_eq!(count, names.len(), "{report}");
    let keys: Vec<_> = report.rows.iter().map(|row| &*row.key).collect();
    assert!(keys.contains(&r#"roles."a\u{200b}".allow"#), "{keys:?}");
    assert!(keys.contains(&r#"roles."a\\u{200b}".allow"#), "{keys:?}");
}

#[test]
fn settings_of_other_formats_are_read_and_written_through_serde() {
    let json = r#"{
        "enabled": false,
        "linked": ["a", "b"],
        "lazy_timeout": "1s",
        "limits": { "reason": 7 },
        "skills": { "billing": { "enabled": false } },
        "roles": { "a b": { "allow": { "*": "CONTEXT" } }, "none": {} },
        "psl_control": { "roles": ["a b"] },
        "audit_key": "a key of this test"
    }"#;
    let settings: Settings = serde_json::from_str(json).unwrap();
    assert!(!settings.enabled);
    assert_eq!(settings.limits.reason, 7);
    let report = settings.report();
    let from = |key: &str| &report.row(key).unwrap().from;
    assert_eq!(*from("lazy_timeout"), SettingOrigin::Builder);
    assert_eq!(*from("view_deadline"), SettingOrigin::Default);
    let mut written = serde_json::to_value(&settings).unwrap();
    let again: Settings = serde_json::from_value(written.clone()).unwrap();
    assert!(again.audit_key.is_none());
    let differing: Vec<_> = again
        .report()
        .rows
        .into_iter()
        .zip(report.rows)
        .filter(|(again, before)| again.value != before.value)
        .map(|(again, _)| again.key)
        .collect();
    assert_eq!(differing, ["audit_key"]);
    written["limitz"] = 1.into();
    written["limits"]["reason"] = "x".into();
    let err = serde_json::from_value::<Settings>(written).unwrap_err();
    assert_eq!(
        err.to_string(),
        "2 problems with settings\n\
         - `limits.reason` cannot be `x`; write a whole number, such as `65536`\n\
         - `limitz` is not a setting; write `limits`, or remove it"
    );
}
