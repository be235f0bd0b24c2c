use crate::prompt::{CatalogueFormat, CatalogueList};

type Entries = Vec<(String, String)>;

/// Every entry's name and shown description, by the format's own rules; or why the list is none.
pub(super) fn parsed(format: CatalogueFormat, list: &CatalogueList) -> Result<Entries, String> {
    let mut text = &*list.text;
    if !list.cut.is_empty() {
        let note = text.lines().last().unwrap_or_default();
        if !note.ends_with('.') {
            return Err(format!("no note in {text:?}"));
        }
        text = text[..text.len() - note.len()].trim_end_matches('\n');
    }
    if text.is_empty() {
        return Ok(Vec::new());
    }
    let entries = match format {
        CatalogueFormat::BoldLines | CatalogueFormat::Lines => {
            text.split('\n').map(item).collect::<Option<_>>()
        }
        CatalogueFormat::SkillList => inside(text, "<skill_list>\n", "\n</skill_list>")
            .and_then(|text| text.split('\n').map(element).collect()),
        CatalogueFormat::AvailableSkills => inside(
            text,
            "<available_skills>\n<skill>\n",
            "\n</skill>\n</available_skills>",
        )
        .and_then(|text| text.split("\n</skill>\n<skill>\n").map(fields).collect()),
        CatalogueFormat::Skills => inside(text, "<skills>\n", "</skills>").and_then(blocks),
    };
    entries.ok_or_else(|| format!("{format:?}: {text:?}"))
}

fn inside<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    text.strip_prefix(open)?.strip_suffix(close)
}

fn entry(name: &str, description: &str) -> Option<(String, String)> {
    let is_plain = |text: &str| !text.contains(['<', '>']);
    (is_plain(name) && is_plain(description)).then(|| (name.to_owned(), description.to_owned()))
}

/// `- name: description`
fn item(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("- ")?;
    let (name, description) = line.split_once(": ").unwrap_or((line, ""));
    entry(name, description)
}

/// `<skill name="…">description</skill>` or `<skill name="…" />`
fn element(line: &str) -> Option<(String, String)> {
    let line = line.strip_prefix("  <skill name=\"")?;
    let (name, rest) = line.split_once('"')?;
    if rest == " />" {
        return entry(name, "");
    }
    entry(name, inside(rest, ">", "</skill>")?)
}

/// `<name>` and, maybe, `<description>`, each in a line.
fn fields(skill: &str) -> Option<(String, String)> {
    let (name, description) = match skill.split_once('\n') {
        Some((name, line)) => (name, inside(line, "  <description>", "</description>")?),
        None => (skill, ""),
    };
    entry(inside(name, "  <name>", "</name>")?, description)
}

/// `<skill id="…" name="…" level="…">`, lines, `</skill>`, or `<skill …/>`, one after the other.
fn blocks(mut rest: &str) -> Option<Vec<(String, String)>> {
    let mut entries = Vec::new();
    while !rest.is_empty() {
        let (tag, after) = rest.split_once(">\n")?;
        let attributes: Vec<&str> = tag.strip_prefix("<skill id=")?.split('"').collect();
        let ["", id, " name=", name, " level=", "METADATA", end] = attributes[..] else {
            return None;
        };
        entry(name, "")?;
        let (description, after) = match end {
            "/" => ("", after),
            "" => after.split_once("</skill>\n")?,
            _ => return None,
        };
        entries.push(entry(id, description.trim_end_matches('\n'))?);
        rest = after;
    }
    Some(entries)
}
