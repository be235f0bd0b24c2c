use super::{CatalogueEntry, CatalogueFormat};
use crate::prompt::composer::SkillText;
use crate::prompt::escape::{escape_attribute, escape_inline, escape_text, one_line};
use crate::prompt::standard::{close_skill, open_skill};
use crate::skill::Level;

/// What stands before and after all entries.
pub(super) fn around(format: CatalogueFormat) -> (&'static str, &'static str) {
    match format {
        CatalogueFormat::Skills => ("<skills>\n", "</skills>\n"),
        CatalogueFormat::AvailableSkills => ("<available_skills>\n", "</available_skills>\n"),
        CatalogueFormat::SkillList => ("<skill_list>\n", "</skill_list>\n"),
        CatalogueFormat::BoldLines | CatalogueFormat::Lines => ("", ""),
    }
}

/// How a description is written.
#[derive(Clone, Copy, Debug)]
pub(super) enum Written {
    /// As part of a line.
    Inline,
    /// As lines of its own.
    Paragraph,
}

impl Written {
    pub(super) fn of(format: CatalogueFormat) -> Self {
        match format {
            CatalogueFormat::Skills => Self::Paragraph,
            CatalogueFormat::AvailableSkills
            | CatalogueFormat::SkillList
            | CatalogueFormat::BoldLines
            | CatalogueFormat::Lines => Self::Inline,
        }
    }

    /// What is written of a description; writing makes it no shorter.
    fn source(self, description: &str) -> String {
        match self {
            Self::Inline => one_line(description),
            Self::Paragraph => {
                let lines = description.trim().replace("\r\n", "\n");
                lines.replace('\r', "\n")
            }
        }
    }

    pub(super) fn write(self, source: &str, out: &mut String) {
        match self {
            Self::Inline => escape_inline(source, out),
            Self::Paragraph => escape_text(source, out),
        }
    }

    /// Writes as much of the beginning as comes to no more than so many characters.
    pub(super) fn write_beginning(self, source: &str, most: usize, out: &mut String) {
        let ends: Vec<usize> = source
            .char_indices()
            .map(|(at, one)| at + one.len_utf8())
            .take(most)
            .collect();
        let mut written = String::new();
        let mut beginning = |count: usize| {
            written.clear();
            if let Some(end) = count.checked_sub(1).and_then(|last| ends.get(last)) {
                self.write(source[..*end].trim_end(), &mut written);
            }
            written.clone()
        };
        // `ends[..fits]` fit; `ends[..tried]` may.
        let (mut fits, mut tried) = (0, ends.len());
        while fits < tried {
            let middle = fits + (tried - fits).div_ceil(2);
            if beginning(middle).chars().count() <= most {
                fits = middle;
            } else {
                tried = middle - 1;
            }
        }
        out.push_str(&beginning(fits));
    }
}

/// An entry, rendered, but for its description.
pub(super) struct Frame {
    pub(super) before: String,
    /// What [`Written`] is given.
    pub(super) source: String,
    pub(super) after: String,
    /// The entry without its description.
    pub(super) bare: String,
}

impl Frame {
    pub(super) fn of(format: CatalogueFormat, entry: &CatalogueEntry<'_>) -> Self {
        let described = entry
            .skill
            .map_or(entry.description, |skill| skill.description);
        let source = Written::of(format).source(described);
        match format {
            CatalogueFormat::Skills => skill(entry, source),
            CatalogueFormat::AvailableSkills => available_skill(entry, source),
            CatalogueFormat::SkillList => {
                let mut tag = String::from("  <skill name=\"");
                escape_attribute(entry.name, &mut tag);
                tag.push('"');
                Self {
                    before: format!("{tag}>"),
                    source,
                    after: "</skill>\n".to_owned(),
                    bare: format!("{tag} />\n"),
                }
            }
            CatalogueFormat::BoldLines => line(&format!("**{}**", bold(entry.name)), source),
            CatalogueFormat::Lines => line(&inline(entry.name), source),
        }
    }
}

fn skill(entry: &CatalogueEntry<'_>, source: String) -> Frame {
    let plain = SkillText {
        id: entry.name,
        name: entry.name,
        description: entry.description,
        tags: &[],
        level: Level::Metadata,
        attributes: Vec::new(),
        tools: Vec::new(),
        instructions: None,
    };
    let skill = entry.skill.unwrap_or(&plain);
    let mut tag = String::new();
    open_skill(skill, &mut tag);
    let mut after = String::new();
    if !source.is_empty() {
        after.push('\n');
    }
    close_skill(skill, &mut after);
    Frame {
        before: format!("{tag}>\n"),
        source,
        after,
        bare: format!("{tag}/>\n"),
    }
}

fn available_skill(entry: &CatalogueEntry<'_>, source: String) -> Frame {
    let name = inline(entry.name);
    let mut after = String::from("</description>\n");
    for (tag, value) in [
        ("location", entry.location),
        ("argument-hint", entry.argument_hint),
    ] {
        if let Some(value) = value {
            after = format!("{after}  <{tag}>{}</{tag}>\n", inline(value));
        }
    }
    after.push_str("</skill>\n");
    Frame {
        before: format!("<skill>\n  <name>{name}</name>\n  <description>"),
        source,
        after,
        bare: format!("<skill>\n  <name>{name}</name>\n</skill>\n"),
    }
}

fn line(name: &str, source: String) -> Frame {
    let between = if source.is_empty() { "" } else { ": " };
    Frame {
        before: format!("- {name}{between}"),
        source,
        after: "\n".to_owned(),
        bare: format!("- {name}\n"),
    }
}

fn inline(text: &str) -> String {
    let mut out = String::new();
    escape_inline(&one_line(text), &mut out);
    out
}

/// A name between `**`, which it must not end.
fn bold(name: &str) -> String {
    inline(name).replace('\\', "\\\\").replace('*', "\\*")
}
