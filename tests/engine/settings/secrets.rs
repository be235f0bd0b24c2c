//! A secret of the settings is nowhere in what is printed.

use skills_engine::engine::settings::{Settings, SettingsSources};
use tests::bare;

use super::{TemporaryFile, from_file, from_variables};

/// What no output may contain.
const MARKER: &str = "MARKER-of-a-secret";

#[track_caller]
fn assert_hidden(what: &str, shown: &str) {
    assert!(!shown.contains("MARKER"), "{what}: {shown}");
}

#[tokio::test]
async fn se23_a_secret_is_masked_in_the_report_and_absent_everywhere_else() {
    let file = TemporaryFile::new(format!("audit_key = '{MARKER}'"));
    let sources = SettingsSources::new()
        .file(&file.0)
        .variables([("SKILLS_ENGINE_AUDIT_KEY", MARKER)]);
    assert_hidden("the sources' Debug", &format!("{sources:#?}"));
    let settings = sources.load().unwrap();
    assert_eq!(settings.audit_key.as_ref().unwrap().expose(), MARKER);
    assert_eq!(settings.report().row("audit_key").unwrap().value, "***");
    assert_hidden("Debug", &format!("{settings:#?}"));
    assert_hidden("serde", &serde_json::to_string(&settings).unwrap());
    assert_hidden("the report", &settings.report().to_string());
    assert_hidden("the report's Debug", &format!("{:?}", settings.report()));

    let builder = bare().settings(settings);
    assert_hidden("the builder's Debug", &format!("{builder:?}"));
    let engine = builder.build().await.unwrap();
    assert_hidden("the engine's Debug", &format!("{engine:?}"));
    let report = engine.settings_report();
    assert_eq!(report.row("audit_key").unwrap().value, "***");
    assert_hidden("the engine's report", &format!("{report}{report:?}"));
}

#[test]
fn se23_no_error_shows_a_secret() {
    for text in [
        format!("audit_key = ['{MARKER}']"),
        format!("audit_key = {{ x = '{MARKER}' }}"),
        "audit_key = 'MARKER'".to_owned(),
        format!("audit_key = '{MARKER}"),
        format!("audit_key = \"{MARKER}\\x\""),
        format!("audit_key = {MARKER}"),
        format!("audit_key = '{MARKER}'\naudit_key = '{MARKER}'"),
        format!("audit_key = '{MARKER}'\nenabled ="),
        format!("audit_kex = '{MARKER}'"),
        format!("[limits]\naudit_key = '{MARKER}'"),
        format!("[skills.desk]\naudit_key = '{MARKER}'"),
        format!("audit_key = '{MARKER}' 'x'"),
    ] {
        let err = from_file(&text).unwrap_err();
        assert_hidden(&text, &format!("{err}{err:?}{:?}", err.problems()));
    }
    for (name, text) in [
        ("SKILLS_ENGINE_AUDIT_KEY", "MARKER"),
        ("SKILLS_ENGINE_AUDIT_KEX", MARKER),
        ("SKILLS_ENGINE_AUDIT_KEY__X", MARKER),
    ] {
        let err = from_variables([(name, text)]).unwrap_err();
        assert_hidden(name, &format!("{err}{err:?}{:?}", err.problems()));
    }
    let json = format!(r#"{{"audit_key": {{"a": "{MARKER}"}}, "audit_kex": "{MARKER}"}}"#);
    let err = serde_json::from_str::<Settings>(&json).unwrap_err();
    assert_hidden("JSON", &err.to_string());
}
