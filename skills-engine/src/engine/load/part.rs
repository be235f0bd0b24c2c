use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};

use super::super::control::Control;
use super::super::inner::EngineInner;
use super::super::layout::{Layout, StepKind};
use super::BodyDelivery;
use crate::prompt::escape_line;
use crate::registry::{RegisteredSkill, SkillIndex};
use crate::session::{SessionState, Standing, TurnStanding};
use crate::skill::{BoxFuture, Code, Fault, Level, SkillContent, Timestamp, within};

/// Bodies that are read at one time.
const AT_ONCE: usize = 64;

/// The bodies that stand in the prompt of a view.
#[derive(Clone, Default, PartialEq, Eq)]
pub(in crate::engine) struct ContentPart {
    /// The skills, in the order in which they were opened, and the digests of their bodies; `None` for one that could
    /// not be read.
    bodies: Box<[(SkillIndex, Option<[u8; 32]>)]>,
    text: Arc<str>,
}

impl ContentPart {
    pub(in crate::engine) fn text(&self) -> &str {
        &self.text
    }

    /// The skills whose bodies could not be read.
    pub(in crate::engine) fn missing(&self) -> impl Iterator<Item = SkillIndex> {
        let missing = self.bodies.iter().filter(|(_, digest)| digest.is_none());
        missing.map(|(index, _)| *index)
    }

    /// Whether it holds these bodies, and all of them.
    fn holds(&self, wanted: &[(SkillIndex, &dyn SkillContent)]) -> bool {
        let mut bodies = self.bodies.iter();
        self.bodies.len() == wanted.len()
            && wanted
                .iter()
                .all(|(index, content)| bodies.next() == Some(&(*index, Some(content.digest()))))
    }
}

/// Whether the body of an open skill belongs into the prompt: it stands in no result that a model was given.
pub(super) fn belongs_in_prompt(
    engine: &EngineInner,
    skill: &RegisteredSkill,
    standing: Standing<'_>,
    turn: TurnStanding,
    now: Timestamp,
) -> bool {
    engine.loading.body_delivery == BodyDelivery::Prompt
        || skill.base() >= Level::Context
        || turn.is_opened_by_other
        || standing.is_opened_by_other(now)
}

impl Control<'_> {
    /// The bodies that a view with a layout shows. Those of `last` are not read again.
    pub(in crate::engine) async fn content_part(
        &self,
        layout: &Layout,
        state: &SessionState,
        last: Option<&ContentPart>,
    ) -> ContentPart {
        let wanted = self.wanted(layout, state);
        match last {
            _ if wanted.is_empty() => return ContentPart::default(),
            Some(last) if last.holds(&wanted) => return last.clone(),
            Some(_) | None => {}
        }
        let begun = self.engine.clock.now();
        let reading: Vec<BoxFuture<'_, Result<String, Fault>>> = wanted
            .iter()
            .map(|(index, content)| Box::pin(self.told_in_time(*index, *content, begun)) as _)
            .collect();
        // Side by side under one deadline, so that those that hang cost a view no more than one does.
        let read = stream::iter(reading).buffered(AT_ONCE).collect::<Vec<_>>();
        let mut bodies = Vec::with_capacity(wanted.len());
        let mut text = String::new();
        for ((index, content), told) in wanted.iter().zip(read.await) {
            let index = *index;
            text.push('\n');
            match told {
                Ok(told) => {
                    text.push_str(&told);
                    bodies.push((index, Some(content.digest())));
                }
                Err(fault) => {
                    text.push_str("The instructions of `");
                    escape_line(&self.epoch.registry.skill(index).id, &mut text);
                    text.push_str("` cannot be read: ");
                    escape_line(&fault.message, &mut text);
                    bodies.push((index, None));
                }
            }
            text.push('\n');
        }
        ContentPart {
            bodies: bodies.into(),
            text: text.into(),
        }
    }

    /// A body in its envelope, if it is there before the deadline of a view that was begun at that time.
    async fn told_in_time(
        &self,
        index: SkillIndex,
        content: &dyn SkillContent,
        begun: Timestamp,
    ) -> Result<String, Fault> {
        let clock = &*self.engine.clock;
        let passed = clock.now().0.saturating_sub(begun.0);
        let passed = Duration::from_millis(u64::try_from(passed).unwrap_or(0));
        let left = self.engine.limits.view_deadline.saturating_sub(passed);
        let told = within(clock, left, self.enveloped(index, content, "")).await;
        told.unwrap_or_else(|| {
            Err(Fault::new(
                Code::Timeout,
                "it took too long. Try again later",
            ))
        })
    }

    /// The skills whose bodies belong into the prompt, in the order in which they were opened.
    fn wanted(
        &self,
        layout: &Layout,
        state: &SessionState,
    ) -> Vec<(SkillIndex, &dyn SkillContent)> {
        let registry = &self.epoch.registry;
        if registry.loader.is_none() {
            return Vec::new();
        }
        let opened = layout.steps.iter().filter_map(|step| match step.kind() {
            StepKind::Opening(opening) => Some(opening.skill),
            StepKind::Deviation(shown) => (shown.level >= Level::Context).then_some(shown.skill),
        });
        let mut wanted: Vec<(SkillIndex, &dyn SkillContent)> = Vec::new();
        for index in registry.open_with_content.iter().copied().chain(opened) {
            let Some(content) = registry.skill(index).content() else {
                continue;
            };
            if wanted.iter().all(|(other, _)| *other != index)
                && layout.level(self.epoch, index) >= Level::Context
                && self.is_in_prompt(index, content, state)
            {
                wanted.push((index, content));
            }
        }
        wanted
    }
}
