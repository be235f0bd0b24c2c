use std::io;

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, Serializer};

use super::escape::{
    escape_attribute, escape_inline, escape_instructions, is_invisible, is_mark, one_line,
};
use super::profile::{Profile, ProfileTool};

/// How a loaded skill is written.
///
/// Whatever the form: neither the instructions nor a name or path can close it or write a mark of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EnvelopeForm {
    /// ```text
    /// <command-name>deploy</command-name>
    /// Instructions, already loaded: follow them, and do not load this skill again.
    /// Base directory for this skill: /skills/deploy
    ///
    /// The instructions.
    ///
    /// <skill_resources total="1">
    /// - references/steps.md
    /// </skill_resources>
    /// ```
    CommandName,
    /// ```text
    /// Base directory for this skill: /skills/deploy
    ///
    /// The instructions.
    ///
    /// <skill_resources total="1">
    /// - references/steps.md
    /// </skill_resources>
    /// ```
    BaseDirectory,
    /// ```text
    /// <skill_content name="deploy">
    /// Instructions, already loaded: follow them, and do not load this skill again.
    /// Base directory for this skill: /skills/deploy
    ///
    /// The instructions.
    ///
    /// <skill_resources total="1">
    /// - references/steps.md
    /// </skill_resources>
    /// </skill_content>
    /// ```
    SkillContent,
    /// `{"name":"deploy","description":"…","content":"The instructions.","availableResources":["references/steps.md"]}`,
    /// and `totalResources` where not all of them are listed.
    Json,
}

/// A skill that was loaded, as its envelope is made from it. All texts are as their authors wrote them.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct LoadedSkill<'a> {
    /// What the skill is loaded by.
    pub name: &'a str,
    /// What it is for.
    pub description: &'a str,
    /// The folder that its files lie in, when tools of the host may read it.
    pub directory: Option<&'a str>,
    /// The instructions, arguments inserted.
    pub body: &'a str,
    /// Paths of its files, relative to the folder, in the order in which they are listed.
    pub resources: &'a [String],
    /// How many files it has; those that `resources` has when it is less.
    pub total_resources: usize,
}

impl<'a> LoadedSkill<'a> {
    /// A skill without files.
    #[must_use]
    pub fn new(name: &'a str, description: &'a str, body: &'a str) -> Self {
        Self {
            name,
            description,
            body,
            ..Self::default()
        }
    }
}

const INSTRUCTIONS: &str =
    "Instructions, already loaded: follow them, and do not load this skill again.";
const BASE_DIRECTORY: &str = "Base directory for this skill: ";
const ALREADY: &str = "Already loaded: its instructions stand earlier in this conversation and have not changed. Follow \
                       them, and do not load this skill again.";

impl Profile {
    /// A loaded skill, in the profile's form.
    ///
    /// # Examples
    ///
    /// ```
    /// use skills_engine::prompt::{LoadedSkill, Profile};
    ///
    /// let mut skill = LoadedSkill::new("deploy", "Deploys.", "1. Ask first.\n");
    /// skill.directory = Some("/skills/deploy");
    /// assert_eq!(
    ///     Profile::spring().loaded(&skill),
    ///     "Base directory for this skill: /skills/deploy\n\n1. Ask first."
    /// );
    /// ```
    #[must_use]
    pub fn loaded(&self, skill: &LoadedSkill<'_>) -> String {
        let room = skill.body.len() + 64 * skill.resources.len().min(self.listed_resources()) + 512;
        let mut out = String::with_capacity(room);
        match self.envelope() {
            EnvelopeForm::CommandName => {
                push_command_name(skill.name, &mut out);
                out.push_str(INSTRUCTIONS);
                out.push('\n');
                self.push_content(skill, &mut out);
            }
            EnvelopeForm::BaseDirectory => self.push_content(skill, &mut out),
            EnvelopeForm::SkillContent => {
                open_content(skill.name, &mut out);
                out.push_str(INSTRUCTIONS);
                out.push('\n');
                self.push_content(skill, &mut out);
                out.push_str("\n</skill_content>");
            }
            EnvelopeForm::Json => return self.content_json(skill),
        }
        out
    }

