//! What an approval holds for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserializer as _, Error as _, MapAccess, Visitor};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use crate::skill::{Actor, Level, Span, TurnId};

/// Stands for all that an approval is bound to within its session: nothing else is let through by it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Binding([u8; 32]);

impl Binding {
    /// A call of a tool; `turn` is the only one that has the tool, where it is in no registry.
    pub(super) fn of_call(
        skill: &str,
        version: &str,
        tool: &str,
        arguments: &str,
        turn: Option<TurnId>,
    ) -> Self {
        let turn = turn.map_or([0; 8], |turn| turn.0.to_le_bytes());
        Self::new(&[
            b"call",
            skill.as_bytes(),
            version.as_bytes(),
            tool.as_bytes(),
            &canonical(arguments),
            &turn,
        ])
    }

    /// The opening of a skill by an actor.
    pub(super) fn of_opening(
        skill: &str,
        version: &str,
        (level, span): (Level, Span),
        actor: Actor,
    ) -> Self {
        let span = match span {
            Span::UntilCleared => "until_cleared".to_owned(),
            Span::Turn => "turn".to_owned(),
            Span::Ttl(ttl) => ttl.as_millis().to_string(),
        };
        Self::new(&[
            b"opening",
            skill.as_bytes(),
            version.as_bytes(),
            level.as_str().as_bytes(),
            span.as_bytes(),
            actor.as_str().as_bytes(),
        ])
    }

    /// A question: it is answered to whoever waits for it, and never looked for.
    pub(super) fn of_question() -> Self {
        Self::new(&[b"question"])
    }

    fn new(parts: &[&[u8]]) -> Self {
        let mut hash = Sha256::new();
        for part in parts {
            // With the length before each, no two lists of parts are the same bytes.
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Self(hash.finalize().into())
    }
}

/// Arguments as they are compared: no spaces between the parts of the text, the arguments sorted by name, empty text as
/// `{}`. Values stay as they were written, since tools may tell `1.0` from `1.00`; so texts are the same here only if
/// every tool takes them for the same.
fn canonical(arguments: &str) -> Vec<u8> {
    let text = match arguments.trim_ascii() {
        "" => "{}",
        text => text,
    };
    let mut out = Vec::with_capacity(text.len());
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let by_name = deserializer
        .deserialize_map(ByName)
        .and_then(|by_name| deserializer.end().map(|()| by_name));
    let Ok(by_name) = by_name else {
        push_without_spaces(text, &mut out);
        return out;
    };
    out.push(b'{');
    for (index, (name, value)) in by_name.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        // A text can always be written.
        out.extend(serde_json::to_vec(name).unwrap_or_default());
        out.push(b':');
        push_without_spaces(value.get(), &mut out);
    }
    out.push(b'}');
    out
}

fn push_without_spaces(json: &str, out: &mut Vec<u8>) {
    let mut is_text = false;
    let mut is_escaped = false;
    for byte in json.bytes() {
        if !is_text && byte.is_ascii_whitespace() {
            continue;
        }
        out.push(byte);
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ => {}
        }
    }
}

/// Takes an object apart, unless a name stands in it twice: tools differ in what they make of that.
struct ByName;

impl<'de> Visitor<'de> for ByName {
    type Value = BTreeMap<Cow<'de, str>, &'de RawValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut by_name = BTreeMap::new();
        while let Some((name, value)) = map.next_entry::<Cow<'de, str>, &'de RawValue>()? {
            if by_name.insert(name, value).is_some() {
                return Err(A::Error::custom("a name is given twice"));
            }
        }
        Ok(by_name)
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;

    #[test]
    fn arguments_are_compared_by_name_without_spaces_and_as_written() {
        let same = [
            ("", "{}"),
            (" { } ", "{}"),
            (r#"{"b":1,"a":2}"#, r#"{ "a" : 2, "b" : 1 }"#),
            (r#"{"\u0061":[1, 2]}"#, r#"{"a":[1,2]}"#),
            (r#"{"a":"x \" y"}"#, "{\"a\":\n\"x \\\" y\"}"),
        ];
        for (left, right) in same {
            assert_eq!(canonical(left), canonical(right), "{left} {right}");
        }
        let other = [
            (r#"{"a":1.0}"#, r#"{"a":1.00}"#),
            (r#"{"a":"x y"}"#, r#"{"a":"xy"}"#),
            (r#"{"a":"\\" }"#, r#"{"a":"\\ "}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#),
            (r#"{"a":1,"a":2}"#, r#"{"a":2,"a":1}"#),
            (
                r#"{"a":12345678901234567890123}"#,
                r#"{"a":12345678901234567890124}"#,
            ),
            (r#"{"a":null}"#, "{}"),
            ("[1 ,2]", "{}"),
        ];
        for (left, right) in other {
            assert_ne!(canonical(left), canonical(right), "{left} {right}");
        }
    }
}
