use std::borrow::Cow;
use std::collections::HashMap;

use super::DiagnosticKind;
use super::report::{Report, Source};
use super::yaml::{Content, Entry, Node};
use crate::skill::AllowedTools;

/// Characters of a description.
const MOST_DESCRIPTION: usize = 1024;

/// Characters of `compatibility`.
const MOST_COMPATIBILITY: usize = 500;

/// The entries of a header by key.
pub(super) struct Fields<'n, 'a> {
    pub(super) entries: &'n [Entry<'a>],
    by_key: HashMap<&'n str, &'n Node<'a>>,
    pub(super) source: Source<'n>,
}

impl<'n, 'a> Fields<'n, 'a> {
    pub(super) fn new(entries: &'n [Entry<'a>], source: Source<'n>) -> Self {
        let by_key = entries
            .iter()
            .filter_map(|entry| Some((entry.key.text()?, &*entry.value)))
            .collect();
        Self {
            entries,
            by_key,
            source,
        }
    }

    /// The value of a key, null included.
    pub(super) fn node(&self, key: &str) -> Option<&'n Node<'a>> {
        self.by_key.get(key).copied()
    }

    /// The value of a key unless it is null.
    pub(super) fn value(&self, key: &str) -> Option<&'n Node<'a>> {
        self.node(key).filter(|node| !node.is_null())
    }

    /// The text of a key, trimmed; of what is no scalar its JSON. `None` when it is absent, null or blank.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        let value = self.value(key)?;
        let text = match &value.content {
            Content::Scalar(scalar) => Cow::Borrowed(scalar.text.trim()),
            Content::Sequence(_) | Content::Mapping(_) => Cow::Owned(value.compact_json()),
        };
        (!text.is_empty()).then(|| text.into_owned())
    }

    /// The words of a text or of a list.
    pub(super) fn words(&self, key: &str) -> Vec<String> {
        self.value(key).and_then(words_of_value).unwrap_or_default()
    }

    /// What a key says, `otherwise` when that is neither yes nor no; `None` when it is absent or null.
    pub(super) fn boolean(&self, key: &str, otherwise: bool) -> Option<bool> {
        let text = self.value(key)?.text().unwrap_or_default();
        Some(match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => true,
            "false" | "no" | "off" | "0" | "" => false,
            _ => otherwise,
        })
    }
}

/// The words of a text, or of a list of texts, with blanks or commas between them; `None` for anything else.
pub(super) fn words_of_value(node: &Node<'_>) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut add = |text: &str| {
        let parts = text.split(|it: char| it == ',' || it.is_whitespace());
        words.extend(parts.filter(|it| !it.is_empty()).map(str::to_owned));
    };
    match &node.content {
        Content::Scalar(_) => add(node.text().unwrap_or_default()),
        Content::Sequence(items) => {
            for item in items {
                add(item.text()?);
            }
        }
        Content::Mapping(_) => return None,
    }
    Some(words)
}

/// The description; `None` after an error.
pub(super) fn description(fields: &Fields<'_, '_>, report: &mut Report<'_>) -> Option<String> {
    const HINT: &str = "say in one or two sentences what the skill does and when to use it: a model decides by that";
    let Some(value) = fields.value("description") else {
        match fields.node("description") {
            Some(node) => report.place(
                DiagnosticKind::DescriptionMissing,
                fields.source.place(node.at),
                "`description` is empty",
                HINT,
            ),
            None => report.file(
                DiagnosticKind::DescriptionMissing,
                "there is no `description`",
                HINT,
            ),
        }
        return None;
    };
    let place = fields.source.place(value.at);
    let Some(scalar) = value.scalar() else {
        report.place(
            DiagnosticKind::DescriptionInvalid,
            place,
            "`description` is not a text",
            "write it as one text; quotes help where it holds brackets, or begins with a hyphen",
        );
        return None;
    };
    let text = scalar.text.trim();
    if text.is_empty() {
        let kind = DiagnosticKind::DescriptionMissing;
        report.place(kind, place, "`description` is blank", HINT);
        return None;
    }
    let count = text.chars().count();
    if count > MOST_DESCRIPTION {
        report.place(
            DiagnosticKind::DescriptionTooLong,
            place,
            format!("`description` has {count} characters, {MOST_DESCRIPTION} are allowed"),
            "shorten it: other clients leave the skill out",
        );
    }
    if scalar.is_plain && fields.source.has_comment_after(scalar.end) {
        report.place(
            DiagnosticKind::CommentInValue,
            fields.source.place(scalar.end),
            "`description` ends where ` #` begins a comment",
            "quote the description if what follows belongs to it",
        );
    }
    Some(text.to_owned())
}

pub(super) fn compatibility(fields: &Fields<'_, '_>, report: &mut Report<'_>) -> Option<String> {
    let text = fields.text("compatibility")?;
    let count = text.chars().count();
    if count > MOST_COMPATIBILITY {
        let at = fields.value("compatibility").map_or(0, |node| node.at);
        report.place(
            DiagnosticKind::CompatibilityTooLong,
            fields.source.place(at),
            format!("`compatibility` has {count} characters, {MOST_COMPATIBILITY} are allowed"),
            "name what must be there, and move the rest to the body",
        );
    }
    Some(text)
}

pub(super) fn allowed_tools(
    fields: &Fields<'_, '_>,
    report: &mut Report<'_>,
) -> Option<AllowedTools> {
    let value = fields.value("allowed-tools")?;
    let items = match &value.content {
        Content::Scalar(scalar) => Some(vec![&*scalar.text]),
        Content::Sequence(items) => items.iter().map(|item| item.text()).collect(),
        Content::Mapping(_) => None,
    };
    let tools = items.map_or_else(AllowedTools::unparsable, AllowedTools::from_items);
    let message = if tools.is_unparsable() {
        "`allowed-tools` cannot be read, so it allows nothing"
    } else if value.scalar().is_none() {
        "`allowed-tools` is a list"
    } else if value.text().is_some_and(has_outer_comma) {
        "`allowed-tools` has commas between the tools"
    } else {
        return Some(tools);
    };
    report.place(
        DiagnosticKind::AllowedToolsForm,
        fields.source.place(value.at),
        message,
        "write the tools as one text with blanks between them: `Read Bash(git add:*)`",
    );
    Some(tools)
}

/// Whether a comma stands outside parentheses.
fn has_outer_comma(text: &str) -> bool {
    let mut depth = 0_usize;
    text.chars().any(|character| {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && character == ','
    })
}

pub(super) fn argument_hint(fields: &Fields<'_, '_>, report: &mut Report<'_>) -> Option<String> {
    let value = fields.value("argument-hint")?;
    if value.scalar().is_some() {
        return fields.text("argument-hint");
    }
    report.place(
        DiagnosticKind::ArgumentHintForm,
        fields.source.place(value.at),
        "`argument-hint` is not a text",
        "quote it: brackets make a list of it",
    );
    Some(value.flow_text())
}
