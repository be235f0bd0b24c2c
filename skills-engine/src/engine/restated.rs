use std::sync::Arc;

use super::epoch::Epoch;
use super::layout::Layout;
use super::told::material;
use super::turn_part::TurnPart;
use crate::prompt::{OpenText, RestatedText};
use crate::registry::SkillIndex;
use crate::skill::Level;
use crate::snapshot::Chosen;

/// Tools of one skill that are named.
const MOST_TOOLS: usize = 16;

/// What a layout has open, said again in at most `most` characters; empty where not even that there is more fits, and
/// where there is no skill at all.
pub(super) fn restated(
    epoch: &Epoch,
    layout: &Layout,
    part: Option<&TurnPart>,
    most: usize,
) -> Arc<str> {
    let known = || {
        (0..)
            .zip(&epoch.registry.skills)
            .filter(|(index, skill)| !layout.rights.is_denied(*index) && !skill.is_built_in())
    };
    if known().next().is_none() {
        return Arc::default();
    }
    let open: Vec<SkillIndex> = known()
        .map(|(index, _)| index)
        .filter(|index| layout.level(epoch, *index) > Level::Metadata)
        .collect();
    // Whatever a composer writes, it writes the names: what has no room for these is not tried.
    let mut length = 0;
    let fitting = open.iter().take_while(|index| {
        length += least(epoch, layout, part, **index);
        length <= most
    });
    let mut count = fitting.count();
    loop {
        let text = RestatedText {
            skills: open[..count]
                .iter()
                .map(|index| open_text(epoch, layout, part, *index))
                .collect(),
            more: open.len() - count,
        };
        let mut out = String::new();
        epoch.texts.composer().restated(&text, &mut out);
        if out.chars().count() <= most {
            return out.into();
        }
        if count == 0 {
            return Arc::default();
        }
        count -= (count / 8).max(1);
    }
}

/// The characters of what must be said of a skill at least.
fn least(epoch: &Epoch, layout: &Layout, part: Option<&TurnPart>, index: SkillIndex) -> usize {
    let OpenText { id, tools, .. } = open_text(epoch, layout, part, index);
    // Wire names have nothing but ASCII.
    id.chars().count() + tools.iter().map(|tool| tool.len()).sum::<usize>()
}

fn open_text<'a>(
    epoch: &'a Epoch,
    layout: &Layout,
    part: Option<&'a TurnPart>,
    index: SkillIndex,
) -> OpenText<'a> {
    let Chosen { level, tools, .. } = layout.chosen(epoch, part, index);
    let named = tools.iter().take(MOST_TOOLS);
    let material = material(epoch, part);
    OpenText {
        id: &epoch.registry.skill(index).id,
        level,
        tools: named.map(|tool| material.tool(*tool).0).collect(),
        more_tools: tools.len().saturating_sub(MOST_TOOLS),
    }
}
