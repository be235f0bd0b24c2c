//! What is said of settings that are wrong.

use std::ffi::OsString;

use skills_engine::engine::settings::{Settings, SettingsSources};
use tests::bare;

use super::{TemporaryFile, builder, from_file, from_variables, problems};
use crate::made::skill;

#[test]
fn se23_a_wrong_key_is_an_error_with_the_one_that_was_meant() {
    for (text, key, advice) in [
        (
            "lazy_timeoot = '1s'",
            "lazy_timeoot",
            "write `lazy_timeout`",
        ),
        ("Enabled = true", "Enabled", "write `enabled`"),
        (
            "lazy-timeout = '1s'",
            "lazy-timeout",
            "write `lazy_timeout`",
        ),
        ("arguments = 1", "arguments", "write `limits.arguments`"),
        (
            "[limits]\nlazy_timeout = '1s'",
            "limits.lazy_timeout",
            "write `lazy_timeout`",
        ),
        (
            "[limits]\nargument = 1",
            "limits.argument",
            "write `limits.arguments`",
        ),
        ("[limitz]\narguments = 1", "limitz", "write `limits`"),
        ("[role.ops]", "role", "write `roles`"),
        (
            "[roles.ops]\nallaw = {}",
            "roles.ops.allaw",
            "write `roles.ops.allow`",
        ),
        ("[skill.desk]\nenabled = true", "skill", "write `skills`"),
        (
            "[skills.desk]\nenabledd = true",
            "skills.desk.enabledd",
            "write `skills.desk.enabled`",
        ),
        (
            "skills.'a b'.x = 1",
            "skills.\"a b\".x",
            "write `skills.\"a b\".enabled`",
        ),
        (
            "shade = 'red'",
            "shade",
            "see the documentation of `Settings`",
        ),
        ("'' = 1", "\"\"", "see the documentation of `Settings`"),
        (
            "'a.b' = 1",
            "\"a.b\"",
            "see the documentation of `Settings`",
        ),
        (
            "'limits.reason' = 1",
            "\"limits.reason\"",
            "write `limits.reason`",
        ),
    ] {
        let problems = problems(from_file(text));
        let [(problem_key, message)] = &*problems else {
            panic!("{text}: {problems:?}");
        };
        assert_eq!(problem_key.as_deref(), Some(key), "{text}");
        assert!(
            message.starts_with(&format!("`{key}` is not a setting; ")),
            "{message}"
        );
        assert!(message.contains(advice), "{text}: {message}");
    }
}

#[test]
fn se23_a_wrong_variable_is_an_error_with_the_one_that_was_meant() {
    for (name, advice) in [
        (
            "SKILLS_ENGINE_LAZY_TIMEOOT",
            "write `SKILLS_ENGINE_LAZY_TIMEOUT`",
        ),
        (
            "SKILLS_ENGINE_LIMITS_ARGUMENTS",
            "write `SKILLS_ENGINE_LIMITS__ARGUMENTS`",
        ),
        (
            "SKILLS_ENGINE_LIMITS__ARGUMENT",
            "write `SKILLS_ENGINE_LIMITS__ARGUMENTS`",
        ),
        (
            "SKILLS_ENGINE_ARGUMENTS",
            "write `SKILLS_ENGINE_LIMITS__ARGUMENTS`",
        ),
        (
            "SKILLS_ENGINE_LAZY__TIMEOUT",
            "write `SKILLS_ENGINE_LAZY_TIMEOUT`",
        ),
        (
            "SKILLS_ENGINE_ROLES__MY_OPS__ALLAW",
            "write `SKILLS_ENGINE_ROLES__MY_OPS__ALLOW`",
        ),
        (
            "SKILLS_ENGINE_ROLE__OPS__ALLOW",
            "write `SKILLS_ENGINE_ROLES__OPS__ALLOW`",
        ),
        (
            "SKILLS_ENGINE_SKILLS__MY_DESK__ENABLEDD",
            "write `SKILLS_ENGINE_SKILLS__MY_DESK__ENABLED`",
        ),
        (
            "SKILLS_ENGINE_SKILL__DESK__ENABLED",
            "write `SKILLS_ENGINE_SKILLS__DESK__ENABLED`",
        ),
        (
            "SKILLS_ENGINE_SKILLS__MY_DESK",
            "write `SKILLS_ENGINE_SKILLS__MY_DESK__ENABLED`",
        ),
        ("SKILLS_ENGINE_SKILLS_DESK_ENABLED", "`__` stands for a dot"),
        (
            "SKILLS_ENGINE_SKILLS__ENABLED",
            "write `SKILLS_ENGINE_ENABLED`",
        ),
        ("SKILLS_ENGINE_SHADE", "`__` stands for a dot"),
        ("SKILLS_ENGINE_LIMITS", "`__` stands for a dot"),
        ("SKILLS_ENGINE_", "`__` stands for a dot"),
    ] {
        let err = from_variables([(name, "1")]).unwrap_err();
        let shown = err.to_string();
        let start = format!("{name}: there is no such setting; ");
        assert!(shown.starts_with(&start), "{shown}");
        assert!(shown.contains(advice), "{name}: {shown}");
    }
}

