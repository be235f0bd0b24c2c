//! What members may return, and how they take their skill.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_engine::skill::{AttributeContext, Code, Fault, ToolContext, ToolOutput};
use skills_engine::{skill, skill_attribute, skill_tool};

use crate::support::{attribute, call, read};

/// An error that could be taken for a value.
#[derive(Debug, Serialize, JsonSchema)]
struct Broken {
    part: String,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the {} is broken", self.part)
    }
}

type Answer<T> = Result<T, Broken>;
type Shared<T> = Arc<T>;

#[derive(Serialize, Deserialize, JsonSchema, Clone)]
struct Node {
    value: u64,
    next: Option<Box<Node>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "type", content = "of")]
enum Event {
    Opened(String),
    #[expect(dead_code, reason = "only its schema is looked at")]
    Closed {
        by: String,
    },
}

/// Returns all kinds of values.
#[skill]
#[derive(Default)]
struct Giver {
    #[skill_attribute]
    names: Vec<String>,
    #[skill_attribute]
    r#type: Option<u8>,
    #[skill_attribute(name = "map")]
    by_name: HashMap<String, (u8, bool)>,
}

#[skill]
impl Giver {
    /// Nothing.
    #[skill_tool]
    fn nothing(&self) {}

    /// Nothing, late.
    #[skill_tool]
    async fn nothing_late(&self) {}

    /// A borrowed text.
    #[skill_tool]
    fn borrowed(&self) -> &str {
        "text"
    }

    /// A value.
    #[skill_tool]
    async fn value(&self) -> Node {
        Node {
            value: u64::MAX,
            next: None,
        }
    }

    /// Content.
    #[skill_tool]
    fn content(&self) -> ToolOutput {
        ToolOutput::text("a")
    }

    /// Content or an error.
    #[skill_tool]
    async fn content_or(
        &self,
        fails: bool,
    ) -> Result<ToolOutput, Box<dyn std::error::Error + Send + Sync>> {
        if fails {
            Err("no".into())
        } else {
            Ok(ToolOutput::text("b"))
        }
    }

    /// An alias of `Result`.
    #[skill_tool]
    fn alias(&self, fails: bool) -> Answer<u8> {
        if fails {
            Err(Broken {
                part: "lamp".to_owned(),
            })
        } else {
            Ok(1)
        }
    }

    /// An alias of the standard library.
    #[skill_tool]
    fn io(&self) -> std::io::Result<()> {
        Err(std::io::Error::other("disk"))
    }

    /// A fault, which has a code of its own.
    #[skill_tool]
    fn fault(&self) -> Result<(), Fault> {
        Err(Fault::new(Code::NotPermitted, "not on Sundays"))
    }

    /// A type without a name.
    #[skill_tool]
    fn unnamed(&self) -> impl Serialize + use<> {
        json!({"a": 1})
    }

    /// An owned receiver.
    #[skill_tool]
    fn owned(self: Arc<Self>, cx: &ToolContext) -> usize {
        cx.call_id().len() + self.names.len()
    }

    /// An owned receiver under another name.
    #[skill_tool]
    async fn aliased(self: Shared<Self>) -> usize {
        tokio::task::yield_now().await;
        self.names.len()
    }

    /// A borrowed `Arc`.
    #[skill_tool]
    async fn half(self: &Arc<Self>) -> usize {
        Arc::strong_count(self)
    }

    /// A borrowed `Arc`, on a thread.
    #[skill_tool(blocking)]
    fn half_blocking(self: &Arc<Self>) -> bool {
        Arc::strong_count(self) > 0
    }

    /// A spelled-out receiver.
    #[skill_tool]
    fn spelled(self: &Self) -> u8 {
        1
    }

    /// Its own type.
    #[skill_tool]
    fn same(&self, node: Node) -> Node {
        node
    }

    #[skill_attribute]
    fn alias_attribute(&self) -> Answer<Vec<Event>> {
        Ok(vec![Event::Opened("T-1".to_owned())])
    }

    #[skill_attribute]
    fn borrowed_attribute(&self) -> &[String] {
        &self.names
    }

    #[skill_attribute]
    fn borrowed_result(&self) -> Result<&str, &'static str> {
        Err("dark")
    }

    #[skill_attribute(lazy)]
    fn owned_attribute(self: Arc<Self>) -> u64 {
        (1 << 53) + 1
    }

    #[skill_attribute(timeout = "1s")]
    async fn late<'a>(&'a self, cx: &'a AttributeContext) -> BTreeMap<&'a str, &'a str> {
        tokio::task::yield_now().await;
        BTreeMap::from([("session", cx.session_id().as_str())])
    }

    #[skill_attribute]
    async fn late_shared(self: &Arc<Self>) -> Option<Node> {
        None
    }
}

#[test]
fn results_of_tools() {
    let giver = Arc::new(Giver::default());
    for (name, arguments, expected) in [
        ("nothing", "", Ok("done")),
        ("nothing_late", "{}", Ok("done")),
        ("borrowed", "{}", Ok("text")),
        (
            "value",
            "{}",
            Ok(r#"{"value":18446744073709551615,"next":null}"#),
        ),
        ("content", "{}", Ok("a")),
        ("content_or", r#"{"fails":false}"#, Ok("b")),
        ("content_or", r#"{"fails":true}"#, Err("tool_error: no")),
        ("alias", r#"{"fails":false}"#, Ok("1")),
        (
            "alias",
            r#"{"fails":true}"#,
            Err("tool_error: the lamp is broken"),
        ),
        ("io", "{}", Err("tool_error: disk")),
        ("fault", "{}", Err("not_permitted: not on Sundays")),
        ("unnamed", "{}", Ok(r#"{"a":1}"#)),
        ("owned", "{}", Ok("8")),
        ("aliased", "{}", Ok("0")),
        ("half", "{}", Ok("3")),
        ("half_blocking", "{}", Ok("true")),
        ("spelled", "{}", Ok("1")),
        (
            "same",
            r#"{"node":{"value":1,"next":{"value":2,"next":null}}}"#,
            Ok(r#"{"value":1,"next":{"value":2,"next":null}}"#),
        ),
    ] {
        let result = call(&giver, name, arguments);
        assert_eq!(
            result.as_deref().map_err(String::as_str),
            expected,
            "{name}"
        );
    }
}

#[test]
fn values_of_attributes() {
    let giver = Arc::new(Giver {
        names: vec!["a".to_owned()],
        r#type: None,
        by_name: HashMap::from([("b".to_owned(), (1, true))]),
    });
    for (name, expected) in [
        ("names", Ok(json!(["a"]))),
        ("type", Ok(json!(null))),
        ("map", Ok(json!({"b": [1, true]}))),
        (
            "alias_attribute",
            Ok(json!([{"type": "Opened", "of": "T-1"}])),
        ),
        ("borrowed_attribute", Ok(json!(["a"]))),
        ("borrowed_result", Err("dark".to_owned())),
        ("owned_attribute", Ok(json!(9_007_199_254_740_993_u64))),
        ("late", Ok(json!({"session": "detached"}))),
        ("late_shared", Ok(json!(null))),
    ] {
        assert_eq!(read(&giver, name), expected, "{name}");
    }
}

#[test]
fn the_schema_of_a_result_is_that_of_its_value() {
    for (name, expected) in [
        ("alias_attribute", "array"),
        ("borrowed_result", "string"),
        ("late", "object"),
        ("owned_attribute", "integer"),
    ] {
        assert_eq!(
            (attribute::<Giver>(name).schema)()["type"],
            expected,
            "{name}"
        );
    }
}
