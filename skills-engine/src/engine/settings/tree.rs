use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::SecretText;
use crate::skill::{is_hidden, push_visible, shown};

/// Characters of a value in a message.
const SHOWN: usize = 60;

/// A value of any format, with the line it stands at where that is known.
#[derive(Clone, PartialEq)]
pub(super) struct Node {
    pub(super) tree: Tree,
    pub(super) line: Option<usize>,
}

pub(super) type Table = BTreeMap<String, Node>;

#[derive(Clone, PartialEq)]
pub(super) enum Tree {
    Nothing,
    Switch(bool),
    Integer(i128),
    /// What no setting takes, such as a fraction or a date, as text.
    Other(String),
    Text(String),
    List(Vec<Node>),
    Table(Table),
    Secret(SecretText),
}

impl From<Tree> for Node {
    fn from(tree: Tree) -> Self {
        Self { tree, line: None }
    }
}

impl Tree {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// The value in a message about it.
    pub(super) fn found(&self) -> String {
        match self {
            Self::Nothing | Self::List(_) | Self::Table(_) | Self::Secret(_) => {
                self.kind().to_owned()
            }
            Self::Switch(_) | Self::Integer(_) | Self::Other(_) | Self::Text(_) => {
                format!("`{}`", shown(&self.to_string(), SHOWN))
            }
        }
    }

    /// What sort of value it is, where the value itself is not to be shown.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Nothing => "nothing",
            Self::Switch(_) => "true or false",
            Self::Integer(_) => "a number",
            Self::Other(_) => "a value of its type",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
            Self::Secret(_) => "a secret",
        }
    }

    /// Writes a part of a value: texts in quotes, as in TOML.
    fn write_inner(&self, out: &mut String) {
        match self {
            Self::Text(text) => quote(text, out),
            // Writing to a string does not fail.
            other => drop(write!(out, "{other}")),
        }
    }
}

/// In one line: a text as it is, lists and tables as in TOML, a secret masked.
impl fmt::Display for Tree {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => formatter.write_str("not set"),
            Self::Switch(is_on) => write!(formatter, "{is_on}"),
            Self::Integer(number) => write!(formatter, "{number}"),
            Self::Other(text) => formatter.write_str(text),
            Self::Text(text) => formatter.write_str(&shown(text, usize::MAX)),
            Self::List(nodes) => {
                let mut out = String::new();
                for node in nodes {
                    out.push_str(if out.is_empty() { "" } else { ", " });
                    node.tree.write_inner(&mut out);
                }
                write!(formatter, "[{out}]")
            }
            Self::Table(table) => {
                let mut out = String::new();
                for (name, node) in table {
                    out.push_str(if out.is_empty() { " " } else { ", " });
                    out.push_str(&segment(name));
                    out.push_str(" = ");
                    node.tree.write_inner(&mut out);
                }
                let end = if out.is_empty() { "" } else { " " };
                write!(formatter, "{{{out}{end}}}")
            }
            Self::Secret(_) => formatter.write_str("***"),
        }
    }
}

fn quote(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            other if other.is_control() || is_hidden(other) => push_visible(other, out),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// A part of a dotted key, in quotes where TOML asks for them.
pub(super) fn segment(name: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    if !name.is_empty() && name.bytes().all(is_bare) {
        return name.to_owned();
    }
    let mut out = String::new();
    quote(name, &mut out);
    out
}

/// As [`segment`], and short enough for a message.
pub(super) fn brief_segment(name: &str) -> String {
    match name.char_indices().nth(SHOWN) {
        Some((end, _)) => segment(&format!("{}…", &name[..end])),
        None => segment(name),
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value of the settings")
    }

    fn visit_bool<E>(self, is_on: bool) -> Result<Tree, E> {
        Ok(Tree::Switch(is_on))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Tree, E> {
        Ok(Tree::Integer(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Tree, E> {
        Ok(Tree::Integer(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Tree, E> {
        Ok(Tree::Other(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Tree, E> {
        Ok(Tree::text(text))
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Nothing)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Tree, A::Error> {
        let mut nodes = Vec::new();
        while let Some(tree) = parts.next_element::<Tree>()? {
            nodes.push(tree.into());
        }
        Ok(Tree::List(nodes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Tree, A::Error> {
        let mut table = Table::new();
        while let Some((name, tree)) = parts.next_entry::<String, Tree>()? {
            if table.contains_key(&name) {
                let message = format!("`{}` is set twice; set it once", brief_segment(&name));
                return Err(serde::de::Error::custom(message));
            }
            table.insert(name, tree.into());
        }
        Ok(Tree::Table(table))
    }
}

impl Serialize for Node {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.tree {
            Tree::Nothing => serializer.serialize_none(),
            Tree::Switch(is_on) => serializer.serialize_bool(*is_on),
            Tree::Integer(number) => match i64::try_from(*number) {
                Ok(number) => serializer.serialize_i64(number),
                Err(_) => serializer.serialize_i128(*number),
            },
            Tree::Other(text) | Tree::Text(text) => serializer.serialize_str(text),
            Tree::List(nodes) => serializer.collect_seq(nodes),
            Tree::Table(table) => serializer.collect_map(table),
            Tree::Secret(_) => serializer.serialize_str("***"),
        }
    }
}