    /// What loading a skill again comes to while its instructions stand earlier in the conversation.
    #[must_use]
    pub fn already_loaded(&self, name: &str) -> String {
        let mut out = String::new();
        match self.envelope() {
            EnvelopeForm::CommandName => {
                push_command_name(name, &mut out);
                out.push_str(ALREADY);
            }
            EnvelopeForm::BaseDirectory => {
                out.push_str("Skill ");
                escape_inline(&one_line(name), &mut out);
                out.push_str(". ");
                out.push_str(ALREADY);
            }
            EnvelopeForm::SkillContent => {
                open_content(name, &mut out);
                out.push_str(ALREADY);
                out.push_str("\n</skill_content>");
            }
            EnvelopeForm::Json => {
                #[derive(Serialize)]
                struct Already<'a> {
                    name: &'a str,
                    status: &'a str,
                }
                return guarded_json(&Already {
                    name,
                    status: ALREADY,
                });
            }
        }
        out
    }

    /// Base directory, body and files.
    fn push_content(&self, skill: &LoadedSkill<'_>, out: &mut String) {
        let total = skill.total_resources.max(skill.resources.len());
        let read = self.tool(ProfileTool::ReadResource);
        out.push_str(BASE_DIRECTORY);
        match skill.directory {
            Some(directory) => escape_inline(&one_line(directory), out),
            None if total == 0 => out.push_str("none"),
            None => {
                out.push_str("none; `");
                out.push_str(read);
                out.push_str("` reads its files");
            }
        }
        out.push_str("\n\n");
        escape_instructions(skill.body.trim(), out);
        if total == 0 {
            return;
        }
        out.push_str("\n\n<skill_resources total=\"");
        out.push_str(&total.to_string());
        out.push_str("\">\n");
        let listed = self.listed(skill);
        for path in listed {
            out.push_str("- ");
            out.push_str(&name_as_told(path));
            out.push('\n');
        }
        if listed.len() < total {
            out.push_str("and ");
            out.push_str(&(total - listed.len()).to_string());
            out.push_str(" more\n");
        }
        out.push_str("</skill_resources>");
    }

    fn content_json(&self, skill: &LoadedSkill<'_>) -> String {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields<'a> {
            name: &'a str,
            description: &'a str,
            content: &'a str,
            available_resources: &'a [String],
            #[serde(skip_serializing_if = "Option::is_none")]
            total_resources: Option<usize>,
        }
        let listed = self.listed(skill);
        let total = skill.total_resources.max(skill.resources.len());
        guarded_json(&Fields {
            name: skill.name,
            description: skill.description,
            content: skill.body.trim(),
            available_resources: listed,
            total_resources: (listed.len() < total).then_some(total),
        })
    }

    fn listed<'a>(&self, skill: &LoadedSkill<'a>) -> &'a [String] {
        &skill.resources[..skill.resources.len().min(self.listed_resources())]
    }
}

/// A name or path as lists tell it.
pub(crate) fn name_as_told(path: &str) -> String {
    let mut out = String::new();
    escape_inline(&one_line(path), &mut out);
    out
}

fn push_command_name(name: &str, out: &mut String) {
    out.push_str("<command-name>");
    escape_inline(&one_line(name), out);
    out.push_str("</command-name>\n");
}

fn open_content(name: &str, out: &mut String) {
    out.push_str("<skill_content name=\"");
    escape_attribute(name, out);
    out.push_str("\">\n");
}

/// JSON whose strings mean what they are made from, with `\u` escapes for what is invisible and for the `<` of a mark.
fn guarded_json(value: &impl Serialize) -> String {
    let mut out = Vec::new();
    let mut serializer = Serializer::with_formatter(&mut out, Guarded(CompactFormatter));
    match value.serialize(&mut serializer) {
        // It writes whole characters of strings, and ASCII.
        Ok(()) => String::from_utf8_lossy(&out).into_owned(),
        // Strings and numbers in a struct, written to memory.
        Err(err) => unreachable!("nothing here can fail: {err}"),
    }
}

struct Guarded(CompactFormatter);

impl Formatter for Guarded {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        // Found once: a search of the rest at each character would take time in the square of a text without letters.
        let letters_end = fragment.rfind(char::is_alphanumeric);
        while let Some(at) = rest.find(|one: char| one == '<' || is_invisible(one)) {
            let (before, tail) = rest.split_at(at);
            self.0.write_string_fragment(writer, before)?;
            let one = tail.chars().next().unwrap_or_default();
            rest = &tail[one.len_utf8()..];
            // A fragment ends where a character is escaped; what comes after may belong to the mark.
            let is_open = letters_end.is_none_or(|end| end < fragment.len() - rest.len());
            if one == '<' && !is_mark(tail) && !is_open {
                writer.write_all(b"<")?;
                continue;
            }
            for unit in one.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        self.0.write_string_fragment(writer, rest)
    }
}

#[cfg(test)]
mod tests;
