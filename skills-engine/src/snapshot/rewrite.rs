//! JSON text with other strings in it, everything else to the byte as it was.

use std::collections::HashMap;

/// Which strings are offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rewriter {
    /// All, keys included.
    All,
    /// What a JSON Schema says to people: titles, descriptions, comments, defaults and examples.
    Schema,
}

/// The text is not JSON, as far as that was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotJson;

/// What the strings of an object or array are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Data: all of them.
    Data,
    /// A schema: by their key.
    Schema,
    /// Schemas by name.
    Named,
    /// Words that have a meaning to programs.
    Fixed,
}

struct Frame {
    is_object: bool,
    mode: Mode,
    /// The key whose value comes next; `None` where a key comes next.
    key: Option<String>,
    /// The keys there are, as they are written, each with the number that the next one of its name gets.
    keys: HashMap<String, u64>,
}

/// Replaces strings; `None` when none was. `replace` gives the new string for one that is to be another.
///
/// Where two keys of an object become one, the later ones are numbered.
pub(super) fn rewrite(
    json: &str,
    which: Rewriter,
    mut replace: impl FnMut(&str) -> Option<String>,
) -> Result<Option<String>, NotJson> {
    let mut out = String::new();
    let mut copied = 0;
    let mut frames: Vec<Frame> = Vec::new();
    let bytes = json.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            open @ (b'{' | b'[') => frames.push(Frame {
                is_object: open == b'{',
                mode: inner_mode(which, frames.last()),
                key: None,
                keys: HashMap::new(),
            }),
            b'}' | b']' => drop(frames.pop()),
            b',' => {
                if let Some(frame) = frames.last_mut() {
                    frame.key = None;
                }
            }
            b'"' => {
                let end = end_of_string(bytes, at).ok_or(NotJson)?;
                let text: String = serde_json::from_str(&json[at..end]).map_err(|_| NotJson)?;
                let replaced = match frames.last_mut() {
                    Some(frame) if frame.is_object && frame.key.is_none() => {
                        let key = match which {
                            Rewriter::All => frame.key(&text, replace(&text)),
                            Rewriter::Schema => None,
                        };
                        frame.key = Some(text);
                        key
                    }
                    frame if is_offered(which, frame.as_deref()) => replace(&text),
                    _ => None,
                };
                if let Some(replaced) = replaced {
                    out.push_str(&json[copied..at]);
                    out.push_str(&serde_json::to_string(&replaced).map_err(|_| NotJson)?);
                    copied = end;
                }
                at = end;
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    if copied == 0 {
        return Ok(None);
    }
    out.push_str(&json[copied..]);
    Ok(Some(out))
}

impl Frame {
    /// A key as it is written, unless that is as it was.
    fn key(&mut self, key: &str, replaced: Option<String>) -> Option<String> {
        let wanted = replaced.as_deref().unwrap_or(key);
        let Some(number) = self.keys.get(wanted) else {
            self.keys.insert(wanted.to_owned(), 2);
            return replaced;
        };
        let mut next = *number;
        let free = loop {
            let numbered = format!("{wanted} ({next})");
            next += 1;
            if !self.keys.contains_key(&numbered) {
                break numbered;
            }
        };
        self.keys.insert(wanted.to_owned(), next);
        self.keys.insert(free.clone(), 2);
        Some(free)
    }
}

fn is_offered(which: Rewriter, frame: Option<&Frame>) -> bool {
    let Some(frame) = frame else {
        return which == Rewriter::All;
    };
    match frame.mode {
        Mode::Data => true,
        Mode::Named | Mode::Fixed => false,
        Mode::Schema => matches!(
            frame.key.as_deref(),
            Some("title" | "description" | "$comment" | "default")
        ),
    }
}

/// What the strings of an object or array are that begins inside of another.
fn inner_mode(which: Rewriter, outer: Option<&Frame>) -> Mode {
    let Some(outer) = outer else {
        return match which {
            Rewriter::All => Mode::Data,
            Rewriter::Schema => Mode::Schema,
        };
    };
    match outer.mode {
        Mode::Data => Mode::Data,
        Mode::Fixed => Mode::Fixed,
        Mode::Named => Mode::Schema,
        Mode::Schema => match outer.key.as_deref() {
            Some("default" | "examples") => Mode::Data,
            Some("enum" | "const" | "required" | "type" | "dependentRequired") => Mode::Fixed,
            Some(
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
            ) => Mode::Named,
            _ => Mode::Schema,
        },
    }
}

/// The index after the string that begins at `start`.
fn end_of_string(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "\\PC{0,8}".prop_map(Value::from),
            "[\\\\\"\\[\\]{},:a]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::btree_map("[\\\\\"\\[\\]{},:ab]{0,4}", inner, 0..5)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    fn marked(value: &Value) -> Value {
        match value {
            Value::String(text) => Value::from(format!("<{text}>")),
            Value::Array(items) => items.iter().map(marked).collect(),
            Value::Object(fields) => fields
                .iter()
                .map(|(key, value)| (format!("<{key}>"), marked(value)))
                .collect(),
            other => other.clone(),
        }
    }

    proptest! {
        #[test]
        fn every_string_is_offered_once_and_nothing_else_changes(
            value in any_json(),
            is_pretty in any::<bool>(),
        ) {
            let json = if is_pretty {
                serde_json::to_string_pretty(&value).unwrap()
            } else {
                serde_json::to_string(&value).unwrap()
            };
            let same = rewrite(&json, Rewriter::All, |_| None).unwrap();
            prop_assert_eq!(same, None);
            let rewritten = rewrite(&json, Rewriter::All, |text| Some(format!("<{text}>"))).unwrap();
            let read: Value = serde_json::from_str(rewritten.as_deref().unwrap_or(&json)).unwrap();
            prop_assert_eq!(read, marked(&value));
        }

        #[test]
        fn nothing_makes_it_panic(text in "[\\\\\"\\[\\]{},:a\\PC]{0,40}") {
            let _ = rewrite(&text, Rewriter::All, |_| Some(String::new()));
            let _ = rewrite(&text, Rewriter::Schema, |_| Some(String::new()));
        }
    }
}
