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

/// A body in a prompt.
#[derive(Clone, PartialEq, Eq)]
struct Told {
    skill: SkillIndex,
    arguments: Arc<str>,
    /// `None` for a body that could not be read.
    digest: Option<[u8; 32]>,
}

/// A body that belongs into a prompt.
struct Wanted<'a> {
    skill: SkillIndex,
    content: &'a dyn SkillContent,
    arguments: Arc<str>,
}

/// The bodies that stand in the prompt of a view.
#[derive(Clone, Default, PartialEq, Eq)]
pub(in crate::engine) struct ContentPart {
    /// In the order in which the skills were opened.
    bodies: Box<[Told]>,
    text: Arc<str>,
}

impl ContentPart {
    pub(in crate::engine) fn text(&self) -> &str {
        &self.text
    }

    /// The skills whose bodies could not be read.
    pub(in crate::engine) fn missing(&self) -> impl Iterator<Item = SkillIndex> {
        let missing = self.bodies.iter().filter(|told| told.digest.is_none());
        missing.map(|told| told.skill)
    }

    /// Whether it holds these bodies, and all of them.
    fn holds(&self, wanted: &[Wanted<'_>]) -> bool {
        let is_same = |(told, wanted): (&Told, &Wanted<'_>)| {
            told.skill == wanted.skill
                && told.arguments == wanted.arguments
                && told.digest == Some(wanted.content.digest())
        };
        self.bodies.len() == wanted.len() && self.bodies.iter().zip(wanted).all(is_same)
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
            .map(|wanted| Box::pin(self.told_in_time(wanted, begun)) as _)
            .collect();
        // Side by side under one deadline, so that those that hang cost a view no more than one does.
        let read = stream::iter(reading).buffered(AT_ONCE).collect::<Vec<_>>();
        let mut bodies = Vec::with_capacity(wanted.len());
        let mut text = String::new();
        let read = read.await;
        // What was taken away meanwhile is not shown.
        let (now, state) = (self.renewed(), self.cell.published().1);
        let is_open = |wanted: &Wanted<'_>| {
            now.rights.has_instructions(wanted.skill)
                && now.level(wanted.skill, &state) >= Level::Context
        };
        for (wanted, told) in wanted.into_iter().zip(read) {
            if !is_open(&wanted) {
                continue;
            }
            text.push('\n');
            let digest = told.is_ok().then(|| wanted.content.digest());
            match told {
                Ok(told) => text.push_str(&told),
                Err(fault) => {
                    text.push_str("The instructions of `");
                    escape_line(&self.epoch.registry.skill(wanted.skill).id, &mut text);
                    text.push_str("` cannot be read: ");
                    escape_line(&fault.message, &mut text);
                }
            }
            text.push('\n');
            bodies.push(Told {
                skill: wanted.skill,
                arguments: wanted.arguments,
                digest,
            });
        }
        ContentPart {
            bodies: bodies.into(),
            text: text.into(),
        }
    }

    /// A body in its envelope, if it is there before the deadline of a view that was begun at that time.
    async fn told_in_time(&self, wanted: &Wanted<'_>, begun: Timestamp) -> Result<String, Fault> {
        let clock = &*self.engine.clock;
        let passed = clock.now().0.saturating_sub(begun.0);
        let passed = Duration::from_millis(u64::try_from(passed).unwrap_or(0));
        let left = self.engine.limits.view_deadline.saturating_sub(passed);
        let reading = self.enveloped(wanted.skill, wanted.content, &wanted.arguments);
        let told = within(clock, left, reading).await;
        told.unwrap_or_else(|| {
            Err(Fault::new(
                Code::Timeout,
                "it took too long. Try again later",
            ))
        })
    }

    /// The skills whose bodies belong into the prompt, in the order in which they were opened.
    fn wanted(&self, layout: &Layout, state: &SessionState) -> Vec<Wanted<'_>> {
        let registry = &self.epoch.registry;
        if registry.loader.is_none() {
            return Vec::new();
        }
        let opened = layout.steps.iter().filter_map(|step| match step.kind() {
            StepKind::Opening(opening) => Some(opening.skill),
            StepKind::Deviation(shown) => (shown.level >= Level::Context).then_some(shown.skill),
        });
        let mut wanted: Vec<Wanted<'_>> = Vec::new();
        for index in registry.open_with_content.iter().copied().chain(opened) {
            let Some(content) = registry.skill(index).content() else {
                continue;
            };
            if wanted.iter().all(|other| other.skill != index)
                && layout.level(self.epoch, index) >= Level::Context
                && self.is_in_prompt(index, content, state)
            {
                wanted.push(Wanted {
                    skill: index,
                    content,
                    arguments: self.cell.arguments(&registry.skill(index).id, state),
                });
            }
        }
        wanted
    }
}
