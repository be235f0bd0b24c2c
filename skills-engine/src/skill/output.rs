use std::any::Any;
use std::borrow::Cow;
use std::fmt;

use serde::Serialize;

use super::tool::ToolResult;
use super::{Code, Fault};

/// One piece of a tool's result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Content {
    /// Text, shown to the model as it is.
    Text(String),
    /// A JSON value, as text.
    Json(String),
    /// An image.
    Image {
        /// Its bytes.
        data: Vec<u8>,
        /// Its media type, such as `image/png`.
        mime_type: String,
    },
    /// Something with an address.
    Resource {
        /// Its URI.
        uri: String,
        /// Its media type, when known.
        mime_type: Option<String>,
        /// Its text.
        text: String,
    },
}

impl Content {
    /// Appends what a model reads of it, in parts, so that nothing long is copied twice.
    fn push_parts<'c>(&'c self, parts: &mut Vec<Cow<'c, str>>) {
        match self {
            Self::Text(text) | Self::Json(text) => parts.push(text.into()),
            Self::Image { data, mime_type } => {
                parts.push(format!("[image: {mime_type}, {} bytes]", data.len()).into());
            }
            Self::Resource {
                uri,
                mime_type,
                text,
            } => {
                parts.push(uri.into());
                if let Some(mime_type) = mime_type {
                    parts.push(format!(" ({mime_type})").into());
                }
                parts.push("\n".into());
                parts.push(text.into());
            }
        }
    }
}

fn cut_mark(shown: usize, total: usize) -> String {
    format!("… [cut: {shown} of {total} bytes shown]")
}

/// The largest index of at most `most` at which a text can be split. `str` has it from Rust 1.91 on.
fn floor_char_boundary(text: &str, most: usize) -> usize {
    let most = most.min(text.len());
    (0..=most)
        .rev()
        .find(|index| text.is_char_boundary(*index))
        .unwrap_or(0)
}

/// What a tool gives back: one or more pieces of content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    pub(crate) content: Vec<Content>,
}

impl ToolOutput {
    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Text(text.into())],
        }
    }

    /// What a tool gives that did its work and has nothing to tell: the text `done`.
    #[must_use]
    pub fn done() -> Self {
        Self::text("done")
    }

    /// A value as JSON; a value that is a string becomes text.
    ///
    /// # Errors
    ///
    /// `tool_error` when the value cannot be written as JSON.
    pub fn json<T: Serialize + ?Sized>(value: &T) -> Result<Self, Fault> {
        let json = serde_json::to_string(value).map_err(|err| {
            Fault::new(
                Code::ToolError,
                format!("the result is not valid JSON: {err}"),
            )
        })?;
        let content = if json.starts_with('"') {
            Content::Text(serde_json::from_str(&json).unwrap_or(json))
        } else {
            Content::Json(json)
        };
        Ok(Self {
            content: vec![content],
        })
    }

    /// An image.
    #[must_use]
    pub fn image(data: Vec<u8>, mime_type: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Image {
                data,
                mime_type: mime_type.into(),
            }],
        }
    }

    /// A text resource with an address.
    #[must_use]
    pub fn resource(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            content: vec![Content::Resource {
                uri: uri.into(),
                mime_type: None,
                text: text.into(),
            }],
        }
    }

    /// Appends the pieces of another output.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.content.extend(other.content);
        self
    }

    /// The pieces, in order.
    #[must_use]
    pub fn content(&self) -> &[Content] {
        &self.content
    }

    /// The pieces as one text for a model, of at most `limit` bytes, and whether it was cut.
    ///
    /// Text and JSON stand as they are, an image as a note of its type and size, a resource as its URI and, on the
    /// next line, its text; each piece begins a line. What is too long is cut between characters and ends in
    /// `… [cut: N of M bytes shown]`, which counts towards the limit, and is left out where the limit is shorter
    /// than that.
    ///
    /// # Examples
    ///
    /// ```
    /// use skills_engine::skill::ToolOutput;
    ///
    /// let output = ToolOutput::text("0123456789".repeat(10));
    /// let (text, is_cut) = output.to_model_text(40);
    /// assert_eq!(text, "0123456… [cut: 7 of 100 bytes shown]");
    /// assert!(is_cut);
    /// ```
    #[must_use]
    pub fn to_model_text(&self, limit: usize) -> (String, bool) {
        let mut parts: Vec<Cow<'_, str>> = Vec::with_capacity(self.content.len() * 2);
        for (index, content) in self.content.iter().enumerate() {
            if index > 0 {
                parts.push("\n".into());
            }
            content.push_parts(&mut parts);
        }
        let total = parts
            .iter()
            .fold(0_usize, |total, part| total.saturating_add(part.len()));
        if total <= limit {
            return (parts.concat(), false);
        }
        let (room, has_mark) = match limit.checked_sub(cut_mark(total, total).len()) {
            Some(room) => (room, true),
            None => (limit, false),
        };
        let mut text = String::with_capacity(limit);
        for part in &parts {
            let fitting = floor_char_boundary(part, room - text.len());
            text.push_str(&part[..fitting]);
            if fitting < part.len() {
                break;
            }
        }
        if has_mark {
            text.push_str(&cut_mark(text.len(), total));
        }
        (text, true)
    }
}

