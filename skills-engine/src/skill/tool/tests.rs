use super::*;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Add {
    left: i64,
    right: Option<i64>,
}

#[test]
fn a_tool_without_arguments_has_the_plain_closed_schema() {
    let source = SchemaSource::Function(schema_of::<NoArguments>);
    let schema = SchemaCache::default().input_schema(&source).unwrap();
    let plain = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
    assert_eq!(&*schema, plain);
}

#[test]
fn checking_arguments_runs_nothing() {
    let never = |_: Add, _: ToolContext| -> BoxFuture<'static, ()> { panic!("it ran") };
    let json =
        |_: serde_json::Value, _: ToolContext| -> BoxFuture<'static, ()> { panic!("it ran") };
    let foreign = Tool::from_json("add", "", r#"{"type":"object"}"#, json).unwrap();
    for tool in [Tool::new("add", "", never), foreign] {
        assert_eq!(tool.handler.check(br#"{"left":1}"#), Ok(()));
        let fault = tool.handler.check(b"[1]").unwrap_err();
        assert_eq!(fault.code, Code::InvalidArguments);
    }
}

#[test]
fn a_builder_tool_with_a_sensitive_argument_quotes_none() {
    let add = Tool::new("add", "Adds.", |add: Add, _cx: ToolContext| async move {
        add.left + add.right.unwrap_or(0)
    });
    let message = |tool: &Tool| {
        let handler = tool.registered_handler();
        match handler.call(br#"{"left":"marker"}"#, &ToolContext::detached()) {
            Call::Ready(Err(fault)) => fault.message,
            call => panic!("{call:?}"),
        }
    };
    assert!(message(&add).contains("marker"));
    let guarded = add.sensitive("left");
    assert_eq!(guarded.definition.sensitive, ["left"]);
    let message = message(&guarded);
    assert!(message.starts_with("a value does not fit"), "{message}");
}

#[test]
fn a_builder_tool_refuses_arguments_it_does_not_know() {
    let add = Tool::new("add", "Adds.", |add: Add, _cx: ToolContext| async move {
        add.left + add.right.unwrap_or(0)
    });
    let call = |arguments: &str| {
        add.handler
            .call(arguments.as_bytes(), &ToolContext::detached())
    };
    assert!(matches!(call(r#"{"left":1,"right":2}"#), Call::Pending(_)));
    let Call::Ready(Err(fault)) = call(r#"{"left":1,"rihgt":2}"#) else {
        // misspelled on purpose
        panic!("the name is unknown");
    };
    assert_eq!(fault.code, Code::InvalidArguments);
    assert!(fault.message.contains("did you mean `right`"), "{fault}");
}
