//! Ready-made answers to whether a skill takes part in a turn, for `supports` hooks.
//!
//! # Examples
//!
//! ```
//! use serde_json::json;
//! use skills_engine::skill::{SkillBuilder, TurnRequest, gates};
//!
//! let is_about_deployments = gates::keyword(["deploy", "rollout"]);
//! assert!(is_about_deployments(&TurnRequest::user("Deploy it, please.")));
//! assert!(!is_about_deployments(&TurnRequest::user("What was deployed?")));
//!
//! let deployments = SkillBuilder::new("deployments").supports(is_about_deployments).build()?;
//! let gold = SkillBuilder::new("gold").supports(gates::attribute_is("tier", json!("gold"))).build()?;
//! # Ok::<(), skills_engine::skill::Fault>(())
//! ```
//!
//! In a method under `#[skill(supports)]` a gate is called: `gates::attribute("tenant")(request)`.

use serde_json::Value;

use super::TurnRequest;
use super::text::{folded, is_word_at};

/// Says yes when the text holds one of these words, or when there is no text at all, as over a protocol.
///
/// Whole words count, without regard to case in any script; in scripts that put no space between words, anywhere in the
/// text. Several words with a space between them are looked for as they stand.
pub fn keyword<W: AsRef<str>>(
    words: impl IntoIterator<Item = W>,
) -> impl Fn(&TurnRequest) -> bool + Clone + Send + Sync + 'static {
    let words: Vec<String> = words
        .into_iter()
        .map(|word| single_spaced(&folded(word.as_ref())))
        .filter(|word| !word.is_empty())
        .collect();
    move |request| {
        let Some(text) = &request.text else {
            return true;
        };
        let text = single_spaced(&folded(text));
        words.iter().any(|word| {
            let mut found = text.match_indices(&**word);
            found.any(|(start, _)| is_word_at(&text, start, start + word.len()))
        })
    }
}

/// Says yes when the host attached this attribute to the request; `null` counts as absent.
pub fn attribute(
    name: impl Into<String>,
) -> impl Fn(&TurnRequest) -> bool + Clone + Send + Sync + 'static {
    let name = name.into();
    move |request| {
        let value = request.attributes.get(&name);
        value.is_some_and(|value| !value.is_null())
    }
}

/// Says yes when the host attached this attribute to the request, with this value.
pub fn attribute_is(
    name: impl Into<String>,
    value: impl Into<Value>,
) -> impl Fn(&TurnRequest) -> bool + Clone + Send + Sync + 'static {
    let (name, value) = (name.into(), value.into());
    move |request| request.attributes.get(&name) == Some(&value)
}

fn single_spaced(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keywords_are_whole_words_in_any_case_and_script() {
        for (name, words, text, expected) in [
            ("plain", &["deploy"][..], "please deploy it", true),
            ("case", &["Deploy"], "DEPLOY!", true),
            ("another word", &["deploy"], "redeploy, deployed", false),
            ("underscore", &["deploy"], "deploy_all", false),
            ("apostrophe", &["deploy"], "the deploy's log", true),
            ("second time", &["deploy"], "deployed; deploy", true),
            ("any of them", &["deploy", "rollout"], "a rollout", true),
            ("phrase", &["roll  out"], "Roll\n out now", true),
            ("symbols", &["c++"], "I like C++.", true),
            ("part of a symbol's word", &["c++"], "abc++", false),
            ("sharp s", &["straße"], "IN DER STRASSE", true), // misspelled on purpose
            ("sigma", &["ΟΔΥΣΣΕΥΣ"], "ο οδυσσευς", true),
            ("combining mark", &["cafe"], "cafe\u{301}", false),
            ("without spaces", &["部署"], "请部署一下", true),
            ("empty text", &["deploy"], "", false),
            ("blank word", &[" ", ""], " ", false),
            ("no words", &[], "deploy", false),
        ] {
            let gate = keyword(words);
            assert_eq!(gate(&TurnRequest::user(text)), expected, "{name}");
        }
        assert!(keyword(["deploy"])(&TurnRequest::empty()));
    }

    #[test]
    fn attributes_must_be_there() {
        let request = TurnRequest::empty()
            .attribute("tenant", "acme")
            .attribute("none", Value::Null);
        assert!(attribute("tenant")(&request));
        assert!(!attribute("none")(&request));
        assert!(!attribute("tier")(&request));
        assert!(attribute_is("tenant", "acme")(&request));
        assert!(!attribute_is("tenant", json!(["acme"]))(&request));
        assert!(!attribute_is("tier", Value::Null)(&request));
    }
}
