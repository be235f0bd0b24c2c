use std::collections::HashSet;
use std::ops::Range;

use super::epoch::Epoch;
use super::layout::{Layout, StepKind, special};
use super::turn_part::TurnPart;
use crate::registry::{AttributeIndex, SkillIndex};
use crate::skill::Level;
use crate::snapshot::{Chosen, Material, OwnTools};

/// What a layout shows, chosen in the host's way, and told to others than the model.
impl Layout {
    /// Has the digest cover what was rendered, and what a redactor left of the tools.
    pub(super) fn cover(&mut self, epoch: &Epoch) {
        let Self {
            digest,
            prompt,
            has_secrets,
            tools,
            ..
        } = self;
        epoch.cover(digest, prompt, *has_secrets);
        if epoch.words.redaction().is_some() {
            for tool in tools.iter().cloned().flatten() {
                let words = epoch.words.tool(&epoch.registry, tool);
                let title = words.definition.title.as_deref().unwrap_or_default();
                for text in [title, &words.definition.description, words.input_schema] {
                    epoch.cover(digest, text, false);
                }
            }
        }
    }

    /// The live attributes that the host's composer shows; the others need not be evaluated.
    pub(super) fn selected_live(&self, epoch: &Epoch) -> Box<[AttributeIndex]> {
        let mut skills: Vec<_> = self
            .live
            .iter()
            .map(|index| epoch.registry.attribute(*index).skill)
            .collect();
        skills.sort_unstable();
        skills.dedup();
        let chosen = skills
            .into_iter()
            .map(|skill| self.chosen(epoch, None, skill));
        let shown: HashSet<_> = chosen.flat_map(|chosen| chosen.attributes).collect();
        self.live
            .iter()
            .copied()
            .filter(|index| shown.contains(index))
            .collect()
    }

    /// A skill with those of its visible members that are shown, those of a turn among them.
    pub(super) fn chosen(
        &self,
        epoch: &Epoch,
        part: Option<&TurnPart>,
        skill: SkillIndex,
    ) -> Chosen {
        let registered = epoch.registry.skill(skill);
        let level = self.level(epoch, skill);
        let mut visible = Chosen {
            skill,
            level,
            attributes: within(&self.attributes, registered.attributes.all()),
            tools: within(&self.tools, registered.tools.all()),
            instructions: level >= Level::Context && self.rights.has_instructions(skill),
        };
        visible
            .tools
            .extend(part.into_iter().flat_map(|part| part.of_skill(skill)));
        epoch.snapshots.select(material(epoch, part), visible)
    }

    /// The prompt without live values and without those of sensitive attributes, and the end of its catalogue.
    pub(crate) fn told(&self, epoch: &Epoch) -> (&str, usize) {
        if !self.has_secrets {
            return (&self.prompt, self.stable);
        }
        let mut new_bytes = 0;
        let (told, stable) = self.told.get_or_init(|| {
            let special = special(epoch, &self.rights, &self.steps);
            let openings = self.steps.iter().filter_map(|step| match step.kind() {
                StepKind::Opening(opening) => Some(opening),
                StepKind::Deviation(_) => None,
            });
            let (told, stable) = epoch.texts.told(epoch, &self.rights, &special, openings);
            new_bytes = told.len();
            (told.into_boxed_str(), stable)
        });
        if new_bytes > 0 {
            epoch.has_grown(self, new_bytes);
        }
        (told, *stable)
    }
}

/// What snapshots and prompts are made from, in a turn.
pub(super) fn material<'a>(epoch: &'a Epoch, part: Option<&'a TurnPart>) -> Material<'a> {
    Material {
        own: part.map(|part| part as &dyn OwnTools),
        ..epoch.material()
    }
}

/// What of some runs lies within a range, in the order of the runs.
fn within(runs: &[Range<u32>], range: Range<u32>) -> Vec<u32> {
    let parts = runs
        .iter()
        .map(|run| run.start.max(range.start)..run.end.min(range.end));
    parts.flatten().collect()
}