#[test]
fn a_value_of_another_type_says_what_to_write() {
    for (text, message) in [
        (
            "enabled = 1",
            "`enabled` cannot be `1`; write `true` or `false`",
        ),
        (
            "enabled = 'yes'",
            "`enabled` cannot be `yes`; write `true` or `false`",
        ),
        (
            "lazy_timeout = 30",
            "`lazy_timeout` cannot be `30`; write its unit, such as `30s` for seconds or `30ms` for milliseconds",
        ),
        (
            "lazy_timeout = '30'",
            "`lazy_timeout` cannot be `30`; write its unit, such as `30s` for seconds or `30ms` for milliseconds",
        ),
        (
            "lazy_timeout = '5 min'",
            "`lazy_timeout` cannot be `5 min`; write a time with its unit, such as `500ms`, `30s`, `5m` or `24h`",
        ),
        (
            "lazy_timeout = '0s'",
            "`lazy_timeout` cannot be `0s`; write a time longer than 0",
        ),
        (
            "lazy_timeout = 1.5",
            "`lazy_timeout` cannot be `1.5`; write a time with its unit, such as `500ms`, `30s`, `5m` or `24h`",
        ),
        (
            "lazy_timeout = 07:32:00",
            "`lazy_timeout` cannot be `07:32:00`; write a time with its unit, such as `500ms`, `30s`, `5m` or `24h`",
        ),
        (
            "session_idle = '9999999999999999h'",
            "`session_idle` cannot be `9999999999999999h`; write a shorter time",
        ),
        (
            "limits.reason = 'many'",
            "`limits.reason` cannot be `many`; write a whole number, such as `65536`",
        ),
        (
            "limits.reason = -1",
            "`limits.reason` cannot be `-1`; write 0 or more",
        ),
        (
            "limits.reason = 1.5",
            "`limits.reason` cannot be `1.5`; write a whole number, such as `65536`",
        ),
        (
            "limits.reason = 18446744073709551616",
            "`limits.reason` cannot be `18446744073709551616`; write a smaller number",
        ),
        (
            "limits.reason = []",
            "`limits.reason` cannot be a list; write a whole number, such as `65536`",
        ),
        (
            "limits.reason = {}",
            "`limits.reason` cannot be a table; write a whole number, such as `65536`",
        ),
        ("limits = 3", "`limits` cannot be `3`; write a table"),
        (
            "linked = 'helpdesk-skill'",
            "`linked` cannot be `helpdesk-skill`; write `all`, `none`, or a list of packages, such as `[\"helpdesk-skill\"]`",
        ),
        (
            "linked = ['a', 1]",
            "`linked` cannot be a list; write `all`, `none`, or a list of packages, such as `[\"helpdesk-skill\"]`",
        ),
        (
            "linked = ['']",
            "`linked` cannot be a list; write `all`, `none`, or a list of packages, such as `[\"helpdesk-skill\"]`",
        ),
        ("skills = []", "`skills` cannot be a list; write a table"),
        (
            "skills.desk = false",
            "`skills.desk` cannot be `false`; write `skills.desk.enabled = false`",
        ),
        (
            "skills.desk.enabled = 'off'",
            "`skills.desk.enabled` cannot be `off`; write `true` or `false`",
        ),
        (
            "limits.max_ttl = '999ms'",
            "`limits.min_ttl` is longer than `limits.max_ttl`; shorten it, or lengthen that one",
        ),
        (
            "enabled = \"a\\u202e\\n\"",
            "`enabled` cannot be `a\\u{202e}\\n`; write `true` or `false`",
        ),
    ] {
        let found = problems(from_file(text));
        let messages: Vec<_> = found.iter().map(|(_, message)| &**message).collect();
        assert_eq!(messages, [message], "{text}");
    }
    let long = format!("enabled = '{}'", "x".repeat(100_000));
    assert!(from_file(long).unwrap_err().to_string().len() < 400);
}

