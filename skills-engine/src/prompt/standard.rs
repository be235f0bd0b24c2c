use super::composer::{
    AttributeText, CatalogueText, LiveText, PromptComposer, RestatedText, SkillText, ToolText,
    TurnText,
};
use super::escape::{
    escape_attribute, escape_json_text, escape_line, escape_text, escape_text_below,
};
use crate::skill::Level;
use crate::snapshot::AttributeStatus;

/// The composer that engines use unless they are given another.
///
/// Its text begins with
///
/// ```text
#[doc = include_str!("introduction.txt")]
/// ```
///
/// and goes on with one `<skill>` element per skill inside `<skills>`, one `<opened>` element per opening, in the
/// order of the openings, and one `<live>` element with the values that may change from call to call:
///
/// ```text
#[doc = include_str!("example.txt")]
/// ```
///
/// What skills have to say of the request of one turn stands in `<turn>` elements before the live values. Headings of
/// theirs stand below the element's own:
///
/// ```text
/// <turn skill="helpdesk">
/// ## Instructions for this turn: helpdesk__get_ticket_faq
/// Answer in French.
/// </turn>
/// ```
///
/// After earlier messages have gone, an `<open>` element before the live values says again what is open:
///
/// ```text
/// <open>
/// Earlier messages of this conversation are gone. Open now:
/// - helpdesk at CONTEXT: helpdesk__get_ticket_faq
/// </open>
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct StandardComposer;

const INTRODUCTION: &str = include_str!("introduction.txt");
/// For models that cannot open skills by themselves.
const WITHOUT_CONTROL: &str = include_str!("without_control.txt");

impl PromptComposer for StandardComposer {
    fn open_catalogue(&self, catalogue: &CatalogueText, out: &mut String) {
        out.push_str(if catalogue.has_control {
            INTRODUCTION
        } else {
            WITHOUT_CONTROL
        });
        out.push_str("\n<skills>\n");
    }

    fn skill(&self, skill: &SkillText<'_>, out: &mut String) {
        open_skill(skill, out);
        out.push_str(">\n");
        paragraph(skill.description, out);
        close_skill(skill, out);
    }

    fn close_catalogue(&self, out: &mut String) {
        out.push_str("</skills>\n");
    }

    fn opened(&self, _from: Level, skill: &SkillText<'_>, out: &mut String) {
        out.push_str("\n<opened skill=\"");
        escape_attribute(skill.id, out);
        out.push_str("\" level=\"");
        out.push_str(skill.level.as_str());
        out.push_str("\">\n");
        members(&skill.attributes, &skill.tools, out);
        instructions(skill.instructions, out);
        out.push_str("</opened>\n");
    }

    fn live(&self, values: &[LiveText<'_>], out: &mut String) {
        out.push_str("\n<live>\n");
        for value in values {
            out.push_str("- ");
            escape_line(value.skill, out);
            out.push('.');
            escape_line(value.attribute, out);
            out.push_str(" = ");
            escape_json_text(value.value, out);
            if let Some(status) = value.status {
                status_of(status, out);
            }
            if let Some(time) = value.as_of {
                out.push_str(" (as of ");
                out.push_str(&time.to_string());
                out.push(')');
            }
            if value.value == "null" && value.status != Some(AttributeStatus::Redacted) {
                schema(value.schema, out);
            }
            out.push('\n');
        }
        out.push_str("</live>\n");
    }
}

/// What comes before a skill's description, without the `>` of its tag.
pub(super) fn open_skill(skill: &SkillText<'_>, out: &mut String) {
    out.push_str("<skill id=\"");
    escape_attribute(skill.id, out);
    out.push_str("\" name=\"");
    escape_attribute(skill.name, out);
    out.push_str("\" level=\"");
    out.push_str(skill.level.as_str());
    if !skill.tags.is_empty() {
        out.push_str("\" tags=\"");
        for (index, tag) in skill.tags.iter().enumerate() {
            out.push_str(if index == 0 { "" } else { ", " });
            escape_attribute(tag, out);
        }
    }
    out.push('"');
}

/// What comes after a skill's description.
pub(super) fn close_skill(skill: &SkillText<'_>, out: &mut String) {
    members(&skill.attributes, &skill.tools, out);
    instructions(skill.instructions, out);
    out.push_str("</skill>\n");
}

/// What skills have to say of a turn's request, each with the tools that it governs.
pub(super) fn write_turn(skills: &[TurnText<'_>], out: &mut String) {
    /// The level of the heading.
    const DEPTH: usize = 2;
    for skill in skills {
        out.push_str("\n<turn skill=\"");
        escape_attribute(skill.skill, out);
        out.push_str("\">\n## Instructions for this turn");
        for (index, tool) in skill.tools.iter().enumerate() {
            out.push_str(if index == 0 { ": " } else { ", " });
            escape_line(tool, out);
        }
        out.push('\n');
        escape_text_below(skill.instructions.trim(), DEPTH, out);
        out.push_str("\n</turn>\n");
    }
}

/// What is open, one line for each skill.
pub(super) fn write_restated(open: &RestatedText<'_>, out: &mut String) {
    out.push_str("\n<open>\nEarlier messages of this conversation are gone. ");
    if open.skills.is_empty() && open.more == 0 {
        out.push_str("No skill is open above METADATA.\n</open>\n");
        return;
    }
    out.push_str("Open now:\n");
    for skill in &open.skills {
        out.push_str("- ");
        escape_line(skill.id, out);
        out.push_str(" at ");
        out.push_str(skill.level.as_str());
        for (index, tool) in skill.tools.iter().enumerate() {
            out.push_str(if index == 0 { ": " } else { ", " });
            escape_line(tool, out);
        }
        and_more(skill.more_tools, " and ", out);
        out.push('\n');
    }
    and_more(open.more, "- and ", out);
    out.push_str(if open.more > 0 {
        "\n</open>\n"
    } else {
        "</open>\n"
    });
}

fn and_more(count: usize, before: &str, out: &mut String) {
    if count > 0 {
        out.push_str(before);
        out.push_str(&count.to_string());
        out.push_str(" more");
    }
}

/// Why there is no fresh value.
fn status_of(status: AttributeStatus, out: &mut String) {
    out.push_str(" (");
    out.push_str(status.as_str());
    out.push(')');
}

/// What a value that is not there would look like.
fn schema(json: &str, out: &mut String) {
    out.push_str(" (schema: ");
    escape_json_text(json, out);
    out.push(')');
}

fn paragraph(text: &str, out: &mut String) {
    let text = text.trim();
    if !text.is_empty() {
        escape_text(text, out);
        out.push('\n');
    }
}

fn members(attributes: &[AttributeText<'_>], tools: &[ToolText<'_>], out: &mut String) {
    for attribute in attributes {
        out.push_str("- ");
        escape_line(attribute.name, out);
        match attribute.value {
            Some(value) => {
                out.push_str(" = ");
                escape_json_text(value, out);
                match attribute.status {
                    Some(status) => status_of(status, out),
                    None if value == "null" => schema(attribute.schema, out),
                    None => {}
                }
            }
            None => out.push_str(" (live)"),
        }
        if !attribute.description.is_empty() {
            out.push_str(": ");
            escape_line(attribute.description, out);
        }
        out.push('\n');
    }
    for tool in tools {
        // What a tool does stands in the tool list; saying it here again would pay for it twice.
        out.push_str("- tool ");
        escape_line(tool.name, out);
        out.push('\n');
    }
}

fn instructions(text: Option<&str>, out: &mut String) {
    if let Some(text) = text {
        out.push_str("Instructions:\n");
        paragraph(text, out);
    }
}
