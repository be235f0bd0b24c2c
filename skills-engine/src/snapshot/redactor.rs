use std::borrow::Cow;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::rewrite::{Rewriter, rewrite};
use crate::skill::{Code, Content, Fault, ToolOutput};

/// What a text becomes when the redactor panics: nobody knows what is left of the original.
const FAILED: &str = "[redaction failed]";
/// Bytes that a redactor may add to one text.
const MOST_ADDED: usize = 4_096;

/// Sees every text of skills before it is rendered anywhere (prompt, snapshot, tool list, search, results for the
/// model, what is kept with the audit trail) and may replace it.
///
/// It is given only what some model may see: nothing of a member before a view shows it, and nothing of one that is
/// never shown. A text that never changes is seen once, a live value each time it is obtained, before it is cut.
/// The same text in the same place must come out the same. Where it panics, `[redaction failed]` stands instead; of what it
/// adds to one text, 4,096 bytes are kept.
///
/// Ids, names of members and what JSON Schema calls by name are not texts: they stay as they are. Code of the host that
/// asks for a skill itself, as by [`Engine::skills`](crate::Engine::skills), gets it as its author wrote it.
///
/// # Examples
///
/// ```
/// use std::borrow::Cow;
///
/// use skills_engine::snapshot::{RedactionPlace, Redactor};
///
/// struct Addresses;
///
/// impl Redactor for Addresses {
///     fn redact<'a>(&self, text: &'a str, _place: &RedactionPlace<'_>) -> Cow<'a, str> {
///         if text.contains('@') {
///             Cow::Borrowed("[address]")
///         } else {
///             Cow::Borrowed(text)
///         }
///     }
/// }
/// ```
pub trait Redactor: Send + Sync + 'static {
    /// The text as it may be shown.
    fn redact<'a>(&self, text: &'a str, place: &RedactionPlace<'_>) -> Cow<'a, str>;
}

/// Where a text stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RedactionPlace<'a> {
    /// The skill's id.
    pub skill: &'a str,
    /// The name of the attribute or tool, when it is a text of one.
    pub member: Option<&'a str>,
    /// What kind of text it is.
    pub kind: TextKind,
    /// Whether it is part of the value of a sensitive attribute, which the model alone is shown.
    pub sensitive: bool,
}

/// What kind of text it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextKind {
    /// The name of a skill.
    Name,
    /// The description of a skill or member.
    Description,
    /// The version of a skill.
    Version,
    /// A tag of a skill.
    Tag,
    /// The instructions of a skill.
    Instructions,
    /// The title of a tool.
    Title,
    /// A title, description, default or example in a JSON Schema.
    Schema,
    /// A string, or the key of an object, in the value of an attribute.
    Value,
    /// A text, or a string in JSON, of the result of a tool, or its error.
    Output,
    /// A string, or the key of an object, in an event that a skill writes into the audit trail.
    Event,
}

impl<'a> RedactionPlace<'a> {
    pub(crate) fn new(skill: &'a str, member: Option<&'a str>, kind: TextKind) -> Self {
        Self {
            skill,
            member,
            kind,
            sensitive: false,
        }
    }

    pub(crate) fn sensitive(mut self, sensitive: bool) -> Self {
        self.sensitive = sensitive;
        self
    }
}

/// A host's redactor, whose panics stay inside and whose texts are bounded.
#[derive(Clone)]
pub(crate) struct Redaction(Arc<dyn Redactor>);

impl Redaction {
    pub(crate) fn new(redactor: Arc<dyn Redactor>) -> Self {
        Self(redactor)
    }

    /// A text as it may be shown.
    pub(crate) fn text<'a>(&self, text: &'a str, place: &RedactionPlace<'_>) -> Cow<'a, str> {
        let redacted = catch_unwind(AssertUnwindSafe(|| self.0.redact(text, place)));
        let Ok(mut redacted) = redacted else {
            tracing::error!(
                skill = place.skill,
                member = place.member,
                kind = ?place.kind,
                "the redactor panicked"
            );
            return Cow::Borrowed(FAILED);
        };
        let most = text.len().saturating_add(MOST_ADDED);
        if redacted.len() > most {
            let end = (0..=most).rev().find(|end| redacted.is_char_boundary(*end));
            let text = redacted.to_mut();
            text.truncate(end.unwrap_or(0));
            text.push_str("… [cut]");
        }
        redacted
    }

    /// The text if it is replaced.
    fn replaced(&self, text: &str, place: &RedactionPlace<'_>) -> Option<String> {
        let redacted = self.text(text, place);
        (*redacted != *text).then(|| redacted.into_owned())
    }

    /// JSON text with its strings and keys as they may be shown; `None` when nothing is replaced.
    pub(crate) fn json(&self, json: &str, place: &RedactionPlace<'_>) -> Option<String> {
        rewrite(json, Rewriter::All, |text| self.replaced(text, place))
            .unwrap_or_else(|_| Some(format!("\"{FAILED}\"")))
    }