#[test]
fn a_variable_that_does_not_fit_says_what_to_write() {
    for (name, text, message) in [
        (
            "SKILLS_ENGINE_ENABLED",
            "yes",
            "`enabled` cannot be `yes`; write `true` or `false`",
        ),
        (
            "SKILLS_ENGINE_ENABLED",
            "",
            "the value is empty; give one, or remove the variable",
        ),
        (
            "SKILLS_ENGINE_LAZY_TIMEOUT",
            "30",
            "`lazy_timeout` cannot be `30`; write its unit, such as `30s` for seconds or `30ms` for milliseconds",
        ),
        (
            "SKILLS_ENGINE_LIMITS__REASON",
            "5k",
            "`limits.reason` cannot be `5k`; write a whole number, such as `65536`",
        ),
        (
            "SKILLS_ENGINE_LIMITS__REASON",
            "-1",
            "`limits.reason` cannot be `-1`; write 0 or more",
        ),
        (
            "SKILLS_ENGINE_LINKED",
            "a,,b",
            "`linked` cannot be a list; write `all`, `none`, or a list of packages, such as `[\"helpdesk-skill\"]`",
        ),
        (
            "SKILLS_ENGINE_SKILLS__DESK__ENABLED",
            "0",
            "`skills.desk.enabled` cannot be `0`; write `true` or `false`",
        ),
    ] {
        let err = from_variables([(name, text)]).unwrap_err();
        assert_eq!(err.to_string(), format!("{name}: {message}"));
    }
    let settings = from_variables([("SKILLS_ENGINE_LINKED", "['a']")]).unwrap();
    assert_eq!(settings.report().row("linked").unwrap().value, "[\"a\"]");
    let err = from_variables([("SKILLS_ENGINE_LINKED", "['a'")]).unwrap_err();
    assert!(err.to_string().contains("the value is not TOML: "), "{err}");
}

#[test]
fn one_setting_by_two_variables_is_an_error() {
    let err = from_variables([
        ("SKILLS_ENGINE_enabled", "true"),
        ("SKILLS_ENGINE_ENABLED", "true"),
    ])
    .unwrap_err();
    assert_eq!(
        err.to_string(),
        "SKILLS_ENGINE_enabled: `enabled` is set by `SKILLS_ENGINE_ENABLED` too; keep one of them"
    );
}

#[cfg(unix)]
#[test]
fn variables_that_are_not_utf_8_are_errors_only_when_they_are_settings() {
    use std::os::unix::ffi::OsStringExt;
    let text = |bytes: &[u8]| OsString::from_vec(bytes.to_vec());
    let load = |name, value| SettingsSources::new().variables([(name, value)]).load();
    assert!(load(text(b"OTHER\xff"), text(b"\xff")).is_ok());
    let value = load(text(b"SKILLS_ENGINE_ENABLED"), text(b"\xff")).unwrap_err();
    assert!(
        value.to_string().contains("the value is not UTF-8"),
        "{value}"
    );
    let name = load(text(b"SKILLS_ENGINE_\xff"), text(b"1")).unwrap_err();
    assert!(name.to_string().contains("the name is not UTF-8"), "{name}");
}

#[test]
fn every_problem_of_every_source_is_told_at_once() {
    let first = TemporaryFile::new("enabledd = true\n[limits]\nreason = 'x'\n");
    let second = TemporaryFile::new("enabled = \n\n= 1\n");
    let err = SettingsSources::new()
        .file(&first.0)
        .file(&second.0)
        .variables([("SKILLS_ENGINE_X", "1"), ("OTHER", "1")])
        .load()
        .unwrap_err();
    let shown = err.to_string();
    let (first, second) = (first.0.display(), second.0.display());
    for start in [
        format!("- {first}:1: `enabledd` is not a setting; write `enabled`"),
        format!("- {first}:3: `limits.reason` cannot be `x`"),
        format!("- {second}:1: this is not TOML: "),
        format!("- {second}:3: this is not TOML: "),
        "- SKILLS_ENGINE_X: there is no such setting".to_owned(),
    ] {
        assert!(
            shown.lines().any(|line| line.starts_with(&start)),
            "no `{start}` in\n{shown}"
        );
    }
    assert!(shown.starts_with(&format!(
        "{} problems with settings\n",
        err.problems().len()
    )));
    assert_eq!(format!("{err:?}"), shown);
}

