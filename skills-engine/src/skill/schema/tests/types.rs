//! Types as tool authors write them.
#![expect(dead_code, reason = "only their schemas are used")]

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;

/// How much is visible.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Level {
    /// What it is.
    Metadata,
    /// What it says,
    /// in more words.
    Context,
    Complete,
}

#[derive(Deserialize, JsonSchema)]
pub(super) enum Plain {
    A,
    B,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Point {
    pub(super) x: f64,
    pub(super) y: Option<f64>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "action", rename_all = "lowercase")]
pub(super) enum Internal {
    Create { title: String, count: Option<u32> },
    Move(Point),
    Stop,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
pub(super) enum Adjacent {
    A(u8),
    B { x: f64 },
    C,
}

#[derive(Deserialize, JsonSchema)]
pub(super) enum External {
    Number(f64),
    Text { text: String },
    Nothing,
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Untagged {
    Text(String),
    Number(i64),
}

/// A tree.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Tree {
    pub(super) name: String,
    pub(super) children: Vec<Tree>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Nested(pub(super) Vec<Nested>);

/// An expression.
#[derive(Deserialize, JsonSchema)]
pub(super) enum Expression {
    Number(f64),
    Add(Box<Expression>, Box<Expression>),
    Zero,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Ping {
    pub(super) pong: Option<Box<Pong>>,
}

/// The other one.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Pong {
    pub(super) ping: Option<Box<Ping>>,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Flat {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) point: Point,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct FlatEnums {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) internal: Internal,
    #[serde(flatten)]
    pub(super) adjacent: Adjacent,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct FlatMap {
    pub(super) name: String,
    #[serde(flatten)]
    pub(super) rest: HashMap<String, u8>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Defaults {
    #[serde(default)]
    pub(super) tags: Vec<String>,
    #[serde(default)]
    pub(super) level: Option<Level>,
    /// Documented here.
    pub(super) other: Level,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Wrapper<T> {
    pub(super) value: T,
}

#[derive(Deserialize, JsonSchema)]
pub(super) struct Newtype(pub(super) String);

/// Stands for a date of another crate.
pub(super) struct Date;

impl JsonSchema for Date {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Date".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Refers to itself in many ways.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Many {
    pub(super) one: Option<Box<ManyTwo>>,
    pub(super) two: Option<Box<ManyThree>>,
    pub(super) three: Option<Box<ManyFour>>,
}

macro_rules! many {
    ($($name:ident)*) => {$(
        #[derive(Deserialize, JsonSchema)]
        pub(super) struct $name {
            pub(super) a: Option<Box<Many>>,
            pub(super) b: Option<Box<ManyTwo>>,
            pub(super) c: Option<Box<ManyThree>>,
            pub(super) d: Option<Box<ManyFour>>,
            pub(super) e: Option<Box<ManyFive>>,
            pub(super) f: Option<Box<ManySix>>,
            pub(super) g: Option<Box<ManySeven>>,
            pub(super) h: Option<Box<ManyEight>>,
        }
    )*};
}
many!(ManyTwo ManyThree ManyFour ManyFive ManySix ManySeven ManyEight);
