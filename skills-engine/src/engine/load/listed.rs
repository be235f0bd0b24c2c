use std::fmt::Write as _;

use super::super::control::Control;
use crate::prompt::{escape_line, name_as_told};
use crate::skill::{Fault, SkillType as _};
use crate::tools::PslSkill;

/// Skills in one answer.
const PAGE: usize = 50;
/// Characters of a description.
const DESCRIPTION: usize = 300;

impl Control<'_> {
    /// A page of the skills that the model may know of, by name.
    pub(in crate::engine) fn listed(&self, offset: u64) -> Result<String, Fault> {
        if let Some(turn) = self.turn {
            turn.check_running()?;
        }
        let state = self.cell.published().1;
        let registry = &self.epoch.registry;
        let known: Vec<_> = (0..)
            .zip(&registry.skills)
            .filter(|(index, skill)| {
                *skill.id != *PslSkill::entry().id && self.is_told_of(*index, &state)
            })
            .collect();
        let start = usize::try_from(offset)
            .unwrap_or(usize::MAX)
            .min(known.len());
        let page = &known[start..(start + PAGE).min(known.len())];
        let mut out = String::new();
        for (index, skill) in page {
            let told = self.epoch.words.skill(registry, *index);
            out.push_str("- ");
            out.push_str(&name_as_told(&skill.id));
            let end = told.description.char_indices().nth(DESCRIPTION);
            let description = end.map_or(&*told.description, |(end, _)| &told.description[..end]);
            if !description.trim().is_empty() {
                out.push_str(": ");
                escape_line(description.trim(), &mut out);
            }
            if end.is_some() {
                out.push('…');
            }
            out.push('\n');
        }
        let (end, total) = (start + page.len(), known.len());
        if page.is_empty() {
            let _ = write!(out, "[none: there are {total} skills]");
        } else if end < total {
            let first = start + 1;
            let _ = write!(
                out,
                "[skills {first} to {end} of {total}; go on with offset {end}]"
            );
        } else {
            let _ = write!(out, "[skills {} to {end} of {total}]", start + 1);
        }
        Ok(out)
    }
}