#[test]
fn a_key_that_is_there_twice_is_an_error() {
    for text in [
        "limits.reason = 1\nlimits.reason = 2",
        "[limits]\n[limits]",
        "[limits]\nreason = 1\n[limits]\nquery = 1",
    ] {
        let err = from_file(text).unwrap_err();
        assert!(err.to_string().contains("duplicate key"), "{text}: {err}");
    }
    let err =
        serde_json::from_str::<Settings>(r#"{"enabled": true, "enabled": false}"#).unwrap_err();
    assert!(
        err.to_string().starts_with("`enabled` is set twice"),
        "{err}"
    );
}

async fn build_problems(settings: Settings) -> Vec<String> {
    let built = builder().settings(settings).build().await;
    built
        .err()
        .map_or_else(Vec::new, |err| err.problems().to_vec())
}

#[tokio::test]
async fn an_id_or_a_package_that_is_not_there_fails_the_build() {
    let file = TemporaryFile::new("\nskills.bilings.enabled = false\nlinked = ['test']");
    let settings = SettingsSources::new().file(&file.0).load().unwrap();
    let place = file.0.display();
    let problems = build_problems(settings).await;
    assert_eq!(problems.len(), 2, "{problems:?}");
    let start = format!("{place}:3: no skill of crate `test` arrived (did you mean `tests`?)");
    assert!(problems[0].starts_with(&start), "{problems:?}");
    assert_eq!(
        problems[1],
        format!(
            "{place}:2: `skills.bilings.enabled` names no skill (did you mean `billing`?); check the id"
        )
    );
    let settings = from_variables([("SKILLS_ENGINE_SKILLS__THE_DESKS__ENABLED", "true")]).unwrap();
    assert_eq!(
        build_problems(settings).await,
        [
            "SKILLS_ENGINE_SKILLS__THE_DESKS__ENABLED: `skills.the-desks.enabled` names no skill (did you mean `the-desk`?); check the id"
        ]
    );
    // A table without a value names a skill too.
    let problems = build_problems(from_file("[skills.nobody]").unwrap()).await;
    assert_eq!(problems.len(), 1, "{problems:?}");
    let mut settings = Settings::default();
    settings.skills.entry("nobody".to_owned()).or_default();
    assert_eq!(
        build_problems(settings).await,
        ["builder: `skills.nobody.enabled` names no skill; check the id"]
    );
}

/// What is said of a pattern that is none, after the pattern.
const PATTERN: &str = "is no pattern. Write `skill` or `skill/*` for all of a skill, `skill/member` for one tool or attribute of it, or \
     `*` for everything";

#[test]
fn a_role_that_is_wrong_says_where_and_what_to_write() {
    let levels = "write METADATA, CONTEXT or COMPLETE";
    for (text, message) in [
        (
            "allow = { desk = 'COMPLETED' }",
            format!(
                "`roles.ops.allow.desk` cannot be `COMPLETED`; {levels} (did you mean COMPLETE?)"
            ),
        ),
        (
            "allow = { 'desk/*' = 'all' }",
            format!("`roles.ops.allow.\"desk/*\"` cannot be `all`; {levels}"),
        ),
        (
            "allow = { desk = 1 }",
            format!("`roles.ops.allow.desk` cannot be `1`; {levels}"),
        ),
        (
            "allow = { 'de*' = 'CONTEXT' }",
            format!("`roles.ops.allow`: `de*` {PATTERN}"),
        ),
        (
            "allow = ['desk']",
            "`roles.ops.allow` cannot be a list; write a table of patterns and levels, such as \
             `{ \"deploy/*\" = \"COMPLETE\" }`"
                .to_owned(),
        ),
    ] {
        let file = TemporaryFile::new(format!("[roles.ops]\n{text}"));
        let err = SettingsSources::new().file(&file.0).load().unwrap_err();
        assert_eq!(
            err.to_string(),
            format!("{}:2: {message}", file.0.display())
        );
        let name = "SKILLS_ENGINE_ROLES__OPS__ALLOW";
        let value = text.strip_prefix("allow = ").unwrap();
        let err = from_variables([(name, value)]).unwrap_err();
        assert_eq!(err.to_string(), format!("{name}: {message}"));
    }
    for (text, message) in [
        (
            "roles.ops = 'CONTEXT'",
            "`roles.ops` cannot be `CONTEXT`; write `roles.ops.allow = { \"some-skill\" = \"CONTEXT\" }`",
        ),
        ("roles = ['ops']", "`roles` cannot be a list; write a table"),
    ] {
        let problems = problems(from_file(text));
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].1, message);
    }
    let two = from_file("roles.ops.allow = { a = 'x', 'b*' = 'y' }").unwrap_err();
    assert_eq!(two.problems().len(), 3, "{two}");
}

