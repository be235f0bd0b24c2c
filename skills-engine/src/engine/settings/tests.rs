use super::Settings;

/// What is wrong with settings that are written as JSON.
fn problem(json: &str) -> Option<String> {
    let read = serde_json::from_str::<Settings>(json);
    read.err().map(|err| err.to_string())
}

fn needs(key: &str, feature: &str) -> String {
    format!(
        "`{key}` needs the feature `{feature}` of `skills-engine`; build the program with it, or remove the setting"
    )
}

#[test]
fn a_key_without_its_feature_says_which_it_needs() {
    let (has_folders, has_watch) = (cfg!(feature = "folders"), cfg!(feature = "watch"));
    let user = problem(r#"{"folders": {"user": ["a"]}}"#);
    assert_eq!(
        user,
        (!has_folders).then(|| needs("folders", "folders")),
        "folders"
    );
    for (json, key) in [
        (r#"{"folders": {"watch": true}}"#, "folders.watch"),
        (
            r#"{"folders": {"team": {"watch": true}}}"#,
            "folders.team.watch",
        ),
    ] {
        let expected = match (has_folders, has_watch) {
            (_, true) => None,
            (true, false) => Some(needs(key, "watch")),
            (false, false) => Some(needs("folders", "folders")),
        };
        assert_eq!(problem(json), expected, "{json}");
    }
    // No source has the name of a key, whatever the features are.
    assert!(problem(r#"{"folders": {"watch": {"user": ["a"]}}}"#).is_some());
}

#[cfg(feature = "settings")]
#[test]
fn a_variable_without_its_feature_says_which_it_needs() {
    for (name, key, feature, has_feature) in [
        (
            "SKILLS_ENGINE_FOLDERS__USER",
            "folders.user",
            "folders",
            cfg!(feature = "folders"),
        ),
        (
            "SKILLS_ENGINE_FOLDERS__TEAM__USER",
            "folders.team.user",
            "folders",
            cfg!(feature = "folders"),
        ),
        (
            "SKILLS_ENGINE_FOLDERS__WATCH",
            "folders.watch",
            if cfg!(feature = "folders") {
                "watch"
            } else {
                "folders"
            },
            cfg!(feature = "watch"),
        ),
    ] {
        let value = if key.ends_with("watch") { "true" } else { "a" };
        let loaded = super::SettingsSources::new()
            .variables([(name, value)])
            .load();
        let problem = loaded.err().map(|err| err.to_string());
        let expected = (!has_feature).then(|| format!("{name}: {}", needs(key, feature)));
        assert_eq!(problem, expected);
    }
}
