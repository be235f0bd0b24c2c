use std::borrow::Cow;
use std::fmt::Write as _;
use std::rc::Rc;

/// A node of a header. An alias is the node it stands for, shared.
#[derive(Debug)]
pub(crate) struct Node<'a> {
    /// Where it begins: an offset in bytes.
    pub(crate) at: usize,
    pub(crate) content: Content<'a>,
}

#[derive(Debug)]
pub(crate) enum Content<'a> {
    Scalar(Scalar<'a>),
    Sequence(Vec<Rc<Node<'a>>>),
    Mapping(Vec<Entry<'a>>),
}

/// A key of a mapping and its value.
#[derive(Debug)]
pub(crate) struct Entry<'a> {
    pub(crate) key: Rc<Node<'a>>,
    pub(crate) value: Rc<Node<'a>>,
}

/// A scalar as it was written: no number, boolean or date is made of it.
#[derive(Debug)]
pub(crate) struct Scalar<'a> {
    /// The text, without quotes and escapes; empty when nothing was written.
    pub(crate) text: Cow<'a, str>,
    /// Whether it stands without quotes and is no block.
    pub(crate) is_plain: bool,
    /// Whether it is a text whatever it says: it was quoted, a block, or tagged as one.
    pub(crate) is_text: bool,
    /// Where it ends: an offset in bytes.
    pub(crate) end: usize,
}

impl Scalar<'_> {
    /// Whether it is null by the core schema of YAML 1.2.
    pub(crate) fn is_null(&self) -> bool {
        !self.is_text && matches!(&*self.text, "" | "~" | "null" | "Null" | "NULL")
    }
}

impl<'a> Node<'a> {
    pub(crate) fn scalar(&self) -> Option<&Scalar<'a>> {
        match &self.content {
            Content::Scalar(scalar) => Some(scalar),
            Content::Sequence(_) | Content::Mapping(_) => None,
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.scalar().is_some_and(Scalar::is_null)
    }

    /// The text of a scalar; `None` for null, and for what is no scalar.
    pub(crate) fn text(&self) -> Option<&str> {
        self.scalar()
            .filter(|scalar| !scalar.is_null())
            .map(|scalar| &*scalar.text)
    }

    /// The text of a scalar, null included; of anything else what [`flow_text`](Self::flow_text) says.
    ///
    /// Keys are told apart by it. It is no JSON, whose escapes grow with each key that is inside another.
    pub(crate) fn source_text(&self) -> Cow<'_, str> {
        match &self.content {
            Content::Scalar(scalar) => Cow::Borrowed(&scalar.text),
            Content::Sequence(_) | Content::Mapping(_) => Cow::Owned(self.flow_text()),
        }
    }

    /// The node as JSON in the order of its source, without blanks. Scalars are texts, except null.
    pub(crate) fn compact_json(&self) -> String {
        let mut out = String::new();
        self.write_compact_json(&mut out);
        out
    }

    fn write_compact_json(&self, out: &mut String) {
        match &self.content {
            Content::Scalar(scalar) if scalar.is_null() => out.push_str("null"),
            Content::Scalar(scalar) => push_json_text(&scalar.text, out),
            Content::Sequence(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_compact_json(out);
                }
                out.push(']');
            }
            Content::Mapping(entries) => {
                out.push('{');
                for (index, entry) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    push_json_text(&entry.key.source_text(), out);
                    out.push(':');
                    entry.value.write_compact_json(out);
                }
                out.push('}');
            }
        }
    }

    /// The node as an author writes it in brackets: `[a, b]`, `{a: b}`.
    pub(crate) fn flow_text(&self) -> String {
        let mut out = String::new();
        self.write_flow_text(&mut out);
        out
    }

    fn write_flow_text(&self, out: &mut String) {
        match &self.content {
            Content::Scalar(scalar) => out.push_str(&scalar.text),
            Content::Sequence(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    item.write_flow_text(out);
                }
                out.push(']');
            }
            Content::Mapping(entries) => {
                out.push('{');
                for (index, entry) in entries.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    entry.key.write_flow_text(out);
                    if !entry.value.is_null() {
                        out.push_str(": ");
                        entry.value.write_flow_text(out);
                    }
                }
                out.push('}');
            }
        }
    }
}

fn push_json_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing into a `String` does not fail.
            control if control < ' ' => drop(write!(out, "\\u{:04x}", u32::from(control))),
            other => out.push(other),
        }
    }
    out.push('"');
}

/// The key that stands twice in a mapping and is not the first of its kind: that which comes first in the source.
pub(crate) fn duplicate_key<'n, 'a>(entries: &'n [Entry<'a>]) -> Option<&'n Rc<Node<'a>>> {
    // Two keys are the same when they read the same, or are both null, however they were written.
    let mut keys: Vec<(Option<Cow<'_, str>>, usize)> = entries
        .iter()
        .enumerate()
        .map(|(index, entry)| {
            let text = (!entry.key.is_null()).then(|| entry.key.source_text());
            (text, index)
        })
        .collect();
    keys.sort_unstable();
    keys.windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .map(|pair| pair[1].1)
        .min()
        .map(|index| &entries[index].key)
}