#[test]
fn a_control_that_is_wrong_says_what_to_write() {
    for (text, found) in [
        ("'mode'", "`mode`"),
        ("true", "`true`"),
        ("['ops']", "a list"),
        ("{ role = ['ops'] }", "a table"),
        ("{ roles = 'ops' }", "a table"),
        ("{ roles = ['ops'], x = 1 }", "a table"),
    ] {
        let problems = problems(from_file(format!("psl_control = {text}")));
        let expected = format!(
            "`psl_control` cannot be {found}; write `model`, `host_only`, or a table of roles, such as \
             `{{ roles = [\"support\"] }}`"
        );
        assert_eq!(problems, [(Some("psl_control".to_owned()), expected)]);
    }
    let err = from_variables([
        ("SKILLS_ENGINE_PSL_CONTROL", "model"),
        ("SKILLS_ENGINE_PSL_CONTROL__ROLES", "ops"),
    ])
    .unwrap_err();
    assert!(err.to_string().contains("`psl_control` is set by"), "{err}");
}

#[tokio::test]
async fn a_variable_means_the_one_role_of_a_file_that_it_can_mean() {
    for (name, text, expected) in [
        ("none", "", vec!["team_a"]),
        ("one", "[roles.'Team-A']", vec!["Team-A"]),
        ("itself", "[roles.team_a]", vec!["team_a"]),
        (
            "two",
            "[roles.'Team-A']\n[roles.'Team A']",
            vec!["Team A", "Team-A", "team_a"],
        ),
    ] {
        let file = TemporaryFile::new(text);
        let settings = SettingsSources::new()
            .file(&file.0)
            .variables([("SKILLS_ENGINE_ROLES__TEAM_A__ALLOW", "{ '*' = 'CONTEXT' }")])
            .load()
            .unwrap();
        let roles: Vec<_> = settings.roles.keys().collect();
        assert_eq!(roles, expected, "{name}");
    }
}

#[tokio::test]
async fn a_variable_means_the_one_id_of_a_file_that_it_can_mean() {
    let load = |text: &str, name: &str| {
        let file = TemporaryFile::new(text);
        let settings = SettingsSources::new()
            .file(&file.0)
            .variables([(name, "false")])
            .load()
            .unwrap();
        let ids = settings.skills.into_iter();
        ids.map(|(id, skill)| (id, skill.enabled))
            .collect::<Vec<_>>()
    };
    for (name, text, variable, expected) in [
        ("plain", "", "SKILLS__A_B__ENABLED", vec![("a-b", false)]),
        (
            "two dashes",
            "",
            "SKILLS__A__B__ENABLED",
            vec![("a--b", false)],
        ),
        (
            "of the file",
            "[skills.'A.b']",
            "SKILLS__A_B__ENABLED",
            vec![("A.b", false)],
        ),
        (
            "two of the file",
            "[skills.'a.b']\n[skills.'a b']",
            "SKILLS__A_B__ENABLED",
            vec![("a b", true), ("a-b", false), ("a.b", true)],
        ),
    ] {
        let found = load(text, &format!("SKILLS_ENGINE_{variable}"));
        let expected: Vec<_> = expected
            .into_iter()
            .map(|(id, is_on)| (id.to_owned(), is_on))
            .collect();
        assert_eq!(found, expected, "{name}");
    }
    let settings = from_variables([("SKILLS_ENGINE_SKILLS__A_DESK__ENABLED", "false")]).unwrap();
    let engine = bare()
        .with_skill(skill("a-desk", []))
        .settings(settings)
        .build()
        .await;
    assert!(engine.is_ok());
}
