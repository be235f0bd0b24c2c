use std::sync::Arc;

use super::epoch::Epoch;
use super::layout::Layout;
use crate::prompt::{OpenText, RestatedText};
use crate::registry::SkillIndex;
use crate::skill::Level;

/// Tools of one skill that are named.
const MOST_TOOLS: usize = 16;

/// What a layout has open, said again in at most `most` characters; empty where not even that there is more fits, and
/// where there is no skill at all.
pub(super) fn restated(epoch: &Epoch, layout: &Layout, most: usize) -> Arc<str> {
    let known = || {
        (0..)
            .zip(&epoch.registry.skills)
            .filter(|(index, _)| !layout.rights.is_denied(*index))
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
        length += least(epoch, layout, **index);
        length <= most
    });
    let mut count = fitting.count();
    loop {
        let text = RestatedText {
            skills: open[..count]
                .iter()
                .map(|index| open_text(epoch, layout, *index))
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
fn least(epoch: &Epoch, layout: &Layout, index: SkillIndex) -> usize {
    let OpenText { id, tools, .. } = open_text(epoch, layout, index);
    // Wire names have nothing but ASCII.
    id.chars().count() + tools.iter().map(|tool| tool.len()).sum::<usize>()
}

fn open_text<'a>(epoch: &'a Epoch, layout: &Layout, index: SkillIndex) -> OpenText<'a> {
    let skill = epoch.registry.skill(index);
    let visible = || skill.tools.all().filter(|tool| layout.shows(*tool));
    OpenText {
        id: &skill.id,
        level: layout.level(epoch, index),
        tools: visible()
            .take(MOST_TOOLS)
            .map(|tool| &**epoch.catalogue.name(tool))
            .collect(),
        more_tools: visible().count().saturating_sub(MOST_TOOLS),
    }
}