/// What a closure of a builder tool may return.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    note = "return a text, `()`, `serde_json::Value`, `ToolOutput`, or a `Result` of one of these whose error is `Display`; \
            `ToolOutput::json(&value)` turns any `Serialize` value into a result"
)]
pub trait IntoToolResult {
    /// Converts.
    ///
    /// # Errors
    ///
    /// The error of a `Result`, as `tool_error` with its text; a [`Fault`] keeps its code.
    fn into_tool_result(self) -> ToolResult;
}

impl IntoToolResult for ToolOutput {
    fn into_tool_result(self) -> ToolResult {
        Ok(self)
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> ToolResult {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolResult for &str {
    fn into_tool_result(self) -> ToolResult {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> ToolResult {
        Ok(ToolOutput::done())
    }
}

impl IntoToolResult for serde_json::Value {
    fn into_tool_result(self) -> ToolResult {
        ToolOutput::json(&self)
    }
}

macro_rules! json_results {
    ($($ty:ty),*) => {$(
        impl IntoToolResult for $ty {
            fn into_tool_result(self) -> ToolResult {
                ToolOutput::json(&self)
            }
        }
    )*};
}
json_results!(
    bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize, f32, f64
);

impl<T: IntoToolResult, E: fmt::Display + 'static> IntoToolResult for Result<T, E> {
    fn into_tool_result(self) -> ToolResult {
        match self {
            Ok(value) => value.into_tool_result(),
            Err(err) => Err((&err as &dyn Any)
                .downcast_ref::<Fault>()
                .cloned()
                .unwrap_or_else(|| Fault::new(Code::ToolError, err.to_string()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    use super::{Content, ToolOutput};

    #[test]
    fn each_piece_is_text_for_a_model() {
        let resource = |mime_type: Option<&str>| ToolOutput {
            content: vec![Content::Resource {
                uri: "file:///a".to_owned(),
                mime_type: mime_type.map(str::to_owned),
                text: "b".to_owned(),
            }],
        };
        for (name, output, expected) in [
            ("text", ToolOutput::text("a\n b"), "a\n b"),
            ("no text", ToolOutput::text(""), ""),
            (
                "JSON",
                ToolOutput::json(&serde_json::json!({ "a": [1, "b"] })).expect("it is JSON"),
                r#"{"a":[1,"b"]}"#,
            ),
            (
                "image",
                ToolOutput::image(vec![0; 1_234], "image/png"),
                "[image: image/png, 1234 bytes]",
            ),
            ("resource", resource(None), "file:///a\nb"),
            (
                "resource with a type",
                resource(Some("text/plain")),
                "file:///a (text/plain)\nb",
            ),
            (
                "several",
                ToolOutput::text("a")
                    .and(ToolOutput::text("b"))
                    .and(resource(None)),
                "a\nb\nfile:///a\nb",
            ),
        ] {
            assert_eq!(
                output.to_model_text(expected.len()),
                (expected.to_owned(), false),
                "{name}"
            );
        }
    }

    #[test]
    fn what_is_too_long_is_cut_and_marked() {
        let long = ToolOutput::text("é".repeat(50)).and(ToolOutput::text("x".repeat(99)));
        for (limit, expected) in [
            (200, format!("{}\n{}", "é".repeat(50), "x".repeat(99))),
            (
                199,
                format!(
                    "{}\n{}… [cut: 166 of 200 bytes shown]",
                    "é".repeat(50),
                    "x".repeat(65)
                ),
            ),
            (
                99,
                format!("{}… [cut: 66 of 200 bytes shown]", "é".repeat(33)),
            ),
            (36, "é… [cut: 2 of 200 bytes shown]".to_owned()),
            (35, "é… [cut: 2 of 200 bytes shown]".to_owned()),
            (34, "… [cut: 0 of 200 bytes shown]".to_owned()),
            (33, "… [cut: 0 of 200 bytes shown]".to_owned()),
            (32, "é".repeat(16)),
            (1, String::new()),
            (0, String::new()),
        ] {
            assert_eq!(
                long.to_model_text(limit),
                (expected, limit < 200),
                "limit of {limit}"
            );
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(5),
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_text_never_passes_its_limit(
            texts in prop::collection::vec(any::<String>(), 1..4),
            limit in 0_usize..200,
        ) {
            let output = ToolOutput {
                content: texts.iter().cloned().map(Content::Text).collect(),
            };
            let whole = texts.join("\n");
            let (text, is_cut) = output.to_model_text(limit);
            prop_assert!(text.len() <= limit);
            prop_assert_eq!(is_cut, whole.len() > limit);
            let kept = text.rsplit_once("… [cut: ").map_or(text.as_str(), |(kept, _)| kept);
            prop_assert!(whole.starts_with(kept));
            if limit > 60 {
                prop_assert!(!is_cut || text.ends_with(" bytes shown]"));
            }
        }
    }
}
