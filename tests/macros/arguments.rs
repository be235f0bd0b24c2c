//! What a tool may take.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skills_engine::skill::{ToolContext, ToolEntry};
use skills_engine::{skill, skill_tool};

use crate::support::{call, tool};

/// A tree.
#[derive(Deserialize, Serialize, JsonSchema)]
struct Tree {
    name: String,
    #[serde(default)]
    children: Vec<Tree>,
}

impl Tree {
    fn size(&self) -> usize {
        1 + self.children.iter().map(Self::size).sum::<usize>()
    }
}

#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Circle { radius: f64 },
    Square { side: f64 },
}

#[derive(Deserialize, Serialize, JsonSchema, Default, Debug)]
enum Color {
    #[default]
    Red,
    Green,
}

type Maybe<T> = Option<T>;

/// Takes all kinds of arguments.
#[skill]
#[derive(Default)]
struct Taker;

const LIMIT: u32 = 10;

#[skill]
impl Taker {
    const SIZE: u8 = 3;

    /// A name that is a keyword.
    #[skill_tool]
    fn raw(&self, r#type: String, r#match: &str) -> String {
        r#type + "/" + r#match
    }

    /// A method that is named like a keyword.
    #[skill_tool]
    fn r#move(&self) -> bool {
        true
    }

    /// Borrowed arguments.
    #[skill_tool]
    async fn borrowed<'a>(&'a self, text: &'a str, numbers: &[u8], words: &'_ [String]) -> String {
        tokio::task::yield_now().await;
        format!("{text} {numbers:?} {words:?}")
    }

    /// Borrowed and on a thread.
    #[skill_tool(blocking)]
    fn borrowed_blocking(&self, text: &str, cx: &ToolContext) -> String {
        format!("{text} {}", cx.call_id())
    }

    /// Optional arguments.
    #[skill_tool]
    fn optional(
        &self,
        text: Option<String>,
        alias: Maybe<u8>,
        path: std::option::Option<bool>,
    ) -> String {
        format!("{text:?} {alias:?} {path:?}")
    }

    /// Defaults of all kinds.
    #[skill_tool]
    fn defaults(
        &self,
        #[param(default = "x")] text: &str,
        #[param(default = "y")] cow: Cow<'_, str>,
        #[param(default = self::LIMIT)] constant: u32,
        #[param(default = Self::SIZE)] associated: u8,
        #[param(default = vec![1, 2])] list: Vec<u8>,
        #[param(default = Color::Green)] color: Color,
        #[param(default = Some(5))] option: Option<i8>,
        #[param(default = [7])] slice: &[u8],
    ) -> String {
        format!("{text} {cow} {constant} {associated} {list:?} {color:?} {option:?} {slice:?}")
    }

    /// The context anywhere, and twice.
    #[skill_tool]
    fn contexts(
        &self,
        first: &ToolContext,
        mut number: u8,
        last: &skills_engine::skill::ToolContext,
    ) -> bool {
        number += 1;
        number == 2 && first.call_id() == last.call_id()
    }

    /// Structured arguments.
    #[skill_tool]
    fn structured(
        &self,
        tree: Tree,
        shapes: Vec<Shape>,
        map: BTreeMap<String, (u8, bool)>,
        pair: (String, u64),
    ) -> String {
        let area: f64 = shapes
            .iter()
            .map(|shape| match shape {
                Shape::Circle { radius } => radius * 3.0,
                Shape::Square { side } => side * side,
            })
            .sum();
        format!("{} {area} {map:?} {pair:?}", tree.size())
    }

    /// Thirty arguments.
    #[skill_tool]
    fn thirty(
        &self,
        a0: u32,
        a1: u32,
        a2: u32,
        a3: u32,
        a4: u32,
        a5: u32,
        a6: u32,
        a7: u32,
        a8: u32,
        a9: u32,
        b0: u32,
        b1: u32,
        b2: u32,
        b3: u32,
        b4: u32,
        b5: u32,
        b6: u32,
        b7: u32,
        b8: u32,
        b9: u32,
        c0: u32,
        c1: u32,
        c2: u32,
        c3: u32,
        c4: u32,
        c5: u32,
        c6: u32,
        c7: u32,
        c8: u32,
        c9: u32,
    ) -> u32 {
        a0 + a1
            + a2
            + a3
            + a4
            + a5
            + a6
            + a7
            + a8
            + a9
            + b0
            + b1
            + b2
            + b3
            + b4
            + b5
            + b6
            + b7
            + b8
            + b9
            + c0
            + c1
            + c2
            + c3
            + c4
            + c5
            + c6
            + c7
            + c8
            + c9
    }
}