    /// A JSON Schema with what is said in it as it may be shown; `None` when nothing is replaced.
    pub(crate) fn schema(&self, json: &str, place: &RedactionPlace<'_>) -> Option<String> {
        rewrite(json, Rewriter::Schema, |text| self.replaced(text, place))
            .unwrap_or_else(|_| Some("{}".to_owned()))
    }

    /// What a tool gave, as a model may see it.
    pub(crate) fn result(
        &self,
        result: Result<ToolOutput, Fault>,
        place: &RedactionPlace<'_>,
    ) -> Result<ToolOutput, Fault> {
        let replace = |text: &mut String| {
            if let Some(replaced) = self.replaced(text, place) {
                *text = replaced;
            }
        };
        match result {
            Ok(mut output) => {
                for content in &mut output.content {
                    match content {
                        Content::Text(text) => replace(text),
                        Content::Json(json) => {
                            if let Some(replaced) = self.json(json, place) {
                                *json = replaced;
                            }
                        }
                        Content::Resource { uri, text, .. } => {
                            replace(uri);
                            replace(text);
                        }
                        Content::Image { .. } => {}
                    }
                }
                Ok(output)
            }
            Err(mut fault) => {
                // What the engine itself says holds no text of a skill.
                if fault.code == Code::ToolError {
                    replace(&mut fault.message);
                }
                Err(fault)
            }
        }
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Redaction")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Hostile;

    impl Redactor for Hostile {
        fn redact<'a>(&self, text: &'a str, _place: &RedactionPlace<'_>) -> Cow<'a, str> {
            match text {
                "panic" => panic!("told to"),
                "long" => Cow::Owned("é".repeat(1 << 20)),
                "secret" => Cow::Borrowed("***"),
                other => Cow::Borrowed(other),
            }
        }
    }

    #[test]
    fn panics_stay_inside_and_texts_are_bounded() {
        let redaction = Redaction::new(Arc::new(Hostile));
        let place = RedactionPlace::new("desk", None, TextKind::Description);
        assert_eq!(redaction.text("plain", &place), "plain");
        assert_eq!(redaction.text("panic", &place), FAILED);
        let long = redaction.text("long", &place);
        assert!(long.len() <= 4 + MOST_ADDED + "… [cut]".len());
        assert!(long.ends_with("é… [cut]"));
    }

    #[test]
    fn json_is_redacted_inside_and_left_alone_where_nothing_is_replaced() {
        let redaction = Redaction::new(Arc::new(Hostile));
        let place = RedactionPlace::new("desk", None, TextKind::Value);
        for (json, expected) in [
            (r#"{"a":["b",1.50,null]}"#, None),
            (
                r#"{"a":["secret",1.50,{"secret":"panic"}]}"#,
                Some(r#"{"a":["***",1.50,{"***":"[redaction failed]"}]}"#),
            ),
            (
                r#"{"secret":1,"***":2,"\u0073ecret":3}"#,
                Some(r#"{"***":1,"*** (2)":2,"*** (3)":3}"#),
            ),
            (r#"["secret"#, Some(r#""[redaction failed]""#)),
        ] {
            assert_eq!(redaction.json(json, &place).as_deref(), expected, "{json}");
        }
    }

    #[test]
    fn a_schema_keeps_what_it_calls_by_name() {
        let redaction = Redaction::new(Arc::new(Hostile));
        let place = RedactionPlace::new("desk", Some("find"), TextKind::Schema);
        let schema = r#"{"type":"object","description":"secret","properties":{"secret":{"type":"string","title":"secret","enum":["secret"],"const":"secret","default":"secret","examples":["secret",{"secret":["secret"]}]},"description":{"$ref":"secret","items":{"description":"secret"}}},"required":["secret"]}"#;
        let expected = r#"{"type":"object","description":"***","properties":{"secret":{"type":"string","title":"***","enum":["secret"],"const":"secret","default":"***","examples":["***",{"secret":["***"]}]},"description":{"$ref":"secret","items":{"description":"***"}}},"required":["secret"]}"#;
        assert_eq!(redaction.schema(schema, &place).as_deref(), Some(expected));
    }

    #[test]
    fn what_a_tool_gives_is_redacted_and_what_the_engine_says_is_not() {
        let redaction = Redaction::new(Arc::new(Hostile));
        let place = RedactionPlace::new("desk", Some("find"), TextKind::Output);
        let output = ToolOutput::text("secret")
            .and(ToolOutput::json(&["secret"]).unwrap())
            .and(ToolOutput::resource("secret", "secret"));
        let shown = redaction.result(Ok(output), &place).unwrap();
        assert_eq!(shown.to_model_text(100).0, "***\n[\"***\"]\n***\n***");
        for (code, expected) in [(Code::ToolError, "***"), (Code::Timeout, "secret")] {
            let fault = redaction.result(Err(Fault::new(code, "secret")), &place);
            assert_eq!(fault.unwrap_err().message, expected);
        }
    }
}
