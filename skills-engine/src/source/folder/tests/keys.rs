use super::{document, read_lines};

#[test]
fn se4_unknown_fields_are_told_once() {
    let lines: Vec<String> = (0..20).map(|index| format!("odd{index}: x")).collect();
    let lines = lines.join("\n");
    let found = document(
        &format!("description: d\n{lines}"),
        &["warning: unknown-field"],
    );
    let message = &found.diagnostics[0].message;
    assert!(
        message.contains("`odd7`, 12 more") && !message.contains("odd8"),
        "{message}"
    );
    document("description: d\n<<: {name: x}", &["warning: unknown-field"]);
    document("description: d\n~: x", &["warning: unknown-field"]);
    document("description: d\n[a]: x", &["warning: unknown-field"]);
}

/// What is told of keys that nobody reads.
#[track_caller]
fn told(lines: &str) -> String {
    let found = document(
        &format!("description: d\n{lines}"),
        &["warning: unknown-field"],
    );
    found.diagnostics[0].message.clone()
}

#[test]
fn se4_a_misspelled_key_is_told_with_the_one_it_may_have_been() {
    let rows = [
        ("user-invokable", "user-invocable"), // misspelled on purpose
        ("user_invocable", "user-invocable"),
        ("userInvocable", "user-invocable"),
        ("disable_model_invocation", "disable-model-invocation"),
        ("disable-model-invokation", "disable-model-invocation"), // misspelled on purpose
        ("disablemodelinvocation", "disable-model-invocation"),
        ("argument_hint", "argument-hint"),
        ("argument", "arguments"),
        ("allowed_tools", "allowed-tools"),
        ("allowedTools", "allowed-tools"),
        ("allow-tools", "allowed-tools"),
        ("Allowed Tools", "allowed-tools"),
        ("when-to-use", "when_to_use"),
        ("licence", "license"),             // misspelled on purpose
        ("compatability", "compatibility"), // misspelled on purpose
        ("meta-data", "metadata"),
        ("hook", "hooks"),
    ];
    for (key, meant) in rows {
        assert_eq!(
            told(&format!("{key}: x")),
            format!("no client is known to read `{key}` (did you mean `{meant}`?)")
        );
    }
    let several = told("odd: x\nallowed_tools: x\nhook: x");
    let expected = "no client is known to read `odd`, `allowed_tools` (did you mean `allowed-tools`?), \
                    `hook` (did you mean `hooks`?)";
    assert_eq!(several, expected);
}

#[test]
fn se4_a_key_of_its_own_is_not_taken_for_a_misspelled_one() {
    let own = [
        "version",
        "author",
        "tags",
        "tools",
        "category",
        "keywords",
        "globs",
        "triggers",
        "requires",
        "title",
        "color",
        "alwaysApply",
        // The opposite of a known key, or about something else.
        "disallowed-tools",
        "enable-model-invocation",
        "disallow-model-invocation",
        "allow-model-invocation",
        "disable-user-invocation",
        "model-invocation",
        "-",
        "\"\"",
    ];
    for key in own {
        let message = told(&format!("{key}: x"));
        assert!(!message.contains("did you mean"), "{message}");
    }
    // What the header has already is not meant.
    let message = told("model: x\nModel: x\nallowed-tools: Read\nallowed_tools: Read");
    assert_eq!(
        message,
        "no client is known to read `Model`, `allowed_tools`"
    );
}

#[test]
fn se4_keys_of_clients_are_told_to_those_who_are_strict() {
    let found = document(
        "description: d\n  # So far.\nmodel: x\nodd: x\neffort: x",
        &["warning: unknown-field"],
    );
    let strict: Vec<_> = found
        .strict_diagnostics
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        strict,
        [
            "a-skill/SKILL.md:5:1: warning: extension-field: the specification does not have `model`, `effort`. \
             take out what only clients read, or move it below `metadata`"
        ]
    );
    assert!(!found.is_strictly_valid(&found.diagnostics));
    let unknown = document("description: d\nodd: x", &["warning: unknown-field"]);
    assert!(unknown.strict_diagnostics.is_empty());

    let many = "argument-hint: x\narguments: x\ndisable-model-invocation: true\nuser-invocable: true\n\
                when_to_use: x\nmodel: x\neffort: x\ncontext: x\nagent: x\nhooks: x";
    let many = document(&format!("description: d\n{many}"), &[]);
    let message = &many.strict_diagnostics[0].message;
    assert!(
        message.ends_with("`effort`, `context`, 2 more"),
        "{message}"
    );

    let plain = read_lines("description: d").expect("a document");
    assert!(plain.strict_diagnostics.is_empty());
}
