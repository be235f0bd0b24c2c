//! The skill of the documentation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use skills_engine::skill::{
    AttributeContext, Evaluation, Expose, Level, Make, SkillType, ToolContext,
};
use skills_engine::{skill, skill_attribute, skill_tool};

use crate::support::{attribute, blocks, call, read, tool};

/// Answers help-desk questions and manages tickets.
#[skill(id = "helpdesk", name = "Helpdesk", tags = ["support"])]
#[derive(Default)]
pub struct Helpdesk {
    /// Default time to resolve a ticket.
    #[skill_attribute(level = Metadata)]
    default_sla: &'static str,
    calls: AtomicU32,
}

#[skill]
impl Helpdesk {
    /// Tickets that missed their SLA in the last day.
    #[skill_attribute(level = Complete, lazy)]
    async fn recent_sla_exceptions(&self) -> Vec<String> {
        vec!["T-1".to_owned()]
    }

    /// Looks up the FAQ entry
    /// for a ticket.
    #[skill_tool(level = Context, return_direct, read_only)]
    async fn get_ticket_faq(
        &self,
        /// Ticket number, such as `T-1042`.
        ticket_id: String,
        /// Language of the answer.
        #[param(default = "en")]
        language: String,
        cx: &ToolContext,
    ) -> Result<String, String> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match ticket_id.as_str() {
            "T-0" => Err("no such ticket".to_owned()),
            _ => Ok(format!("{ticket_id} in {language} for {}", cx.call_id())),
        }
    }

    /// How many lookups there were.
    #[skill_attribute(cache = turn)]
    fn lookups(&self, _cx: &AttributeContext) -> u32 {
        self.calls.load(Ordering::Relaxed)
    }
}

#[test]
fn the_struct_is_described() {
    let entry = Helpdesk::entry();
    assert_eq!(entry.id, "helpdesk");
    assert_eq!(entry.name, "Helpdesk");
    assert_eq!(
        entry.description,
        "Answers help-desk questions and manages tickets."
    );
    assert_eq!(entry.version, env!("CARGO_PKG_VERSION"));
    assert_eq!(entry.tags, ["support"]);
    assert_eq!(entry.base_level, Level::Metadata);
    assert_eq!(entry.origin.crate_name, "tests");
    assert_eq!(entry.origin.type_name, "Helpdesk");
    assert!(entry.origin.place.file.ends_with("helpdesk.rs"));
    assert!(matches!(entry.make, Make::Factory(_)));
}

#[test]
fn a_field_is_a_constant() {
    let helpdesk = Arc::new(Helpdesk {
        default_sla: "8 hours",
        calls: AtomicU32::new(0),
    });
    let entry = attribute::<Helpdesk>("default_sla");
    assert_eq!(entry.evaluation, Evaluation::Constant);
    assert_eq!(entry.level, Level::Metadata);
    assert_eq!(entry.description, "Default time to resolve a ticket.");
    assert_eq!((entry.schema)()["type"], "string");
    assert_eq!(read(&helpdesk, "default_sla"), Ok(json!("8 hours")));
}

#[test]
fn methods_are_attributes() {
    let helpdesk = Arc::new(Helpdesk::default());
    let lazy = attribute::<Helpdesk>("recent_sla_exceptions");
    assert_eq!(lazy.evaluation, Evaluation::Lazy);
    assert_eq!(lazy.level, Level::Complete);
    assert!(!lazy.takes_context);
    assert_eq!((lazy.schema)()["type"], "array");
    assert_eq!(read(&helpdesk, "recent_sla_exceptions"), Ok(json!(["T-1"])));
    let live = attribute::<Helpdesk>("lookups");
    assert_eq!(live.evaluation, Evaluation::Live);
    assert!(live.takes_context);
    assert_eq!(read(&helpdesk, "lookups"), Ok(json!(0)));
}

#[test]
fn a_method_is_a_tool() {
    let entry = tool::<Helpdesk>("get_ticket_faq");
    assert_eq!(entry.description, "Looks up the FAQ entry for a ticket.");
    assert_eq!((entry.level, entry.expose), (Level::Context, Expose::Psl));
    assert!(entry.return_direct && entry.annotations.read_only);
    let names: Vec<_> = entry
        .parameters
        .iter()
        .map(|parameter| (parameter.name, parameter.description))
        .collect();
    assert_eq!(
        names,
        [
            ("ticket_id", "Ticket number, such as `T-1042`."),
            ("language", "Language of the answer."),
        ]
    );
    assert_eq!(entry.parameters[1].default.unwrap()(), json!("en"));
    assert_eq!(blocks::<Helpdesk>().len(), 1);
}

#[test]
fn a_tool_is_called() {
    let helpdesk = Arc::new(Helpdesk::default());
    for (arguments, expected) in [
        (r#"{"ticket_id":"T-1"}"#, Ok("T-1 in en for detached")),
        (
            r#"{"language":"de","ticket_id":"T-2"}"#,
            Ok("T-2 in de for detached"),
        ),
        (r#"{"ticket_id":"T-0"}"#, Err("tool_error: no such ticket")),
    ] {
        let result = call(&helpdesk, "get_ticket_faq", arguments);
        assert_eq!(
            result.as_deref().map_err(String::as_str),
            expected,
            "{arguments}"
        );
    }
    for (arguments, parts) in [
        (
            r#"{"ticket_id":5,"speed":1}"#,
            ["`speed` is not a parameter", "`ticket_id`: invalid type"],
        ),
        ("", ["invalid_arguments: ", "`ticket_id` is missing"]),
    ] {
        let fault = call(&helpdesk, "get_ticket_faq", arguments).unwrap_err();
        assert!(parts.iter().all(|part| fault.contains(part)), "{fault}");
    }
    assert_eq!(read(&helpdesk, "lookups"), Ok(json!(3)));
}