fn names(tool: &ToolEntry) -> Vec<&'static str> {
    tool.parameters
        .iter()
        .map(|parameter| parameter.name)
        .collect()
}

#[test]
fn calls() {
    let taker = Arc::new(Taker);
    for (name, arguments, expected) in [
        ("raw", r#"{"type":"a","match":"b"}"#, "a/b"),
        ("move", "{}", "true"),
        (
            "borrowed",
            r#"{"text":"a","numbers":[1],"words":["w"]}"#,
            r#"a [1] ["w"]"#,
        ),
        ("borrowed_blocking", r#"{"text":"a"}"#, "a detached"),
        ("optional", "{}", "None None None"),
        (
            "optional",
            r#"{"text":null,"alias":1,"path":true}"#,
            "None Some(1) Some(true)",
        ),
        ("defaults", "{}", "x y 10 3 [1, 2] Green Some(5) [7]"),
        (
            "defaults",
            r#"{"text":"t","cow":"c","constant":1,"associated":2,"list":[],"color":"Red","option":null,"slice":[1]}"#,
            "t c 1 2 [] Red None [1]",
        ),
        ("contexts", r#"{"number":1}"#, "true"),
        (
            "structured",
            r#"{"tree":{"name":"a","children":[{"name":"b"}]},
                "shapes":[{"kind":"circle","radius":1},{"kind":"square","side":2}],
                "map":{"k":[1,true]},"pair":["p",18446744073709551615]}"#,
            r#"2 7 {"k": (1, true)} ("p", 18446744073709551615)"#,
        ),
    ] {
        assert_eq!(
            call(&taker, name, arguments).as_deref(),
            Ok(expected),
            "{name}"
        );
    }
}

#[test]
fn thirty_arguments() {
    let thirty = tool::<Taker>("thirty");
    assert_eq!(names(thirty).len(), 30);
    let arguments: serde_json::Map<_, _> = names(thirty)
        .into_iter()
        .enumerate()
        .map(|(value, name)| (name.to_owned(), json!(value)))
        .collect();
    let arguments = serde_json::Value::Object(arguments).to_string();
    assert_eq!(
        call(&Arc::new(Taker), "thirty", &arguments).as_deref(),
        Ok("435")
    );
}

#[test]
fn parameters_are_described() {
    assert_eq!(names(tool::<Taker>("raw")), ["type", "match"]);
    assert_eq!(names(tool::<Taker>("contexts")), ["number"]);
    let optional: Vec<_> = tool::<Taker>("optional")
        .parameters
        .iter()
        .map(|parameter| parameter.is_option)
        .collect();
    assert_eq!(optional, [true; 3]);
    let defaults: Vec<_> = tool::<Taker>("defaults")
        .parameters
        .iter()
        .map(|parameter| parameter.default.unwrap()())
        .collect();
    assert_eq!(
        json!(defaults),
        json!(["x", "y", 10, 3, [1, 2], "Green", 5, [7]])
    );
    let borrowed: Vec<_> = tool::<Taker>("borrowed")
        .parameters
        .iter()
        .map(|parameter| (parameter.schema)()["type"].clone())
        .collect();
    assert_eq!(json!(borrowed), json!(["string", "array", "array"]));
}

#[test]
fn all_mistakes_are_reported_at_once() {
    let fault = call(
        &Arc::new(Taker),
        "structured",
        r#"{"tree":{"name":1},"shapes":[{"kind":"line"}],"extra":1,"map":{}}"#,
    )
    .unwrap_err();
    for part in ["`extra`", "`tree`", "`shapes`", "`pair` is missing"] {
        assert!(fault.contains(part), "{part} in {fault}");
    }
}
